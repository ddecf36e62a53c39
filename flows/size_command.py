"""The command `examgen size`: a study's contrasts as a flow, or numbers given on the spot without any server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from examgen.errors import InputError, StudyError


def share(text: str) -> float:
    """A share written as .075, 7.5% or 16/168."""
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        if "/" in text:
            part, whole = text.split("/", 1)
            return float(part) / float(whole)
        return float(text)
    except (ValueError, ZeroDivisionError) as error:
        raise typer.BadParameter(f"{text!r} is no share: write .075, 7.5% or 16/168") from error


def size(
    study: Annotated[Path | None, typer.Argument(help="study file (YAML); none with --gain and the like")] = None,
    gain: Annotated[float | None, typer.Option(parser=share, metavar="SHARE", help="difference of accuracies")] = None,
    better: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="items only the better one gets right (p_b)")
    ] = None,
    worse: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="items only the other gets right (p_c)")
    ] = None,
    accuracy: Annotated[
        list[str] | None, typer.Option(metavar="SHARE", help="twice: accuracy of the better one, of the other")
    ] = None,
    agreement: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="items both get right or both wrong")
    ] = None,
    correlation: Annotated[float | None, typer.Option(help="phi of the two scores; 0 is independence")] = None,
    counts: Annotated[
        list[str] | None, typer.Option(metavar="B,C,N", help="a paired table already seen; several: its strata")
    ] = None,
    pilot: Annotated[Path | None, typer.Option(help="CSV of item_id, endpoint, correct")] = None,
    endpoint: Annotated[list[str] | None, typer.Option(help="twice: the pilot's endpoints, better first")] = None,
    alpha: Annotated[float | None, typer.Option(help="level of the family  [0.05]", show_default=False)] = None,
    power: Annotated[float | None, typer.Option(help="power asked for  [0.8]", show_default=False)] = None,
    contrasts: Annotated[int | None, typer.Option(help="comparisons in the family, for the planning bound")] = None,
    correction: Annotated[str | None, typer.Option(help="holm, bonferroni or none  [holm]", show_default=False)] = None,
    one_sided: Annotated[bool, typer.Option("--one-sided", help="only a gain counts")] = False,
    midp: Annotated[bool, typer.Option("--midp", help="the mid-p test instead of the exact one")] = False,
    design_effect: Annotated[float | None, typer.Option(help="for items clustered in topics")] = None,
    attrition: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="authored items that will not be analysed")
    ] = None,
    cap: Annotated[int | None, typer.Option(help="most items that can be authored")] = None,
    ceiling_accuracy: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="accuracy expected of the best endpoint")
    ] = None,
    ceiling_probability: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="most a perfect score may be likely")
    ] = None,
    hard_stop: Annotated[
        float | None,
        typer.Option(parser=share, metavar="SHARE", help="rate of hard-stop violations a run without any excludes"),
    ] = None,
    between: Annotated[
        float | None, typer.Option(help="repeated answers: variance between items of the arms' difference")
    ] = None,
    within: Annotated[
        list[float] | None, typer.Option(help="repeated answers: variance of one answer on an item; twice: of each arm")
    ] = None,
    items: Annotated[int | None, typer.Option(help="what a bank of so many items can do")] = None,
    simulate: Annotated[int | None, typer.Option(help="replicates of a simulation to show beside the sums")] = None,
    page: Annotated[Path | None, typer.Option(help="also write the page with the power curves there")] = None,
    print_only: Annotated[bool, typer.Option("--print-only", help="of a study: no flow, nothing written")] = False,
    results: Annotated[str, typer.Option("--results", help="folder of all results, or s3://…")] = "data/results",
) -> None:
    """How many items a paired comparison needs, exactly and with proof; what a bank of a given size can do.

    Examples:

    examgen size data/studies/ms_mri.yaml

    examgen size --gain 0.075 --worse 0.025

    examgen size --accuracy 163/168 --accuracy 148/168 --items 168 --contrasts 3
    """
    contrast = {
        "gain": gain, "better": better, "worse": worse, "accuracies": _shares(accuracy), "agreement": agreement,
        "correlation": correlation, "pilot": str(pilot) if pilot else None, "endpoints": tuple(endpoint or ()) or None,
    }  # fmt: skip
    rules = {
        "alpha": alpha, "power": power, "comparisons": contrasts, "correction": correction,
        "one_sided": one_sided or None, "test": "midp" if midp else None, "design_effect": design_effect,
        "attrition": attrition, "cap": cap, "ceiling_accuracy": ceiling_accuracy,
        "ceiling_probability": ceiling_probability, "hard_stop_rate": hard_stop,
    }  # fmt: skip
    if study is None and (between is not None or within):
        _repeated(gain, between, within or [0.0], _given(rules))
        return
    told = {name for name, value in {**contrast, **rules, "counts": counts}.items() if value is not None}
    if study is None:
        _on_the_spot(_given(contrast), _given(rules), counts or [], items, simulate, page)
    elif told:
        name = sorted(told)[0].replace("_", "-")
        raise InputError(f"{study}: a study says it all in its section sizing: leave out --{name}, or the study")
    elif print_only or page or simulate:
        _of_study(study, items, simulate, page)
    else:
        _flow(study, items, results)


def _shares(texts: list[str] | None) -> tuple[float, ...] | None:
    return tuple(share(text) for text in texts) if texts else None


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _section(contrast: dict[str, Any], rules: dict[str, Any]) -> Any:
    """The options as a section of a study, so that the same rules and messages hold."""
    from pydantic import ValidationError

    from examgen.sizing_section import Sizing

    try:
        named = [{"name": contrast.get("name", "the gain"), **contrast}] if contrast else []
        return Sizing.model_validate({**rules, "contrasts": named})
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            option = next((str(key) for key in reversed(problem["loc"]) if isinstance(key, str)), "")
            said = problem["msg"].removeprefix("Value error, ").removeprefix("contrast 'the gain': ")
            known = option and option != "contrasts"
            lines.append(f"--{option.replace('_', '-')}: {said}" if known else said)
        raise InputError("\n".join(lines)) from error


def _on_the_spot(
    contrast: dict[str, Any], rules: dict[str, Any], seen: list[str], items: int | None, simulate: int | None,
    page: Path | None,
) -> None:  # fmt: skip
    from examgen.planned_contrasts import resolved
    from examgen.sizing_card import bare_lines, parse_counts, table_lines

    tables = [parse_counts(text) for text in seen]
    if tables and not contrast:
        contrast = {"name": "the table seen", "counts": tuple(sum(t[i] for t in tables) for i in range(3))}
    if not contrast and items is None and not {"ceiling_accuracy", "hard_stop_rate"} & rules.keys():
        raise InputError("give a study, or numbers: for example examgen size --gain 0.075 --worse 0.025")
    sizing = resolved(_section(contrast, rules), Path())
    lines = table_lines(tables, sizing) if tables else []
    if not sizing.contrasts:
        if page:
            raise InputError("--page: a page needs a contrast: --gain and --worse, for example")
        print("\n".join([*lines, *bare_lines(sizing, items)]))
        return
    if lines:
        print("\n".join([*lines, ""]))
    _show(sizing, items, simulate, page, "A paired comparison")
    if contrast.get("pilot"):
        _of_repeats(Path(contrast["pilot"]), contrast["endpoints"], sizing)


def _repeated(gain: float | None, between: float | None, within: list[float], rules: dict[str, Any]) -> None:
    """Items for a difference of mean scores when each item is answered several times."""
    from examgen.repeated_answers import repeated_lines

    if gain is None or between is None or len(within) > 2:
        raise InputError("--between: goes with --gain and --within, once or twice: variances of an item's scores")
    sizing = _section({}, rules)
    both = (within[0], within[-1])
    print("\n".join(repeated_lines(gain, between, both, power=sizing.power, alpha=sizing.alpha)))


def _of_repeats(place: Path, pair: tuple[str, str], sizing: Any) -> None:
    """What a pilot with several answers an item and arm adds; nothing for one with single answers."""
    from examgen.pilot import parse_answers, pilot_text
    from examgen.repeated_answers import components, repeated_lines

    found = components(parse_answers(pilot_text(place), str(place)), pair, str(place))
    if found is not None and found.gain:
        print("\n" + "\n".join(repeated_lines(
            found.gain, found.between, found.within, power=sizing.power, alpha=sizing.alpha
        )))  # fmt: skip
        print(f"    from {found.items} items answered {found.answers[0]:.3g} and {found.answers[1]:.3g} times")


def _of_study(path: Path, items: int | None, simulate: int | None, page: Path | None) -> None:
    from examgen.planned_contrasts import resolved
    from examgen.study import load_study

    study = load_study(path)
    sizing = resolved(study.sizing, path.resolve().parent)
    _need_contrasts(path, sizing)
    _show(sizing, items, simulate, page, study.title or study.study)


def _need_contrasts(path: Path, sizing: Any) -> None:
    from examgen.sizing_section import WAYS

    if not sizing.contrasts:
        raise StudyError(f"{path}: sizing.contrasts: none is declared: give at least one a name and {WAYS}")


def _show(sizing: Any, items: int | None, simulate: int | None, page: Path | None, title: str) -> None:
    from examgen.sizing_card import ceiling_lines, simulated_lines
    from examgen.sizing_plan import curve_rows, make_plan
    from examgen.sizing_report import render, text_lines

    plan = make_plan(sizing, items)
    print("\n".join(text_lines(plan)))
    for line in ceiling_lines(sizing, items):
        print(line)
    if simulate:
        print("\n".join(["", "Beside a simulation:", *simulated_lines(plan, simulate, 0)]))
    if page:
        from tasks import store

        store.write_text(page, render(plan, curve_rows(plan), title=title))
        print(f"\nPage: {page}")


def _flow(path: Path, items: int | None, results: str) -> None:
    """The study's contrasts as a Prefect flow, against the server of this sitting."""
    import os

    from examgen.planned_contrasts import resolved
    from examgen.study import load_study
    from tasks import server, serving
    from tasks.mirror import named
    from tasks.workplace import prefect_home

    _need_contrasts(path, resolved(load_study(path).sizing, path.resolve().parent))
    server.quiet()
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "ERROR")
    home = prefect_home(results)
    with server.available(home, serving.address(home)):
        from flows.request import StudyRequest
        from flows.size_benchmark import size_benchmark

        done = size_benchmark(StudyRequest(study=str(path.resolve()), results=named(results)), items)
    folder = Path(done["folder"])
    print((folder / "sizing.txt").read_text(encoding="utf-8"))
    print(f"Tables {folder}\nPage   {folder / 'sizing.html'}")

"""The page: everything above put into the template, one file that opens offline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from examgen.records import STRATA, BankItem, Chunk, Coverage, EndpointRow, Finding, FunnelRow, Topic
from examgen.report import bank_sections, comparison_sections, probe_sections, sections
from examgen.report.figures import all_figures
from examgen.report.limitations import limitations
from examgen.report.methods import METHODS
from examgen.report.numbers import Row, every, find, limits_of, percent, value_of
from examgen.report.passages import Example, chosen_examples, example
from examgen.study import Study

Results = Mapping[str, Sequence[Row]]


def render(
    study: Study, manifest: Mapping[str, Any], funnel: Sequence[FunnelRow], topics: Sequence[Topic],
    coverage: Sequence[Coverage], findings: Sequence[Finding], bank: Sequence[BankItem],
    chunks: Mapping[str, Chunk] | Iterable[Chunk], results: Results, endpoints: Sequence[EndpointRow],
    links: Mapping[str, str] | None = None, *, figures_at: str = "",
) -> str:
    """The report as one HTML page without any outside reference.

    `results` are the tables of `examgen.calibration.calibrate`; `links` names neighbouring files (Data Docs,
    tables) by their relative address, `figures_at` the folder of the figures as files, to which captions then link.
    The same input gives the same bytes: the page holds no time.
    """
    by_id = chunks if isinstance(chunks, Mapping) else {chunk.chunk_id: chunk for chunk in chunks}
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    figures = all_figures(results, endpoints, funnel)
    return environment.get_template("page.html").render(
        study=study, manifest=manifest, title=study.title or study.study, css=Markup(_template("page.css")),
        figures={name: Figured(figure.caption, figure.data, Markup(figure.svg)) for name, figure in figures.items()},
        abstract=abstract(manifest, bank, results, endpoints),
        strata=STRATA, funnel=bank_sections.funnel_table(funnel), topics=bank_sections.topic_table(bank, topics),
        coverage=bank_sections.coverage_table(coverage), findings=bank_sections.finding_table(findings),
        endpoints=sections.endpoint_table(results, endpoints), contrasts=sections.contrast_table(results),
        cues=probe_sections.cue_table(results), longest=probe_sections.longest_table(results),
        risks=probe_sections.risk_lists(results),
        orders=probe_sections.order_table(results), left_out=probe_sections.leave_one_out_table(results),
        reliability=sections.statistic_table(results["reliability"], "scope"),
        sizing=sections.statistic_table(results["sizing"], "contrast"),
        construction=sections.statistic_table(results["construction"], "stratum"),
        short_form=sections.statistic_table(every(results["short_form"], scope="short form"), "scope"),
        axes=sections.axis_tables(results, endpoints), count=Numbering(),
        difficulty_reason=next((row["note"] for row in results["leave_one_out"]), "no primary endpoint"),
        examples=_examples(study, bank, by_id, results), methods=METHODS,
        limitations=limitations(study, manifest, bank, coverage, results, endpoints), links=dict(links or {}),
        compared=comparison_sections.comparisons(results, bank, manifest),
        seed=study.statistics.seed, sources=_sources(bank, by_id), figures_at=figures_at,
        agreement=sections.statistic_table(results.get("agreement", ()), "scope"),
        groups=sections.group_table(results), order_summary=probe_sections.order_summary(results),
        interactions=sections.interaction_sentences(results),
    )


class Numbering:
    """Numbers of figures and tables in the order in which they appear."""

    def __init__(self) -> None:
        self._figures = self._tables = 0

    def figure(self) -> int:
        """The next figure's number."""
        self._figures += 1
        return self._figures

    def table(self) -> int:
        """The next table's number."""
        self._tables += 1
        return self._tables


class Figured:
    """A figure as the template uses it."""

    def __init__(self, caption: str, data: str, svg: Markup) -> None:
        self.caption, self.data, self.svg = caption, data, svg


def _template(name: str) -> str:
    return resources.files("examgen.report").joinpath(name).read_text(encoding="utf-8")


def _sources(bank: Sequence[BankItem], chunks: Mapping[str, Chunk]) -> int:
    return len({e.source_id for item in bank for e in item.evidence} | {c.source_id for c in chunks.values()})


def _examples(
    study: Study, bank: Sequence[BankItem], chunks: Mapping[str, Chunk], results: Results
) -> list[Example]:
    difficulty = {row["item_id"]: row for row in results["item_difficulty"]}
    shown = []
    for item in chosen_examples(bank, study.report.examples_per_stratum):
        row = difficulty.get(item.item_id)
        missed = f"missed by {row['misses']} of {row['seen']} primary endpoints" if row and row["seen"] > 1 else ""
        shown.append(example(item, chunks, with_text=study.report.include_source_text, missed=missed))
    return shown


def abstract(
    manifest: Mapping[str, Any], bank: Sequence[BankItem], results: Results, endpoints: Sequence[EndpointRow]
) -> list[str]:
    """Two or three paragraphs of the main facts, each number from a table."""
    sources = len({evidence.source_id for item in bank for evidence in item.evidence})
    topics = len({item.topic for item in bank})
    writers = " and ".join(str(name) for name in manifest.get("writers", [])) or "an unrecorded writer"
    by_stratum = manifest.get("by_stratum", {})
    strata = ", ".join(f"{by_stratum[s]} {s}" for s in STRATA if s in by_stratum)
    traced = f"each with verbatim evidence, from {sources} sources" if sources else "without recorded evidence"
    paragraphs = [
        f"The bank holds {len(bank):,} multiple-choice items over {topics} topics and "
        f"{manifest.get('subtopics_with_items', len({item.topic_id for item in bank}))} subtopics ({strata}), "
        f"{traced}. Writer: {writers}."
    ]
    primary = [row for row in endpoints if row.role == "primary"]
    baselines = [row for row in endpoints if row.role == "baseline"]
    accuracy = results["accuracy"]
    told = [
        f"{row.endpoint_id} {_told(find(accuracy, endpoint_id=row.endpoint_id, axis='overall', statistic='accuracy'))}"
        for row in primary[:3]
    ]
    if endpoints:
        sentence = f"The panel: {_counted(len(primary), 'primary endpoint')}, {_counted(len(baselines), 'baseline')}."
        if told and len(primary) <= 3:
            sentence += f" Accuracy (95% interval over topics): {'; '.join(told)}."
        elif primary:
            sentence += _range(primary, accuracy, "primary endpoints")
        if baselines:
            sentence += _range(baselines, accuracy, "baselines")
        paragraphs.append(sentence)
    cue = find(results["cue_probe"], bank="this bank", statistic="selector accuracy")
    if cue is not None and cue["value"] is not None:
        p = value_of(results["cue_probe"], bank="this bank", features=cue["features"], statistic="permutation P")
        verdict = "" if p is None else ", above the permutation null" if p < 0.05 else ", within the permutation null"
        paragraphs.append(
            f"A selector trained on the form of the options alone finds {percent(cue['value'])}% of the keys "
            f"on topics it has not seen{verdict}."
        )
    return paragraphs


def _told(row: Row | None) -> str:
    if row is None or row["value"] is None:
        return "not estimable"
    limits = limits_of(row)
    return f"{percent(row['value'])}%" + (f" ({limits})" if limits else "")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _range(rows: Sequence[EndpointRow], accuracy: Sequence[Row], noun: str) -> str:
    found = [value_of(accuracy, endpoint_id=r.endpoint_id, axis="overall", statistic="accuracy") for r in rows]
    known = [value for value in found if value is not None]
    if not known:
        return ""
    return f" Accuracies of the {noun} range from {percent(min(known))} to {percent(max(known))}%."

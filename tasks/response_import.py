"""Answers that others produced, read from their files into an evaluation folder that the statistics accept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from examgen import imports
from examgen.answers import PARSER_VERSION
from examgen.errors import InputError
from examgen.records import BankItem, EndpointRow, Response
from tasks.evaluation_folder import read_bank, use, workplace_of, write_evaluation

Form = Literal["csv", "lm-eval", "inspect"]
_FORMS: dict[str, Form] = {".csv": "csv", ".jsonl": "lm-eval", ".eval": "inspect", ".json": "inspect"}


@dataclass(frozen=True)
class ImportReport:
    """The evaluation folder, its endpoints with the items each answered, and what could not be used, in words."""

    folder: Path
    items: int
    answered: Mapping[str, int]
    roles: Mapping[str, str]
    problems: tuple[str, ...]


def import_responses(
    files: Sequence[Path],
    bank: Path,
    *,
    form: Form | None = None,
    model: str = "",
    overlap: Sequence[str] = (),
    baselines: Sequence[str] = (),
    point: bool = True,
) -> ImportReport:
    """Read files of answers to a bank into a new evaluation of its study.

    `form` is found from the file's ending when None; `model` names the model where a file does not. A model that wrote
    items of the bank, or is named in `overlap`, is construction overlap; those in `baselines` are baselines. With
    `point` the study's next `calibrate` is about it. `InputError` names a file that cannot be read or has nothing in
    it for this bank.
    """
    place, items = workplace_of(bank, "bank"), read_bank(bank)
    writers = {item.writer for item in items}
    rows: dict[str, dict[tuple[str, int, int], Response]] = defaultdict(dict)
    sources: dict[str, list[str]] = defaultdict(list)
    problems: list[str] = []
    for file in files:
        found = _read(file, form or _form_of(file), items, model)
        problems += [f"{file.name}: {problem.removeprefix(f'{file} ')}" for problem in found.problems]
        if not found.responses:
            first = f" ({found.problems[0]})" if found.problems else ""
            raise InputError(f"{file}: holds no answer to an item of this bank{first}")
        for row in found.responses:
            key = (row.item_id, row.order, row.repeat)
            if key in rows[row.endpoint_id]:
                problems.append(f"{file.name}: item {row.item_id}: {row.endpoint_id} answered it in another file too")
                continue
            rows[row.endpoint_id][key] = row
            if file.name not in sources[row.endpoint_id]:
                sources[row.endpoint_id].append(file.name)
    roles = {name: _role(name, writers, overlap, baselines) for name in rows}
    answered = {name: len({item for item, _, _ in found}) for name, found in rows.items()}
    endpoints = [
        EndpointRow(
            endpoint_id=name,
            model=name,
            runtime="answered elsewhere",
            role=roles[name],
            complete=answered[name] == len(items),
            note=f"imported from {', '.join(sources[name])}; {answered[name]} of {len(items)} items",
        )
        for name in sorted(rows)
    ]
    note = {"bank": bank.resolve().name, "origin": "imported", "abstention": False, "parser_version": PARSER_VERSION}
    told = {**note, "problems": problems}
    folder = write_evaluation(place, {name: list(found.values()) for name, found in rows.items()}, endpoints, told)
    if point:
        use(place, folder, bank)
    return ImportReport(folder, len(items), answered, roles, tuple(problems))


def _role(
    name: str, writers: set[str], overlap: Sequence[str], baselines: Sequence[str]
) -> Literal["primary", "construction_overlap", "baseline"]:
    if name in {imports.endpoint_name(each) for each in baselines}:
        return "baseline"
    named = {imports.endpoint_name(each) for each in overlap}
    return "construction_overlap" if name in named or imports.wrote_items(name, writers) else "primary"


def _form_of(file: Path) -> Form:
    form = _FORMS.get(file.suffix.lower())
    if form is None:
        raise InputError(f"{file}: ends in none of {', '.join(_FORMS)}: say what it is with --format")
    return form


def _read(file: Path, form: Form, items: Sequence[BankItem], model: str) -> imports.Imported:
    try:
        data = file.read_bytes()
        if form == "inspect":
            return imports.from_inspect(data, items, model)
        text = data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(f"{file}: no such file of responses") from error
    except IsADirectoryError as error:
        raise InputError(f"{file}: is a folder: give the files in it") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: is no text in UTF-8: {error.reason} at byte {error.start}") from error
    except (OSError, ValueError, imports.BadArchive) as error:
        raise InputError(f"{file}: cannot be read as a log of Inspect: {error}") from error
    if form == "csv":
        return imports.from_csv(text, items, str(file))
    return imports.from_lm_eval(text.splitlines(), items, model or file.resolve().parent.name)



"""Answers that others produced, as responses: a CSV, samples of lm-evaluation-harness, logs of Inspect."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examgen.answers import PARSER_VERSION, content_choice, parse, prompt
from examgen.errors import InputError
from examgen.records import LETTERS, BankItem, Response

BadArchive = zipfile.BadZipFile
"""What reading a damaged Inspect log raises, beside ValueError."""

_COLUMNS = {
    "item_id": ("item_id", "id", "item", "question_id", "sample_id"),
    "model": ("model", "endpoint_id", "endpoint", "model_name", "respondent"),
    "answer": ("answer", "response", "letter", "prediction", "choice", "raw"),
    "order": ("order",),
    "repeat": ("repeat", "epoch", "seed"),
}


@dataclass(frozen=True)
class Imported:
    """Responses read, and what could not be used, in words."""

    responses: tuple[Response, ...]
    problems: tuple[str, ...]


def endpoint_name(model: str) -> str:
    """A model's name as an endpoint id."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "imported"


def wrote_items(endpoint_id: str, writers: Collection[str]) -> bool:
    """Whether an endpoint named by `endpoint_name` is a model in the generator labels ("endpoint:model") of a bank,
    with or without a vendor before it."""
    models = {label.split(":", 1)[1].rsplit("/", 1)[-1] for label in writers if ":" in label} - {""}
    found = endpoint_id.lower()
    return any(found == name or found.endswith(f"-{name}") for name in (endpoint_name(m).lower() for m in models))


def _row(
    item: BankItem,
    endpoint_id: str,
    raw: str,
    rule: str = "",
    choice: int | None = None,
    order: int = 0,
    repeat: int = 0,
    **known: Any,
) -> Response:
    """A response from a text, or from a choice that is already one."""
    fields: dict[str, Any] = {
        "item_id": item.item_id,
        "endpoint_id": endpoint_id,
        "order": order,
        "repeat": repeat,
        "raw": raw,
        "parser_version": PARSER_VERSION,
        "attempts": 0,
        **known,
    }
    if choice is not None:
        shown = LETTERS[
            [content_choice(place, len(item.options), order) for place in range(len(item.options))].index(choice)
        ]
        return Response(
            **fields, shown_letter=shown, choice=choice, rule=rule, status="parsed", correct=choice == item.key
        )
    asked = prompt(item, order)
    reading = parse(raw, asked.letters, options=asked.shown)
    if reading.letter is None or reading.status != "parsed":
        return Response(**fields, rule=f"imported_{reading.rule}", status=reading.status)
    place = content_choice(ord(reading.letter) - ord("A"), len(item.options), order)
    return Response(
        **fields,
        shown_letter=reading.letter,
        choice=place,
        rule=f"imported_{reading.rule}",
        status="parsed",
        correct=place == item.key,
    )


def _collect(found: Iterator[Response | str]) -> Imported:
    """One response a key (the first); everything else is a problem."""
    rows: dict[tuple[str, str, int, int], Response] = {}
    problems: list[str] = []
    for one in found:
        if isinstance(one, str):
            problems.append(one)
            continue
        key = (one.endpoint_id, one.item_id, one.order, one.repeat)
        if key in rows:
            problems.append(
                f"item {one.item_id}: a second answer of {one.endpoint_id} in order {one.order}, repeat "
                f"{one.repeat} was left out"
            )
        else:
            rows[key] = one
    return Imported(tuple(rows[key] for key in sorted(rows)), tuple(problems))


def from_csv(text: str, bank: Sequence[BankItem], path: str = "responses.csv") -> Imported:
    """Answers from a CSV of item_id, model, answer (letters or replies), with order and repeat if there are any."""
    reader = csv.DictReader(io.StringIO(text))
    plain = {str(name).strip().lower(): name for name in reader.fieldnames or ()}
    columns = {wanted: next((plain[name] for name in names if name in plain), "") for wanted, names in _COLUMNS.items()}
    missing = [name for name in ("item_id", "model", "answer") if not columns[name]]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}: a CSV of answers has item_id, model and answer")
    items = {item.item_id: item for item in bank}

    def rows() -> Iterator[Response | str]:
        for number, row in enumerate(reader, 2):
            item = items.get((row[columns["item_id"]] or "").strip())
            if item is None:
                yield f"{path} line {number}: the bank has no item {row[columns['item_id']]!r}"
                continue
            order, repeat = (_number(row.get(columns[name]) if columns[name] else None) for name in ("order", "repeat"))
            yield _row(
                item,
                endpoint_name(row[columns["model"]] or ""),
                row[columns["answer"]] or "",
                order=order,
                repeat=repeat,
            )

    return _collect(rows())


def _number(value: Any) -> int:
    return int(value) if str(value or "").strip().isdigit() else 0


def from_lm_eval(lines: Iterable[str], bank: Sequence[BankItem], model: str) -> Imported:
    """Answers from the samples that lm-evaluation-harness logs (`--log_samples`) for the task of `lm_eval_files`.

    Likelihoods of the letters decide where they were logged (a tie at the top is no answer), generated text is read
    by the parser.
    """
    items = {item.item_id: item for item in bank}

    def rows() -> Iterator[Response | str]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                sample = json.loads(line)
            except ValueError:
                yield f"line {number}: not JSON"
                continue
            item = items.get(str((sample.get("doc") or {}).get("item_id", "")))
            if item is None:
                yield f"line {number}: the bank has no item {(sample.get('doc') or {}).get('item_id')!r}"
                continue
            yield _sample(item, endpoint_name(model), sample.get("filtered_resps") or sample.get("resps") or [])

    return _collect(rows())


def _sample(item: BankItem, endpoint_id: str, found: Any) -> Response:
    while isinstance(found, list) and len(found) == 1:
        found = found[0]
    values = [_likelihood(one) for one in found] if isinstance(found, list) else []
    scores = [value for value in values if value is not None]
    if len(scores) == len(item.options) == len(values):
        top = max(scores)
        raw = json.dumps({"log_likelihood": scores})
        if scores.count(top) > 1:
            return Response(
                item_id=item.item_id,
                endpoint_id=endpoint_id,
                raw=raw,
                rule="imported_likelihood_tie",
                status="unparseable",
                attempts=0,
            )
        return _row(item, endpoint_id, raw, "imported_likelihood", scores.index(top), mode="letter_logprobs")
    return _row(item, endpoint_id, found if isinstance(found, str) else "")


def _likelihood(value: Any) -> float | None:
    while isinstance(value, list) and value:
        value = value[0]
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def inspect_samples(data: bytes) -> tuple[list[Mapping[str, Any]], str]:
    """Samples and model of an Inspect log, from the bytes of its .eval (a zip) or .json form."""
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            header = json.loads(archive.read("header.json")) if "header.json" in names else {}
            samples = [
                json.loads(archive.read(name))
                for name in sorted(names)
                if name.startswith("samples/") and name.endswith(".json")
            ]
    else:
        header = json.loads(data)
        samples = header.get("samples") or []
    return samples, str((header.get("eval") or {}).get("model", ""))


def from_inspect(data: bytes, bank: Sequence[BankItem], model: str = "") -> Imported:
    """Answers from an Inspect log of the dataset of `inspect_files`. The reply is read again by our parser.

    Samples whose choices Inspect shuffled are read by the choices logged with them; a sample with an error is a
    problem.
    """
    samples, named = inspect_samples(data)
    items = {item.item_id: item for item in bank}
    endpoint_id = endpoint_name(model or named)

    def rows() -> Iterator[Response | str]:
        for sample in samples:
            item = items.get(str(sample.get("id", "")))
            if item is None:
                yield f"the bank has no item {sample.get('id')!r}"
            elif sample.get("error"):
                yield f"item {item.item_id}: the sample ended in an error"
            else:
                yield _inspect_row(item, endpoint_id, sample)

    return _collect(rows())


def _inspect_row(item: BankItem, endpoint_id: str, sample: Mapping[str, Any]) -> Response:
    raw = _completion(sample.get("output") or {})
    repeat = max(0, _number(sample.get("epoch")) - 1)
    shown = [str(text) for text in sample.get("choices") or item.options]
    if tuple(shown) == item.options or sorted(shown) != sorted(item.options):
        return _row(item, endpoint_id, raw, repeat=repeat)
    reading = parse(raw, LETTERS[: len(shown)], options=shown)
    if reading.letter is None:
        return Response(
            item_id=item.item_id,
            endpoint_id=endpoint_id,
            repeat=repeat,
            raw=raw,
            rule=f"imported_shuffled_{reading.rule}",
            status=reading.status,
            parser_version=PARSER_VERSION,
            attempts=0,
        )
    return _row(
        item,
        endpoint_id,
        raw,
        "imported_shuffled",
        item.options.index(shown[ord(reading.letter) - ord("A")]),
        repeat=repeat,
    )


def _completion(output: Mapping[str, Any]) -> str:
    choices = output.get("choices") or []
    content = (choices[0].get("message") or {}).get("content", "") if choices else output.get("completion", "")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")

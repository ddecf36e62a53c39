"""Answer keys from several sources: the tiers they make, the abstention probe they leave, how far they agree."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from examgen.errors import BankError
from examgen.records import LETTERS, NO_STEM_MODES, BankItem, EndpointRow, Response
from examgen.result_rows import Row, result, unknown
from examgen.statistics.agreement import gwet_ac1, percent_agreement
from examgen.statistics.estimate import Estimate
from examgen.statistics.intervals import hard_stop
from examgen.statistics.tiers import TierRules, abstention_profile, assign_tiers, tier_hash

COLUMNS = ("item_id", "source", "letter", "human")
BANK_SOURCE = "bank"
"""Name of the key the bank was locked with, as a source among the others."""
PROBE = "probe"
"""Tier of items whose keys disagree: there is no right letter, and abstaining is what is wanted."""
_YES, _NO = ("1", "true", "yes", "y"), ("0", "false", "no", "n", "")


@dataclass(frozen=True, slots=True)
class Key:
    """The letter one source gave for an item; an empty letter means it gave none. `endorses` None: not asked.

    `never` holds letters of options that must not be chosen whatever else is: choosing one breaks a hard-stop rule.
    """

    item_id: str
    source: str
    letter: str
    human: bool
    endorses: bool | None = None
    never: str = ""


def parse_keys(text: str, name: str, bank: Sequence[BankItem]) -> list[Key]:
    """Keys from CSV with the columns item_id, source, letter, human and, if they are there, endorses and never.

    Letters are those of the bank's own option order. `BankError` names the line of an unknown item, a letter that is
    none of the item's, a source that is called human in one line and not in another, a second key of one source.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise BankError(f"{name}: column {missing[0]!r} is missing; a table of keys has {', '.join(COLUMNS)}")
    options = {item.item_id: len(item.options) for item in bank}
    found: dict[tuple[str, str], Key] = {}
    humans: dict[str, bool] = {}
    for row in reader:
        where = f"{name}: line {reader.line_num}"
        key = _key(row, where, options)
        if humans.setdefault(key.source, key.human) != key.human:
            raise BankError(f"{where}: source {key.source!r} is human in one line and not in another")
        if (key.item_id, key.source) in found:
            raise BankError(f"{where}: a second key of {key.source!r} for item {key.item_id}")
        found[key.item_id, key.source] = key
    if not found:
        raise BankError(f"{name}: holds no key")
    return list(found.values())


def _key(row: Mapping[str, str | None], where: str, options: Mapping[str, int]) -> Key:
    item, source, letter, human = ((row[column] or "").strip() for column in COLUMNS)
    letter = letter.upper()
    if item not in options:
        raise BankError(f"{where}: the bank has no item {item!r}")
    if not source or source == BANK_SOURCE:
        raise BankError(f"{where}: source is {source!r}: name who gave the key ({BANK_SOURCE!r} is the bank's own)")
    if letter and letter not in LETTERS[: options[item]]:
        raise BankError(f"{where}: letter {letter!r} is none of the item's {options[item]} options")
    endorses = (row.get("endorses") or "").strip()
    never = "".join(sorted({mark for mark in (row.get("never") or "").upper() if mark.isalpha()}))
    if not set(never) <= set(LETTERS[: options[item]]):
        raise BankError(f"{where}: never {never!r} is not made of the item's {options[item]} options")
    if letter and letter in never:
        raise BankError(f"{where}: letter {letter!r} is the key and among those that must never be chosen")
    return Key(item, source, letter, _flag(human, where), _flag(endorses, where) if endorses else None, never)


def merged(tables: Mapping[str, Sequence[Key]]) -> list[Key]:
    """Keys of several tables, by the name of each; `BankError` when two say different things of one source."""
    found: dict[tuple[str, str], Key] = {}
    humans: dict[str, bool] = {}
    for name, keys in tables.items():
        for key in keys:
            if humans.setdefault(key.source, key.human) != key.human:
                raise BankError(f"{name}: source {key.source!r} is human in one table and not in another")
            if (key.item_id, key.source) in found:
                raise BankError(f"{name}: a second key of {key.source!r} for item {key.item_id}: another table has one")
            found[key.item_id, key.source] = key
    return list(found.values())


def _flag(said: str, where: str) -> bool:
    if said.lower() not in (*_YES, *_NO):
        raise BankError(f"{where}: {said!r} is neither yes nor no")
    return said.lower() in _YES


def with_bank_key(keys: Sequence[Key], bank: Sequence[BankItem], *, human: bool = False) -> list[Key]:
    """The keys with the bank's own as one more source; `human` says whether people wrote it."""
    return [*keys, *(Key(item.item_id, BANK_SOURCE, item.key_letter, human) for item in bank)]


def tier_table(bank: Sequence[BankItem], keys: Sequence[Key], rules: TierRules | None = None) -> pd.DataFrame:
    """Tier of every item of the bank (see `statistics.tiers.assign_tiers`), in the bank's order."""
    sources = sorted({key.source for key in keys})
    human = {key.source: key.human for key in keys}
    given = {(key.item_id, key.source): key.letter or None for key in keys}
    raters: dict[str, list[bool]] = defaultdict(list)
    for key in keys:
        if key.endorses is not None:
            raters[key.item_id].append(key.endorses)
    return assign_tiers(
        [[given.get((item.item_id, source)) for source in sources] for item in bank],
        [human[source] for source in sources],
        [complete_provenance(item) for item in bank],
        [bool(item.flags) for item in bank],
        endorsement=[sum(said) / len(said) if (said := raters[item.item_id]) else None for item in bank],
        item_ids=[item.item_id for item in bank],
        rules=rules,
    )


def complete_provenance(item: BankItem) -> bool:
    """Whether every piece of evidence names its passage and its source."""
    return bool(item.evidence) and all(e.chunk_id and e.source_id and e.quote for e in item.evidence)


def locked_tier_hash(bank: Sequence[BankItem]) -> str:
    """Hash of the tiers the items were locked with: what the manifest holds before anything is scored."""
    rows = [(item.item_id, item.tier, item.key_letter) for item in bank]
    return tier_hash(pd.DataFrame(rows, columns=["item_id", "tier", "key"]))


def tier_rows(table: pd.DataFrame) -> list[Row]:
    """The tiers as rows of the table `tiers`."""
    return [
        {str(name): None if not isinstance(value, str) and pd.isna(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def release_note(
    table: pd.DataFrame, bank: Sequence[BankItem], keys: Sequence[Key], rules: TierRules, fixed: str
) -> dict[str, Any]:
    """What the manifest of a release says of its tiers: the rule, the hash, the counts, when they were fixed."""
    sources = {key.source: key.human for key in keys}
    return {
        "tier_hash": tier_hash(table),
        "counts": dict(sorted(Counter(table["tier"]).items())),
        "reasons": dict(sorted(Counter(r for said in table["reasons"] for r in said.split("; ") if r).items())),
        "key_sources": dict(sorted(Counter(table["key_source"]).items())),
        "sources": {name: "human" if human else "model" for name, human in sorted(sources.items())},
        "label": "keys" if any(sources.values()) else "model-keys: no person gave one",
        "hard_stops": sum(1 for marks in hard_stops(keys).values() if marks),
        "rule": {"unanimous_keys": rules.keys, "endorsement": rules.endorsement, "provenance": "complete", "flags": 0},
        "agreement": agreement(bank, keys),
        "fixed": fixed,
    }


def hard_stops(keys: Sequence[Key]) -> dict[str, str]:
    """Item id -> letters that some source says must never be chosen; items without any are left out."""
    found: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        found[key.item_id] |= set(key.never)
    return {item: "".join(sorted(marks)) for item, marks in sorted(found.items()) if marks}


def agreement(bank: Sequence[BankItem], keys: Sequence[Key]) -> dict[str, float | None]:
    """Agreement of the sources over items: share of agreeing pairs, and Gwet's AC1."""
    sources = sorted({key.source for key in keys})
    given = {(key.item_id, key.source): key.letter or None for key in keys}
    ratings = [[given.get((item.item_id, source)) for source in sources] for item in bank]
    return {"percent_agreement": percent_agreement(ratings).value, "gwet_ac1": gwet_ac1(ratings).value}


def abstention_rows(
    bank: Sequence[BankItem], responses: Sequence[Response], endpoints: Sequence[EndpointRow],
    tiers: Mapping[str, str], *, offered: bool, level: float = 0.95,
) -> list[Row]:
    """Rows of `abstention`: each endpoint on the probe and on answerable items.

    Empty when abstaining was not `offered` and there is no probe. Only `abstained` counts as declining: a refusal or a
    reply that cannot be read is unresolved. First order and repeat only, with the question shown.
    """  # fmt: skip
    if not offered and PROBE not in tiers.values():
        return []
    main = {
        (row.endpoint_id, row.item_id): row
        for row in responses
        if row.order == 0 and row.repeat == 0 and row.mode not in NO_STEM_MODES
    }
    rows: list[Row] = []
    for endpoint in endpoints:
        name = endpoint.endpoint_id
        if not offered:
            reason = "abstaining was not offered: set panel.abstention"
            rows.append(unknown("abstention on the probe", "Wilson interval", reason, endpoint_id=name))
            continue
        mine = {item.item_id: main[name, item.item_id] for item in bank if (name, item.item_id) in main}
        rows += _profile_rows(name, mine, tiers, level)
    return rows


def _profile_rows(name: str, mine: Mapping[str, Response], tiers: Mapping[str, str], level: float) -> list[Row]:
    probe = [row for item, row in mine.items() if tiers.get(item) == PROBE]
    rest = [row for item, row in mine.items() if tiers.get(item) != PROBE]
    found = abstention_profile(
        [_declined(row) for row in probe], [_declined(row) for row in rest],
        [float("nan") if row.correct is None else float(row.correct) for row in rest], level=level,
    )  # fmt: skip
    told = {
        "abstention on the probe": found.abstention, "forced commitment on the probe": found.forced,
        "over-abstention on answerable items": found.over_abstention, "coverage of answerable items": found.coverage,
        "accuracy where answered": found.accuracy_answered,
    }  # fmt: skip
    rows = [result(statistic, estimate, endpoint_id=name) for statistic, estimate in told.items()]
    method, n = "abstention minus over-abstention; 0 for one that declines blindly", len(probe) + len(rest)
    note = "" if found.separation is not None else "needs both a probe and answerable items"
    rows.append(result("separation", Estimate(found.separation, None, None, method, n, None, note), endpoint_id=name))
    unresolved = Estimate(float(found.unresolved), None, None, "replies without an outcome, left out", n)
    return [*rows, result("unresolved", unresolved, endpoint_id=name)]


def hard_stop_rows(
    responses: Sequence[Response], endpoints: Sequence[EndpointRow], never: Mapping[str, str], *, level: float = 0.95
) -> list[Row]:
    """Rows of `abstention`: how often each endpoint chose an option that must never be chosen; none without rules.

    `never` (item id -> letters in the bank's own order) is what `hard_stops` gives. Rows without a choice are left out.
    The interval is one-sided: none in n excludes only rates above 1 - (1 - level)^(1/n).
    """
    rows = []
    for endpoint in endpoints if never else ():
        mine = [
            LETTERS[row.choice] in never[row.item_id]
            for row in responses
            if row.endpoint_id == endpoint.endpoint_id and row.item_id in never and row.choice is not None
            and row.order == 0 and row.repeat == 0 and row.mode not in NO_STEM_MODES
        ]  # fmt: skip
        name = "hard-stop violations"
        if mine:
            rows.append(result(name, hard_stop(sum(mine), len(mine), level=level), endpoint_id=endpoint.endpoint_id))
        else:
            rows.append(unknown(name, "one-sided exact", "no item with such a rule was answered",
                                endpoint_id=endpoint.endpoint_id))  # fmt: skip
    return rows


def _declined(row: Response) -> float:
    """1 abstained, 0 answered, nan neither."""
    return 1.0 if row.status == "abstained" else 0.0 if row.status == "parsed" else float("nan")

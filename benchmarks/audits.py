"""How long the audits take: every rule, the duplicates, the validation by Great Expectations.

python -m benchmarks.audits rules microseconds an item of each rule python -m benchmarks.audits bank 3058 measures,
duplicates and both suites over so many items python -m benchmarks.audits duplicates 100000 the duplicate filter
alone, and the memory it takes

Items are made from the words of this module's small vocabulary and a seed, so that nothing has to be downloaded.
Times are processor seconds of this process, which other programs on the machine disturb less than wall time; both are
printed.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from examgen.audits import AuditItem, measure_items
from examgen.audits.duplicates import FLOOR, duplicate_columns, find_pairs
from examgen.audits.measures import ITEM_RULES, rule_name
from examgen.ids import item_id, seed_of

_SUBJECT_WORDS = """
lesions plaques rims veins nerves segments scans criteria antibodies relapses cohorts protocols
"""
_SUBJECTS = _SUBJECT_WORDS.split()
_PLACE_WORDS = """
brainstem cerebellum thalamus cortex cord chiasm orbit pons midbrain ventricle meninges hippocampus
"""
_PLACES = _PLACE_WORDS.split()
_VERB_WORDS = """
occupy spare precede accompany exclude follow predict resemble outlast obscure define modify
"""
_VERBS = _VERB_WORDS.split()
_ADJECTIVE_WORDS = """
short long ovoid linear central peripheral early late mild severe focal diffuse dark bright
"""
_ADJECTIVES = _ADJECTIVE_WORDS.split()
_SYLLABLE_WORDS = """
ba co di fu ga ho ji ke lo mu na po qui ra si tu va we xi yo za bri cla dro fle gri
"""
_SYLLABLES = _SYLLABLE_WORDS.split()


def _word(chooser: random.Random) -> str:
    return "".join(chooser.choice(_SYLLABLES) for _ in range(chooser.randint(2, 4)))


def _phrase(chooser: random.Random, words: int) -> str:
    pools = (_ADJECTIVES, _SUBJECTS, _VERBS, _PLACES)
    return " ".join(chooser.choice(pools[i % 4]) if chooser.random() < 0.7 else _word(chooser) for i in range(words))


def make_items(count: int, near: float = 0.01) -> list[AuditItem]:
    """So many items, of which a share `near` copies an earlier one but for a word or a number."""
    chooser = random.Random(seed_of("benchmark items", count))
    items: list[AuditItem] = []
    for number in range(count):
        if items and chooser.random() < near:
            old = chooser.choice(items)
            words = old.stem.split()
            words[chooser.randrange(len(words) - 1)] = chooser.choice(("two", "nine", _word(chooser)))
            stem, options = " ".join(words), old.options
        else:
            told = _phrase(chooser, chooser.randint(14, 30))
            stem = f"In a cohort of {chooser.randint(10, 99)} patients, {told} and typically reach"
            options = tuple(f"{_phrase(chooser, 6)} of {chooser.randint(2, 40)} mm" for _ in range(4))
        key = chooser.randrange(4)
        items.append(
            AuditItem(
                item_id(stem, options, options[key]),
                stem,
                options,
                key,
                f"{_phrase(chooser, 12)}.",
                f"topic {number % 40}",
                "subtopic",
                "medium",
                candidate_id=f"c{number}",
            )
        )
    return items


@contextmanager
def clock(what: str, count: int) -> Iterator[None]:
    """Print the processor and wall time of a block."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    used = time.process_time() - processor
    print(
        f"{what:34s} {used:9.2f} s cpu {time.perf_counter() - wall:9.2f} s wall {1e6 * used / count:9.1f} us/item",
        flush=True,
    )


def rules(count: int = 2000) -> None:
    """Time of each rule; words are cut once an item, before the clock starts."""
    items = make_items(count)
    measure_items(items, None)
    for rule in ITEM_RULES:
        with clock(rule_name(rule), count):
            for item in items:
                rule(item)


def duplicates(count: int) -> None:
    """The search for duplicates and the memory it takes beyond the items."""
    items = make_items(count)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with clock(f"duplicates of {count:,}", count):
        pairs = find_pairs(items)
        duplicate_columns(items, pairs, False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{len(pairs):,} pairs; peak memory {peak / 1024:,.0f} MB, {(peak - before) / 1024:,.0f} MB above the items")


def bank(count: int) -> None:
    """Everything over a bank."""
    from expectations import acceptance, engine

    items = make_items(count)
    with clock("import of Great Expectations", count):
        engine.prepare()
    with clock(f"measures of {count:,}", count):
        frame = measure_items(items, None)
    with clock("duplicates", count):
        pairs = find_pairs(items)
        columns = duplicate_columns(items, pairs, False)
    whole = frame.join(columns)
    whole.attrs["floor"] = FLOOR
    for suite in ("item_acceptance", "external_bank", "final_bank"):
        with clock(f"suite {suite}", count):
            judgement = acceptance.judge(whole, "", suite)
        print(
            f"    {len(judgement.examined)} checks, {len(judgement.findings):,} findings, "
            f"{len(judgement.rejected_ids):,} rejected"
        )


def main() -> None:
    """Run the part asked for."""
    parts: dict[str, Callable[[int], None]] = {"rules": rules, "duplicates": duplicates, "bank": bank}
    part = sys.argv[1] if len(sys.argv) > 1 else "rules"
    parts[part](int(sys.argv[2]) if len(sys.argv) > 2 else {"rules": 2000, "bank": 3058, "duplicates": 100_000}[part])


if __name__ == "__main__":
    main()

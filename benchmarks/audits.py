"""How long the audits take: every rule, the duplicates, the validation by Great Expectations.

    python -m benchmarks.audits rules 2000          microseconds an item of each rule
    python -m benchmarks.audits bank 3058           measures, duplicates and the suites over so many items
    python -m benchmarks.audits growth 3058 20000   the same at two sizes: how the time an item grows
    python -m benchmarks.audits duplicates 100000   the search for alike texts alone
    python -m benchmarks.audits whole 100000        all rules, duplicates, semantic pairs of given vectors, suites

Items are made from the words of this module's small vocabulary and a seed, so that nothing has to be downloaded.
Times are processor seconds of this process, which other programs on the machine disturb less than wall time; both are
printed, with the peak of memory so far.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from examgen.audits import AuditItem, measure_items
from examgen.audits.duplicates import FLOOR, duplicate_columns, find_pairs, semantic_pairs
from examgen.audits.measures import ITEM_RULES, rule_name
from examgen.ids import content_hash, item_id, seed_of
from examgen.records import Chunk, Evidence

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


def with_sources(items: list[AuditItem]) -> tuple[list[AuditItem], dict[str, Chunk]]:
    """The items, each with a passage of its own that says what it asks, quoted as evidence and explanation."""
    grounded, chunks = [], {}
    for number, item in enumerate(items):
        quote = f"{item.stem} {item.key_text}."
        text = f"{quote} {item.explanation}"
        evidence = Evidence(source_id="s", chunk_id=f"k{number}", quote=quote, start=0, end=len(quote))
        grounded.append(replace(item, evidence=(evidence,), explanation=quote))
        chunks[evidence.chunk_id] = Chunk(
            chunk_id=evidence.chunk_id, content_hash=content_hash(text), source_id="s", path="a.md", start=0,
            end=len(text), ordinal=number, text=text,
        )  # fmt: skip
    return grounded, chunks


USED: dict[str, float] = {}
"""Processor seconds of the parts that were clocked."""


def peak() -> float:
    """Peak memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def clock(what: str, count: int) -> Iterator[None]:
    """Print the processor and wall time of a block, and the peak of memory after it."""
    wall, processor = time.perf_counter(), time.process_time()
    yield
    used = USED[what] = time.process_time() - processor
    print(
        f"{what:34s} {used:9.2f} s cpu {time.perf_counter() - wall:9.2f} s wall {1e6 * used / count:9.1f} us/item "
        f"{peak():8,.0f} MiB peak",
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
    """The search for duplicates."""
    items = make_items(count)
    print(f"{count:,} items: {peak():,.0f} MiB before")
    with clock("duplicates", count):
        pairs = find_pairs(items)
        duplicate_columns(items, pairs, False)
    print(f"    {len(pairs):,} pairs")


def given_vectors(count: int, dimensions: int = 384) -> np.ndarray:
    """Unit vectors (count, dimensions), float32: one in a hundred close to the one before."""
    chooser = np.random.default_rng(seed_of("benchmark vectors", count))
    vectors = chooser.standard_normal((count, dimensions), dtype=np.float32)
    vectors[1::100] = vectors[0 : count - 1 : 100][: len(vectors[1::100])] + np.float32(0.3) * vectors[1::100]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def bank(count: int, semantic: bool = False) -> None:
    """Everything over a bank."""
    from expectations import acceptance, engine

    items, chunks = with_sources(make_items(count))
    print(f"{count:,} items with their passages: {peak():,.0f} MiB")
    with clock("import of Great Expectations", count):
        engine.prepare()
    with clock("measures", count):
        frame = measure_items(items, chunks)
    with clock("duplicates", count):
        pairs = find_pairs(items)
    if semantic:
        vectors = given_vectors(count)
        with clock("semantic pairs", count):
            pairs += semantic_pairs(items, vectors)
        del vectors
    with clock("columns of duplicates", count):
        whole = frame.join(duplicate_columns(items, pairs, semantic))
    whole.attrs["floor"] = FLOOR
    for suite in ("item_acceptance", "external_bank", "final_bank"):
        with clock(f"suite {suite}", count):
            judgement = acceptance.judge(whole, "", suite)
        print(
            f"    {len(judgement.examined)} checks, {len(judgement.findings):,} findings, "
            f"{len(judgement.rejected_ids):,} rejected"
        )


def whole(count: int) -> None:
    """Everything over a bank, with semantic pairs of given vectors."""
    bank(count, semantic=True)


def growth(small: int, large: int) -> None:
    """Processor time an item at two sizes; 1 is linear growth, `large / small` quadratic."""
    bank(small)
    first = dict(USED)
    bank(large)
    for part, used in USED.items():
        if part != "import of Great Expectations" and first[part] > 0:
            print(f"{part:34s} {(used / large) / (first[part] / small):6.2f} x the time an item")


def main() -> None:
    """Run the part asked for."""
    parts: dict[str, Callable[..., None]] = {
        "rules": rules, "duplicates": duplicates, "bank": bank, "whole": whole, "growth": growth,
    }  # fmt: skip
    defaults = {"rules": [2000], "bank": [3058], "duplicates": [100_000], "whole": [100_000], "growth": [3058, 20_000]}
    part = sys.argv[1] if len(sys.argv) > 1 else "rules"
    parts[part](*([int(word) for word in sys.argv[2:]] or defaults[part]))


if __name__ == "__main__":
    main()

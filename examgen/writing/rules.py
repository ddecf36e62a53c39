"""The writer: candidates for a subtopic and stratum from the statements of its passages, best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from examgen import ids
from examgen.evidence import Statement
from examgen.lexicons import Lexicons, SiblingSet, any_of
from examgen.records import Candidate, Chunk, Evidence, Stratum, Topic
from examgen.writing.balance import lean, select
from examgen.writing.clauses import Clause, read
from examgen.writing.definitions import define, definitions, others
from examgen.writing.explanations import explanation
from examgen.writing.facts import CorpusFacts, names_of, similarity, terms_of
from examgen.writing.options import Construction, at_verb, four_values, one_slot, two_by_two
from examgen.writing.slots import Slot, find_slots
from examgen.writing.stems import lead_in
from examgen.writing.synthesis import Pair, pairs
from examgen.writing.vignettes import frame_kind, vignette

WRITER = "rules/1"


@dataclass(frozen=True)
class Draft:
    """An item before it belongs to a subtopic: options with the key first."""

    stem: str
    options: tuple[str, ...]
    explanation: str
    question_type: str
    parts: tuple[dict[str, object], ...]
    evidence: tuple[Evidence, ...]
    score: float

    @classmethod
    def of(
        cls, stem: str, options: Sequence[str], made: Sequence[Construction], evidence: Sequence[Evidence], score: float
    ) -> Draft:
        """A draft whose options come from constructions."""
        parts = tuple(part.record() for part in made)
        kind = made[0].slots[0].question_type
        return cls(stem, tuple(options), explanation(made), kind, parts, tuple(evidence), score)


def write(
    topic: Topic,
    stratum: Stratum,
    wanted: int,
    chunks: Sequence[Chunk],
    corpus: CorpusFacts,
    lexicons: Lexicons,
    batch: str,
    attempt: int = 1,
) -> list[Candidate]:
    """At most `wanted` candidates; a later attempt returns the next best, never those of an earlier one."""
    drafts = list(_drafts(topic, stratum, chunks, corpus, lexicons))
    picked = select(drafts, wanted * attempt, topic.topic_id, stratum)[wanted * (attempt - 1) :]
    return [_candidate(draft, topic, stratum, batch, attempt, lexicons) for draft in picked]


def permitted(statement: Statement) -> tuple[Stratum, ...]:
    """The two single-statement strata a statement may serve, the preferred one first: no fact is asked three ways."""
    plain: Stratum = ("easy", "medium")[ids.seed_of("plain", statement.text) % 2]
    pair: tuple[Stratum, ...] = (plain, "hard")
    return pair if ids.seed_of("first", statement.text) % 3 else pair[::-1]


__all__ = ["WRITER", "CorpusFacts", "permitted", "write"]


@lru_cache(maxsize=16384)
def reading(
    statement: Statement, lexicons: Lexicons, kinds: tuple[SiblingSet, ...] = ()
) -> tuple[Clause | None, tuple[Slot, ...]]:
    """A statement's clause and slots, kept because many subtopics share passages."""
    clause = read(statement, lexicons)
    return clause, tuple(find_slots(clause, lexicons, kinds)) if clause else ()


def _named(clause: Clause, lexicons: Lexicons) -> bool:
    """Whether the opening says what it is about: "Symptoms progress" does so only beside the text it stands in."""
    opening = clause.text[: clause.verb]
    if clause.frame or names_of(opening):
        return True
    return any_of(lexicons.words["generic_subjects"]).search(opening.lower()) is None


def _drafts(
    topic: Topic, stratum: Stratum, chunks: Sequence[Chunk], corpus: CorpusFacts, lexicons: Lexicons
) -> Iterator[Draft]:
    readings = []
    quoted = []
    for statement, evidence in corpus.statements_in(chunks):
        fit = _fit(topic, statement, corpus)
        if fit < (0.02 if stratum == "synthesis" else 0.15):
            continue
        quoted.append((statement, evidence))
        clause, slots = reading(statement, lexicons, corpus.kinds)
        if clause and slots and _named(clause, lexicons):
            readings.append((clause, slots, evidence, fit))
    if stratum == "synthesis":
        yield from _joint(readings, frozenset((*topic.chunk_ids, *topic.passages)), corpus, lexicons)
        return
    if stratum == "easy":
        yield from _defining(quoted, corpus, lexicons)
    for clause, slots, evidence, fit in readings:
        strata = permitted(clause.statement)
        if stratum in strata:
            draft = _single(stratum, clause, slots, evidence, corpus, lexicons)
            if draft:
                bonus = fit + (0.3 if strata[0] == stratum else 0.0)
                yield replace(draft, score=draft.score + bonus)


def _defining(
    quoted: Sequence[tuple[Statement, Evidence]], corpus: CorpusFacts, lexicons: Lexicons
) -> Iterator[Draft]:
    groups = definitions(corpus, lexicons)
    for statement, evidence in quoted:
        definition = define(statement, lexicons)
        names = others(definition, groups.get(f"{definition.noun} {definition.verb}", ()), corpus) if definition else []
        if definition and len(names) == 3:
            told = f"{statement.text} So the answer is {definition.subject}, not {names[0]}, {names[1]} or {names[2]}."
            part: dict[str, object] = {"statement": statement.text, "original": definition.subject, "perturbed": names}
            yield Draft(definition.stem, (definition.subject, *names), told, "definition", (part,), (evidence,), 0.9)


def _fit(topic: Topic, statement: Statement, corpus: CorpusFacts) -> float:
    """How much of the subtopic's label the statement and its heading share."""
    label = terms_of(f"{topic.subtopic}")
    own = terms_of(statement.text) | terms_of(statement.heading.split(" > ")[-1])
    return similarity(label, own, corpus) if label else 0.0


def _single(
    stratum: Stratum, clause: Clause, slots: Sequence[Slot], evidence: Evidence, corpus: CorpusFacts, lexicons: Lexicons
) -> Draft | None:
    crossed = two_by_two(clause, slots, lexicons)
    if stratum == "easy":
        tried = [*sorted(four_values(clause, slots, lexicons), key=lambda c: -c.score), *crossed]
        limit = (1, 18)
    elif stratum == "medium":
        tried, limit = crossed, (3, 40)
    else:
        tried, limit = [*crossed[1:], *crossed[:1]], (8, 60)
    found: list[Draft] = []
    for construction in tried:
        for made in (construction, at_verb(construction)):
            options = [text for _, text in made.options()]
            if all(limit[0] <= len(text.split()) <= limit[1] for text in options) and _false(made, corpus):
                stem = vignette(made, lexicons, corpus.vocabulary) if stratum == "hard" else lead_in(made, lexicons)
                if stem and _sound(stem, options, stratum):
                    plain = 0.2 if frame_kind(clause, lexicons) == "other" and stratum == "hard" else 0.0
                    score = made.score - plain - _unbalanced(stem, options)
                    found.append(Draft.of(stem, options, [made], [evidence], score))
                    break
    return max(found, key=lambda draft: draft.score, default=None)


def _unbalanced(stem: str, options: Sequence[str]) -> float:
    """Between several constructions of one statement, a coin prefers keys that lean one way in length."""
    wanted = 1 if ids.seed_of("lean", stem) % 2 else -1
    return 0.2 if lean(options)[0] * wanted < 0 else 0.0


def _joint(
    readings: Sequence[tuple[Clause, Sequence[Slot], Evidence, float]],
    own: frozenset[str],
    corpus: CorpusFacts,
    lexicons: Lexicons,
) -> Iterator[Draft]:
    """Pairs with at least one sentence from the subtopic's own passages, so that no two subtopics ask the same pair."""
    halves: list[Construction] = []
    evidence: dict[str, Evidence] = {}
    for clause, slots, quote, _ in readings:
        made = [half for half in one_slot(clause, slots, lexicons) if _false(half, corpus)]
        if made:
            halves.append(made[0])
            evidence[clause.text] = quote
    at_home = {text for text, quote in evidence.items() if not own or quote.chunk_id in own}
    for pair in pairs(halves, at_home, corpus):
        for pick in (pair, Pair(at_verb(pair.first), at_verb(pair.second), pair.closeness)):
            options = [text for _, text in pick.options()]
            stem = pick.stem()
            if all(14 <= len(text.split()) <= 70 for text in options) and _sound(stem, options, "synthesis"):
                parts = (pick.first, pick.second)
                quotes = [evidence[part.clause.text] for part in parts]
                yield Draft.of(stem, options, parts, quotes, pick.score)
                break


def _false(construction: Construction, corpus: CorpusFacts) -> bool:
    """Whether the corpus supports none of the false options elsewhere."""
    for picks, text in construction.options()[1:]:
        for slot, values, pick in zip(construction.slots, construction.values, picks, strict=True):
            if pick and corpus.supports(construction.head, text, values[pick], slot.surface):
                return False
    return True


def _sound(stem: str, options: Sequence[str], stratum: Stratum) -> bool:
    """Lengths as the strata ask: stems long enough, the key (first) hardly longer than the rest."""
    words = [len(option.split()) for option in options]
    if len(set(map(ids.normalised, options))) != 4:
        return False
    least = {"easy": 5, "medium": 5, "hard": 18, "synthesis": 35}[stratum]
    advantage, ratio = {"synthesis": (2, 1.08), "hard": (4, 1.15)}.get(stratum, (4, 1.6))
    others = words[1:]
    if stratum == "synthesis" and words[0] > max(others):
        return False
    return len(stem.split()) >= least and words[0] - max(others) <= advantage and words[0] / (sum(others) / 3) <= ratio


def _candidate(draft: Draft, topic: Topic, stratum: Stratum, batch: str, attempt: int, lexicons: Lexicons) -> Candidate:
    key = draft.options[0]
    item = ids.item_id(draft.stem, draft.options, key)
    options = tuple(sorted(draft.options, key=lambda text: ids.seed_of("order", item, text)))
    return Candidate(
        candidate_id=ids.digest("candidate", batch, topic.topic_id, stratum, item),
        item_id=item,
        topic_id=topic.topic_id,
        topic=topic.topic,
        subtopic=topic.subtopic,
        stratum=stratum,
        stem=draft.stem,
        options=options,
        key=options.index(key),
        explanation=draft.explanation,
        evidence=draft.evidence,
        question_type=draft.question_type,
        semantic_parent=topic.topic,
        construction_batch=batch,
        writer=WRITER,
        attempt=attempt,
        raw=_raw(draft, lexicons),
    )


def _raw(draft: Draft, lexicons: Lexicons) -> str:
    made = {"parts": list(draft.parts), "lexicons": lexicons.version, "writer": WRITER, "score": round(draft.score, 3)}
    return ids.canonical_json(made)

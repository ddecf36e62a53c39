"""The rule-based screen: the four questions of the consistency screen, as far as text alone can answer them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examgen.phrases import content_words
from examgen.records import Candidate, Chunk, Verdict

SCREENER = "rules/1"
STEM_SHARE = 0.6
"""Share of a stem's content words that a sentence must hold to speak of the same thing."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"(])|\n+")


def sentences(text: str) -> list[str]:
    """Rough sentences of a passage: enough to ask whether one of them says something."""
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip()]


def _share(part: set[str], whole: set[str]) -> float:
    return len(part & whole) / len(part) if part else 1.0


def _stems(words: set[str]) -> set[str]:
    """Words without endings and hyphens, so that "suppressed" meets "suppress" and "open-ring" meets "open ring"."""
    parts = {part for word in words for part in word.split("-") if part}
    return {re.sub(r"(ing|ed|es|s|e)$", "", part) if len(part) > 4 else part for part in parts}


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", text))


def supporting_sentence(option: str, key: str, stem: str, passages: Sequence[Chunk]) -> str:
    """The first sentence that says what a distractor says of the same subject, and not what the key says; else empty.

    Asked: all words that set the distractor apart from the key, none of those that set the key apart, and at least
    `STEM_SHARE` of the stem's words.
    """
    own = content_words(option) - content_words(key)
    keys = content_words(key) - content_words(option)
    shared = content_words(option) & content_words(key)
    if not own:
        return ""
    about = content_words(stem)
    for chunk in passages:
        for sentence in sentences(chunk.text):
            words = content_words(sentence)
            says_it = own <= words and not keys & words
            if says_it and _share(about, words) >= STEM_SHARE and _share(shared, words) >= STEM_SHARE:
                return sentence
    return ""


def screen_by_rules(candidate: Candidate, stored: Sequence[Chunk], fresh: Sequence[Chunk] = ()) -> Verdict:
    """Is it answerable from its context, is the key what the evidence says, does the explanation agree, is it unique?

    `stored` are the passages the item rests on, `fresh` those a new search brought. Text can refute, not prove:
    an accepted item has passed what words and numbers can tell.
    """
    quotes = " ".join(evidence.quote for evidence in candidate.evidence)
    quoted = content_words(quotes)
    context = set().union(*(content_words(chunk.text) for chunk in stored)) if stored else set()
    key, issues = candidate.key_text, []
    answerable = bool(stored) and _share(content_words(key), context) >= 0.8
    if not answerable:
        issues.append("not answerable: the key's words are not in the item's context")
    lost = _numbers(key) - _numbers(quotes)
    key_consistent = _share(content_words(key), quoted) >= 0.8 and not lost
    if not key_consistent:
        issues.append(f"key not in the evidence: {', '.join(sorted(lost or content_words(key) - quoted))}")
    own = content_words(key) - set().union(
        *(content_words(o) for i, o in enumerate(candidate.options) if i != candidate.key)
    )
    explained = content_words(candidate.explanation)
    missing = _stems(own) - _stems(explained | content_words(candidate.stem))
    explanation_consistent = bool(candidate.explanation) and not missing
    if not explanation_consistent:
        issues.append(f"explanation does not name: {', '.join(sorted(missing)) or 'anything'}")
    unique = True
    for place, option in enumerate(candidate.options):
        said = "" if place == candidate.key else supporting_sentence(option, key, candidate.stem, [*stored, *fresh])
        if said:
            unique = False
            issues.append(f"a distractor is supported elsewhere: {option!r} by {said!r}")
    passages = list(dict.fromkeys(chunk.chunk_id for chunk in [*stored, *fresh]))
    return Verdict(
        candidate_id=candidate.candidate_id,
        item_id=candidate.item_id,
        screener=SCREENER,
        family="rules",
        answerable=answerable,
        key_consistent=key_consistent,
        explanation_consistent=explanation_consistent,
        unique=unique,
        accepted=not issues,
        issues=tuple(issues),
        context="fresh" if fresh else "stored",
        context_chunk_ids=tuple(passages),
    )

"""What a capable model would say, made from the prompt alone: taxonomy, items with verbatim quotes, verdicts, letters.

`reply` is a pure function of the request's body, so that the same call gets the same answer from any stub server.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.stub_server import letter_of, share

_PASSAGE = re.compile(r'<passage id="([^"]+)" source="([^"]+)">\n(.*?)\n</passage>', re.S)
_PAIRS = (
    ("more", "less"), ("common", "uncommon"), ("frequent", "rare"), ("anterior", "posterior"), ("large", "small"),
    ("bilateral", "unilateral"), ("positive", "negative"), ("central", "peripheral"), ("adults", "children"),
    ("typically", "rarely"), ("higher", "lower"), ("long", "short"), ("requires", "excludes"), ("often", "seldom"),
    ("cortical", "pontine"), ("spinal", "cerebral"), ("acute", "chronic"), ("at least", "at most"), ("two", "three"),
    ("lesions", "haemorrhages"), ("brain", "retinal"), ("optic", "facial"), ("criteria", "trials"), ("one", "five"),
)  # fmt: skip
_OPPOSITE = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_TURN = re.compile(rf"\b(?:{'|'.join(_OPPOSITE)})\b")


_CASE = {
    "easy": "Consider {}.",
    "medium": "A colleague asks about {}.",
    "hard": "A radiologist reads the follow-up examination of an adult and is unsure about {}.",
    "synthesis": (
        "A 34-year-old patient is discussed in a conference of neurologists and radiologists who disagree on {}, and "
        "two bodies of work are weighed against each other before a decision on the next step is taken."
    ),
}


def reply(body: dict[str, Any]) -> str:
    """The answer to any prompt of this project."""
    asked = body["messages"][0]["content"]
    if asked.startswith("Below are passages"):
        return taxonomy(asked)
    if asked.startswith("You write one multiple-choice exam item"):
        return item(asked)
    if asked.startswith("Check one exam item"):
        return verdict(asked)
    return letter_of(body)


def taxonomy(asked: str) -> str:
    """A topic a source, a subtopic a passage, named by the passage's first words."""
    topics: dict[str, list[dict[str, Any]]] = {}
    for chunk_id, source, text in _PASSAGE.findall(asked):
        words = re.findall(r"[A-Za-z]{4,}", text)
        subtopics = topics.setdefault(source, [])
        if len(subtopics) < 2:
            subtopics.append({"subtopic": " ".join(words[:4]), "description": text[:60], "chunk_ids": [chunk_id]})
    named = [
        {"topic": f"Imaging area {' '.join(subtopics[0]['subtopic'].split()[:2])}", "subtopics": subtopics}
        for subtopics in topics.values()
    ]
    return f"Here is the taxonomy.\n```json\n{json.dumps({'topics': named}, ensure_ascii=False)}\n```"


@dataclass(frozen=True)
class Statement:
    """A sentence of a passage: what it speaks of ("In X"), what it says, and near misses of that."""

    chunk_id: str
    source: str
    quote: str
    lead: str
    said: str
    misses: tuple[str, ...]


def statements(asked: str) -> list[Statement]:
    """The sentences "In X, …" of the passages shown of which a near miss can be made."""
    found = []
    for chunk_id, source, text in _PASSAGE.findall(asked):
        for quote in re.findall(r"(?:(?<=[.!?] )|(?<=\n)|^)In [^.!?\n]{40,260}\.(?=\s|$)", text):
            lead, _, said = quote.rstrip(".").partition(", ")
            misses = near_misses(said)
            if misses and len(said.split()) >= 8:
                found.append(Statement(chunk_id, source, quote, lead, said, misses))
    return found


def near_misses(said: str) -> tuple[str, ...]:
    """The statement with one word or number turned, then with two."""
    single = [said.replace(match[0], _turned(match[0]), 1) for match in _TURN.finditer(said)]
    double = [_TURN.sub(lambda match: _turned(match[0]), said)] if len(single) > 1 else []
    more = []
    number = re.search(r"\b\d{1,3}\b", said)
    if number:
        more = [f"{said[: number.start()]}{int(number[0]) + step}{said[number.end() :]}" for step in (2, 4, 6)]
    return tuple(text for text in dict.fromkeys([*single, *double, *more]) if text != said)


def _turned(word: str) -> str:
    return _OPPOSITE[word]


def item(asked: str) -> str:
    """An item on one statement with near misses; a synthesis item joins statements of two sources."""
    found = statements(asked)
    number = int(re.search(r"This is item (\d+)", asked)[1])  # type: ignore[index]
    subtopic = re.search(r"Subtopic: (.*)", asked)[1]  # type: ignore[index]
    level = re.search(r"Level: (\w+)", asked)[1]  # type: ignore[index]
    place = 4 * (number - 1) + ("easy", "medium", "hard", "synthesis").index(level)
    if level == "synthesis":
        pairs = [(one, two) for one in found for two in found if one.source < two.source]
        chosen = pairs[(place * 7) % len(pairs)] if pairs else ()
    else:
        rich = [one for one in found if len(one.misses) >= 3]
        chosen = (rich[place % len(rich)],) if rich else ()
    if not chosen:
        return "The passages hold no statement I could ask about."
    first, last = chosen[0], chosen[-1]
    if first is last:
        key, wrong = first.said, list(first.misses[:3])
    else:
        key = f"{first.said}, and {_lower(last.lead)}, {last.said}"
        wrong = [
            f"{one}, and {_lower(last.lead)}, {two}"
            for one, two in (
                (first.misses[0], last.said), (first.said, last.misses[0]), (first.misses[0], last.misses[0]),
            )
        ]  # fmt: skip
    return json.dumps(
        {
            "stem": f"{_CASE[level].format(subtopic.lower())} {first.lead}, what does the evidence support?",
            "correct_answer": key,
            "distractors": wrong,
            "explanation": f"The sources say it so: {key}. Each of the other statements turns one fact around.",
            "question_type": "single best answer",
            "evidence": [{"chunk_id": one.chunk_id, "quote": one.quote} for one in dict.fromkeys(chosen)],
        },
        ensure_ascii=False,
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def verdict(asked: str) -> str:
    """Accepts nine items in ten, as a function of the item's text."""
    stem = asked.split("<item>")[1].split("</item>")[0]
    good = share("screen", stem) < 0.9
    issues = [] if good else [{"severity": "major", "text": "another value may be right as well"}]
    return json.dumps({
        "answerable": True, "key_consistent": True, "explanation_consistent": True, "unique": good, "issues": issues,
    })  # fmt: skip

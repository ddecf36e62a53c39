"""Sibling terms from the corpus itself, for domains no lexicon covers: terms of one head noun, members of lists."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from examgen.evidence import words_set
from examgen.lexicons import SiblingSet

_VAGUE = words_set(
    "different other same first second third last several many various similar certain individual whole entire main "
    "good better common typical specific particular single following new previous next more most some each this that "
    "these those with from into their which using both multiple important possible available additional to general "
    "original potential normal actual real final local total overall"
)
_PAIR = re.compile(r"(?<![\w-])(?=([a-z][a-z-]{3,}) ([a-z]{5,})(?![\w-]))")
_TERM = r"[a-z][a-z-]+(?: [a-z-]+)?"
_LIST = re.compile(rf"((?:{_TERM}, ){{2,5}}{_TERM}),? (?:and|or) ({_TERM})(?=[.,;)])")
_NO_HEAD = words_set("across between using within about after before during under through example images")
_LED_IN = re.compile(r"^(?:as|include|including|includes|are|is|the|a|an|of|in|by|like|with|for) ")
_MODIFIER_END = re.compile(r"(?:ic|al|ive|ous|ary|ar|ed|ent|ant|ory|ible|able|istic|weighted|based)$")
CUES = (
    *("called", "known as", "referred to as", "named", "termed", "defined as", "defined by", "based on", "caused by"),
    *("estimated with", "estimated by", "measured by", "measured with", "measured in", "produced by"),
)
"""Words right before a term that make the sentence exclusive: nothing else of the type is meant."""


def harvest(texts: Iterable[str]) -> tuple[SiblingSet, ...]:
    """Sets of at least four terms: kinds of one thing by their modifiers, and terms that a list of the corpus names."""
    heads: dict[str, Counter[str]] = defaultdict(Counter)
    lists: set[tuple[str, ...]] = set()
    for sentence in texts:
        for modifier, head in _PAIR.findall(sentence):
            if modifier not in _VAGUE and head not in _NO_HEAD and _MODIFIER_END.search(modifier):
                heads[head][modifier] += 1
        for match in _LIST.finditer(sentence):
            members = {_LED_IN.sub("", member) for member in (*match.group(1).split(", "), match.group(2))}
            if len(members) >= 4 and not any(set(member.split()) & _VAGUE for member in members):
                lists.add(tuple(sorted(members)))
    rich = sorted((head, sorted(found)) for head, found in heads.items() if _rich(found))
    named = [(f"kinds of {head}", tuple(f"{modifier} {head}" for modifier in found)) for head, found in rich]
    named += [(f"list of {members[0]}", members) for members in sorted(lists)]
    return tuple(SiblingSet(name, "term", 0.7, members, CUES, adjacent=True) for name, members in named)


def _rich(found: Counter[str]) -> bool:
    """Four modifiers or more, two of them used repeatedly: a head that the corpus tells kinds of."""
    return len(found) >= 4 and sum(count > 1 for count in found.values()) >= 2

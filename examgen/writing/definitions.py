"""Definitions: "X is a disorder that …" asked as "Which of these is a disorder that …?", in any domain.

The false options are other subjects that the corpus defines by the same noun.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from examgen.evidence import Statement, words_set
from examgen.ids import seed_of
from examgen.lexicons import Lexicons
from examgen.writing.attributions import without_authors
from examgen.writing.facts import CorpusFacts, names_of, terms_of

_DEFINED = re.compile(
    r"^(?P<subject>[A-Z][\w'/-]*(?: [\w'/-]+){0,5}?)(?: \([^)]*\))? (?P<verb>is|are) "
    r"(?P<what>(?:an?|the) .+|(?:[a-z-]+ )+(?:that|which) .+)$"
)
_ADDED = re.compile(r"[;,:] (?:and|but|whereas|while|although|so|such|including)\b")
_EARLY = 7
"""The noun that names the type stands within so many words."""
_NO_NAME = words_set(
    "the a an this that it one each another two three part example difference goal aim result reason number first "
    "below above"
)
_LEAST_WORDS = 7


@dataclass(frozen=True)
class Definition:
    """A defining statement: subject, "is" or "are", what it is, and the noun that says of which type."""

    statement: Statement
    subject: str
    verb: str
    what: str
    noun: str

    @property
    def stem(self) -> str:
        """The question of which subject is so defined."""
        return f"Which of these {self.verb} {self.what}?"


def define(statement: Statement, lexicons: Lexicons) -> Definition | None:
    """The statement as a definition; None when it is none or its subject is no name of something."""
    match = _DEFINED.match(without_authors(statement.text.rstrip(".").rstrip()))
    if not match:
        return None
    what = _ADDED.split(re.sub(r" \([^)]*\)", "", match["what"]))[0]
    if len(what.split()) < _LEAST_WORDS or re.search(r"[;():]|\bsuch as\b", what):
        return None
    subject, noun = match["subject"], _type_of(what, lexicons)
    words = [word.lower() for word in subject.split()]
    if not noun or words[0] in _NO_NAME or any(word in lexicons.finite for word in words):
        return None
    # The definition must not contain the name, and must say more than that the thing exists.
    if terms_of(subject) & terms_of(what) or len(terms_of(what)) < 5:
        return None
    return Definition(statement, subject, match["verb"], what, noun)


def _type_of(what: str, lexicons: Lexicons) -> str:
    """The type that a definition names early on: the first noun of the lexicon's line that holds the noun found."""
    early = [word.strip(",.").lower() for word in re.split(r"\b(?:that|which|of|for|used)\b", what)[0].split()[:_EARLY]]
    for line in lexicons.words["definition_types"]:
        nouns = line.split()
        if set(nouns) & set(early[-3:]):
            return nouns[0]
    return ""


@lru_cache(maxsize=8)
def definitions(facts: CorpusFacts, lexicons: Lexicons) -> dict[str, tuple[Definition, ...]]:
    """All definitions of a corpus by their noun and verb."""
    found: dict[str, list[Definition]] = defaultdict(list)
    for statement in facts.statements:
        definition = define(statement, lexicons)
        if definition:
            found[f"{definition.noun} {definition.verb}"].append(definition)
    return {noun: tuple(group) for noun, group in found.items()}


def others(definition: Definition, group: Sequence[Definition], facts: CorpusFacts) -> list[str]:
    """Three subjects of the same type that are not this one under another name and are not so defined elsewhere."""
    chosen: list[str] = []
    own = terms_of(definition.subject)
    for peer in sorted(group, key=lambda peer: seed_of("peer", definition.subject, peer.subject)):
        name = peer.subject
        taken = set().union(own, *(terms_of(other) for other in chosen))
        if terms_of(name) & taken or _initials(name) in _names(definition):
            continue
        if _initials(definition.subject) in _names(peer):
            continue
        if facts.supports(definition.what, name, name, definition.subject):
            continue
        chosen.append(name)
    return chosen[:3]


def _names(definition: Definition) -> frozenset[str]:
    return names_of(definition.statement.text) | {definition.subject.lower()}


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[ -]", name) if word).lower()

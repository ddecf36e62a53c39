"""Clauses: a statement read as frame, subject, finite verb and predicate, with the places at which it may be cut."""

from __future__ import annotations

import re
from dataclasses import dataclass

from examgen.evidence import Statement
from examgen.lexicons import Lexicons
from examgen.writing.attributions import without_authors

_WORD = re.compile(r"[^\W_](?:[\w'’/%×+.-]*[\w%])?|[,;()]")
_NEW_CLAUSE = re.compile(r"(?:,? (?:whereas|while|but|although)|;) |, and (?=\S)")
_BEFORE_TO = re.compile(
    r"\w+(?:ed|s)|adjacent|due|equal|close|perpendicular|parallel|point|contribute|relate|lead"
)
_RELATIVES = frozenset({"that", "which", "who", "whose", "where", "whom"})
_PLURALS = frozenset({"criteria", "people", "children", "men", "women", "data", "bacteria", "nuclei", "foci", "gyri"})


@dataclass(frozen=True)
class Token:
    """A word or mark of a text."""

    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        """The word in lower case."""
        return self.text.lower()


@dataclass(frozen=True)
class Clause:
    """A statement as an item needs it: `text` without author names, without final stop.

    Offsets are of `text`: the frame is `text[:frame_end]`, the subject `text[subject:verb]`, the finite verb
    `text[verb:verb_end]`, the predicate follows.
    """

    statement: Statement
    text: str
    tokens: tuple[Token, ...]
    frame_end: int
    subject: int
    verb: int
    verb_end: int
    base: str

    @property
    def frame(self) -> str:
        """The opening phrase without its comma, or nothing."""
        return self.text[: self.frame_end]

    @property
    def subject_text(self) -> str:
        """The subject with adverbs before the verb."""
        return self.text[self.subject : self.verb].strip()

    @property
    def verb_text(self) -> str:
        """The finite verb."""
        return self.text[self.verb : self.verb_end]

    def segments(self) -> list[tuple[int, int]]:
        """Spans of the predicate between clause joints (whereas, but, semicolon, and with a comma)."""
        marks = list(_NEW_CLAUSE.finditer(self.text, self.verb))
        starts = [self.verb, *(match.end() for match in marks)]
        ends = [*(match.start() for match in marks), len(self.text)]
        return list(zip(starts, ends, strict=True))

    def segment_of(self, place: int) -> int:
        """Number of the segment that holds a place."""
        spans = self.segments()
        return max((number for number, (start, _) in enumerate(spans) if start <= place), default=0)


def words_of(text: str) -> tuple[Token, ...]:
    """Words and marks of a text with their places."""
    return tuple(Token(match.group(), match.start(), match.end()) for match in _WORD.finditer(text))


def read(statement: Statement, lexicons: Lexicons) -> Clause | None:
    """The statement as a clause; None when its verb or frame cannot be told for certain, or it is about a paper."""
    text = without_authors(statement.text.rstrip(".").rstrip())
    if not text:
        return None
    tokens = words_of(text)
    for first in _frame_ends(text, tokens, lexicons):
        found = _finite_verb(tokens, first, lexicons)
        if found is None:
            continue
        number, base = found
        if number == first:
            continue
        frame_end = tokens[first - 1].start if first else 0
        return Clause(
            statement, text, tokens, frame_end, tokens[first].start, tokens[number].start, tokens[number].end, base
        )
    return None


def _frame_ends(text: str, tokens: tuple[Token, ...], lexicons: Lexicons) -> list[int]:
    """Numbers of tokens at which the subject may begin: after each early comma of an opening phrase, else the first."""
    opening = re.match(rf"(?:{'|'.join(lexicons.words['openers_of_frame'])})\b", text, re.IGNORECASE)
    if not opening:
        return [0]
    commas = [number + 1 for number, token in enumerate(tokens) if token.text == "," and number + 2 < len(tokens)]
    usable = [
        number for number in commas if tokens[number].lower not in {"and", "or", "which", "who", "but", "whereas"}
    ]
    return usable[:1] if usable else []


def _finite_verb(tokens: tuple[Token, ...], first: int, lexicons: Lexicons) -> tuple[int, str] | None:
    """Place and base form of the main clause's finite verb: clear forms before forms that may be nouns."""
    ambiguous, past = set(lexicons.words["ambiguous"]), set(lexicons.words["past"])
    for allow in (False, True):
        relative = False
        after_relative = False
        for number in range(first, len(tokens)):
            word = tokens[number].lower
            previous = tokens[number - 1].lower if number > first else ""
            if number > first and tokens[number].text in {",", ";"} and not relative:
                after_relative = False
            if word in _RELATIVES and number > first:
                relative = True
                continue
            base = lexicons.finite.get(word)
            if base is None or not _can_be_verb(tokens, number, first, word, previous, lexicons):
                continue
            if (word in ambiguous or word in past) and not allow and not relative and not _clearly(tokens, number):
                continue
            if relative:
                relative, after_relative = False, True
                continue
            if after_relative and previous in {"and", "or"}:
                continue
            return number, base
    return None


def _can_be_verb(
    tokens: tuple[Token, ...], number: int, first: int, word: str, previous: str, lexicons: Lexicons
) -> bool:
    if number == first or previous in {"to", "the", "a", "an", "no", "and/or", "its", "their"}:
        return False
    if word in lexicons.words["auxiliaries"]:
        return True
    if previous in lexicons.words["prepositions"]:
        return False
    if word in lexicons.words["past"]:
        return True
    if word.endswith("s") and lexicons.finite[word] != word:
        return True
    before = [token.lower for token in tokens[first:number]]
    return any(w in _PLURALS or w == "and" or (w.endswith("s") and not w.endswith(("ss", "us", "is"))) for w in before)


def _clearly(tokens: tuple[Token, ...], number: int) -> bool:
    """Whether a form that may be a noun stands where only a verb can: after "criteria", or before a determiner."""
    previous = tokens[number - 1].lower
    following = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    if previous in _PLURALS or previous in {"recommendations", "guideline", "guidelines", "lesions", "patients"}:
        return True
    return following in {"a", "an", "the", "no", "both", "only", "towards", "from"} and previous not in {
        "and",
        "or",
        "not",
    }


def is_verb(token: Token, lexicons: Lexicons) -> bool:
    """Whether a word is some finite form, ambiguous ones excepted."""
    return token.lower in lexicons.finite and token.lower not in lexicons.words["ambiguous"]


def is_plural(clause: Clause) -> bool:
    """Whether the clause's verb shows a plural subject."""
    verb = clause.verb_text.lower()
    return verb in {"are", "were", "have", "do"} or (verb == clause.base and verb not in {"is", "was", "has", "does"})


def cut_before(clause: Clause, place: int, lexicons: Lexicons) -> int:
    """The nearest place at or before `place` where the sentence may be cut: after a verb, preposition or adverb."""
    boundary = set(lexicons.words["prepositions"]) | set(lexicons.words["adverbs"]) | {"that"}
    participles = set(lexicons.words["participles"])
    at = place
    boundary.discard("to")
    before = [token for token in clause.tokens if token.end <= place]
    for number in range(len(before) - 1, -1, -1):
        token = before[number]
        if (
            token.lower == "to"
            and number
            and re.fullmatch(
            _BEFORE_TO, before[number - 1].lower
        )
        ):
            return at
        if token.end <= clause.verb:
            return clause.verb
        word = token.lower
        if token.start < clause.verb_end or word in boundary or is_verb(token, lexicons) or word in participles:
            return _after_quantifier(clause, at, word)
        if re.fullmatch(r"[a-z]+ed", word) and at == token.end + 1:
            return at
        at = token.start
    return clause.verb


def _after_quantifier(clause: Clause, at: int, word: str) -> int:
    """Do not cut inside "at least", "at most", "more than": step back over the words that belong to the number."""
    match = re.search(r"(?:at|more|less|fewer|up|no more|not more)\s+$", clause.text[:at])
    return match.start() if match and word in {"at", "to", "than"} and re.match(r"least|most", clause.text[at:]) else at

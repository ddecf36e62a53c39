"""Stems: the part of a sentence before its slots as a lead-in that asks one thing, a question where grammar allows."""

from __future__ import annotations

import re

from examgen.evidence import words_set
from examgen.lexicons import Lexicons
from examgen.writing.clauses import Clause, is_plural, words_of
from examgen.writing.options import Construction

_TRANSITIVE = words_set(
    "require need denote mean indicate exceed involve affect cover contain comprise suggest favour favor include use "
    "measure show support predict detect demand reflect allow represent define entail provide"
)
_NOT_A_NOUN_PHRASE = re.compile(
    r"(?:to|that|in|on|at(?! (?:least|most))|by|for|from|with|within|as|of|over|against|towards|into|not|because|when|"
    r"if|higher|lower|better|worse|\w+ed|\w+ly)\b"
)


def lead_in(construction: Construction, lexicons: Lexicons) -> str:
    """A question when one can be built, else the sentence as far as the ending, with a colon."""
    return question(construction, lexicons) or completion(construction)


def completion(construction: Construction) -> str:
    """The opening of the sentence up to its ending."""
    head = construction.head.rstrip(",")
    return f"{head[0].upper()}{head[1:]}:"


def question(construction: Construction, lexicons: Lexicons) -> str:
    """ "In F, what does S require?" or "In F, what is the interval?"; empty when neither form is safe."""
    clause = construction.clause
    if construction.cut != _after_verb(clause, construction.cut):
        return ""
    ending = construction.render([0] * len(construction.slots))
    if _NOT_A_NOUN_PHRASE.match(ending) or _has_clause(ending, lexicons):
        return ""
    if any(token.lower in lexicons.words["ambiguous"] for token in words_of(clause.subject_text)):
        return ""  # a form that may be a verb: the subject may hold a first predicate
    opening = f"{clause.frame}, " if clause.frame else ""
    subject = lowered(clause.subject_text, clause) if not clause.frame else clause.subject_text
    verb = clause.verb_text.lower()
    if verb in {"is", "are", "was", "were"} and _asks_quantity(subject, lexicons):
        asked = f"{opening}what {verb} {subject}?"
    elif clause.base in _TRANSITIVE and verb not in {"is", "are"}:
        auxiliary = "do" if is_plural(clause) else "does"
        asked = f"{opening}what {auxiliary} {subject} {clause.base}?"
    else:
        return ""
    return asked[0].upper() + asked[1:]


def lowered(text: str, clause: Clause, vocabulary: frozenset[str] = frozenset()) -> str:
    """Text with its first letter in lower case unless the word is a name or an abbreviation."""
    first = re.match(r"[\w-]+", text)
    word = first.group() if first else ""
    ordinary = word.lower() in vocabulary or word.lower().removesuffix("s") in vocabulary or word in {
        "The",
        "A",
        "An",
        "In",
        "On",
        "At",
        "For",
        "According",
        "With",
        "After",
        "Before",
        "During",
    }
    if not vocabulary and re.fullmatch(r"[A-Z][a-z]+", word) and clause.tokens and len(word) > 3:
        ordinary = ordinary or not re.match(r"(?:McDonald|Barkhof|Susac|Fabry|Fazekas|Lublin|Doppler)", word)
    return text[0].lower() + text[1:] if ordinary else text


def _after_verb(clause: Clause, cut: int) -> int:
    """The cut if nothing but space stands between the finite verb and it, else -1."""
    return cut if not clause.text[clause.verb_end : cut].strip() and cut > clause.verb else -1


def _asks_quantity(subject: str, lexicons: Lexicons) -> bool:
    if not subject.startswith("the "):
        return False
    head = re.split(r" (?:of|for|between|in|on|at|from|after|before|used|to)\b", subject)[0]
    return head.split()[-1] in lexicons.words["quantity_nouns"]


def _has_clause(ending: str, lexicons: Lexicons) -> bool:
    """Whether the ending holds a further predicate ("... and occupy ...", "whereas ..."), which no object can be."""
    if re.search(r", (?:whereas|while|but|and)\b|;|\band (?:\S+ ){1,4}(?:is|are|was|were|has|have) ", ending):
        return True
    tokens = words_of(ending)
    for number, token in enumerate(tokens):
        before = tokens[number - 1].lower if number else ""
        if before in {"and", "or", ","} and token.lower in lexicons.finite:
            return True
    return False

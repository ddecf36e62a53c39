"""Item-writing flaws of grammar: the form of the key fits the stem, or differs from the distractors, in a way that
gives it away. NBME = NBME Item-Writing Guide (2020), ch. 3; HDR = Haladyna, Downing & Rodriguez, Applied
Measurement in Education 15 (2002) 309-333.
"""

from __future__ import annotations

import re

from examgen.audits.items import STOP_WORDS, AuditItem, words
from examgen.audits.observations import Observation, counted, yes

_AN_SOUND = re.compile(
    r"^(?:hour|honest|honou?r|heir|8|11(?!\d)|18(?!\d)|8\d)|^[aeio]|^u(?!ni|s[aeiu]|r[aiou]|til|bi|k|v|t[aeiou])",
    re.IGNORECASE,
)
_A_SOUND = re.compile(r"^(?:one\b|once\b|eu|ewe|uni(?!n|m)|us[aeiu]|ur[aiou]|uti|ubi|[b-df-hj-np-tv-z])", re.IGNORECASE)


def _article_fits(article: str, option: str) -> bool | None:
    """Whether an option can follow the article; None where it cannot be told (symbols, acronyms)."""
    first = next(iter(words(option)), "")
    if not first or sum(character.isupper() for character in first) >= 2 or len(first) == 1:
        return None
    wants_an = _AN_SOUND.match(first) is not None and not re.match(r"^(?:one\b|once\b|eu)", first, re.IGNORECASE)
    if not wants_an and not _A_SOUND.match(first) and not first[0].isdigit():
        return None
    return wants_an == (article == "an")


_META = re.compile(
    r"(?:all|none|neither|both|either) (?:of|the|\(?[a-jA-J1-4]\)?(?: and | or | nor |,)|are|is)\b.{0,40}|"
    r"[IV]+(?:,? (?:and|or)? ?[IV]+)* only",
    re.IGNORECASE,
)


def _is_meta(option: str) -> bool:
    """Whether an option speaks of the other options; its form says nothing of its content."""
    return _META.fullmatch(option.strip(" .")) is not None


def article_cue(item: AuditItem) -> Observation:
    """The stem ends in "a" or "an" and the key fits it while distractors do not: those are counted.

    "a(n)" and "a/an" are no cue; acronyms fit either. NBME, HDR: grammatical cues.
    """
    match = re.search(r"(?:^|\s)(an?)[\s_:.…]*$", item.stem.rstrip())
    if match is None or not item.key_known or item.stem.rstrip().endswith(("a/an", "a / an")):
        return counted(())
    if _article_fits(match[1], item.key_text) is not True or _is_meta(item.key_text):
        return counted(())
    rest = [item.options[p] for p in item.distractors if not _is_meta(item.options[p])]
    return counted(option for option in rest if _article_fits(match[1], option) is False)


_SINGULAR_S = re.compile(
    r"(?:ss|us|is|ics|as|os)$|^(?:pons|mons|rabies|herpes|scabies|series|species|news|physics|lens|pancreas|pus)$"
)


def _plural(option: str) -> bool:
    """Whether the head of an option's first noun phrase looks plural, or the option joins two things by "and"."""
    phrase = re.split(
        r"\b(?:of|in|with|from|to|for|on|at|by|that|which|who|between|during)\b|[,;:(]", option.casefold()
    )[0]
    found = words(phrase)
    if not found:
        return False
    last = found[-1]
    plural = last.endswith("s") and len(last) > 3 and _SINGULAR_S.search(last) is None
    return (
        plural
        or "and" in found[1:-1]
        or last in ("data", "bacteria", "criteria", "children", "people", "men", "women", "mice")
    )


def number_cue(item: AuditItem) -> Observation:
    """The verb before the options, or in "which of the following are", agrees in number with the key alone.

    Rough: heads of noun phrases are told by their endings. NBME, HDR: grammatical cues.
    """
    if not item.key_known or len(item.options) < 3 or max(item.option_lengths, default=0) > 6:
        return counted(())
    ends = re.search(
        r"\b(is|was|are|were)(?: (?:an?|the|called|mainly|mostly))?\s*[_:….]*$", item.stem.rstrip(), re.IGNORECASE
    )
    asks = re.search(r"\b(?:following|what|which|these) (are|were)\b(?! (?:true|correct))", item.lead_in, re.IGNORECASE)
    match = ends or asks
    if match is None or any(_is_meta(option) for option in item.options):
        return counted(())
    wants = match[1].casefold() in ("are", "were")
    fits = [_plural(option) == wants for option in item.options]
    return yes(fits[item.key] and sum(fits) == 1, f"{match[1]} ... {item.key_text}")


_ING = """
thing nothing something anything everything string ring king spring wing sling being during morning evening ceiling
bearing according sibling herring
"""
_NOT_GERUND = frozenset(_ING.split())
_PREPOSITIONS = """
by in with from at on through via during into under over between after before within
"""
_PLACING = frozenset(_PREPOSITIONS.split())
_CLAUSE = frozenset(["that", "because", "when", "if", "while", "whether", "why", "how", "where", "since", "although"])


def _opening(option: list[str]) -> str:
    """Grammatical class of an option's first word, as far as its form shows it."""
    first = option[0].casefold() if option else ""
    if first == "to":
        return "infinitive"
    if first.endswith("ing") and len(first) > 4 and first not in _NOT_GERUND:
        return "gerund"
    if first.endswith("ed") and len(first) > 4 and first not in ("infrared", "hundred", "sacred", "naked", "indeed"):
        return "past"
    if first in _PLACING:
        return "preposition"
    return "clause" if first in _CLAUSE else "other"


def unparallel_key(item: AuditItem) -> Observation:
    """The key opens in another grammatical form (gerund, "to", past form, preposition, clause) than all the
    distractors, which agree. A single adjective or noun in -ed or -ing before a noun is no verb: options of up to
    three words count only where another form than the plain one meets it.

    NBME, HDR: keep choices parallel in grammar and tense.
    """
    if not item.key_known or len(item.options) < 3 or min(item.option_lengths) < 1:
        return counted(())
    forms = [_opening(option) for option in item.option_words]
    others = {forms[place] for place in item.distractors}
    alone = len(others) == 1 and forms[item.key] not in others and not any(_is_meta(option) for option in item.options)
    if others == {"other"} and forms[item.key] in ("gerund", "past") and item.option_lengths[item.key] <= 3:
        alone = False
    return yes(alone, f"{forms[item.key]} among {'/'.join(sorted(others))}")


def punctuation_cue(item: AuditItem) -> Observation:
    """The key alone ends with a full stop or alone lacks it, or alone begins with a small letter, or alone begins
    with a capital that is no name's.

    NBME: irrelevant differences that set the key apart.
    """
    if not item.key_known or len(item.options) < 3 or any(_is_meta(option) for option in item.options):
        return counted(())
    found = []
    stops = [
        option.rstrip().endswith(".") and not re.search(r"\b(?:etc|al|[A-Za-z])\.$", option.rstrip())
        for option in item.options
    ]
    if len({stops[place] for place in item.distractors}) == 1 and stops[item.key] != stops[item.distractors[0]]:
        found.append("final full stop")
    letters = [option.strip()[:1] for option in item.options]
    if all(letter.isalpha() for letter in letters):
        rest = {letters[place].isupper() for place in item.distractors}
        first = item.option_words[item.key][0] if item.option_words[item.key] else ""
        common = first.casefold() in STOP_WORDS or first.endswith("ing")
        if rest == {True} and letters[item.key].islower() and not re.match(r"^[a-z]{1,3}[A-Z\d-]", first):
            found.append("small initial")
        if rest == {False} and letters[item.key].isupper() and common and len(first) > 1:
            found.append("capital initial")
    return counted(found)

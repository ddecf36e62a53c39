"""Reading a letter from a reply, conservatively: what is ambiguous is unparseable, never a guess.

Order of rules: reasoning cut away; error texts; JSON; a bare letter in any wrapper; declarations ("Answer: B",
"I choose B", a box), of which the last firm one counts unless two disagree without a word of correction or conclusion;
a leading label ("B. text", "B, because …"). Negated, supposed, quoted, asked, probable or several letters are no
answer, nor is an article, a word's initial or a letter of a term. An option's text without its letter is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from examgen.answers.cleaning import clean
from examgen.answers.declarations import CONCLUSION, CORRECTION, Declaration, declarations
from examgen.answers.wrapped import bare_letter, letter_in_json
from examgen.ids import normalised
from examgen.records import ResponseStatus

PARSER_VERSION = "1"
"""Raised whenever a reading can change."""

_REFUSAL = re.compile(
    r"\b(?:I(?:['’]m|\s+am)?\s+(?:sorry|unable|not\s+able|not\s+qualified|not\s+allowed|not\s+permitted)|I\s+(?:can(?:no|['’])t|can\s+not|won['’]t|will\s+not|must\s+decline|decline|refuse)"
    r"|as\s+an\s+AI|consult\s+a|see\s+a\s+(?:doctor|physician)|not\s+a\s+(?:doctor|physician|medical\s+professional)|unable\s+to\s+(?:answer|provide|assist|help)"
    r"|cannot\s+(?:answer|provide|assist|help|determine|give)|can['’]t\s+(?:help|assist|answer|provide)|je\s+ne\s+peux\s+pas|ich\s+kann\s+(?:das|diese|keine)|no\s+puedo)\b"
    r"|我无法|申し訳|抱歉",
    re.I,
)
_ERROR = re.compile(
    r"^\W*(?:error\b|errno|exception\b|traceback|fatal:|internal server error|bad gateway|service unavailable"
    r"|gateway time-?out|too many requests|rate limit"
    r"|http(?:/\d(?:\.\d)?)?\s*[45]\d\d|[45]\d\d\s+[A-Z][a-z]+|<!doctype|<html|upstream|\{\s*\"(?:error|detail"
    r"|message)\"\s*:|context length|request timed out|connection (?:error|reset|refused)|failed to)",
    re.I,
)
_LABEL_LINE = re.compile(
    r"^[\s>*_`\-•]*(?:option\s+|choice\s+)?[(\[]?(?P<letter>[A-Ja-j])[*_`]*\s*[.):\]：](?=[*_`]*\s|[*_`]+|$)(?P<rest>.*)$",
    re.I | re.M,
)
_LEADING = re.compile(
    r"^[\s>*_`\"'(\[]*(?:(?:option|choice|letter)\s+)?[\s*_`\"'(\[{]*(?P<letter>[A-J])[\s*_`\"')\]}]*(?P<mark>[.):：\-–—,;]|$|\n|\s(?=(?:because|since)\b))",
    re.I,
)
_SHORT = re.compile(
    r"^\W*(?:so|thus|therefore|hence|definitely|clearly|certainly|probably|likely|most likely|obviously|sure"
    r"|ok(?:ay)?|final|yes)?\W*"
    r"(?:(?:it|that)(?:['’]s|\s+is|\s+must\s+be|\s+should\s+be)|must\s+be|should\s+be|i['’]?d\s+(?:say|guess)|i\s+(?:think|believe|guess)(?:\s+it['’]?s|\s+it\s+is)?|my\s+(?:guess|pick)(?:\s+is)?|"
    r"option|choice|letter|answer)?\W*(?:definitely|clearly|probably|likely|option)?\W*(?P<letter>[A-J])\W*(?:it\s+is)?\W*$",
    re.I,
)
_SPECIES = re.compile(
    r"\s*(?:difficile|botulinum|tetani|perfringens|albicans|neoformans|jejuni|trachomatis|pneumoniae|burgdorferi|pertussis|cereus|"
    r"anthracis|fragilis|henselae|coli|faecalis|baumannii|elegans|auris)\b"
)


@dataclass(frozen=True)
class Reading:
    """What a reply says: the letter as shown (None unless `parsed` or `abstained`), the status, the rule that fired."""

    letter: str | None
    status: ResponseStatus
    rule: str


def _none(rule: str, status: ResponseStatus = "unparseable") -> Reading:
    return Reading(None, status, rule)


def _agreeing(text: str, firm: list[Declaration]) -> Declaration | None:
    """The declaration that counts: the last, if the others agree or it is announced as a correction or a conclusion."""
    last = firm[-1]
    others = [one for one in firm if one.letter != last.letter]
    if not others:
        return last
    between = text[others[-1].end : last.start]
    lead = between.rsplit("\n", 1)[-1][-120:]
    if CORRECTION.search(between) or CONCLUSION.search(lead):
        return last
    return None


def _taken_back(text: str, chosen: Declaration, allowed: str) -> bool:
    """Whether a word of correction and another letter follow the last declaration."""
    after = text[chosen.end :]
    cue = re.search(
        r"\b(?:wait|hold on|actually|correction|scratch that|on second thoughts?|on reflection|I was wrong"
        r"|let me re\w+|hmm|no,)",
        after,
        re.I,
    )
    if not cue:
        return False
    letters = set(re.findall(r"(?<![A-Za-z0-9'’-])([A-J])(?![A-Za-z0-9'’-])", after[cue.start() :])) & set(allowed)
    return bool(letters - {chosen.letter})


def _list_lines(text: str) -> list[tuple[str, int]]:
    return [(found.group("letter").upper(), found.start("letter")) for found in _LABEL_LINE.finditer(text)]


def _declared(text: str, allowed: str, options: Sequence[str]) -> Reading | None:
    """A reading from declarations, None when there is none at all."""
    listed = _list_lines(text)
    many = len({letter for letter, _ in listed}) > 1
    found = [
        one
        for one in declarations(text, allowed)
        if not (many and one.kind == "label" and _is_list_line(text, one, listed))
    ]
    firm = [one for one in found if one.firm]
    if not firm:
        return _none("several_letters") if any(one.several for one in found) else None
    if any(one.several and one.start > firm[-1].start for one in found):
        return _none("several_letters")
    chosen = _agreeing(text, firm)
    if chosen is None:
        return _none("contradiction")
    if _taken_back(text, chosen, allowed):
        return _none("taken_back")
    if _text_of_another(text[chosen.end :], chosen.letter, options):
        return _none("letter_against_text")
    return Reading(chosen.letter, "parsed", f"declared_{chosen.kind}")


def _is_list_line(text: str, one: Declaration, listed: list[tuple[str, int]]) -> bool:
    """Whether the "letter" of a label is the first line of a list of options below it."""
    line_start = text.rfind("\n", 0, one.start) + 1
    own = [place for _, place in listed if line_start <= place <= one.start]
    follows = [letter for letter, place in listed if place > one.start and letter != one.letter]
    return (
        bool(follows)
        and (bool(own) or "\n" not in text[one.end :].strip()[:0])
        and bool(re.match(r"[*_`]*\s*[.):\]]\s*\S", text[one.end :]))
        and bool(own)
    )


def _text_of_another(after: str, letter: str, options: Sequence[str]) -> bool:
    """Whether the text behind a letter is, word for word, another option's and not its own."""
    said = normalised(re.sub(r"^[\s.):*_`\]\-–—,]+", "", after).split("\n")[0])
    place = ord(letter) - ord("A")
    if not said or place >= len(options) or said.startswith(normalised(options[place])):
        return False
    return any(
        said.startswith(normalised(option))
        for number, option in enumerate(options)
        if number != place and option.strip()
    )


def _leading(text: str, allowed: str, options: Sequence[str]) -> Reading | None:
    """A letter that opens the reply: alone on its line, before its option's text, or before a reason."""
    lines = _list_lines(text)
    found = _LEADING.match(text)
    if len({letter for letter, _ in lines}) > 1:
        return _none("list_of_letters")
    if not found:
        return None
    letter, mark = found.group("letter").upper(), found.group("mark")
    after = text[found.end() :]
    if letter not in allowed:
        return _none("out_of_range")
    if mark in "-–—" and re.match(r"[A-Za-z0-9]", after):
        return None
    if mark == "." and _SPECIES.match(after):
        return None
    if mark == "," and not re.match(r"\s*(?:because|since|as\b|weil|car\b)", after, re.I):
        return None
    if re.match(
        r"^[\s*_`:.)]*(?:\(?\s*\d+(?:\.\d+)?\s*%|not?\b|wrong|incorrect|false|n/a|maybe|\?|can\w*\b|is\b|was\b|and\b|or\b)",
        after,
        re.I,
    ):
        return None
    if found.group("letter").islower() and mark not in (".", ")", ":", "", "\n"):
        return None
    if "?" in text.split("\n")[0]:
        return None
    if _other_line_letter(text, letter, allowed) or (
        CORRECTION.search(after) and _letters_in(after, allowed) - {letter}
    ):
        return _none("contradiction")
    if _text_of_another(after, letter, options):
        return _none("letter_against_text")
    return Reading(letter, "parsed", "leading_letter")


def _letters_in(text: str, allowed: str) -> set[str]:
    return set(re.findall(r"(?<![A-Za-z0-9'’-])([B-HJ])(?![A-Za-z0-9'’-])", text)) & set(allowed)


def _other_line_letter(text: str, letter: str, allowed: str) -> bool:
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    return any((other := bare_letter(line)) is not None and other != letter and other in allowed for line in lines)


def _last_line(text: str, allowed: str) -> Reading | None:
    """A bare letter on the last line, when no other line is a bare letter that differs."""
    lines = [line for line in text.split("\n") if line.strip()]
    bare = [letter for line in lines if (letter := bare_letter(line)) is not None]
    if len(lines) > 1 and bare and bare_letter(lines[-1]) and len(set(bare)) == 1 and bare[0] in allowed:
        return Reading(bare[0], "parsed", "last_line")
    return None


def _read(text: str, allowed: str, options: Sequence[str]) -> Reading:
    letter = bare_letter(text)
    if letter is not None:
        return Reading(letter, "parsed", "bare") if letter in allowed else _none("out_of_range")
    if _ERROR.match(text):
        return _none("error_text", "error")
    held = letter_in_json(text, allowed)
    if held is not None:
        return Reading(held, "parsed", "json") if held else _none("json_without_letter")
    reading = _declared(text, allowed, options)
    if reading:
        return reading
    short = _SHORT.match(text) if "?" not in text else None
    if short and short.group("letter").isupper():
        return (
            Reading(short.group("letter"), "parsed", "short")
            if short.group("letter") in allowed
            else _none("out_of_range")
        )
    reading = _leading(text, allowed, options) or _last_line(text, allowed)
    if reading:
        return reading
    return _none("refusal", "refused") if _REFUSAL.search(text) else _none("no_letter")


def parse(
    raw: str,
    letters: str = "ABCD",
    *,
    options: Sequence[str] = (),
    abstain: str = "",
    finish_reason: str = "",
    constrained: bool = False,
) -> Reading:
    """Read a reply to a prompt that allowed `letters` (2-10 of them, from A on).

    `options` are the texts as shown; a letter followed by another option's text is a conflict, not an answer. `abstain`
    is the letter of the abstention option. With `finish_reason` "length" the last word may be half a word, so a
    lone "A"
    is no answer, unless the server was `constrained` to letters.
    """
    if not 2 <= len(letters) <= 10:
        raise ValueError(f"{len(letters)} letters allowed; 2 to 10 can be read")
    cleaned = clean(raw)
    truncated = finish_reason == "length" and not constrained
    if cleaned.cut_off:
        return _none("reasoning_cut_off", "truncated")
    if not cleaned.text:
        return _none("empty", "truncated" if finish_reason == "length" else "unparseable")
    reading = _read(cleaned.text, letters, options)
    if (
        truncated
        and reading.letter
        and cleaned.text.rstrip().endswith(reading.letter)
        and (reading.letter in "AI" or not reading.rule.startswith(("bare", "last_line")))
    ):
        return _none("cut_off_at_letter", "truncated")
    if truncated and reading.status == "unparseable" and reading.rule == "no_letter":
        return _none("truncated", "truncated")
    if reading.letter and reading.letter == abstain:
        return Reading(reading.letter, "abstained", reading.rule)
    if abstain and reading.status == "unparseable" and re.search(r"\binsufficient information\b", cleaned.text, re.I):
        return Reading(None, "abstained", "abstention_text")
    return reading

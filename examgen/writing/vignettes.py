"""Vignettes: an applied setting for a statement, drawn from its own frame so that it adds no finding."""

from __future__ import annotations

import re

from examgen.ids import seed_of
from examgen.lexicons import Lexicons, Person, any_of
from examgen.writing.clauses import Clause
from examgen.writing.options import Construction
from examgen.writing.stems import lowered

_PREPOSITION = re.compile(
    r"(?:according to|compared with|in|on|at|for|during|under|with|among|within|by|from|after|before)\s+", re.IGNORECASE
)


_SYNDROME = re.compile(r"(?:suspected|acute|clinically|radiologically|CIS|RIS|possible|first)\b")
_OF_AGE = re.compile(
    r"\b(?:child|children|paediatric|adolescents?|older|aged?|elderly|pregnan\w*|wom[ae]n|men|girls|boys|years?|puberty)\b"
)


def vignette(construction: Construction, lexicons: Lexicons, vocabulary: frozenset[str]) -> str:
    """A scene and the lead-in as its last sentence, ending in a colon; empty when the frame suits no scene."""
    clause = construction.clause
    seed = seed_of("scene", clause.text)
    lead = clause.text[clause.subject : construction.cut].strip().rstrip(",")
    kind, filled = _setting(clause, lexicons, seed)
    scenes = next((scene.scenes for scene in lexicons.scenes if scene.kind == kind), ())
    if not scenes:
        return ""
    scene = scenes[seed % len(scenes)]
    whole = lowered(construction.head.rstrip(","), clause, vocabulary)
    if "{lead}" in scene:
        return f"{scene.format(lead=whole).rstrip(',')}:"
    filled = {"patient": "", **filled}
    filled["Patient"] = filled["patient"][:1].upper() + filled["patient"][1:]
    return f"{scene.format(**filled)} {lead}:"


def frame_kind(clause: Clause, lexicons: Lexicons) -> str:
    """Kind of the frame: condition, group, criteria, recommendation, imaging or other."""
    return _setting(clause, lexicons, 0)[0]


def _setting(clause: Clause, lexicons: Lexicons, seed: int) -> tuple[str, dict[str, str]]:
    frame = clause.frame
    body = _PREPOSITION.sub("", frame, count=1) if _PREPOSITION.match(frame) else frame
    if not frame:
        return "other", {}
    person = next((one for one in lexicons.conditions if body.lower() == one.names[0].lower()), None)
    if person and re.match(r"(?:in|for) ", frame, re.IGNORECASE):
        patient = (
            f"a patient with {person.say or body}"
            if _OF_AGE.search(clause.text)
            else _person(person, person.say or body, seed)
        )
        if _SYNDROME.match(body):
            return "group", {"group": patient}
        return "disease", {"patient": patient}
    if re.match(r"in ", frame, re.IGNORECASE) and _is_condition(body, lexicons):
        return "group", {"group": f"a patient with {body}"}
    group = _group(body, lexicons, seed) if re.match(r"(?:in|for|among) ", frame, re.IGNORECASE) else ""
    if group:
        return "group", {"group": group}
    for scene in lexicons.scenes:
        if (
            scene.kind in {"criteria", "recommendation"}
            and body.startswith("the ")
            and any_of(scene.words).search(body)
        ):
            if any_of(["and"]).search(body) and re.search(r"(?:19|20)\d\d and", body):
                return "other", {}
            return scene.kind, {"frame": body}
        if scene.kind == "imaging" and any_of(scene.words).search(body):
            return "imaging", {}
    return "other", {}


def _is_condition(body: str, lexicons: Lexicons) -> bool:
    """Whether a frame without article names one condition, so that a patient can have it."""
    words = body.split()
    plain = words[-1] in lexicons.condition_heads and len(words) < 6
    return (
        plain
        and not re.match(r"(?:the|a|an|people|patients|children|adults|women|men)\b", body)
        and " and " not in body
    )


def _person(person: Person, condition: str, seed: int) -> str:
    low, high = person.ages or (28, 44)
    age, sex = low + seed // 7 % (high - low + 1), person.sexes[seed // 3 % len(person.sexes)]
    return _article(f"a {age}-year-old {sex} with {condition}")


def _group(body: str, lexicons: Lexicons, seed: int) -> str:
    """ "children with X" as "a 13-year-old girl with X"; "patients with X" as "a patient with X"."""
    for group in lexicons.groups:
        match = any_of(group.names).match(body)
        rest = body[match.end() :] if match else ""
        if not match or not re.match(r" (?:with|on|after|treated with|taking|under)\b", rest) or "," in rest:
            continue
        if re.search(r"\b(?:who|whose|their|are|have|and|or|younger|older|aged|age|years?)\b", rest):
            return ""
        if not group.sexes:
            return f"a patient{rest}"
        return _person(group, "", seed).removesuffix(" with ") + rest
    return ""


def _article(text: str) -> str:
    return re.sub(r"\b([Aa]) (?=(?:8|11|18|8\d)-year)", r"\1n ", text)

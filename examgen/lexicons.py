"""Lexicons: the terms a rule may put in place of one another, and the words by which it reads a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml

from examgen.errors import InputError
from examgen.ids import canonical_json, digest

DEFAULT_FOLDER = Path(__file__).resolve().parents[1] / "data" / "lexicons"
_FILES = ("contraries", "siblings", "quantities", "grammar", "frames")


@dataclass(frozen=True)
class Contrary:
    """A term and the one that excludes it."""

    term: str
    opposite: str
    set_name: str
    question_type: str
    weight: float


@dataclass(frozen=True)
class SiblingSet:
    """Terms of one type that may replace each other where the sentence is exclusive (a cue stands in the clause)."""

    name: str
    question_type: str
    weight: float
    members: tuple[str, ...]
    cues: tuple[str, ...]
    kin: tuple[frozenset[str], ...] = ()
    in_lists: bool = False
    adjacent: bool = False

    def strangers(self, member: str) -> list[str]:
        """The other members that share no kin group with this one, in the lexicon's order."""
        near = {other for group in self.kin if member in group for other in group}
        longer = {other for other in self.members if any(name != other and name in other for name in self.members)}
        return [other for other in self.members if other != member and other not in near | longer]

    def kin_of(self, member: str) -> frozenset[str]:
        """The member and those that share features with it."""
        return frozenset({member, *(other for group in self.kin if member in group for other in group)})


@dataclass(frozen=True)
class Unit:
    """A unit and the values plausible beside each other: a rising ladder, ranges, and the least ratio that is clear."""

    unit: str
    question_type: str
    factor: float
    ladder: tuple[float, ...]
    ranges: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Scene:
    """The applied settings of one kind of frame."""

    kind: str
    words: tuple[str, ...]
    scenes: tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """A condition or group and who can have or be of it."""

    names: tuple[str, ...]
    ages: tuple[int, int] | None
    sexes: tuple[str, ...]
    say: str = ""


@dataclass(frozen=True, eq=False)
class Lexicons:
    """All lexicons of a folder; `version` is the hash of what they hold."""

    contraries: tuple[Contrary, ...]
    siblings: tuple[SiblingSet, ...]
    units: tuple[Unit, ...]
    countable: frozenset[str]
    irregular_plurals: dict[str, str]
    normative: frozenset[str]
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scenes: tuple[Scene, ...] = ()
    conditions: tuple[Person, ...] = ()
    groups: tuple[Person, ...] = ()
    condition_heads: frozenset[str] = frozenset()
    version: str = ""

    @cached_property
    def contrary_pattern(self) -> re.Pattern[str]:
        """Matches any contrary term as whole words, the longest first."""
        return any_of(contrary.term for contrary in self.contraries)

    @cached_property
    def contrary_of(self) -> dict[str, Contrary]:
        """A term in lower case to its contrary; the first entry of a term wins."""
        found: dict[str, Contrary] = {}
        for contrary in self.contraries:
            found.setdefault(contrary.term.lower(), contrary)
        return found

    @cached_property
    def finite(self) -> dict[str, str]:
        """A finite verb form to its base form, auxiliaries to themselves."""
        forms: dict[str, str] = {}
        for verb in self.words["verbs"]:
            forms[verb] = verb
            forms[third_person(verb)] = verb
        forms.update({form: form for form in self.words["past"]})
        forms.update({form: form for form in self.words["auxiliaries"]})
        return forms

    def plural(self, noun: str) -> str:
        """Plural of a noun in lower case."""
        if noun in self.irregular_plurals:
            return self.irregular_plurals[noun]
        return (
            noun[:-1] + "ies"
            if re.search(r"[^aeiou]y$", noun)
            else noun + ("es" if re.search(r"(s|x|ch|sh)$", noun) else "s")
        )


def any_of(terms: Iterable[str]) -> re.Pattern[str]:
    """A pattern of whole terms, longest first; hyphens and letters on either side do not end a term."""
    return _any_of(tuple(terms))


@lru_cache(maxsize=4096)
def _any_of(terms: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(set(terms), key=lambda term: (-len(term), term))
    if not ordered:
        return re.compile(r"(?!)")
    return re.compile(r"(?<![\w-])(?:" + "|".join(re.escape(term) for term in ordered) + r")(?![\w-])")


def third_person(verb: str) -> str:
    """Third person singular of a base form."""
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")


def load_lexicons(folder: str | Path | None = None) -> Lexicons:
    """Read the lexicons of a folder (the project's own without one); `InputError` names the file and what is wrong."""
    place = Path(folder) if folder else DEFAULT_FOLDER
    raw = {name: _read(place / f"{name}.yaml") for name in _FILES}
    try:
        return _build(raw)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{place}: a lexicon misses or misshapes an entry ({error}): compare with {DEFAULT_FOLDER.name}/"
        ) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such lexicon: copy the project's data/lexicons and edit it") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: a lexicon is a mapping of keys, found {type(data).__name__}")
    return data


def _build(raw: dict[str, dict[str, Any]]) -> Lexicons:
    quantities, frames = raw["quantities"], raw["frames"]
    return Lexicons(
        contraries=tuple(_contraries(raw["contraries"]["sets"])),
        siblings=tuple(_sibling_set(entry) for entry in raw["siblings"]["sets"]),
        units=tuple(_unit(entry) for entry in quantities["units"]),
        countable=frozenset(_strings(quantities["countable"])),
        irregular_plurals={str(k): str(v) for k, v in quantities["irregular_plurals"].items()},
        normative=frozenset(_strings(quantities["normative"])),
        words={key: _strings(value) for key, value in raw["grammar"].items()},
        scenes=tuple(Scene(e["kind"], _strings(e["words"]), _strings(e["scenes"])) for e in frames["kinds"]),
        conditions=tuple(_person(entry, [entry["name"]]) for entry in frames["conditions"]),
        groups=tuple(_person(entry, entry["words"]) for entry in frames["groups"]),
        condition_heads=frozenset(_strings(frames["condition_heads"])),
        version=digest("lexicons", canonical_json(raw)),
    )


def _contraries(sets: Sequence[dict[str, Any]]) -> Iterator[Contrary]:
    """Each pair in both directions, unless it is marked one_way or the reverse is listed by itself."""
    listed = {str(pair[0]).lower() for entry in sets for pair in entry["pairs"]}
    for entry in sets:
        for pair in entry["pairs"]:
            first, second = str(pair[0]), str(pair[1])
            if first == second:
                raise ValueError(f"{entry['name']}: {first!r} is its own contrary")
            make = (entry["name"], entry["type"], float(entry["weight"]))
            yield Contrary(first, second, *make)
            if "one_way" not in pair[2:] and second.lower() not in listed:
                yield Contrary(second, first, *make)


def _sibling_set(entry: dict[str, Any]) -> SiblingSet:
    members = _strings(entry["members"])
    kin = tuple(frozenset(_strings(group)) for group in entry.get("kin", ()))
    unknown = {name for group in kin for name in group} - set(members)
    if unknown or len(members) < 2:
        raise ValueError(f"{entry['name']}: kin names no member {sorted(unknown)}, or fewer than two members")
    return SiblingSet(
        entry["name"], entry["type"], float(entry["weight"]), members, _strings(entry["cues"]), kin,
        bool(entry.get("in_lists")), bool(entry.get("adjacent")),
    )  # fmt: skip


def _unit(entry: dict[str, Any]) -> Unit:
    ladder = tuple(float(value) for value in entry["ladder"])
    if list(ladder) != sorted(set(ladder)):
        raise ValueError(f"ladder of {entry['unit']} does not rise")
    ranges = tuple((float(low), float(high)) for low, high in entry["ranges"])
    return Unit(str(entry["unit"]), str(entry["type"]), float(entry["factor"]), ladder, ranges)


def _person(entry: dict[str, Any], names: Sequence[str]) -> Person:
    ages = [int(age) for age in entry["ages"]]
    return Person(
        _strings(names), (ages[0], ages[1]) if ages else None, _strings(entry["sexes"]), str(entry.get("say", ""))
    )


def _strings(values: Iterable[Any]) -> tuple[str, ...]:
    """Terms as texts; YAML reads a bare on, off, yes or no as a truth value, which no term is."""
    found = tuple(values)
    if any(isinstance(value, bool) for value in found):
        raise ValueError('a term reads as true or false: write "on", "off", "yes" and "no" in quotes')
    return tuple(str(value) for value in found)

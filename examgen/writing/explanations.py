"""Explanations: the evidence itself, and what each wrong option has in its place."""

from __future__ import annotations

from collections.abc import Sequence

from examgen.writing.options import Construction


def explanation(parts: Sequence[Construction]) -> str:
    """The statements as they stand, then the wrong details, without reference to letters or places."""
    facts = " ".join(part.clause.text[0].upper() + part.clause.text[1:] + "." for part in parts)
    wrong = [
        f"“{values[0]}” and not {_either([f'“{value}”' for value in values[1:]])}"
        for part in parts
        for values in part.values
    ]
    return (
        f"{facts} The correct detail is {_list(wrong)}."
        if len(wrong) == 1
        else f"{facts} The correct details are {_list(wrong)}."
    )


def _either(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} or {values[-1]}"


def _list(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])}, and {values[-1]}"

"""The keys of a study as a page: made from the study's own definition, so that it cannot say anything else."""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from examgen.study import Study

_INTRODUCTION = """\
# The keys of a study

A study is one YAML file. Unknown keys are refused with the nearest valid name; `examgen check STUDY` says whether it
can run. `data/studies/ms_mri.yaml` is a complete example, `examgen init DIR` writes one for your own documents.

This page is made from the definition in `examgen/study.py`: `python -m examgen.study_reference > docs/study.md`.
"""


def _kind(annotation: Any) -> str:
    """A type as a reader would say it."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is type(None):
        return "empty"
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_kind(part) for part in inner)
    if origin is tuple:
        return f"list of {_kind(inner[0])}"
    if origin is dict:
        return "mapping"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__.lower()}](#{annotation.__name__.lower()})"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}.get(annotation, "anything")


def _default(info: Any) -> str:
    if info.is_required():
        return "**needed**"
    value = info.get_default(call_default_factory=True)
    if value is PydanticUndefined or isinstance(value, BaseModel):
        return ""
    if value is None or value == "" or value == () or value == {}:
        return "empty"
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _parts(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The model and every part reachable from it, in the order met."""
    found, waiting = [], [model]
    while waiting:
        current = waiting.pop(0)
        if current in found:
            continue
        found.append(current)
        for info in current.model_fields.values():
            waiting += _models_in(info.annotation)
    return found


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in typing.get_args(annotation) for model in _models_in(inner)]


def _row(name: str, info: Any) -> str:
    cells = (f"`{name}`", _kind(info.annotation), _default(info), (info.description or "").replace("|", "\\|"))
    return "| " + " | ".join(cells) + " |"


def reference() -> str:
    """The page as Markdown."""
    pages = [_INTRODUCTION]
    for model in _parts(Study):
        rows = [_row(name, info) for name, info in model.model_fields.items()]
        about = (model.__doc__ or "").strip().splitlines()[0]
        head = "| key | value | default | meaning |\n|---|---|---|---|"
        pages.append(f"## {model.__name__.lower()}\n{about}\n\n{head}\n" + "\n".join(rows) + "\n")
    return "\n".join(pages)


if __name__ == "__main__":
    print(reference(), end="")

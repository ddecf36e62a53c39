"""What a reader makes of a file, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from examgen.errors import ExamGenError
from examgen.texts import Block


class ReadError(ExamGenError):
    """A file that cannot or must not be read; the message is the reason in its row."""


@dataclass(slots=True)
class Reading:
    """Blocks in reading order, what the document says of itself, its pages, and what was left out in characters."""

    blocks: list[Block]
    about: Mapping[str, Any] = field(default_factory=dict)
    pages: int | None = None
    reader: str = "unstructured"
    left_out: dict[str, int] = field(default_factory=dict)
    empty_reason: str = "empty: no text in it"

    def note(self, name: str, characters: int) -> None:
        """Record what was left out, if anything was."""
        if characters:
            self.left_out[name] = self.left_out.get(name, 0) + characters

"""Prompts are files beside this one, each known by its name and the hash of its text."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from string import Template

from examgen.ids import digest
from examgen.records import Chunk


@dataclass(frozen=True)
class Prompt:
    """A prompt file. `id` is stored on every row that came of it."""

    name: str
    text: str

    @property
    def id(self) -> str:
        """Name and hash."""
        return f"{self.name}/{digest('prompt', self.text, length=8)}"

    def fill(self, **values: object) -> str:
        """The text with every $name filled; KeyError when one is left out."""
        return Template(self.text).substitute({name: str(value) for name, value in values.items()}).strip()


@functools.cache
def load(*names: str) -> Prompt:
    """One prompt of one or several files; their texts are joined by an empty line."""
    folder = Path(__file__).parent
    texts = [(folder / f"{name}.txt").read_text(encoding="utf-8").strip() for name in names]
    return Prompt("+".join(names), "\n\n".join(texts))


def passages(chunks: list[Chunk] | tuple[Chunk, ...]) -> str:
    """Passages as delimited data: a text that holds our own delimiter cannot close it."""
    parts = []
    for chunk in chunks:
        text = chunk.text.replace("<passage", "<\u200bpassage").replace("</passage", "<\u200b/passage")
        parts.append(f'<passage id="{chunk.chunk_id}" source="{chunk.source_id}">\n{text}\n</passage>')
    return "\n".join(parts)

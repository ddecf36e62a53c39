"""Stable identities: everything that is named by its content, and the seeds derived from names."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

ID_LENGTH = 16
"""Hex digits of an id: 64 bits, a collision chance of about 1e-9 at 200,000 rows."""


def digest(*parts: str | bytes | int, length: int = ID_LENGTH) -> str:
    """Hash the parts, each with its length before it, so that ("ab", "c") and ("a", "bc") differ."""
    return hashlib.sha256(_framed(*parts)).hexdigest()[:length]


def _framed(*parts: str | bytes | int) -> bytes:
    encoded = [part if isinstance(part, bytes) else str(part).encode() for part in parts]
    return b"".join([piece for data in encoded for piece in (len(data).to_bytes(8, "big"), data)])


_spell = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def canonical_json(value: Any) -> str:
    """One spelling of a JSON value: sorted keys, no spaces, real characters."""
    return _spell(value)


def normalised(text: str) -> str:
    """Text as compared: NFC, lower case, white space folded, no final full stop."""
    folded = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip().casefold()
    return folded.removesuffix(".").rstrip()


def source_id(content: bytes) -> str:
    """Id of a source: the hash of the file's bytes."""
    return hashlib.sha256(content).hexdigest()[:ID_LENGTH]


def content_hash(text: str) -> str:
    """Hash of a passage's text alone; equal texts in two places share it."""
    return digest("content", text)


def chunk_id(source: str, start: int, text: str) -> str:
    """Id of a passage: its source, its place in it and its text."""
    return digest("chunk", source, start, text)


def passage_ids(source: str) -> Callable[[int, str], tuple[str, str]]:
    """From a passage's start and text to its `chunk_id` and `content_hash`: for many passages of one source."""
    chunk_head, content_head, sha256 = _framed("chunk", source), _framed("content"), hashlib.sha256

    def both(start: int, text: str) -> tuple[str, str]:
        data = text.encode()
        place = b"%d" % start
        sized = len(data).to_bytes(8, "big") + data
        chunk = sha256(chunk_head + len(place).to_bytes(8, "big") + place + sized).hexdigest()
        return chunk[:ID_LENGTH], sha256(content_head + sized).hexdigest()[:ID_LENGTH]

    return both


def topic_id(topic: str, subtopic: str) -> str:
    """Id of a subtopic: the two labels, compared as `normalised` compares."""
    return digest("subtopic", normalised(topic), normalised(subtopic))


def item_id(stem: str, options: Sequence[str], key_text: str) -> str:
    """Id of an item before any shuffle: stem, options in sorted order, text of the key."""
    return digest("item", stem, *sorted(options), key_text)


def seed_of(*parts: str | bytes | int) -> int:
    """A 63-bit seed that depends on nothing but the names given."""
    return int(digest("seed", *parts, length=16), 16) >> 1

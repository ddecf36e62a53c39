"""The content of a corpus folder in one table of hashes; a file is hashed again only when its size or time changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks import store
from tasks.corpus_files import FileEntry

_BLOCK = 1 << 20


def _hash_of(place: Path) -> str:
    sha = hashlib.sha256()
    try:
        with place.open("rb") as handle:
            while block := handle.read(_BLOCK):
                sha.update(block)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return sha.hexdigest()


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in a folder: [path, hash] of every file that may be opened, [path, reason] of every other, by path.

    `known` files were not opened, for size and time of change are those of the last run; `hashed` ones were.
    """

    rows: list[list[str]]
    known: int
    hashed: int


def fingerprint(entries: Sequence[FileEntry], cache: Path) -> Contents:
    """The hash of every file, without opening those that are as they were.

    `cache` is a JSON file of the hashes of the last run. Size and time of change stand for content while they are the
    same; a program that changes bytes and puts both back would go unnoticed.
    """
    known: dict[str, list[str | int]] = store.read_json(cache) if cache.is_file() else {}
    found: dict[str, list[str | int]] = {}
    rows = []
    hashed = 0
    for entry in entries:
        if entry.reason:
            rows.append([entry.path, entry.reason])
            continue
        about: list[str | int] = [entry.bytes, entry.modified_ns]
        earlier = known.get(entry.path)
        if earlier and earlier[:2] == about:
            value = str(earlier[2])
        else:
            value = _hash_of(entry.location)
            hashed += 1
        found[entry.path] = [*about, value]
        rows.append([entry.path, value])
    if found != known:
        store.write_json(cache, found)
    return Contents(sorted(rows), len(found) - hashed, hashed)

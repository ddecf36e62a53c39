"""The manifest of a corpus: one row a file, whatever became of it, and the cache that makes a second reading cheap."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from examgen.ids import ID_LENGTH, canonical_json, digest
from examgen.records import Section, Source, SourceText
from examgen.resemblance import Neighbours
from examgen.study import Corpus
from tasks import store
from tasks.code_version import code_version
from tasks.corpus_files import FileEntry
from tasks.reading_pool import ReadingPool, in_order, processors

AHEAD = 32
"""Files under way for each processor: one that takes seconds does not hold up the others."""

AHEAD_BYTES = 64_000_000
"""Bytes of files under way from which no more are begun than keep the processors busy."""

_LIBRARIES = ("unstructured", "pypdfium2", "pypdf", "lxml", "python-docx", "python-pptx", "docutils", "Markdown")


@dataclass(slots=True)
class _File:
    """A file on its way: its hash once known, and the reply when no process has to be asked."""

    entry: FileEntry
    content: str = ""
    reply: dict[str, Any] | None = None


def enough_processes(entries: Sequence[FileEntry]) -> int:
    """Reading processes for these files: one takes as long to start as eight short files take, or 2 MB, to be read."""
    work = max(len(entries) // 8, sum(entry.bytes for entry in entries) // 2_000_000)
    return min(processors(), 1 + work)


class Manifest:
    """Reads entries through a pool of processes and a cache, and says which are duplicates."""

    def __init__(self, corpus: Corpus, cache: Path | None, processes: int | None = None) -> None:
        self._corpus = corpus
        self._processes = processes
        self._cache = cache
        limits = corpus.limits
        self._options: dict[str, Any] = {
            "drop_references": corpus.drop_references, "drop_front_matter": corpus.drop_front_matter,
            **limits.model_dump(),
        }
        self._settings = digest("reading", reader_version(), canonical_json(self._options), length=12)
        self._seen: dict[str, list[Any]] = self._load_seen()
        self._by_content: dict[str, str] = {}
        self._by_text: dict[str, tuple[str, str]] = {}
        self._neighbours = Neighbours()
        self._paths: dict[str, str] = {}
        self._asked: set[str] = set()

    def rows(self, entries: Sequence[FileEntry]) -> Iterator[tuple[Source, SourceText | None]]:
        """A row for each entry, in their order, and the text of those that are indexed."""
        with ReadingPool(self._options, self._processes or enough_processes(entries)) as pool:
            jobs = ((file, self._job(file, pool)) for file in map(self._looked_at, entries))
            for file, reply in in_order(jobs, AHEAD * processors(), lambda file: file.entry.bytes, AHEAD_BYTES):
                yield self._row(file, reply if reply is not None else file.reply)
        self._save_seen(entries)

    def _looked_at(self, entry: FileEntry) -> _File:
        """The file's hash: from the last run while size and time of change are the same, else from its bytes."""
        file = _File(entry)
        if entry.reason:
            file.reply = {"status": "excluded", "reason": entry.reason}
        elif entry.bytes > self._corpus.limits.file_bytes:
            limit = f"corpus.limits.file_bytes allows ({self._corpus.limits.file_bytes})"
            file.reply = {"status": "unreadable", "reason": f"{entry.bytes} bytes, more than {limit}"}
        elif entry.bytes == 0:
            file.reply = {"status": "empty", "reason": "empty: no bytes"}
        else:
            known = self._seen.get(entry.path)
            if known and known[:2] == [entry.bytes, entry.modified_ns]:
                file.content = known[2]
                return file
            try:
                with entry.location.open("rb") as handle:
                    file.content = hashlib.file_digest(handle, "sha256").hexdigest()[:ID_LENGTH]
                self._seen[entry.path] = [entry.bytes, entry.modified_ns, file.content]
            except OSError as error:
                file.reply = {"status": "unreadable", "reason": f"cannot be opened: {error.strerror}"}
        return file

    def _job(self, file: _File, pool: ReadingPool) -> Future[dict[str, Any]] | None:
        """A request to the pool unless the reply is known: from the cache, or because the same bytes were asked for."""
        if file.reply is not None or file.content in self._asked:
            return None
        self._asked.add(file.content)
        place = self._place(file)
        if place is not None and place.exists():
            file.reply = _unpacked(place)
        if file.reply is not None:
            return None
        return pool.submit(file.entry.location, file.entry.media_type, partial(self._store, file))

    def _row(self, file: _File, reply: dict[str, Any] | None) -> tuple[Source, SourceText | None]:
        entry = file.entry
        base: dict[str, Any] = {
            "path": entry.path, "media_type": entry.media_type, "bytes": entry.bytes,
            "modified": entry.modified_ns / 1e9,
        }
        if not file.content:
            assert reply is not None
            told = {"status": reply["status"], "reason": reply["reason"]}
            return Source(source_id=digest("unread", entry.path), **base, **told), None
        if file.content in self._by_content:
            return self._copy(file, base, file.content, f"same bytes as {self._by_content[file.content]}"), None
        assert reply is not None
        self._by_content[file.content] = entry.path
        told = {key: reply[key] for key in _TOLD if reply.get(key) not in (None, "")}
        if reply["status"] != "indexed":
            return Source(source_id=file.content, **base, **told), None
        twin = self._by_text.get(reply["text_hash"])
        if twin:
            return self._copy(file, base, twin[0], f"same text as {twin[1]}"), None
        self._by_text[reply["text_hash"]] = (file.content, entry.path)
        nearest, score = self._neighbours.nearest(reply["sketch"])
        if score >= self._corpus.near_duplicate:
            told["near_duplicate_of"] = nearest
            note = f"near duplicate of {self._paths[nearest]} ({score:.2f} of five-word runs in common)"
            told["reason"] = "; ".join(filter(None, (told.get("reason", ""), note)))
        self._neighbours.add(file.content, reply["sketch"])
        self._paths[file.content] = entry.path
        text = SourceText(
            source_id=file.content, path=entry.path, text=reply["text"], page_starts=tuple(reply["page_starts"]),
            sections=tuple(Section.model_validate(section) for section in reply["sections"]),
        )
        return Source(source_id=file.content, **base, **told), text

    def _copy(self, file: _File, base: dict[str, Any], original: str, reason: str) -> Source:
        """The row of a duplicate: an id of its own, for the hash of its bytes may be the id of the original."""
        own = digest("copy", file.content, file.entry.path)
        return Source(source_id=own, **base, status="duplicate", reason=reason, near_duplicate_of=original)

    def _place(self, file: _File) -> Path | None:
        if self._cache is None:
            return None
        kind = digest(file.entry.media_type, length=6)
        return self._cache / "readings" / f"{file.content}-{self._settings}-{kind}.json.z"

    def _store(self, file: _File, reply: dict[str, Any]) -> None:
        """Keep a reply; not one that time or a crash decided, which may come out otherwise next time."""
        place = self._place(file)
        if place is None or reply.get("transient"):
            return
        store.write_bytes(place, zlib.compress(canonical_json(reply).encode(), 1))

    def _load_seen(self) -> dict[str, list[Any]]:
        place = self._cache / "seen.json" if self._cache else None
        if place is None or not place.exists():
            return {}
        try:
            found: dict[str, list[Any]] = json.loads(place.read_text(encoding="utf-8"))
        except ValueError:
            # A cache that cannot be read costs time, never a run.
            return {}
        return found

    def _save_seen(self, entries: Iterable[FileEntry]) -> None:
        if self._cache is None:
            return
        kept = {entry.path: self._seen[entry.path] for entry in entries if entry.path in self._seen}
        store.write_bytes(self._cache / "seen.json", canonical_json(kept).encode())


_TOLD = ("status", "reason", "title", "year", "kind", "licence", "pages", "characters", "reader", "text_hash")


def _unpacked(place: Path) -> dict[str, Any] | None:
    """A kept reply; None when the file is damaged, for a cache that cannot be read costs time, never a run."""
    try:
        found: dict[str, Any] = json.loads(zlib.decompress(place.read_bytes()))
    except (OSError, zlib.error, ValueError):
        return None
    return found


def reader_version() -> str:
    """Hash of the readers: of the code that reads in a process of its own, and of the libraries' versions.

    It names what was read, so that another reader reads again.
    """
    return digest("reader", code_version("tasks.read_child:main"), *map(_version, _LIBRARIES))


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "absent"

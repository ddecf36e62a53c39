"""Results in an object store: a local folder that work is done in, and whole objects behind it.

There is no rename in an object store, so a folder there is whole when its manifest is: files are put first, the
manifest with their hashes last, and a reader that finds no manifest sees no folder. Shards are put as they are
finished, replies with them, the pointers to the latest bank and evaluation at the end of a run. A fresh machine fetches
what a run asks for, and asks nobody again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from examgen.errors import BankError, InputError, RunError
from examgen.ids import digest
from tasks import ledger, store

MANIFEST = "_whole.json"
"""Object that makes a folder of objects whole: the SHA-256 of each file, by its path in the folder."""

_UNITS = ("work/*/*", "bank/*", "data_docs/*", "evaluations/*", "evaluations/*/results-*",
          "evaluations/*/results-*/report-*", "releases/*/*", "sizing/*")  # fmt: skip
_NESTED = ("results-", "report-")
_GROWING = ("replies/", "embeddings/", "runtimes.json", "releases.json", "pilots/")
_FILES = ("replies/**/*.calls.jsonl", "embeddings/*.parquet", "runtimes.json", "releases.json", "pilots/*.json")
_POINTERS = "latest_*.json"
_SEEN = ".pointers.json"
_ERRORS = (("botocore.exceptions", "BotoCoreError"), ("botocore.exceptions", "ClientError"),
           ("azure.core.exceptions", "AzureError"), ("google.auth.exceptions", "GoogleAuthError"),
           ("aiohttp", "ClientError"))  # fmt: skip
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az"}


def remote(place: str | Path) -> bool:
    """Whether a place is a URL of a store and no folder of this machine."""
    return "://" in str(place)


def local_results(results: str | Path) -> Path:
    """The results folder itself, or the local one that stands before a store: below EXAMGEN_CACHE or ~/.cache."""
    if not remote(results):
        return Path(results).resolve()
    base = os.environ.get("EXAMGEN_CACHE") or Path.home() / ".cache" / "examgen"
    return Path(base).resolve() / "results" / digest("results", str(results).rstrip("/"), length=12)


def named(results: str | Path) -> str:
    """A results place as a run is told it: a URL as it is, a folder in full."""
    return str(results).rstrip("/") if remote(results) else str(Path(results).resolve())


class Objects:
    """Objects under a URL: put whole, fetched whole. Errors of the store are a `RunError` that names the URL."""

    def __init__(self, url: str) -> None:
        import fsspec

        self.url = url.rstrip("/")
        scheme = self.url.partition("://")[0]
        try:
            # Listings are never remembered: other machines write here too.
            options: dict[str, Any] = {"use_listings_cache": False} if scheme in _EXTRAS else {}
            self._system, self._base = fsspec.core.url_to_fs(self.url, **options)
        except ImportError as error:
            extra = _EXTRAS.get(scheme, "s3")
            raise InputError(f"{url}: its store needs one more package: pip install 'examgen[{extra}]'") from error
        except ValueError as error:
            raise InputError(f"{url}: no store is called {scheme}: use s3://, gs://, az:// or a folder") from error

    def put(self, name: str, data: bytes) -> None:
        """One object, whole or not at all: stores show an object when all of it is there."""
        with self._said("written"):
            self._system.pipe_file(f"{self._base}/{name}", data)

    def get(self, name: str) -> bytes | None:
        """The bytes of an object; None when there is none of that name."""
        with self._said("read"):
            try:
                found: bytes = self._system.cat_file(f"{self._base}/{name}")
            except FileNotFoundError:
                return None
            return found

    def remove(self, name: str) -> None:
        """Take an object away; one that is not there is no error."""
        with self._said("changed"), contextlib.suppress(FileNotFoundError):
            self._system.rm_file(f"{self._base}/{name}")

    def sizes(self) -> dict[str, int]:
        """Every object by name, with its bytes."""
        with self._said("listed"):
            found = self._system.find(self._base, detail=True)
        base = str(self._base).strip("/")
        return {name.strip("/").removeprefix(base).strip("/"): int(about["size"]) for name, about in found.items()}

    @contextlib.contextmanager
    def _said(self, what: str) -> Iterator[None]:
        try:
            yield
        except _store_errors() as error:
            told = " ".join(str(error).split())[:300] or type(error).__name__
            raise RunError(
                f"{self.url}: cannot be {what} ({told}): check bucket, keys and address; what was finished is kept here"
            ) from error


def _store_errors() -> tuple[type[Exception], ...]:
    """What a store's own library raises, if it is loaded."""
    loaded = [getattr(sys.modules[module], name) for module, name in _ERRORS if module in sys.modules]
    return (OSError, *loaded)


_current: ContextVar[Mirror | None] = ContextVar("mirror", default=None)


def current() -> Mirror | None:
    """The store behind the results of this run; None when they are a folder."""
    return _current.get()


class Mirror:
    """The store behind one study's local folder."""

    def __init__(self, url: str, root: Path) -> None:
        self.root = root
        self._objects = Objects(url)
        self._lock = threading.RLock()
        self._there: dict[str, int] | None = None
        self._put: dict[str, int] = {}

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Fetch what a run starts from; put what it leaves, whatever ends it."""
        self.fetch()
        token = _current.set(self)
        try:
            with ledger.written_by(self._machine()):
                yield
        finally:
            _current.reset(token)
            self.publish()

    def fetch(self) -> None:
        """Pointers and what they point at, replies, embeddings. Shards come when they are asked for."""
        with self._lock:
            self._there = None
            for name, size in self._listed().items():
                place = self.root / name
                if name.startswith(_GROWING) and (not place.is_file() or place.stat().st_size < size):
                    store.write_bytes(place, self._objects.get(name) or b"")
            self.fetch_pointers()

    def fetch_pointers(self) -> None:
        """Which bank and evaluation are the latest, and those; ours is kept unless somebody changed the store's."""
        with self._lock:
            seen = self._seen()
            for name in (n for n in self._listed() if Path(n).match(_POINTERS)):
                data = self._objects.get(name)
                if data is None:
                    continue
                if not (self.root / name).is_file() or seen.get(name) != hashlib.sha256(data).hexdigest():
                    self._note_seen(name, data)
                    store.write_bytes(self.root / name, data)
                for unit in _pointed(json.loads((self.root / name).read_text())):
                    self.fetch_unit(unit)

    def fetch_unit(self, unit: str) -> bool:
        """A folder from the store, whole and checked against its manifest; False when the store has none."""
        final = self.root / unit
        if final.is_dir():
            return True
        with self._lock:
            if f"{unit}/{MANIFEST}" not in self._listed():
                return False
            temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.tmp")
            try:
                if not fetch_folder(self._objects, unit, temporary):
                    return False
                store.settle(temporary, final)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            return True

    def publish_unit(self, unit: str) -> None:
        """Put a finished folder: its files, then its manifest. One that is there already is left as it is."""
        with self._lock:
            name = f"{unit}/{MANIFEST}"
            if name in self._listed():
                return
            hashes = {}
            for place in _own_files(self.root / unit):
                data = place.read_bytes()
                inner = place.relative_to(self.root / unit).as_posix()
                hashes[inner] = hashlib.sha256(data).hexdigest()
                self._objects.put(f"{unit}/{inner}", data)
            self._objects.put(name, json.dumps({"files": hashes}, sort_keys=True, indent=1).encode())
            self._listed()[name] = 0

    def forget_unit(self, unit: str) -> None:
        """A folder that is to be done again: without its manifest it is not there, for us and for everybody."""
        with self._lock:
            name = f"{unit}/{MANIFEST}"
            if self._listed().pop(name, None) is not None:
                self._objects.remove(name)

    def publish_files(self) -> None:
        """Put replies and embeddings that are new or longer than when they were last put."""
        with self._lock:
            for pattern in _FILES:
                for place in sorted(self.root.glob(pattern)):
                    name, size = place.relative_to(self.root).as_posix(), place.stat().st_size
                    if max(self._put.get(name, 0), self._listed().get(name, 0)) < size:
                        self._objects.put(name, place.read_bytes()[:size])
                        self._put[name] = size

    def publish(self) -> None:
        """Put all that is finished: files, folders, and last the pointers to them."""
        with self._lock:
            self.publish_files()
            for pattern in _UNITS:
                for place in sorted(self.root.glob(pattern)):
                    if place.is_dir() and not place.name.startswith("."):
                        self.publish_unit(place.relative_to(self.root).as_posix())
            for place in sorted(self.root.glob(_POINTERS)):
                data = place.read_bytes()
                if self._seen().get(place.name) != hashlib.sha256(data).hexdigest():
                    self._objects.put(place.name, data)
                    self._note_seen(place.name, data)

    def _listed(self) -> dict[str, int]:
        """What the store held when this run began, and the manifests put since."""
        if self._there is None:
            self._there = self._objects.sizes()
        return self._there

    def _machine(self) -> str:
        """A name for this folder: two machines that ask the same write two journals, and neither overwrites one."""
        note = self.root / ".writer"
        if not note.is_file():
            store.write_text(note, uuid.uuid4().hex[:8])
        return note.read_text()

    def _seen(self) -> dict[str, str]:
        note = self.root / _SEEN
        found: dict[str, str] = store.read_json(note) if note.is_file() else {}
        return found

    def _note_seen(self, name: str, data: bytes) -> None:
        store.write_json(self.root / _SEEN, {**self._seen(), name: hashlib.sha256(data).hexdigest()})


def _own_files(unit: Path) -> list[Path]:
    """Files of a folder without those of the folders in it that are published by themselves."""
    found = []
    for place in sorted(unit.rglob("*")):
        inner = place.relative_to(unit).parts
        if place.is_file() and not any(part.startswith((*_NESTED, ".")) for part in inner[:-1]):
            found.append(place)
    return found


def _pointed(pointer: dict[str, Any]) -> list[str]:
    """The folders that a pointer names, as paths in the study's folder, outer ones first."""
    found: list[str] = []
    for key in ("folder", "bank", "report"):
        path = Path(str(pointer.get(key, "")))
        if key in pointer and not path.is_absolute():
            folder = path.parent if path.suffix == ".html" else path
            found += [p.as_posix() for p in (*reversed(folder.parents), folder) if len(p.parts) > 1]
    return list(dict.fromkeys(found))


def fetch_folder(objects: Objects, unit: str, final: Path) -> bool:
    """Write the files that a folder's manifest lists; False without a manifest, `RunError` when bytes are not those."""
    prefix = f"{unit}/" if unit else ""
    manifest = objects.get(f"{prefix}{MANIFEST}")
    if manifest is None:
        return False
    for inner, expected in json.loads(manifest)["files"].items():
        data = objects.get(f"{prefix}{inner}")
        if data is None or hashlib.sha256(data).hexdigest() != expected:
            raise RunError(f"{objects.url}/{prefix}{inner}: is not what its manifest lists: delete {prefix}{MANIFEST}")
        store.write_bytes(final / inner, data)
    return True


@contextlib.contextmanager
def at_hand(place: str) -> Iterator[Path]:
    """A folder of results as a local path: itself, or fetched from a store for the time of the block."""
    if not remote(place):
        yield Path(place)
        return
    with tempfile.TemporaryDirectory() as folder:
        final = Path(folder) / place.rstrip("/").rpartition("/")[2]
        if not fetch_folder(Objects(place), "", final):
            raise BankError(f"{place}: no whole folder is there: give the address of one bank, ending in its id")
        yield final

"""Where a study's results lie, and the lock that keeps two builds of one study apart."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import AcquireReturnProxy, FileLock, Timeout

from examgen.errors import BankError, RunError
from examgen.study import Study
from tasks import mirror, run_log, store

PROJECT = Path(__file__).resolve().parents[1]
"""The repository: where suites, lexicons and the sample study are."""

PATIENCE = 1.0
"""Seconds to wait for a held study."""


_PATHS = ("folder", "bank", "report")
"""Keys of a pointer that hold paths."""


def prefect_home(results: str | Path) -> Path:
    """Folder of the Prefect records of runs with a server of our own."""
    return mirror.local_results(results) / ".prefect"


class Workplace:
    """Folders and pointers of one study under the results folder, or under the local folder before a store."""

    def __init__(self, results: str | Path, study: str) -> None:
        self.root = mirror.local_results(results) / study
        self._store = f"{str(results).rstrip('/')}/{study}" if mirror.remote(results) else ""
        self.work = self.root / "work"
        self.replies = self.root / "replies"
        self.banks = self.root / "bank"
        self.evaluations = self.root / "evaluations"

    def point(self, name: str, value: dict[str, Any]) -> None:
        """Remember which bank or evaluation is the latest; paths in the study's folder are kept relative to it."""
        inside = {key: self._inside(str(value[key])) for key in _PATHS if key in value}
        store.write_json(self.root / f"latest_{name}.json", {**value, **inside})

    def pointer(self, name: str) -> dict[str, Any] | None:
        """What was pointed to last, or None."""
        place = self.root / f"latest_{name}.json"
        return self._resolved(store.read_json(place)) if place.is_file() else None

    def latest(self, name: str) -> dict[str, Any]:
        """The latest bank or evaluation; `BankError` when there is none yet."""
        place = self.root / f"latest_{name}.json"
        if not place.is_file() and self._store:
            mirror.Mirror(self._store, self.root).fetch_pointers()
        if not place.is_file():
            what = {"bank": "build", "evaluation": "evaluate", "results": "calibrate"}[name]
            raise BankError(f"{self.root}: no {name} yet: run `examgen {what} STUDY` first")
        return self._resolved(store.read_json(place))

    def _resolved(self, found: dict[str, Any]) -> dict[str, Any]:
        return {**found, **{key: str(self.root / found[key]) for key in _PATHS if key in found}}

    def _inside(self, path: str) -> str:
        """A path relative to the study's folder, so that the folder can be moved; others as they are."""
        return os.path.relpath(path, self.root) if Path(path).is_relative_to(self.root) else path

    def check_free(self) -> None:
        """`RunError` when a run holds the study just now: said before anything is started for a second one."""
        if self.root.is_dir():
            with self._held(0.0):
                pass

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the study: a second run of it stops with a clear message instead of mixing its files with ours.

        A flow that holds it may call flows that hold it again; lines written meanwhile name the study.
        """
        with self._held(PATIENCE), run_log.about(study=self.root.name):
            (self.root / ".holder").write_text(f"process {os.getpid()}")
            with self._mirrored():
                yield

    @contextlib.contextmanager
    def _mirrored(self) -> Iterator[None]:
        """The store behind the study, if it has one, for a block; a flow inside another puts what it leaves there."""
        outer = mirror.current()
        if not self._store:
            yield
        elif outer is None:
            with mirror.Mirror(self._store, self.root).held():
                yield
        else:
            try:
                yield
            finally:
                outer.publish()

    def _held(self, seconds: float) -> AcquireReturnProxy:
        """The lock, held to the end of the block that takes it; it waits a moment for one who only looks."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / ".lock", is_singleton=True, thread_local=False)
            return lock.acquire(timeout=seconds)
        except Timeout as error:
            holder = self.root / ".holder"
            who = holder.read_text() if holder.is_file() else "another process"
            raise RunError(f"{self.root}: {who} is running this study: wait for it, or stop it") from error
        except PermissionError as error:
            raise RunError(f"{self.root}: cannot be written: choose another folder with --results") from error


def corpus_folder(study: Study, study_path: str | Path) -> Path:
    """The corpus folder of a study file: relative to the file that names it."""
    return (Path(study_path).resolve().parent / study.corpus.folder).resolve()


def suites_folder(study: Study, study_path: str | Path) -> Path:
    """Folder of the acceptance suites: the study's own, or those of the project."""
    own = study.audits.suites
    return (Path(study_path).resolve().parent / own).resolve() if own else PROJECT / "expectations" / "suites"


def lexicons_folder(study: Study, study_path: str | Path) -> Path:
    """Folder of the lexicons: the study's own, or those of the project."""
    own = study.writing.lexicons
    return (Path(study_path).resolve().parent / own).resolve() if own else PROJECT / "data" / "lexicons"

"""The record of a run: every shard it rested on, which of them it did and which it found, and what it paid for.

Records lie in `<study>/runs`, one a flow and set of shards: a rerun that rests on the same shards takes the place of
the earlier record. They are for people, and they say which shards are still of use.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from examgen.ids import digest
from tasks import store, tally
from tasks.workplace import Workplace

RUNS_KEPT = 3
"""Shards are kept as long as one of the last so many different runs of their flow rested on them."""

DONE_FILE = "done.json"
"""What a finished shard has in its folder."""

COUNTED = ("model calls", "embeddings")

_open: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}


def saw(stage: str, key: str, label: str, folder: str) -> None:
    """Note a shard of a run under way, the first time it is spoken of; without a run nothing is noted."""
    seen = _open.get(str(Path(folder).parents[1]))
    if seen is not None and (stage, key) not in seen:
        found = (Path(folder) / DONE_FILE).is_file()
        seen[stage, key] = {"stage": stage, "key": key, "label": label, "folder": folder, "found": found}


def forgot(stage: str, key: str, folder: str) -> None:
    """Note that what was found of a shard is dropped, to be done again."""
    noted = _open.get(str(Path(folder).parents[1]), {}).get((stage, key))
    if noted:
        noted["found"] = False


@contextlib.contextmanager
def recorded(place: Workplace, flow: str) -> Iterator[None]:
    """Record a run of a flow; the study must be held, for what killed runs left is swept first, and old shards after.

    A run that fails is recorded as unfinished, and its shards are kept until the flow has finished once.
    """
    clear_leftovers(place)
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    before = {name: tally.count(name) for name in COUNTED}
    _open[str(place.work)] = seen
    try:
        yield
    except BaseException:
        _write(place, flow, seen, before, finished=False)
        raise
    finally:
        _open.pop(str(place.work), None)
    _write(place, flow, seen, before, finished=True)
    prune(place)


def _write(
    place: Workplace, flow: str, seen: dict[tuple[str, str], dict[str, Any]], before: dict[str, int], finished: bool
) -> None:
    """The record, numbered after the last; that of an unfinished run has one name and goes when the flow finishes."""
    unfinished = place.root / "runs" / f"{flow}-unfinished.json"
    name = f"{flow}-{digest('run', *sorted(key for _, key in seen))}.json"
    shards = []
    for noted in seen.values():
        there = (Path(noted["folder"]) / DONE_FILE).is_file()
        did = "found" if noted["found"] else "done" if there else "not done"
        shards.append({"stage": noted["stage"], "label": noted["label"], "key": noted["key"], "did": did})
    paid = {name: tally.count(name) - number for name, number in before.items()}
    number = 1 + max((record["number"] for record in records(place).values()), default=0)
    about = {"flow": flow, "number": number, "finished": finished, "shards": shards, "paid": paid}
    if place.root.is_dir():
        store.write_json(place.root / "runs" / name if finished else unfinished, about)
    if finished:
        unfinished.unlink(missing_ok=True)


def records(place: Workplace) -> dict[Path, dict[str, Any]]:
    """The records of a study's runs by file, the latest last."""
    found = {file: store.read_json(file) for file in (place.root / "runs").glob("*.json")}
    return dict(sorted(found.items(), key=lambda pair: int(pair[1]["number"])))


def clear_leftovers(place: Workplace) -> int:
    """Remove temporary files and folders that killed runs left; returns how many. The study must be held."""
    removed = 0
    for pattern in (".*.tmp", "*/.*.tmp", "work/*/.*.tmp", "texts/readings/.*.tmp"):
        for left in place.root.glob(pattern):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
            removed += 1
    return removed


def prune(place: Workplace, keep: int = 0) -> list[Path]:
    """Remove the shards that none of the last `keep` different runs of their flow rested on (0: as many as
    `RUNS_KEPT`); returns their folders.

    Only stages of flows with at least so many records are looked at. Banks, evaluations, embeddings and journals lie
    elsewhere and are never touched: a shard that is needed again is made again without a model call.
    """
    keep = keep or RUNS_KEPT
    known = records(place)
    by_flow: dict[str, list[Path]] = {}
    for file, record in known.items():
        if record["finished"]:
            by_flow.setdefault(record["flow"], []).append(file)
    old = {file for files in by_flow.values() for file in files[:-keep]}
    used = {(s["stage"], s["key"]) for file, record in known.items() if file not in old for s in record["shards"]}
    full = [file for files in by_flow.values() if len(files) >= keep for file in files]
    stages = {shard["stage"] for file in full for shard in known[file]["shards"]}
    removed = []
    for stage in sorted(stages):
        for folder in sorted((place.work / stage).glob("*")):
            if folder.is_dir() and (stage, folder.name) not in used:
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
    for file in old:
        file.unlink(missing_ok=True)
    return removed

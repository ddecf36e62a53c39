"""A stage is a Prefect task over one shard. Its output is a folder named by all it depends on, whole or absent."""

from __future__ import annotations

import functools
import logging
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from prefect import task
from prefect.cache_policies import CacheKeyFnPolicy
from prefect.context import TaskRunContext
from prefect.states import Completed
from pydantic import BaseModel, ConfigDict

from examgen.errors import RunError
from examgen.ids import canonical_json, digest
from tasks import mirror, run_log, run_record, runner, store
from tasks.code_version import code_version
from tasks.run_record import DONE_FILE

run_log.install()


class Done(BaseModel):
    """What a finished shard left: its folder, its key (the name of its content) and its counts."""

    model_config = ConfigDict(frozen=True)

    stage: str
    label: str
    key: str
    folder: str
    counts: dict[str, int]
    facts: dict[str, Any] = {}

    def table(self, name: str) -> str:
        """Path of one of its tables."""
        return f"{self.folder}/{name}.parquet"


class Shard(BaseModel):
    """The work of one task run: small, readable in the UI, and complete: paths and settings in, a folder out."""

    model_config = ConfigDict(frozen=True)

    study: str
    stage: str
    label: str
    key: str
    folder: str
    inputs: dict[str, Any]

    def finished(self) -> Done | None:
        """What an earlier run left, if it finished."""
        note = Path(self.folder) / DONE_FILE
        behind = mirror.current()
        if behind and not note.is_file():
            behind.fetch_unit(f"work/{self.stage}/{self.key}")
        if not note.is_file():
            return None
        # The folder may have been moved or fetched from a store since: where it is now counts.
        return Done.model_validate(store.read_json(note)).model_copy(update={"folder": self.folder})


Work = Callable[[Shard, Path], dict[str, Any]]
Stage = Callable[[Shard], Done]

_MODULES: dict[str, tuple[str, ...]] = {}


def version_of(stage: str) -> str:
    """The code version of a stage whose module is imported."""
    return code_version(*_MODULES[stage])


def make_shard(
    study: str, stage: str, label: str, work: str | Path, depends: dict[str, Any], inputs: dict[str, Any] | None = None
) -> Shard:
    """A shard keyed by what it depends on and the code of its stage; `inputs` holds what does not change the result."""
    key = digest("stage", stage, version_of(stage), canonical_json(depends))
    folder = str(Path(work) / stage / key)
    run_record.saw(stage, key, label, folder)
    return Shard(
        study=study,
        stage=stage,
        label=label,
        key=key,
        folder=folder,
        inputs={**depends, **(inputs or {})},
    )


def _carry_out(shard: Shard, work: Work) -> Done:
    """Do the work in a temporary folder and give it its name when it is whole."""
    earlier = shard.finished()
    if earlier is not None:
        return earlier
    final = Path(shard.folder)
    temporary = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise RunError(
            f"{final.parent}: cannot be written ({error.strerror}): free space or choose another folder"
        ) from error
    try:
        found = work(shard, temporary)
        done = Done(
            stage=shard.stage,
            label=shard.label,
            key=shard.key,
            folder=shard.folder,
            counts=found.get("counts", {}),
            facts=found.get("facts", {}),
        )
        store.write_json(temporary / DONE_FILE, done.model_dump())
        store.settle(temporary, final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    settled = shard.finished()
    return settled if settled is not None else done


def _told(shard: Shard, perform: Callable[[Shard], Done]) -> Done:
    """Do the work and say in the run's log what came of it; an error leaves with the name of the shard."""
    started = time.monotonic()
    with run_log.about(study=shard.study, stage=shard.stage, shard=shard.label), _Named(shard):
        done = perform(shard)
        counts = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in done.counts.items())
        run_log.note(f"{counts or 'done'} ({time.monotonic() - started:.1f} s)")
    return done


class _Named:
    """Notes on every error that passes which shard it comes from: flows show it, and what to do."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"shard: {self._shard.label}")
            run_log.note(f"failed: {kind.__name__ if kind else ''}: {error}", logging.ERROR)


def _cache_key(context: TaskRunContext, parameters: dict[str, Any]) -> str:
    return f"{context.task.name}-{parameters['shard'].key}"


def _bound_here(shard: Shard) -> bool:
    """Whether a shard asks a model server that listens on this machine alone."""
    endpoint = shard.inputs.get("endpoint", {})
    return bool(shard.inputs.get("base_urls", {}).get(endpoint.get("id", "")))


def stage(name: str, *modules: str, retries: int = 0, elsewhere: bool = False) -> Callable[[Work], Stage]:
    """Make a Prefect task of a function (shard, folder) -> {"counts", "facts"} that writes tables into the folder.

    With `elsewhere`, the work goes to the cluster of the run if it has one.
    """

    def wrap(work: Work) -> Stage:
        _MODULES[name] = (f"{work.__module__}:{work.__name__}", *modules)
        here = functools.partial(_carry_out, work=work)

        def perform(shard: Shard) -> Done:
            done = _there(shard)
            behind = mirror.current()
            if behind:
                behind.publish_files()
                behind.publish_unit(f"work/{shard.stage}/{shard.key}")
            return done

        def _there(shard: Shard) -> Done:
            if not elsewhere or runner.cluster() is None or shard.finished() or _bound_here(shard):
                return here(shard)
            Path(shard.folder).parent.mkdir(parents=True, exist_ok=True)
            return Done.model_validate(
                runner.ask(work.__module__, work.__name__, version_of(name), shard.model_dump(mode="json"))
            )

        @task(
            name=name,
            task_run_name="{shard.label}",
            retries=retries,
            persist_result=True,
            cache_policy=CacheKeyFnPolicy(cache_key_fn=_cache_key),
        )
        def run(shard: Shard) -> Done:
            return _told(shard, perform)

        @functools.wraps(work)
        def call(shard: Shard) -> Done:
            # Prefect's record of a result whose folder is gone would be a lie: ask for the work again.
            fresh = shard.finished() is None
            return _settled(shard, run.with_options(refresh_cache=True)(shard) if fresh else run(shard))

        call.task = run  # type: ignore[attr-defined]
        call.work = perform  # type: ignore[attr-defined]
        call.here = here  # type: ignore[attr-defined]
        return call

    return wrap


def _settled(shard: Shard, returned: Done) -> Done:
    """What lies in the shard's folder: Prefect's record of it may name a folder of another results folder."""
    return shard.finished() or returned


def run_shards(run: Stage, shards: Sequence[Shard], lane: Callable[[Shard], str] | None = None) -> list[Done]:
    """Run the shards of one stage, some at a time, and return what they left in the order given.

    Shards of one lane go one after the other: an endpoint's shards each fill its concurrency by themselves.
    """
    submitted: list[Any] = []
    last: dict[str, Any] = {}
    for shard in shards:
        fresh = shard.finished() is None
        one = run.task.with_options(refresh_cache=True) if fresh else run.task  # type: ignore[attr-defined]
        name = lane(shard) if lane else shard.key
        future = one.submit(shard, wait_for=[last[name]] if name in last else None)
        last[name] = future
        submitted.append(future)
    return [_settled(shard, future.result()) for shard, future in zip(shards, submitted, strict=True)]


def ended(found: dict[str, Any], incomplete: Mapping[str, str]) -> dict[str, Any]:
    """What a flow returns: its value, or, where endpoints are incomplete, the same in a state that names them.

    Who calls the flow gets the value either way, so that is its type.
    """
    if not incomplete:
        return found
    message = "; ".join(f"{name} is {why}" for name, why in incomplete.items())
    state: Any = Completed(name="Incomplete", message=message, data=found)
    return cast(dict[str, Any], state)


def forget(shard: Shard) -> None:
    """Drop what an earlier run left of a shard, here and in the store, so that it is done again."""
    run_record.forgot(shard.stage, shard.key, shard.folder)
    behind = mirror.current()
    if behind:
        behind.forget_unit(f"work/{shard.stage}/{shard.key}")
    shutil.rmtree(shard.folder, ignore_errors=True)


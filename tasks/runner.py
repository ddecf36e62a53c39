"""Where shards are carried out: in this process, or on the workers of a Dask or Ray cluster.

The Prefect task of a shard stays in this process and waits; only the work goes out. So records, lanes, caching and the
check that every shard came back are the same wherever the work is done, and a worker needs no Prefect server.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextvars import ContextVar
from typing import Any, Protocol

from examgen import errors
from examgen.errors import RunError, StudyError
from examgen.study import Runner as Settings
from tasks import elsewhere, tally
from tasks.progress import bars

WAIT = 60.0
"""Seconds that a cluster gets to answer and to show a worker."""

CPUS = os.cpu_count() or 1

_DIED = "every worker that took it died: look into the workers' logs, for memory first"

_PACKAGES = {"dask": "distributed", "ray": "ray"}


class Cluster(Protocol):
    """Workers that do a shard each."""

    def carry_out(self, module: str, function: str, version: str, shard: dict[str, Any]) -> dict[str, Any]:
        """`tasks.elsewhere.carry_out` on a worker; blocks until it is done there."""


_current: ContextVar[Cluster | None] = ContextVar("cluster", default=None)


def cluster() -> Cluster | None:
    """The cluster of this run; None when shards are done in this process."""
    return _current.get()


def missing(settings: Settings) -> str:
    """What has to be installed for this runner, as one line; empty when all is there."""
    package = _PACKAGES.get(settings.kind)
    if package is None or importlib.util.find_spec(package) is not None:
        return ""
    return f"runner {settings.kind}: the package {package} is not installed: pip install 'examgen[{settings.kind}]'"


def ask(module: str, function: str, version: str, shard: dict[str, Any]) -> dict[str, Any]:
    """Have the cluster do a shard: what it left. Its counts are added to ours, its errors are raised here."""
    found = _current.get()
    assert found is not None
    reply = found.carry_out(module, function, version, shard)
    if "failed" in reply:
        raise getattr(errors, reply["failed"])(reply["message"])
    for what, number in reply["tally"].items():
        tally.add(what, number)
    for name, steps in reply["steps"].items():
        bars.advance(name, steps)
    done: dict[str, Any] = reply["done"]
    return done


@contextlib.contextmanager
def using(settings: Settings) -> Iterator[None]:
    """Send shards to the study's runner while the block runs; a cluster of our own ends with it.

    `StudyError` when its package is not installed, `RunError` when no cluster answers at its address.
    """
    lacking = missing(settings)
    if lacking:
        raise StudyError(lacking)
    if settings.kind == "threads":
        yield
        return
    opened: Callable[[Settings], contextlib.AbstractContextManager[Cluster]]
    opened = _dask if settings.kind == "dask" else _ray
    with opened(settings) as found:
        token = _current.set(found)
        try:
            yield
        finally:
            _current.reset(token)


class _Dask:
    """The workers of a Dask scheduler."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def carry_out(self, module: str, function: str, version: str, shard: dict[str, Any]) -> dict[str, Any]:
        from distributed import KilledWorker

        future = self._client.submit(elsewhere.carry_out, module, function, version, shard, pure=False)
        try:
            reply: dict[str, Any] = future.result()
        except KilledWorker as error:
            raise _lost(shard, _DIED) from error
        except CancelledError as error:
            raise _lost(shard, "the Dask scheduler is gone: start it and run again") from error
        return reply


@contextlib.contextmanager
def _dask(settings: Settings) -> Iterator[_Dask]:
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")  # read at import, by workers of ours too
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        if not settings.address:
            # One thread a worker: a shard that asks a model fills its endpoint by itself, one that counts fills a core.
            own = stack.enter_context(
                LocalCluster(n_workers=settings.workers or CPUS, threads_per_worker=1, dashboard_address=None)
            )
        try:
            client = stack.enter_context(Client(settings.address or own, timeout=WAIT))
            client.wait_for_workers(1, timeout=WAIT)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            raise _silent(settings, "dask scheduler", "dask worker ADDRESS") from error
        yield _Dask(client)


class _Ray:
    """The workers of a Ray cluster."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._remote = ray.remote(max_retries=3)(elsewhere.carry_out)

    def carry_out(self, module: str, function: str, version: str, shard: dict[str, Any]) -> dict[str, Any]:
        try:
            reply: dict[str, Any] = self._ray.get(self._remote.remote(module, function, version, shard))
        except (self._ray.exceptions.WorkerCrashedError, self._ray.exceptions.NodeDiedError) as error:
            raise _lost(shard, _DIED) from error
        except self._ray.exceptions.RaySystemError as error:
            raise _lost(shard, "the Ray cluster is gone: start it and run again") from error
        return reply


@contextlib.contextmanager
def _ray(settings: Settings) -> Iterator[_Ray]:
    import ray

    known: dict[str, Any] = {"include_dashboard": False, "num_cpus": settings.workers or CPUS}
    try:
        ray.init(
            **({"address": settings.address} if settings.address else known),
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise _silent(settings, "ray start --head", "ray start --address=ADDRESS") from error
    try:
        yield _Ray(ray)
    finally:
        ray.shutdown()


def _silent(settings: Settings, head: str, worker: str) -> RunError:
    return RunError(
        f"runner.address {settings.address or '(own cluster)'}: no {settings.kind} cluster with a worker answers there "
        f"within {WAIT:g} s: start it (`{head}`, `{worker}`), or leave the address empty for workers on this machine"
    )


def _lost(shard: dict[str, Any], why: str) -> RunError:
    return RunError(f"shard {shard['label']}: {why}; what was finished is kept")

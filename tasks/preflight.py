"""Whether a study can run, told before anything is spent."""

from __future__ import annotations

import os
from pathlib import Path

from examgen import baselines
from examgen.errors import StudyError
from examgen.study import Endpoint, load_study
from tasks import read_sources, runner
from tasks.workplace import corpus_folder


def _endpoint_problem(endpoint: Endpoint) -> str:
    if endpoint.kind == "baseline" and endpoint.model not in baselines.NAMES:
        known = ", ".join(baselines.NAMES)
        return f"endpoints.{endpoint.id}.model: no baseline is called {endpoint.model!r}; there are {known}"
    if endpoint.kind == "openai" and not endpoint.model:
        return f"endpoints.{endpoint.id}.model: name the model that {endpoint.base_url or 'OpenAI'} should run"
    if endpoint.key_env and not os.environ.get(endpoint.key_env):
        return f"endpoints.{endpoint.id}.key_env: the environment variable {endpoint.key_env} is not set"
    return ""


def preflight(path: Path) -> list[str]:
    """Lines that say what a run would do; `StudyError` or `CorpusError` when it could not start."""
    study = load_study(path)
    wrong = [f"{path}: {problem}" for endpoint in study.endpoints if (problem := _endpoint_problem(endpoint))]
    if lacking := runner.missing(study.runner):
        wrong.append(f"{path}: {lacking}")
    if wrong:
        raise StudyError("\n".join(wrong))
    folder = corpus_folder(study, path)
    entries = read_sources.scan(folder, study.corpus)
    readable = [entry for entry in entries if not entry.reason]
    wanted = sum(study.writing.per_subtopic.values())
    return [
        f"{path}: study {study.study!r} is valid",
        f"  corpus: {len(readable)} of {len(entries)} files in {folder} are of a kind that is read",
        f"  seeds: {len(study.seeds)}, checklist concepts: {len(study.checklist)}",
        f"  items: written by {study.writing.method}, {wanted} a subtopic; screened by {study.screen.method}",
        f"  panel: {', '.join(study.panel.endpoints or [e.id for e in study.endpoints])}",
    ]

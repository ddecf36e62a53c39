"""Peers of `benchmarks.panel`, run by the interpreter of their own environment; nothing of this project is imported.

    PEER_PYTHON benchmarks/panel_peers.py lm_eval|inspect_ai ITEMS.jsonl URL CONCURRENCY FOLDER

Each asks the stub server for every item with the tool's own defaults, its log of samples on; imports are not counted.
Prints one line of JSON like the clients of `benchmarks.panel`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def lm_eval(items: Path, url: str, concurrency: int, folder: Path) -> Callable[[], int]:
    """lm-evaluation-harness: a task of generated letters through its model `local-chat-completions`."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    task: dict[str, Any] = {
        "task": "stub_letters",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(items)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "prompt",
        "doc_to_target": "letter",
        "generation_kwargs": {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 16},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    (folder / "stub_letters.yaml").write_text(json.dumps(task))
    settings = {"model": "m", "base_url": f"{url}/chat/completions", "num_concurrent": concurrency, "max_retries": 3}

    def run() -> int:
        tracker = EvaluationTracker(output_path=str(folder / "out"))
        found = simple_evaluate(
            model="local-chat-completions",
            model_args={**settings, "tokenized_requests": False},
            tasks=["stub_letters"],
            task_manager=TaskManager(include_path=str(folder)),
            apply_chat_template=True,
            log_samples=True,
            evaluation_tracker=tracker,
        )
        samples = found["samples"]["stub_letters"]
        tracker.save_results_samples("stub_letters", samples)
        return len(samples)

    return run


def inspect_ai(items: Path, url: str, concurrency: int, folder: Path) -> Callable[[], int]:
    """Inspect: its solver and scorer of multiple choice through its provider `openai`."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import json_dataset
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    def run() -> int:
        task = Task(dataset=json_dataset(str(items)), solver=multiple_choice(), scorer=choice())
        (log,) = eval(
            task,
            model="openai/m",
            model_base_url=url,
            model_args={"responses_api": False},
            max_connections=concurrency,
            max_tokens=16,
            temperature=0.0,
            log_dir=str(folder / "logs"),
            display="none",
        )
        if log.status != "success":
            raise SystemExit(f"inspect ended as {log.status}: {log.error}")
        return len(log.samples or ())

    return run


def main() -> None:
    """Run one peer once."""
    name, items, url, concurrency, place = sys.argv[1:6]
    folder = Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {
        "OPENAI_API_KEY": "k",
        "HF_HOME": str(folder / "hf"),
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_OFFLINE": "1",
        "INSPECT_DISPLAY": "none",
    }
    run = {"lm_eval": lm_eval, "inspect_ai": inspect_ai}[name](Path(items), url, int(concurrency), folder)
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    count = run()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures = {"rate": count / wall, "cpu": 1000 * cpu / count, "rss": after.ru_maxrss / 1024}
    print(json.dumps({**figures, "imports": before.ru_maxrss / 1024}), flush=True)


if __name__ == "__main__":
    main()

"""Speed of reading, cutting, embedding and indexing, as ratios to what the machine can do; `index_scale.py` has memory.

    python benchmarks/reading.py chunking            MB/s of cutting, beside MB/s of SHA-256 on the same text
    python benchmarks/reading.py reading [FILES]     how busy one and all reading processes keep the processors
    python benchmarks/reading.py indexing            share of embedding in indexing the sample corpus
    python benchmarks/reading.py rerun [FILES]       an unchanged folder, a touched one, one changed file

Prints one line a figure. Nothing here is a test: figures depend on the machine and on what else runs on it.
"""

from __future__ import annotations

import hashlib
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from examgen.chunks import cut  # noqa: E402
from examgen.records import SourceText  # noqa: E402
from examgen.study import Chunking, Corpus, Embedding  # noqa: E402
from tasks.embed import StoredVectors, add_missing, make_embedder  # noqa: E402
from tasks.fingerprint import fingerprint  # noqa: E402
from tasks.index import build  # noqa: E402
from tasks.manifest import Manifest  # noqa: E402
from tasks.read_sources import read_files, scan  # noqa: E402
from tasks.reading_pool import processors  # noqa: E402

SAMPLE = ROOT / "data" / "corpora" / "ms_mri"


def say(name: str, value: float, unit: str) -> None:
    """One figure."""
    print(f"{name:<58} {value:>12.3f} {unit}")


def best_cpu_seconds(work: Callable[[], object], times: int = 5) -> float:
    """The least processor time of some runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def sample_texts() -> list[SourceText]:
    """The texts of the sample corpus."""
    corpus = Corpus(folder=str(SAMPLE))
    return [text for _, text in read_files(scan(SAMPLE, corpus), corpus, None) if text is not None]


def chunking() -> None:
    """Cutting against hashing, document by document, as the pipeline cuts them."""
    texts = sample_texts() * 20
    megabytes = sum(len(text.text.encode()) for text in texts) / 1e6
    hashed = megabytes / best_cpu_seconds(lambda: [hashlib.sha256(text.text.encode()).digest() for text in texts])
    say("SHA-256 of the same text", hashed, "MB/s of one processor")
    for mode in ("characters", "structure"):
        setting = Chunking(mode=mode)

        def work(setting: Chunking = setting) -> None:
            for text in texts:
                cut(text, setting)

        speed = megabytes / best_cpu_seconds(work)
        say(f"cutting, mode {mode}", speed, "MB/s of one processor")
        say(f"cutting, mode {mode}, against hashing it once", speed / hashed, "of its speed")


def written(folder: Path, files: int) -> None:
    """Markdown files with the words of the sample corpus, none like another."""
    folder.mkdir()
    sources = sorted(SAMPLE.glob("*.md"))
    for number in range(files):
        words = sources[number % len(sources)].read_text(encoding="utf-8").replace("lesion", f"lesion{number}")
        (folder / f"{number:05}.md").write_text(words, encoding="utf-8")


def used(who: int) -> float:
    """Seconds of processor time of this process or of its ended children."""
    found = resource.getrusage(who)
    return found.ru_utime + found.ru_stime


def read_and_cut(folder: Path, cache: Path, processes: int) -> tuple[float, float, float, int]:
    """Seconds on the clock, of processor time of the children and of this process; passages."""
    corpus = Corpus(folder=str(folder))
    before = time.perf_counter(), used(resource.RUSAGE_CHILDREN), used(resource.RUSAGE_SELF)
    count = 0
    for _, text in Manifest(corpus, cache, processes).rows(scan(folder, corpus)):
        count += len(cut(text, Chunking())) if text is not None else 0
    now = time.perf_counter(), used(resource.RUSAGE_CHILDREN), used(resource.RUSAGE_SELF)
    clock, children, own = (after - first for after, first in zip(now, before, strict=True))
    return clock, children, own, count


def reading(files: int) -> None:
    """How busy reading and cutting keep the processors, with one reading process and with one for each processor."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "corpus"
        written(folder, files)
        say("machine load at the start", os.getloadavg()[0], "processes that want to run")
        clocks = {}
        for processes in (1, processors()):
            clock, children, own, count = read_and_cut(folder, Path(place) / f"cache-{processes}", processes)
            name = f"{processes} reading process{'es' if processes > 1 else ''}"
            clocks[processes] = clock
            say(f"{name}: {files} files, {count} passages", clock, "s")
            say(f"{name}: processor time of reading", children, "s")
            say(f"{name}: of cutting, hashing and keeping", own, "s")
            say(f"{name}: processor time", (children + own) / clock, "processors kept busy")
        say("speed of all against one", clocks[1] / clocks[processors()], f"times; {processors()} at best")
        clock, _, own, _ = read_and_cut(folder, Path(place) / f"cache-{processors()}", processors())
        say(f"the same {files} files again, from the cache", clock, "s")
        say("the same again: processor time", own, "s")


def rerun(files: int) -> None:
    """What an unchanged folder costs: nothing is opened; touched files are hashed, new ones among known ones read."""
    with tempfile.TemporaryDirectory() as place:
        folder, hashes, cache = Path(place) / "corpus", Path(place) / "files.json", Path(place) / "cache"
        written(folder, files)
        corpus = Corpus(folder=str(folder))
        for name in ("first", "unchanged", "touched"):
            if name == "touched":
                for found in folder.iterdir():
                    os.utime(found, (1, 1))
            start, busy = time.perf_counter(), time.process_time()
            contents = fingerprint(scan(folder, corpus), hashes)
            told = f"s; {contents.known} known by size and time, {contents.hashed} hashed"
            say(f"{files} files, {name}", time.perf_counter() - start, told)
            say(f"{files} files, {name}: processor time", time.process_time() - busy, "s")
        read_and_cut(folder, cache, processors())
        (folder / "00000.md").write_text("# New\n\nA file that was not there before.", encoding="utf-8")
        clock, children, own, _ = read_and_cut(folder, cache, processors())
        say(f"one of {files} files changed, the others from the cache", clock, "s")
        say("the same: processor time, half of it imports of the reader", children + own, "s")


def indexing() -> None:
    """What indexing costs besides the embedding model."""
    chunks = [chunk for text in sample_texts() for chunk in cut(text, Chunking())]
    embedder = make_embedder(Embedding())
    texts = {chunk.content_hash: chunk.text for chunk in chunks}
    start = time.perf_counter()
    embedder.embed(list(texts.values()))
    model = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as place:
        start = time.perf_counter()
        add_missing(embedder, texts.items(), Path(place) / "embeddings")
        middle = time.perf_counter()
        build(chunks, StoredVectors(Path(place) / "embeddings", embedder.id), embedder, Path(place) / "index").close()
        end = time.perf_counter()
    say(f"embedding {len(texts)} passages, model alone", model, "s")
    say("embedding with its table", middle - start, "s")
    say("building the index", end - middle, "s")
    say("indexing besides the model", max(0.0, end - start - model) / (end - start), "of its time")


def main(arguments: list[str]) -> int:
    """Run the parts that are named, all small ones without a name."""
    part, number = ([*arguments, "", ""])[:2]
    if part in ("", "chunking"):
        chunking()
    if part in ("", "reading"):
        reading(int(number or 200))
    if part in ("", "indexing"):
        indexing()
    if part == "rerun":
        rerun(int(number or 1_000))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""A first study for a folder of documents: seeds and checklist proposed from the documents' own headings."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import yaml

from examgen.errors import StudyError
from examgen.ids import normalised
from examgen.phrases import candidate_phrases
from examgen.records import SourceText
from examgen.study import Corpus, parse_study
from examgen.taxonomy import GENERIC
from tasks import read_sources, store

SEEDS = 18
CONCEPTS = 20

_TEMPLATE = """\
# A study for the documents in {folder}. Lines behind # are explanations or choices you have.
study: {name}
title: {title}

corpus:
  folder: {folder}            # relative to this file
  drop_references: true       # leave out reference lists
  # exclude: ["drafts/*"]     # files to leave out

chunking: {{size: 1200, overlap: 200, mode: structure}}

# What the taxonomy is looked for with: proposed from the headings of your documents. Edit freely.
seeds:
{seeds}

# What a good bank should cover: named in the report when it does not. Edit freely.
checklist:
{concepts}

writing:
  method: rules               # llm, with `endpoint: my-model` below
  per_subtopic: {{easy: 2, medium: 2, hard: 2, synthesis: 2}}

screen:
  method: rules               # llm, with `endpoint: my-model` below
  context: fresh

endpoints:
  # A model with a key. The key itself stays in the environment.
  # - {{id: my-model, base_url: "https://api.example.org/v1", model: name-of-the-model, key_env: MY_KEY}}
  # A model under Ollama on this machine.
  # - {{id: llama, base_url: "http://127.0.0.1:11434/v1", model: llama3.1}}
  - {{id: smollm2-135m-instruct, kind: local, model: SmolLM2-135M-Instruct.Q4_1, provider: llama.cpp, max_tokens: 1,
     concurrency: 2, slots: 2, group: local, mode: letter_logprobs}}
  - {{id: random, kind: baseline, model: random}}
  - {{id: most-frequent-letter, kind: baseline, model: most_frequent}}
  - {{id: longest-option, kind: baseline, model: longest}}
  - {{id: closed-book-lexical, kind: baseline, model: closed_book}}
  - {{id: lexical-reader, kind: baseline, model: open_book}}
  - {{id: embedding-reader, kind: baseline, model: embedding}}

statistics: {{confidence: 0.95, bootstrap_replicates: 4000, permutations: 100, seed: 20261130}}
"""


def _telling(title: str) -> bool:
    words = normalised(title).split()
    return 2 <= len(words) <= 12 and not set(words) <= GENERIC and not re.fullmatch(r"[\W\d_]+", title)


def propose(texts: list[SourceText]) -> tuple[list[str], list[str]]:
    """Seed queries and checklist concepts from headings, spread over the documents; without them from phrases."""
    per_text = [[s.title.strip() for s in text.sections if _telling(s.title)] for text in texts]
    titles = [found[0] for found in per_text if found]
    inner = [found[1:] for found in per_text if len(found) > 1]
    concepts = [
        found[place] for place in range(max(map(len, inner), default=0)) for found in inner if place < len(found)
    ]
    if len(titles) + len(concepts) < 6:
        counts = sum((candidate_phrases(text.text) for text in texts), Counter[str]())
        concepts += [phrase for phrase, count in counts.most_common(60) if count > 1]
    seeds = _distinct([*titles, *concepts])[:SEEDS]
    named = {normalised(title) for title in titles}
    return seeds, _distinct([c for c in concepts if normalised(c) not in named])[:CONCEPTS]


def _distinct(phrases: list[str]) -> list[str]:
    """The phrases once each, whatever their case."""
    first: dict[str, str] = {}
    for phrase in phrases:
        first.setdefault(normalised(phrase), phrase)
    return list(first.values())


def _quoted(items: list[str]) -> str:
    return "\n".join('  - "' + item.replace("\\", " ").replace('"', "'") + '"' for item in items)


def write_study(folder: Path, study: Path | None) -> Path:
    """Write a study for a folder and return its path; an existing file is never overwritten."""
    corpus = Corpus(folder=str(folder))
    entries = read_sources.scan(folder, corpus)
    texts = [text for _, text in read_sources.read_files(entries, corpus, None) if text is not None and text.text]
    if not texts:
        raise StudyError(
            f"{folder}: no text could be read from its {len(entries)} files: `examgen init` needs documents"
        )
    name = re.sub(r"[^a-z0-9_-]+", "_", folder.resolve().name.lower()).strip("_-") or "study"
    place = study or folder.resolve().parent / f"{name}.yaml"
    if place.exists():
        raise StudyError(f"{place}: exists already: move it away, or choose another file with --study")
    seeds, concepts = propose(texts)
    if not seeds:
        raise StudyError(f"{folder}: too little text to propose seeds from: add documents")
    relative = Path(os.path.relpath(folder.resolve(), place.resolve().parent)).as_posix()
    text = _TEMPLATE.format(
        folder=relative,
        name=name,
        title=name.replace("_", " ").capitalize(),
        seeds=_quoted(seeds),
        concepts=_quoted(concepts) or "  []",
    )
    store.write_text(place, text)
    parse_study(yaml.safe_load(text), str(place))
    return place

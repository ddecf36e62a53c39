"""Answerers that need no model: they show what chance, cues and plain retrieval reach on a bank. Pure: data in,
places out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from examgen.answers.order import content_choice, shown_order
from examgen.errors import InputError
from examgen.ids import seed_of
from examgen.readers import BaselineAnswer, EmbeddingReader, LexicalReader, Vectors, scored, words
from examgen.records import BankItem, Chunk


def random_choice(item: BankItem, order: int, repeat: int) -> BaselineAnswer:
    """A uniform draw, seeded with item, order and repeat."""
    count = len(item.options)
    return BaselineAnswer(seed_of("random", item.item_id, order, repeat) % count, (1 / count,) * count)


def most_frequent_letter(bank: Sequence[BankItem]) -> str:
    """The letter that is most often the key of a bank; the first of the alphabet on a tie."""
    counts = Counter(item.key_letter for item in bank)
    return min(counts, key=lambda letter: (-counts[letter], letter)) if counts else "A"


def fixed_letter(item: BankItem, order: int, letter: str) -> BaselineAnswer:
    """Always the same letter, as shown; the last one where the item has fewer."""
    count = len(item.options)
    choice = content_choice(min(ord(letter) - ord("A"), count - 1), count, order)
    return BaselineAnswer(choice, tuple(float(place == choice) for place in range(count)))


def longest_option(item: BankItem) -> BaselineAnswer:
    """The option with most characters: what a reader of length cues would say."""
    return scored([float(len(option)) for option in item.options], item, 0.1)


def closed_book(item: BankItem) -> BaselineAnswer:
    """The option that shares most of its words with the stem, and with the other options where the stem decides
    nothing."""
    stem = set(words(item.stem))
    sets = [set(words(option)) for option in item.options]
    scores = []
    for place, own in enumerate(sets):
        others = Counter(word for number, other in enumerate(sets) if number != place for word in other)
        size = max(1, len(own))
        scores.append(len(own & stem) / size + 0.1 * sum(others[word] for word in own) / size / max(1, len(sets) - 1))
    return scored(scores, item, 5.0)


NAMES = ("random", "most_frequent", "longest", "closed_book", "open_book", "embedding")
"""Baselines by name: the `model` of an endpoint of kind baseline."""
NEEDS_CHUNKS = frozenset({"open_book", "embedding"})


def answer_all(
    name: str,
    items: Sequence[BankItem],
    order: int,
    repeat: int,
    *,
    bank: Sequence[BankItem],
    chunks: Sequence[Chunk] = (),
    vectors: Mapping[str, Vectors] | None = None,
    embed: Callable[[list[str]], Vectors] | None = None,
) -> list[BaselineAnswer]:
    """Answers of the named baseline to `items` in turn.

    `bank` is the whole bank (the most frequent letter is taken from it), `chunks` and `vectors` (content_hash → unit
    vector) the open book, `embed` turns texts into unit vectors. `InputError` on an unknown name or a missing book.
    """
    if name not in NAMES:
        raise InputError(
            f"baseline {name!r} is not known: the model of a baseline endpoint is one of {', '.join(NAMES)}"
        )
    if name in NEEDS_CHUNKS and not chunks:
        raise InputError(f"baseline {name!r} reads passages and was given none: evaluate with the bank's chunks")
    if name == "random":
        return [random_choice(item, order, repeat) for item in items]
    if name == "most_frequent":
        letter = most_frequent_letter(bank)
        return [fixed_letter(item, order, letter) for item in items]
    if name == "longest":
        return [longest_option(item) for item in items]
    if name == "closed_book":
        return [closed_book(item) for item in items]
    if name == "open_book":
        reader = LexicalReader(chunks)
        return [reader.read(item) for item in items]
    if embed is None or not vectors:
        raise InputError("baseline 'embedding' needs an embedder and the vectors of the chunks")
    hashes = sorted({chunk.content_hash for chunk in chunks if chunk.content_hash in vectors})
    return EmbeddingReader(np.stack([vectors[name] for name in hashes]), embed).read_all(items)


def shown_letter(choice: int, options: int, order: int) -> str:
    """The letter under which a bank place stands in an order."""
    return chr(ord("A") + shown_order(options, order).index(choice))

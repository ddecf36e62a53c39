"""Words and phrases of a text: what is said in it, without a language model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

# fmt: off
STOP_WORDS = frozenset((
    "a", "about", "above", "after", "again", "against", "all", "also", "although", "am", "among", "an", "and",
    "another", "any", "are", "around", "as", "at", "be", "because", "been", "before", "being", "below", "between",
    "both", "but", "by", "can", "cannot", "could", "did", "do", "does", "doing", "down", "during", "each",
    "either", "et", "al", "etc", "few", "for", "from", "further", "had", "has", "have", "having", "he", "her",
    "here", "hers", "him", "his", "how", "however", "i", "if", "in", "into", "is", "it", "its", "itself", "just",
    "least", "less", "like", "made", "many", "may", "might", "more", "most", "much", "must", "neither", "no",
    "nor", "not", "now", "of", "off", "often", "on", "once", "one", "only", "or", "other", "others", "our", "out",
    "over", "own", "per", "rather", "same", "several", "she", "should", "since", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "therefore", "these", "they", "this", "those", "through",
    "thus", "to", "too", "two", "under", "until", "up", "upon", "us", "use", "used", "uses", "using", "usually",
    "very", "via", "was", "we", "were", "what", "when", "where", "whereas", "whether", "which", "while", "who",
    "whom", "whose", "why", "will", "with", "within", "without", "would", "yet", "you", "your",
))
# fmt: on
"""Words that carry no subject matter by themselves."""

_WORD = re.compile(r"[A-Za-zÀ-ÿ][\w’'-]*|\d+(?:\.\d+)?")


def words_of(text: str) -> list[str]:
    """Words and numbers of a text, in order, lower case."""
    return [word.casefold() for word in _WORD.findall(text)]


def content_words(text: str) -> set[str]:
    """Distinct words of at least two letters (or numbers) that are not stop words, lower case."""
    return {word for word in words_of(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())}


def _runs(text: str) -> list[list[str]]:
    """Runs of words without a stop word, number or punctuation between them, as spelled."""
    runs: list[list[str]] = []
    for piece in re.split(r"[.,;:!?()\[\]{}\"“”|/\n\t]|\s[-–—]\s", text):
        run: list[str] = []
        for word in piece.split():
            plain = word.strip("*_`'’#").strip()
            if plain and plain.casefold() not in STOP_WORDS and re.fullmatch(r"[A-Za-zÀ-ÿ][\w’'-]*", plain):
                run.append(plain)
            else:
                runs.append(run)
                run = []
        runs.append(run)
    return [run for run in runs if run]


def candidate_phrases(text: str) -> Counter[str]:
    """Counts of phrases of two to four words that stand together without a stop word, as lower case text."""
    found: Counter[str] = Counter()
    for run in _runs(text):
        for length in (2, 3, 4):
            for start in range(len(run) - length + 1):
                found[" ".join(run[start : start + length]).casefold()] += 1
    return found


def key_phrase(text: str, others: Sequence[str], avoid: str = "") -> str:
    """The phrase that best names a text: frequent in it, rare in the other texts, longer before shorter.

    Score: count x ln(1 + N / document frequency) x sqrt(words). Falls back on the most frequent content word.
    """
    counts = candidate_phrases(text)
    lowered = [other.casefold() for other in others]
    best = sorted(counts, key=lambda phrase: (-counts[phrase], -len(phrase), phrase))[:40]
    avoided = content_words(avoid)

    def score(phrase: str) -> float:
        frequency = max(1, sum(phrase in other for other in lowered))
        new = 0.2 if set(phrase.split()) <= avoided else 1.0
        return counts[phrase] * math.log(1 + len(lowered) / frequency) * math.sqrt(len(phrase.split())) * new

    if not best:
        words = Counter(word for word in words_of(text) if word not in STOP_WORDS and len(word) > 3)
        return max(words, key=lambda word: (words[word], word)).capitalize() if words else "Untitled"
    phrase = max(best, key=lambda candidate: (score(candidate), candidate))
    at = text.casefold().find(phrase)
    spelled = text[at : at + len(phrase)] if at >= 0 else phrase
    return spelled[:1].upper() + spelled[1:]

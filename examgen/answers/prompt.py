"""The letter-only prompt: stem, lettered options, and an instruction that names the letters allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from examgen.answers.order import shown_order
from examgen.ids import digest
from examgen.records import LETTERS, BankItem

ABSTENTION = "Insufficient information to answer"
"""Text of the extra last option when abstention is allowed."""

_INSTRUCTION = "Answer with one letter only: {letters}."
_NO_STEM = "The question is hidden. Which option is most likely the right one?"


@dataclass(frozen=True)
class AnswerPrompt:
    """What is sent, and how to read a letter back.

    `order[place]` is the bank place of the option shown at `place`; `shown` are the texts in that order;
    `abstain` is the letter of the abstention option, or "" without one.
    """

    messages: tuple[tuple[str, str], ...]
    letters: str
    order: tuple[int, ...]
    shown: tuple[str, ...]
    abstain: str
    prompt_id: str


def _letters_named(letters: str) -> str:
    return f"{', '.join(letters[:-1])} or {letters[-1]}"


def _question(item: BankItem, order: tuple[int, ...], abstention: bool, no_stem: bool) -> str:
    shown = [item.options[place] for place in order] + ([ABSTENTION] if abstention else [])
    lines = [f"{LETTERS[place]}. {text}" for place, text in enumerate(shown)]
    letters = LETTERS[: len(shown)]
    stem = _NO_STEM if no_stem else item.stem.strip()
    return f"{stem}\n\n" + "\n".join(lines) + "\n\n" + _INSTRUCTION.format(letters=_letters_named(letters))


def prompt(
    item: BankItem,
    order: int = 0,
    *,
    system_prompt: str = "",
    abstention: bool = False,
    examples: Sequence[BankItem] = (),
    no_stem: bool = False,
) -> AnswerPrompt:
    """The prompt of an item in an option order.

    `examples` are worked items shown before it as earlier turns, in the bank's own order, their key as the answer; an
    item is never its own example. Raises ValueError outside 2-10 options (abstention included).
    """
    count = len(item.options) + abstention
    if not 2 <= count <= len(LETTERS):
        raise ValueError(f"item {item.item_id}: {count} options to show; 2 to {len(LETTERS)} can be lettered")
    messages: list[tuple[str, str]] = [("system", system_prompt)] if system_prompt else []
    for example in examples:
        if example.item_id == item.item_id:
            continue
        messages.append(("user", _question(example, shown_order(len(example.options), 0), abstention, no_stem)))
        messages.append(("assistant", example.key_letter))
    turned = shown_order(len(item.options), order)
    messages.append(("user", _question(item, turned, abstention, no_stem)))
    letters = LETTERS[:count]
    return AnswerPrompt(
        messages=tuple(messages),
        letters=letters,
        order=turned,
        shown=tuple(item.options[place] for place in turned),
        abstain=letters[-1] if abstention else "",
        prompt_id="letter-only/"
        + digest("prompt", _INSTRUCTION, _NO_STEM, ABSTENTION, system_prompt, len(examples), length=8),
    )

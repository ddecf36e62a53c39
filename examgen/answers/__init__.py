"""Asking for a letter and reading it back: the prompt, the order of the options, the conservative parser."""

from examgen.answers.order import content_choice, disagreement, orders_of, pilot, shown_order
from examgen.answers.parser import PARSER_VERSION, Reading, parse
from examgen.answers.prompt import ABSTENTION, AnswerPrompt, prompt

__all__ = [
    "ABSTENTION",
    "PARSER_VERSION",
    "AnswerPrompt",
    "Reading",
    "content_choice",
    "disagreement",
    "orders_of",
    "parse",
    "pilot",
    "prompt",
    "shown_order",
]

"""From a raw reply to the text that may hold an answer: reasoning, control tokens and invented next questions cut
away."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]")
_NAMES = r"(?:think|thinking|thought|reasoning|reflection|scratchpad|analysis|inner_monologue|seed:think|seed_think)"
_OPEN = re.compile(rf"(?:<\s*{_NAMES}\s*>|\[\s*THINK\s*\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>)", re.I)
_CLOSE = re.compile(
    rf"(?:<\s*/\s*{_NAMES}\s*>|\[\s*/\s*THINK\s*\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>)", re.I
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)(?:[^<]*)<\|message\|>", re.I)
_TURN_END = re.compile(
    r"<\|(?:im_end|eot_id|end|return|endoftext|end_of_text|eom_id|end_of_turn|START_OF_TURN_TOKEN|END_OF_TURN_TOKEN)\|>"
    r"|</s>|<end_of_turn>|<eos>|\[/?INST\]|<\|im_start\|>|<\|start\|>|<\|start_header_id\|>"
)
_WRAPPING_TOKENS = re.compile(r"<\|(?:begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE)\|>", re.I)
_STRUCK = re.compile(r"~~[^~\n]+~~")
_RUN_ON = re.compile(
    r"\n\s*(?:#{1,4}\s*)?(?:\*\*)?\s*(?:(?:next|new|another)\s+)?(?:question|q|problem|exercise|case)\s*\d*\s*(?:\*\*)?\s*[:：.)]"
    r"|\n\s*(?:human|user|student|instruction|input)\s*[:：]",
    re.I,
)


@dataclass(frozen=True)
class Cleaned:
    """Text left to read; `cut_off` says that the reasoning never ended, so there is no answer."""

    text: str
    cut_off: bool = False


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = -1
    for found in pattern.finditer(text):
        end = found.end()
    return end


def _final_channel(text: str) -> str | None:
    """The last `final` channel of a reply with leaked channel tokens; None when no channel is final."""
    channels = list(_CHANNEL.finditer(text))
    for number in range(len(channels) - 1, -1, -1):
        if channels[number].group(1).lower() == "final":
            stop = channels[number + 1].start() if number + 1 < len(channels) else len(text)
            return text[channels[number].end() : stop]
    return None


def without_reasoning(raw: str) -> tuple[str, bool]:
    """The reply behind its reasoning, and whether the reasoning never ended (then there is no reply)."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    if _CHANNEL.search(text):
        final = _final_channel(text)
        if final is None:
            return "", True
        text = final
    end = _last_end(_CLOSE, text)
    if end >= 0:
        text = text[end:]
    if _OPEN.search(text):
        return "", True
    return text, False


def clean(raw: str) -> Cleaned:
    """Cut away what is not the answer.

    A closing reasoning tag counts alone (servers often swallow the opening one): all before the last is reasoning. An
    opening tag after that without an end means the reply stopped inside its reasoning. Compatibility forms (fullwidth,
    circled letters) are folded by NFKC.
    """
    text, cut_off = without_reasoning(_INVISIBLE.sub("", unicodedata.normalize("NFKC", raw)))
    if cut_off:
        return Cleaned("", cut_off=True)
    text = _STRUCK.sub(" ", _WRAPPING_TOKENS.sub("\n", text)).strip()
    stop = _TURN_END.search(text)
    if stop:
        text = text[: stop.start()].strip()
    onward = _RUN_ON.search(text)
    if onward:
        text = text[: onward.start()].strip()
    return Cleaned(text)

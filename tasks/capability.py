"""What an endpoint takes, found out from its own refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_STRUCTURES = ("json_schema", "json_object", "text")
"""From the most asked of an endpoint to the least."""


@dataclass
class Capability:
    """What an endpoint was found to take. Falls back one step at a time, for good."""

    temperature: bool = True
    token_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    structure: Literal["json_schema", "json_object", "text"] = "json_schema"
    logprobs: bool = True
    usage: bool | None = None
    version: int = 0

    def learn(self, complaint: str) -> bool:
        """Give up what a 400 complains about; False when it complains about nothing we can leave out."""
        text = complaint.lower()
        if "max_completion_tokens" in text and self.token_field == "max_tokens":
            self.token_field = "max_completion_tokens"
        elif (
            "max_completion_tokens" in text
            and self.token_field == "max_completion_tokens"
            and "max_tokens" in text.replace("max_completion_tokens", "")
        ):
            self.token_field = "max_tokens"
        elif "temperature" in text and self.temperature:
            self.temperature = False
        elif "logprobs" in text and self.logprobs:
            self.logprobs = False
        elif (
            any(word in text for word in ("response_format", "json_schema", "json_object", "structured output"))
            and self.structure != "text"
        ):
            self.structure = "json_object" if self.structure == "json_schema" else "text"
        else:
            return False
        self.version += 1
        return True

    def takes(self) -> dict[str, Any]:
        """What is known by now, as it is kept in a journal."""
        return {name: getattr(self, name) for name in ("temperature", "token_field", "structure", "logprobs")}

    def recall(self, takes: Mapping[str, Any]) -> None:
        """Give up what was given up when this was kept; nothing given up since comes back."""
        self.temperature = self.temperature and takes.get("temperature", True)
        self.logprobs = self.logprobs and takes.get("logprobs", True)
        self.token_field = takes.get("token_field", self.token_field)
        self.structure = max(self.structure, takes.get("structure", self.structure), key=_STRUCTURES.index)

    def described(self) -> str:
        """One line for the manifest."""
        return (
            f"temperature: {'supported' if self.temperature else 'unsupported'}; token limit: "
            f"{self.token_field}; structured output: "
            f"{self.structure}; logprobs: {'not refused' if self.logprobs else 'unsupported'}; "
            f"usage: {'not recorded' if self.usage is None else 'reported' if self.usage else 'missing'}"
        )

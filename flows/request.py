"""What a flow is asked to do: rendered as a form in the Prefect UI."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from examgen.study import Study, load_study


class StudyRequest(BaseModel):
    """A study and where its results go."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: str = Field(description="path of the study file (YAML)")
    results: str = Field("data/results", description="folder of all results")
    retry_unresolved: bool = Field(False, description="ask again what an earlier run gave up")
    beside: str = Field("", description="folder of another evaluation, whose bank stands beside this one's")

    @property
    def name(self) -> str:
        """Short name for run names: the study file's name."""
        return Path(self.study).stem

    def load(self) -> Study:
        """The study itself; `StudyError` when it is wrong."""
        return load_study(self.study)

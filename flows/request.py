"""What a flow is asked to do: rendered as a form in the Prefect UI."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from examgen.study import Study, load_study
from tasks import server

# Every flow comes by here, also one that somebody's own worker starts without our command line.
server.quiet()


class StudyRequest(BaseModel):
    """A study and where its results go."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Study")

    study: str = Field(title="Study file", description="path of the study file (YAML), seen from the worker's folder")
    results: str = Field("data/results", title="Results folder", description="folder of all results")
    retry_unresolved: bool = Field(
        False, title="Ask again what was given up", description="items an earlier run left unresolved are asked again"
    )

    @property
    def name(self) -> str:
        """Short name for run names: the study file's name."""
        return Path(self.study).stem

    def load(self) -> Study:
        """The study itself; `StudyError` when it is wrong."""
        return load_study(self.study)

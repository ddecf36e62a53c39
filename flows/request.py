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
    results: str = Field(
        "data/results",
        title="Results folder",
        description="folder of all results, or s3://, gs://, az:// and a prefix",
    )
    retry_unresolved: bool = Field(
        False, title="Ask again what was given up", description="items an earlier run left unresolved are asked again"
    )
    beside: str = Field(
        "", title="Another evaluation", description="folder of another evaluation, whose bank stands beside this one's"
    )

    @property
    def name(self) -> str:
        """Short name for run names: the study file's name."""
        return Path(self.study).stem

    def load(self) -> Study:
        """The study itself; `StudyError` when it is wrong."""
        return load_study(self.study)


class AuditRequest(BaseModel):
    """A bank made elsewhere, and where its audit goes."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="Audit")

    file: str = Field(
        title="Bank", description="file to audit, seen from the worker's folder: CSV, TSV, JSONL, JSON, Parquet or GIFT"
    )
    out: str = Field("audit", title="Output folder", description="folder for findings, funnel, report and Data Docs")
    columns: dict[str, str] = Field(
        {}, title="Columns", description="field: column of the file, where it is not found by itself"
    )
    against: str = Field("", title="Second bank", description="a second bank, set beside the first")
    against_columns: dict[str, str] = Field(
        {}, title="Columns of the second bank", description="the same as columns, for the second bank"
    )
    suites: str = Field(
        "", title="Suites", description="folder of suites; empty: those of the project"
    )

    @property
    def name(self) -> str:
        """Short name for run names: the file's name."""
        return Path(self.file).stem

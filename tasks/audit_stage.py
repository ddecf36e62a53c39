"""The audit of anybody's bank as a Prefect task, and what its run shows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from tasks import artifacts
from tasks.audit_bank import audit_banks


@task(name="audit", task_run_name="{file} · audit", cache_policy=NO_CACHE)
def audit(
    file: str, out: str, columns: dict[str, str], against: str, against_columns: dict[str, str], suites: str
) -> dict[str, Any]:
    """See `tasks.audit_bank.audit_banks`. Not cached: a person who audits again has changed the file or a suite."""
    return audit_banks(file, out, columns, against, against_columns, suites)


def audit_artifacts(done: dict[str, Any]) -> None:
    """Findings by rule, funnel, cue figures, a summary and links to the page and the Data Docs of each bank."""
    for facts in done["banks"]:
        name = f"audit {Path(facts['name']).stem}"
        artifacts.table(name, "findings-by-rule", facts["findings"], "Items by the audit rule they broke")
        artifacts.table(name, "funnel", facts["funnel"], "Rows read, left out, rejected and accepted")
        artifacts.table(name, "cues", facts["figures"], "Length cues, cue probe and key positions")
        create_link_artifact(
            Path(facts["data_docs"]).as_uri(), link_text="Data Docs", key=artifacts.artifact_key(name, "data-docs")
        )
        create_markdown_artifact(
            "\n\n".join(summary_lines(facts)), key=artifacts.artifact_key(name), description=facts["headline"]
        )
    if done["comparison"]:
        names = " ".join(Path(facts["name"]).stem for facts in done["banks"])
        key = artifacts.artifact_key("audit", names, "comparison")
        create_link_artifact(Path(done["comparison"]).as_uri(), link_text="Two banks side by side", key=key)


def summary_lines(facts: dict[str, Any]) -> list[str]:
    """The summary of one audited bank in Markdown, paragraph by paragraph."""
    skipped = "; ".join(facts["skipped"]) or "none"
    return [
        f"## {facts['name']}",
        facts["headline"],
        f"{facts['items']:,} of {facts['rows']:,} rows read as items, {facts['accepted']:,} of them without a "
        "reject-level finding.",
        f"Columns: {facts['columns']}",
        f"Checks left out: {skipped}",
        f"[Report]({Path(facts['report']).as_uri()}) · [Data Docs]({Path(facts['data_docs']).as_uri()})",
        f"Folder: `{facts['folder']}`",
    ]

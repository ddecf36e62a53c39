"""Auditing a bank that was made elsewhere, as a flow: the same work as `examgen audit`, with a record of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow

from flows.request import AuditRequest
from tasks.audit_stage import audit, audit_artifacts
from tasks.progress import Step


@flow(name="audit-bank", flow_run_name="{request.name} · audit")
def audit_bank(request: AuditRequest) -> dict[str, Any]:
    """Audit one bank, or two side by side; returns where the pages are and what they say first."""
    with Step("audit") as step:
        done = audit.with_options(task_run_name=f"{request.name} · audit")(**request.model_dump())
        step.outcome = "; ".join(facts["headline"] for facts in done["banks"])
    audit_artifacts(done)
    return {
        "folder": str(Path(request.out).resolve()),
        "comparison": done["comparison"],
        "banks": [
            {name: value for name, value in facts.items() if name not in ("findings", "funnel", "figures")}
            for facts in done["banks"]
        ],
    }

"""Sizing as a stage: the plan of a study's contrasts as tables and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect.artifacts import create_link_artifact, create_markdown_artifact

from examgen import sizing_plan, sizing_report
from examgen.sizing_section import Sizing
from tasks import artifacts, store
from tasks.stages import Shard, stage


@stage("size", "examgen.sizing_plan", "examgen.sizing_report")
def size(shard: Shard, folder: Path) -> dict[str, Any]:
    """The plan of one study: tables sizing and power_curves, the page sizing.html, the text sizing.txt."""
    items = shard.inputs["items"]
    plan = sizing_plan.make_plan(Sizing.model_validate(shard.inputs["sizing"]), items)
    curves = sizing_plan.curve_rows(plan)
    lines = sizing_report.text_lines(plan)
    subtitle = f"study {shard.study}" + (f" · bank of {items:,} items" if items else "")
    page = sizing_report.render(plan, curves, title=shard.inputs["title"] or shard.study, subtitle=subtitle)
    store.write(folder / "sizing.parquet", "sizing", sizing_plan.sizing_rows(plan))
    store.write(folder / "power_curves.parquet", "power_curves", curves)
    store.write_text(folder / "sizing.txt", "\n".join(lines) + "\n")
    store.write_text(folder / "sizing.html", page)
    header, rows = sizing_report.needs_table(plan)
    return {
        "counts": {"contrasts": len(plan.family), "curve_rows": len(curves)},
        "facts": {
            "needed": plan.plan.items, "feasible": plan.plan.feasible, "binding": plan.plan.binding,
            "needs": [dict(zip(header, row, strict=True)) for row in rows],
        },
    }  # fmt: skip


def sizing_artifacts(study: str, folder: Path, needs: list[dict[str, str]]) -> None:
    """What each contrast needs, the plan in words, the link to the page."""
    artifacts.table(study, "sizing", needs, "Items each planned contrast needs, by constraint")
    text = (folder / "sizing.txt").read_text(encoding="utf-8")
    create_markdown_artifact(
        f"## Size of the benchmark\n\n```text\n{text}```\n\nFolder: `{folder}`",
        key=artifacts.artifact_key(study, "sizing-plan"),
        description="Items needed, with proof",
    )
    create_link_artifact(
        (folder / "sizing.html").as_uri(), link_text="Power curves", key=artifacts.artifact_key(study, "power-curves")
    )

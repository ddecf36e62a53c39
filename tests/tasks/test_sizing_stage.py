"""The stage that writes a plan: its folder, its tables, the same bytes again."""

from __future__ import annotations

from pathlib import Path

from examgen import tables
from examgen.sizing_section import Contrast, Sizing
from tasks.sizing_stage import size
from tasks.stages import make_shard


def test_a_plan_as_tables_and_page(tmp_path: Path) -> None:
    sizing = Sizing(contrasts=(Contrast(name="plan", better=0.1, worse=0.025),)).model_dump(mode="json")
    depends = {"sizing": sizing, "items": 168, "title": "A study"}
    first = size.work(make_shard("s", "size", "s · size", tmp_path / "one", depends))  # type: ignore[attr-defined]
    again = size.work(make_shard("s", "size", "s · size", tmp_path / "two", depends))  # type: ignore[attr-defined]
    assert first.facts["needed"] == 185
    assert first.facts["needs"][0]["binding"] == "power"
    told = {row["statistic"] for row in tables.read_rows(first.table("sizing"))}
    assert told >= {"items needed", "power of this bank"}
    assert tables.read_rows(first.table("power_curves"))
    for name in ("sizing.parquet", "power_curves.parquet", "sizing.html", "sizing.txt"):
        assert (Path(first.folder) / name).read_bytes() == (Path(again.folder) / name).read_bytes()

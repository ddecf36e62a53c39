"""From responses to results and the report: every statistic as a table, the tables as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from examgen import calibration, keys, tables
from examgen.records import BankItem, Chunk, Coverage, EndpointRow, Finding, FunnelRow, Response, Topic
from examgen.report import page
from examgen.study import Sizing, Statistics, parse_study
from expectations import contracts
from tasks import store
from tasks.stages import Shard, stage


def read_responses(evaluation: Path) -> list[Response]:
    """The responses of an evaluation folder, in the order of endpoints and items."""
    found: list[Response] = []
    for place in sorted((evaluation / "responses").glob("endpoint_id=*/*.parquet")):
        found += tables.read_records(str(place), Response)
    return found


def read_tiers(bank: Path) -> dict[str, str]:
    """Item id -> tier of a release with keys; empty for a bank as it was locked."""
    place = bank / "tiers.parquet"
    return {row["item_id"]: row["tier"] for row in tables.read_rows(str(place))} if place.is_file() else {}


@stage("calibrate", "examgen.calibration", "expectations.contracts")
def calibrate(shard: Shard, folder: Path) -> dict[str, Any]:
    """All results tables of one evaluation."""
    bank, evaluation = Path(shard.inputs["bank"]), Path(shard.inputs["evaluation"])
    items, responses = tables.read_records(str(bank / "bank.parquet"), BankItem), read_responses(evaluation)
    endpoints = tables.read_records(str(evaluation / "endpoints.parquet"), EndpointRow)
    settings, tiers = Statistics.model_validate(shard.inputs["statistics"]), read_tiers(bank)
    results = calibration.calibrate(
        *keys.without_probe(items, responses, tiers),
        endpoints,
        settings,
        chunks=tables.read_records(str(bank / "chunks.parquet"), Chunk),
        sizing=Sizing.model_validate(shard.inputs["sizing"]),
        funnel=tables.read_records(str(bank / "funnel.parquet"), FunnelRow),
        tiers=tiers,
        nested=shard.inputs["nested"],
    )
    results["abstention"] = keys.abstention_rows(
        items, responses, endpoints, tiers, offered=shard.inputs["abstention"], level=settings.confidence
    )
    for name, rows in results.items():
        contracts.check(name, rows)
        store.write(folder / f"{name}.parquet", name, rows)
    return {"counts": {name: len(rows) for name, rows in results.items()}}


@stage("report", "examgen.report.page")
def write_page(shard: Shard, folder: Path) -> dict[str, Any]:
    """The report as one HTML file that opens offline."""
    bank, results = Path(shard.inputs["bank"]), Path(shard.inputs["results"])
    evaluation = Path(shard.inputs["evaluation"])
    found = {place.stem: tables.read_rows(str(place)) for place in sorted(results.glob("*.parquet"))}
    html = page.render(
        parse_study(shard.inputs["study"]),
        store.read_manifest(bank),
        tables.read_records(str(bank / "funnel.parquet"), FunnelRow),
        tables.read_records(str(bank / "topics.parquet"), Topic),
        tables.read_records(str(bank / "coverage.parquet"), Coverage),
        tables.read_records(str(bank / "findings.parquet"), Finding),
        tables.read_records(str(bank / "bank.parquet"), BankItem),
        tables.read_records(str(bank / "chunks.parquet"), Chunk),
        found,
        tables.read_records(str(evaluation / "endpoints.parquet"), EndpointRow),
        shard.inputs["links"],
    )
    store.write_text(folder / "report.html", html)
    return {"counts": {"bytes": len(html.encode())}}

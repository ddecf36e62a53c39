"""From responses to results and the report: every statistic as a table, the tables as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa

from examgen import arms, calibration, keys, locking, tables
from examgen.agreement import screener_rows
from examgen.beside import beside_rows
from examgen.records import BankItem, Chunk, Coverage, EndpointRow, Finding, FunnelRow, Record, Response, Topic, Verdict
from examgen.report import page
from examgen.report.figures import all_figures
from examgen.result_rows import Row, marked_incomplete
from examgen.scores import Answers, collect
from examgen.study import Sizing, Statistics, parse_study
from expectations import contracts
from tasks import store
from tasks.stages import Shard, stage

R = TypeVar("R", bound=Record)
FIGURES = "figures"
"""Folder of the figures' files beside the report."""


def read_responses(evaluation: Path) -> list[Response]:
    """The responses of an evaluation folder, in the order of endpoints and items."""
    found: list[Response] = []
    for place in sorted((evaluation / "responses").glob("endpoint_id=*/*.parquet")):
        found += tables.read_records(str(place), Response)
    return found


COLUMNS = ("item_id", "endpoint_id", "order", "repeat", "mode", "choice", "status", "correct")


def response_frame(evaluation: Path) -> pd.DataFrame:
    """What the statistics need of the responses of an evaluation, without their texts: millions of rows fit."""
    places = sorted((evaluation / "responses").glob("endpoint_id=*/*.parquet"))
    found = [tables.read_table(str(place), COLUMNS) for place in places]
    if not found:
        return pd.DataFrame(columns=list(COLUMNS))
    frame: pd.DataFrame = pa.concat_tables(found, promote_options="permissive").to_pandas(
        strings_to_categorical=True
    )
    return frame


def read_tiers(bank: Path) -> dict[str, str]:
    """Item id -> tier of a release with keys; empty for a bank as it was locked."""
    place = bank / "tiers.parquet"
    return {row["item_id"]: row["tier"] for row in tables.read_rows(str(place))} if place.is_file() else {}


def read_optional(folder: Path, name: str, record: type[R]) -> list[R]:
    """A table of the bank; empty where the bank has none, as one that was imported without its documents."""
    place = folder / f"{name}.parquet"
    return tables.read_records(str(place), record) if place.is_file() else []


def agreement_of(bank: Path) -> list[Row]:
    """Rows of `agreement` that a bank carries: of its two screeners, and of its reviewers."""
    place = bank / "agreement.parquet"
    reviewers = tables.read_rows(str(place)) if place.is_file() else []
    first, second = (read_optional(bank, name, Verdict) for name in ("verdicts", "second_verdicts"))
    return [*screener_rows(first, second), *reviewers]


def read_hard_stops(bank: Path) -> dict[str, str]:
    """Item id -> letters that must never be chosen, of a release with keys; empty for a bank as it was locked."""
    place = bank / "keys.parquet"
    found: dict[str, str] = {}
    for row in tables.read_rows(str(place)) if place.is_file() else ():
        if row.get("never"):
            found[row["item_id"]] = found.get(row["item_id"], "") + row["never"]
    return found


@stage("calibrate", "examgen.calibration", "expectations.contracts")
def calibrate(shard: Shard, folder: Path) -> dict[str, Any]:
    """All results tables of one evaluation."""
    bank, evaluation = Path(shard.inputs["bank"]), Path(shard.inputs["evaluation"])
    items = tables.read_records(str(bank / "bank.parquet"), BankItem)
    endpoints = tables.read_records(str(evaluation / "endpoints.parquet"), EndpointRow)
    settings, tiers = Statistics.model_validate(shard.inputs["statistics"]), read_tiers(bank)
    responses = response_frame(evaluation)
    probe = {item_id for item_id, tier in tiers.items() if tier == keys.PROBE}
    other = shard.inputs.get("beside")
    kept = [item for item in items if item.item_id not in probe]
    scored = responses[~responses["item_id"].isin(probe)] if probe else responses
    results = calibration.calibrate(
        kept,
        scored,
        endpoints,
        settings,
        sizing=Sizing.model_validate(shard.inputs["sizing"]),
        funnel=read_optional(bank, "funnel", FunnelRow),
        tiers=tiers,
        nested=shard.inputs["nested"],
        other_banks={other["name"]: tables.read_records(f"{other['bank']}/bank.parquet", BankItem)} if other else {},
    )
    if shard.inputs["nested"]:
        costs = arms.spent(read_responses(evaluation), endpoints)
        results["increments"] = arms.with_costs(results["increments"], costs)
    if other:
        banks = {"this bank": collect(kept, scored, endpoints), other["name"]: _answers_beside(other)}
        results["accuracy"] += beside_rows(banks, settings.confidence)
    offered = shard.inputs["abstention"]
    results["abstention"] = keys.abstention_rows(
        items, read_responses(evaluation) if offered or probe else (), endpoints, tiers, offered=offered,
        level=settings.confidence,
    )
    results["agreement"] = agreement_of(bank)
    never = read_hard_stops(bank)
    if never:
        results["abstention"] += keys.hard_stop_rows(
            read_responses(evaluation), endpoints, never, level=settings.confidence
        )
    incomplete = {endpoint.endpoint_id for endpoint in endpoints if not endpoint.complete}
    results = {name: marked_incomplete(rows, incomplete) for name, rows in results.items()}
    for name, rows in results.items():
        contracts.check(name, rows)
        store.write(folder / f"{name}.parquet", name, rows)
    return {"counts": {name: len(rows) for name, rows in results.items()}}


def _answers_beside(other: dict[str, str]) -> Answers:
    """The answers to the other bank, as its evaluation has them."""
    items = tables.read_records(f"{other['bank']}/bank.parquet", BankItem)
    panel = tables.read_records(f"{other['evaluation']}/endpoints.parquet", EndpointRow)
    return collect(items, response_frame(Path(other["evaluation"])), panel)


@stage("report", "examgen.report.page")
def write_page(shard: Shard, folder: Path) -> dict[str, Any]:
    """The report as one HTML file that opens offline; its figures as SVG files with the rows they draw beside it."""
    bank, results = Path(shard.inputs["bank"]), Path(shard.inputs["results"])
    evaluation = Path(shard.inputs["evaluation"])
    found = {place.stem: tables.read_rows(str(place)) for place in sorted(results.glob("*.parquet"))}
    endpoints = tables.read_records(str(evaluation / "endpoints.parquet"), EndpointRow)
    funnel = read_optional(bank, "funnel", FunnelRow)
    items = tables.read_records(str(bank / "bank.parquet"), BankItem)
    html = page.render(
        parse_study(shard.inputs["study"]),
        _manifest(bank, items),
        funnel,
        read_optional(bank, "topics", Topic),
        read_optional(bank, "coverage", Coverage),
        read_optional(bank, "findings", Finding),
        items,
        read_optional(bank, "chunks", Chunk),
        found,
        endpoints,
        shard.inputs["links"],
        figures_at=FIGURES,
    )
    store.write_text(folder / "report.html", html)
    figures = all_figures(found, endpoints, funnel)
    for name, figure in figures.items():
        store.write_text(folder / FIGURES / f"{name}.svg", figure.svg)
        store.write(folder / FIGURES / f"{name}.parquet", figure.data, figure.rows)
    return {"counts": {"bytes": len(html.encode()), "figures": len(figures)}}


def _manifest(bank: Path, items: list[BankItem]) -> dict[str, Any]:
    """The bank's manifest, or what can be said of a bank without one."""
    there = (bank / "bank.lock.json").is_file()
    return store.read_manifest(bank) if there else locking.manifest(items, [], {}, {})

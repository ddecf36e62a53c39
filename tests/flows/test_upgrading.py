"""Results of a newer version: every reader of a bank, an evaluation and results refuses them and says what to do."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from examgen.errors import BankError, TableError
from examgen.tables import SCHEMA_VERSION, iter_batches
from flows import calibrate_results, evaluate_panel, write_report
from flows.request import StudyRequest
from tasks import store
from tasks.verification import verify_bank
from tasks.workplace import Workplace
from tests.flows.test_kill import prepare
from tests.stub_server import StubServer
from tests.without_prefect import direct, run

UPGRADE = f"written with schema version 99, this program reads up to {SCHEMA_VERSION}: upgrade examgen"


@pytest.fixture(scope="module")
def request_of(tmp_path_factory: pytest.TempPathFactory) -> StudyRequest:
    with StubServer() as stub:
        study, results = prepare(tmp_path_factory.mktemp("upgrading"), stub.base_url)
        run(study, results)
    return StudyRequest(study=study, results=results)


@pytest.fixture
def newer() -> Iterator[Callable[[Path], None]]:
    """Make a file look as if a newer version had written it; put back afterwards."""
    before: dict[Path, bytes] = {}

    def change(place: Path) -> None:
        before[place] = place.read_bytes()
        if place.suffix == ".json":
            store.write_json(place, {**store.read_json(place), "schema_version": 99})
        else:
            table = pq.ParquetFile(place).read()
            pq.write_table(table.replace_schema_metadata({b"examgen.schema_version": b"99"}), place)

    yield change
    for place, data in before.items():
        place.write_bytes(data)


def latest(request: StudyRequest, name: str) -> Path:
    return Path(Workplace(request.results, "tiny").latest(name)["folder"])


def test_what_this_version_writes_says_its_version(request_of: StudyRequest) -> None:
    bank = latest(request_of, "bank")
    assert store.read_json(bank / "bank.lock.json")["schema_version"] == SCHEMA_VERSION
    root = Path(request_of.results) / "tiny"
    written = [*bank.glob("*.parquet"), *(root / "evaluations").rglob("*.parquet")]
    assert len(written) > 20
    for place in written:
        assert pq.read_schema(place).metadata[b"examgen.schema_version"] == str(SCHEMA_VERSION).encode(), place


@pytest.mark.parametrize("name", ["bank.lock.json", "bank.parquet"])
def test_a_newer_bank(request_of: StudyRequest, newer: Callable[[Path], None], name: str) -> None:
    newer(latest(request_of, "bank") / name)
    with pytest.raises(BankError, match=UPGRADE):
        verify_bank(latest(request_of, "bank"))
    with direct(), pytest.raises(TableError, match=UPGRADE):
        evaluate_panel.evaluate_panel.fn(request_of)


def test_a_newer_evaluation(request_of: StudyRequest, newer: Callable[[Path], None]) -> None:
    newer(next((latest(request_of, "evaluation") / "responses").rglob("*.parquet")))
    again(request_of, "calibrate")
    with direct(), pytest.raises(TableError, match=UPGRADE):
        calibrate_results.calibrate_results.fn(request_of)


def test_newer_results(request_of: StudyRequest, newer: Callable[[Path], None]) -> None:
    newer(latest(request_of, "results") / "item_difficulty.parquet")
    again(request_of, "report")
    with direct(), pytest.raises(TableError, match=UPGRADE):
        write_report.write_report.fn(request_of)


def test_a_newer_table_read_in_parts(request_of: StudyRequest, newer: Callable[[Path], None]) -> None:
    chunks = latest(request_of, "bank") / "chunks.parquet"
    newer(chunks)
    with pytest.raises(TableError, match=UPGRADE):
        next(iter_batches(str(chunks)))


def again(request: StudyRequest, stage: str) -> None:
    """Forget what a stage left, so that it reads its inputs."""
    shutil.rmtree(Path(request.results) / "tiny" / "work" / stage)

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from examgen.errors import BankError
from tasks import store
from tasks.verification import verify_bank
from tests.flows.test_kill import prepare
from tests.without_prefect import build


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study, results = prepare(tmp_path_factory.mktemp("bank"), "http://127.0.0.1:9/v1")
    return Path(build(study, results)["folder"])


def test_a_locked_bank_verifies(bank: Path) -> None:
    said = " ".join(verify_bank(bank))
    assert "hash to their ids" in said


def test_what_was_changed_is_named(bank: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bank, copy)
    table = pq.read_table(copy / "bank.parquet")
    rows = table.to_pylist()
    rows[0]["stem"] += " (changed)"
    store.write(copy / "bank.parquet", "bank", rows)
    with pytest.raises(BankError) as caught:
        verify_bank(copy)
    for said in ("bank.parquet: its bytes are not those", "does not hash to its id", "bank_id: the items do not hash"):
        assert said in str(caught.value)
    (copy / "texts.parquet").unlink()
    (copy / "extra.parquet").write_bytes(b"")
    with pytest.raises(BankError, match=r"texts\.parquet: is in the manifest and not in the folder"):
        verify_bank(copy)

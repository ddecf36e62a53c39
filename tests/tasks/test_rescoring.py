"""Replies of a shard read again without a call: rows as the panel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from examgen import tables
from examgen.answers import PARSER_VERSION
from examgen.errors import InputError
from examgen.records import BankItem, Response
from tasks.panel import evaluate_shard
from tasks.rescoring import reread_rows
from tests.stub_server import StubServer
from tests.tasks.test_panel import endpoint, make_bank


def test_rows_are_read_again_without_a_call(tmp_path: Path) -> None:
    bank, names = make_bank(tmp_path, 20)
    out = tmp_path / "r.parquet"
    with StubServer(reply=lambda body: "Answer: C") as stub:
        evaluate_shard(bank, names, endpoint(stub), 1, 0, str(out))
    good = tables.read_records(str(out), Response)
    old = [row.model_copy(update={"choice": 0, "parser_version": "0", "rule": "old"}) for row in good]
    items = {item.item_id: item for item in tables.read_records(bank, BankItem)}
    assert reread_rows(old, items, abstention=False, constrained=False) == good
    assert {row.parser_version for row in good} == {PARSER_VERSION}
    with pytest.raises(InputError, match="no item"):
        reread_rows(old, {}, abstention=False, constrained=False)

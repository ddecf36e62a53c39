"""Results in an object store, against a real S3-compatible server on loopback."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examgen.errors import BankError, InputError, RunError
from flows.exchange_command import Tool, export
from tasks import mirror
from tasks.verification import verify_bank
from tasks.workplace import Workplace
from tests.flows.test_kill import prepare
from tests.stub_server import StubServer
from tests.without_prefect import run

moto = pytest.importorskip("moto.server", reason="moto, the S3-compatible server of the tests, is not installed")
pytest.importorskip("s3fs", reason="the extra s3 is not installed")

URL = "s3://banks/results"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Address of an S3-compatible server of our own with one bucket; the environment names it."""
    import fsspec

    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        fsspec.filesystem("s3", use_listings_cache=False).mkdir("banks")
        yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def machine(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a machine that has done nothing yet."""
    monkeypatch.setenv("EXAMGEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def units_of(objects: mirror.Objects) -> dict[str, dict[str, Any]]:
    """Whole folders of the store, each file checked against the manifest."""
    found = {}
    for name in objects.sizes():
        if name.endswith(mirror.MANIFEST):
            files = json.loads(objects.get(name) or b"")["files"]
            unit = name.removesuffix(f"/{mirror.MANIFEST}")
            for inner, expected in files.items():
                assert hashlib.sha256(objects.get(f"{unit}/{inner}") or b"").hexdigest() == expected, name
            found[unit] = files
    return found


@pytest.mark.timeout(1500)
def test_a_fresh_machine_goes_on_without_a_call(machine: Path, tmp_path: Path) -> None:
    with StubServer(latency=0.02) as stub:
        study, _ = prepare(tmp_path / "study", stub.base_url)
        first = run(study, URL)
        paid = stub.calls
        assert paid
        objects = mirror.Objects(f"{URL}/tiny")
        before = units_of(objects)
        for kind in ("bank/", "evaluations/", "work/panel/", "data_docs/"):
            assert any(unit.startswith(kind) for unit in before), kind

        shutil.rmtree(machine)
        bank = Path(Workplace(URL, "tiny").latest("bank")["folder"])
        assert bank.name == first["bank_id"]
        verify_bank(bank)
        with mirror.at_hand(f"{URL}/tiny/bank/{first['bank_id']}") as folder:
            verify_bank(folder)
        export(f"{URL}/tiny/bank/{first['bank_id']}", tmp_path / "exported", Tool.LM_EVAL)
        assert list((tmp_path / "exported").glob("*.jsonl"))

        shutil.rmtree(machine)
        again = run(study, URL)
        assert stub.calls == paid, "what the store holds is asked of nobody"
        assert again["bank_id"] == first["bank_id"]
        # The index is made again from the stored vectors, for it is no folder of whole objects; nothing else changes.
        assert {u: f for u, f in units_of(objects).items() if not u.startswith("work/index/")} == {
            u: f for u, f in before.items() if not u.startswith("work/index/")
        }
        # A machine that lost the shards too has the replies.
        shutil.rmtree(machine)
        for name in objects.sizes():
            if name.startswith(("work/panel/", "evaluations/", "latest_evaluation")):
                objects._system.rm_file(f"{objects._base}/{name}")
        run(study, URL)
        assert stub.calls == paid


def test_a_shard_to_be_done_again_is_not_fetched_but_put_anew(machine: Path) -> None:
    from tasks.stages import DONE_FILE, Shard, forget

    place = Workplace("s3://banks/again", "s")
    folder = place.work / "panel" / "k"
    shard = Shard(study="s", stage="panel", label="one", key="k", folder=str(folder), inputs={})
    done = {"stage": "panel", "label": "one", "key": "k", "folder": "elsewhere", "counts": {}}

    def finish(counts: dict[str, int]) -> None:
        folder.mkdir(parents=True)
        (folder / DONE_FILE).write_text(json.dumps({**done, "counts": counts}))

    with place.alone():
        finish({"unresolved": 1})
    shutil.rmtree(machine)
    with place.alone():
        found = shard.finished()
        assert found is not None
        assert (found.folder, found.counts) == (str(folder), {"unresolved": 1})
        forget(shard)
        assert shard.finished() is None
        finish({"unresolved": 0})
    shutil.rmtree(machine)
    with place.alone():
        again = shard.finished()
        assert again is not None
        assert again.counts == {"unresolved": 0}


class Killed(BaseException):
    """What a kill looks like to code that may catch nothing."""


def test_a_kill_between_two_puts_leaves_no_torn_folder(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "s3://banks/killed"
    place = Workplace(url, "s")
    for unit in ("bank/b", "work/lock/k"):
        (place.root / unit).mkdir(parents=True)
        for number in range(3):
            (place.root / unit / f"{number}.parquet").write_text(f"{unit} {number}")
    put = mirror.Objects.put
    for allowed in range(12):
        left = iter(range(allowed))

        def put_some(self: mirror.Objects, name: str, data: bytes, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed
            put(self, name, data)

        with monkeypatch.context() as patch:
            patch.setattr(mirror.Objects, "put", put_some)
            with pytest.raises(Killed) if allowed < 9 else _nothing(), place.alone():
                place.point("bank", {"folder": str(place.root / "bank/b")})
        objects = mirror.Objects(f"{url}/s")
        whole = units_of(objects)
        if "latest_bank.json" in objects.sizes():
            assert "bank/b" in whole
        if "bank/b" not in whole:
            with pytest.raises(BankError, match="no whole folder"), mirror.at_hand(f"{url}/s/bank/b"):
                pass
        for name in objects.sizes():
            if allowed < 8:
                objects._system.rm_file(f"{objects._base}/{name}")
    assert set(units_of(objects)) == {"bank/b", "work/lock/k"}


def _nothing() -> Any:
    import contextlib

    return contextlib.nullcontext()


def test_two_machines_share_journals_and_overwrite_none(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks.ledger import JOURNAL, Ledger, journals

    url = "s3://banks/two"
    for name in ("one", "two"):
        monkeypatch.setenv("EXAMGEN_CACHE", str(tmp_path / name))
        place = Workplace(url, "s")
        with place.alone():
            Ledger(str(place.replies / f"e-o0{JOURNAL}")).close()
            (own,) = set(journals(place.replies)) - set(place.replies.glob("*-from-*"))
            own.write_text(f"said on {name}\n")
            own.rename(own.with_name(f"e-from-{name}{JOURNAL}"))
    assert [p.name for p in journals(place.replies)] == [f"e-from-{n}{JOURNAL}" for n in ("one", "two")]
    assert sorted(n for n in mirror.Objects(f"{url}/s").sizes() if n.startswith("replies")) == [
        f"replies/e-from-{n}{JOURNAL}" for n in ("one", "two")
    ]


def test_a_pointer_that_another_machine_moved_is_taken_and_ours_is_kept_otherwise(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on(name: str) -> Workplace:
        monkeypatch.setenv("EXAMGEN_CACHE", str(tmp_path / name))
        return Workplace("s3://banks/pointers", "s")

    with on("one").alone():
        on("one").point("bank", {"bank_id": "first"})
    with on("two").alone():
        assert on("two").latest("bank")["bank_id"] == "first"
        on("two").point("bank", {"bank_id": "second"})
    with on("one").alone():
        assert on("one").latest("bank")["bank_id"] == "second"
    on("one").point("bank", {"bank_id": "third"})  # a run that was killed before it could tell the store
    with on("one").alone():
        assert on("one").latest("bank")["bank_id"] == "third"
    with on("two").alone():
        assert on("two").latest("bank")["bank_id"] == "third"


def test_what_a_store_refuses_is_said(machine: Path) -> None:
    with pytest.raises(RunError, match=r"s3://nowhere/x/s: cannot be "), Workplace("s3://nowhere/x", "s").alone():
        pass
    with pytest.raises(InputError, match="no store is called what"):
        mirror.Objects("what://is/this")
    with pytest.raises(InputError, match=r"pip install 'examgen\[gs\]'"):
        mirror.Objects("gs://bucket/x")


def test_a_pointer_follows_a_folder_that_was_moved(tmp_path: Path) -> None:
    place = Workplace(tmp_path / "here", "s")
    place.point("bank", {"folder": str(place.banks / "b")})
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert Workplace(tmp_path / "there", "s").latest("bank")["folder"] == str(tmp_path / "there" / "s" / "bank" / "b")

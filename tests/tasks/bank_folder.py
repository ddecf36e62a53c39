"""A locked bank on disk, made from the rule-made items of the tests."""

from __future__ import annotations

import hashlib
from pathlib import Path

from examgen import locking
from examgen.calibration import calibrate
from examgen.records import BankItem, Source
from examgen.study import Statistics
from tasks import store
from tests.panels import PANEL, endpoint, make_answers, make_bank, passage


def make_bank_folder(results: Path, study: str = "small", items: int = 12) -> tuple[Path, list[BankItem]]:
    """The folder <results>/<study>/bank/<bank_id> with what verification needs, and the pointer to it."""
    bank = [item.model_copy(update={"tier": "A"}) for item in make_bank(3, items // 3)]
    chunks = [passage(place) for place in range(items)]
    sources = [
        Source(source_id=name, path=f"{name}.md", media_type="text/markdown", bytes=1, status="indexed")
        for name in sorted({chunk.source_id for chunk in chunks})
    ]
    facts = {"study": study}
    folder = results / study / "bank" / locking.bank_id(bank, facts)
    for name, rows in (("bank", bank), ("chunks", chunks), ("sources", sources)):
        store.write(folder / f"{name}.parquet", name, rows)
    manifest = locking.manifest(bank, [], facts, {})
    manifest["tables"] = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.glob("*.parquet"))}
    store.write_json(folder / "bank.lock.json", manifest)
    pointer = {"bank_id": manifest["bank_id"], "folder": str(folder.resolve()), "items": len(bank)}
    store.write_json(results / study / "latest_bank.json", pointer)
    return folder, bank


def keys_csv(bank: list[BankItem], place: Path) -> Path:
    """Two sources that give the bank's key, but for the first item."""
    rows = ["item_id,source,letter,human"]
    for number, item in enumerate(bank):
        other = item.key_letter if number else "ABCD"[(item.key + 1) % 4]
        rows += [f"{item.item_id},ann,{item.key_letter},yes", f"{item.item_id},model,{other},no"]
    place.write_text("\n".join(rows) + "\n")
    return place


def make_evaluation_folder(results: Path, study: str = "small") -> tuple[Path, Path, list[BankItem]]:
    """Bank, evaluation and results of seven endpoints that are right on four of ten items, and their pointers."""
    folder, bank = make_bank_folder(results, study)
    root, evaluation = results.resolve() / study, results.resolve() / study / "evaluations" / "e1"
    panel = [endpoint(name) for name in PANEL]
    answers = make_answers(bank, dict.fromkeys(PANEL, 0.4), seed=5)
    for name in PANEL:
        mine = [row for row in answers if row.endpoint_id == name]
        store.write(evaluation / "responses" / f"endpoint_id={name}" / "responses.parquet", "responses", mine)
    store.write(evaluation / "endpoints.parquet", "endpoints", panel)
    settings = Statistics(bootstrap_replicates=200, permutations=2)
    for name, rows in calibrate(bank, answers, panel, settings).items():
        store.write(evaluation / "results-r1" / f"{name}.parquet", name, rows)
    pointer = {"evaluation_id": "e1", "folder": str(evaluation), "bank": str(folder.resolve())}
    store.write_json(root / "latest_evaluation.json", pointer)
    return folder.resolve(), evaluation, bank

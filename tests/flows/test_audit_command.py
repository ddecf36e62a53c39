"""The command `examgen audit` as a person uses it, without any server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.test_size_command import here

HEAD = "Frage,A,B,C,D,Answer\n"
ROW = "Where is lesion number {n} found?,in the pons and nowhere else at all,cord,eye,arm,{key}\n"


def bank(folder: Path, name: str, head: str = HEAD.replace("Frage", "Question")) -> str:
    place = folder / name
    place.write_text(head + "".join(ROW.format(n=n, key="ABCD"[n % 4 if n > 30 else 0]) for n in range(40)))
    return str(place)


def test_an_audit_writes_its_tables_and_pages_and_says_how_the_file_was_read(tmp_path: Path) -> None:
    code, out, err = here(bank(tmp_path, "b.csv"), "--out", str(tmp_path / "out"), command="audit")
    assert code == 0, err
    first, second, third = out.splitlines()
    assert first.startswith("The key is the longest option in 82.5 % of 40 items")
    assert second.startswith("40 of 40 rows read, 40 without a reject-level finding (stem=Question; options=A|B|C|D;")
    assert third == f"Report: {tmp_path / 'out' / 'report.html'}"
    made = {place.name for place in (tmp_path / "out").iterdir()}
    assert made == {"findings.parquet", "measures.parquet", "funnel.parquet", "report.html", "data_docs"}
    assert (tmp_path / "out" / "report.html").read_text().find("82.5 %") > 0


def test_two_banks_each_with_its_own_columns(tmp_path: Path) -> None:
    words = [bank(tmp_path, "a.csv", HEAD), "--column", "stem=Frage", "--against", bank(tmp_path, "b.csv")]
    code, out, err = here(*words, "--out", str(tmp_path / "out"), command="audit")
    assert code == 0, err
    assert out.splitlines()[-1] == f"Comparison: {tmp_path / 'out' / 'comparison.html'}"
    assert (tmp_path / "out" / "second" / "data_docs" / "index.html").is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--column", "stem"], "--column stem: write it as field=column"),
        (["--column", "stem=A", "--column", "stem=B"], "stem is given twice"),
        (["--column", "sten=Frage"], "did you mean 'stem'?"),
        (["--column", "stem=Farge"], "nearest: 'Frage'"),
        (["--against", "gone.csv"], "gone.csv: no such file"),
        (["--against-column", "stem=Frage"], "there is no second bank"),
        ([], "cannot tell which column holds the stem"),
    ],
)
def test_wrong_input_is_exit_code_2_and_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    code, out, err = here(bank(tmp_path, "a.csv", HEAD), *words, "--out", str(tmp_path / "out"), command="audit")
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()

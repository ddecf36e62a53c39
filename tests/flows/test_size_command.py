"""The command `examgen size` as a person uses it: the published numbers by the command line, without any server."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from unittest import mock

import pytest

from flows.command_line import main
from tests.flows.test_command_line import ROOT, examgen

STUDY = "study: s\ncorpus: {{folder: docs}}\nseeds: [a query]\nsizing: {sizing}\n"


def here(*words: str, command: str = "size") -> tuple[int, str, str]:
    """Exit code, output and errors of a command in this process: the same entry point, without starting Python."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    argv = mock.patch.object(sys, "argv", ["examgen", command, *words])
    with argv, contextlib.chdir(ROOT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return code, out.getvalue(), err.getvalue()


def said(*words: str) -> str:
    code, out, err = here(*words)
    assert code == 0, err
    return out


def test_help_has_an_example_and_needs_no_study() -> None:
    assert "examgen size --gain 0.075 --worse 0.025" in said("--help")


def test_seven_and_a_half_points_need_185_items_and_a_simulation_cannot_tell_184_apart() -> None:
    done = examgen("size", "--gain", "0.075", "--worse", "0.025", "--simulate", "40000")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    assert "power(184) = 0.7992, power(185) = 0.8016; proved: too few below 173, enough from 195" in text
    assert "The bank that serves all: 185 items" in text
    assert "fewer than 6 discordant items" in text
    for n, exact in ((184, 0.7992), (185, 0.8016)):
        line = next(line for line in text.splitlines() if f"n = {n}: exact" in line)
        simulated = float(line.split("replicates ")[1].split(" (")[0])
        assert abs(simulated - exact) < 0.008  # four standard errors of 40,000 replicates


def test_the_published_powers_and_sizes_from_their_tables() -> None:
    text = said("--better", "16/168", "--worse", "1/168", "--items", "168")
    assert "0.9777" in text
    text = said("--better", "8/168", "--worse", "4/168", "--items", "168")
    assert "0.1342" in text
    assert "The bank that serves all: 1,045 items" in text


def test_the_published_interaction() -> None:
    text = said("--counts", "9,0,64", "--counts", "7,1,104")
    assert "z = 1.628, P = 0.1036" in text
    assert "(16, 1) of 168 items" in text


def test_the_published_ceilings() -> None:
    small, large = (said("--ceiling-accuracy", "97%", "--items", n) for n in ("24", "168"))
    assert "perfect score on 24 items: 0.4814" in small
    assert "perfect score on 168 items: 0.0060" in large
    assert "152 items make a perfect score rarer than 0.01" in small


def test_the_range_when_only_accuracies_are_known() -> None:
    text = said("--accuracy", "163/168", "--accuracy", "148/168")
    for dependence, n in (("perfect dependence", 88), ("independence", 146), ("most negative dependence", 155)):
        line = next(line for line in text.splitlines() if f"if {dependence}" in line)
        assert line.endswith(f": {n} items")


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (["--contrasts", "9"], 290),
        (["--contrasts", "9", "--correction", "none"], 185),
        (["--midp"], 163),
        (["--power", "0.9"], 239),
        (["--design-effect", "1.35", "--attrition", "10%"], 278),
    ],
)
def test_the_rules_of_planning(words: list[str], n: int) -> None:
    assert f"The bank that serves all: {n} items" in said("--gain", "7.5%", "--worse", "2.5%", *words)


def test_a_pilot_and_a_page(tmp_path: Path) -> None:
    rows = [f"q{i},a,{int(i >= 1)}\nq{i},b,{int(not 1 <= i <= 16)}" for i in range(168)]
    (tmp_path / "pilot.csv").write_text("item_id,endpoint,correct\n" + "\n".join(rows))
    text = said("--pilot", str(tmp_path / "pilot.csv"), "--endpoint", "a", "--endpoint", "b",
                "--page", str(tmp_path / "sizing.html"))  # fmt: skip
    assert "(16, 1) of 168 items" in text
    assert "The bank that serves all: 100 items" in text
    assert "<svg" in (tmp_path / "sizing.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give a study, or numbers"),
        (["--gain", "0.1"], "worse: is missing beside gain"),
        (["--gain", "much", "--worse", "0"], "'much' is no share"),
        (["--accuracy", "0.9", "--accuracy", "0.8", "--agreement", "0.5"], "agreement: with accuracies"),
        (["--gain", "0.1", "--worse", "0", "--alpha", "2"], "--alpha: "),
        (["--counts", "9,9,10"], "b + c is at most n"),
        (["data/studies/ms_mri.yaml", "--gain", "0.1"], "leave out --gain, or the study"),
        (["data/studies/small.yaml", "--print-only"], "sizing.contrasts: none is declared"),
        (["no.yaml"], "no such study file"),
    ],
)
def test_wrong_input_is_exit_code_2_and_one_clear_line(words: list[str], message: str) -> None:
    code, out, err = here(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_wrong_input_to_the_real_program() -> None:
    done = examgen("size", "--gain", "much", "--worse", "0")
    assert (done.returncode, done.stderr.strip()) == (
        2, "error: Invalid value for '--gain': 'much' is no share: write .075, 7.5% or 16/168",
    )  # fmt: skip


def test_a_study_printed_without_a_flow_leaves_nothing_behind(tmp_path: Path) -> None:
    sizing = "{contrasts: [{name: total, counts: [16, 1, 168]}, {name: step, counts: [8, 4, 168]}]}"
    (tmp_path / "s.yaml").write_text(STUDY.format(sizing=sizing))
    done = examgen("size", str(tmp_path / "s.yaml"), "--print-only", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Binding: step: power" in done.stdout
    assert [place.name for place in tmp_path.iterdir()] == ["s.yaml"]


def test_an_error_in_a_study_names_the_key(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.format(sizing="{contrasts: [{name: a, better: 0.1}]}"))
    done = examgen("size", str(tmp_path / "s.yaml"), cwd=tmp_path)
    assert done.returncode == 2
    assert "sizing.contrasts.0: contrast 'a': worse: is missing beside better" in done.stderr


def test_hard_stop_rules_repeated_answers_and_people(tmp_path: Path) -> None:
    assert "299 items without a violation exclude a rate of 1.00%" in said("--hard-stop", "1%")
    assert "1 answer 969" in said("--gain", "0.03", "--between", "0.1111111")
    assert "10 answers 1,260" in said("--gain", ".03", "--between", ".1111111", "--within", ".1666667")
    rows = [
        f"i{n},{arm},{int((n * 7 + person * 3) % 10 < chance)},{person}"
        for n in range(40) for arm, chance in (("people", 7), ("model", 5)) for person in range(3)
    ]  # fmt: skip
    pilot = tmp_path / "pilot.csv"
    pilot.write_text("\n".join(["item_id,endpoint,correct,repeat", *rows]))
    text = said("--pilot", str(pilot), "--endpoint", "people", "--endpoint", "model")
    assert "from 40 items answered 3 and 3 times" in text
    assert "The bank that serves all" in text
    assert here("--between", "0.1")[0] == 2

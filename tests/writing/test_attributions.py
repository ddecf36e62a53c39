"""Items ask for facts: authors go, and sentences about a paper are no statements."""

from __future__ import annotations

import pytest

from examgen.writing.attributions import without_authors


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (
            "In the 2009 RIS criteria of Okuda and colleagues, three items are needed",
            "In the 2009 RIS criteria, three items are needed",
        ),
        ("In the DISCOMS trial reported by Corboy 2023, people were older", "In the DISCOMS trial, people were older"),
        ("According to Sati 2016, the central vein is visible", "The central vein is visible"),
        (
            "In the diagnostic criteria for PML of Berger 2013, DNA is needed",
            "In the diagnostic criteria for PML, DNA is needed",
        ),
        (
            "According to the optic neuritis criteria of Petzold 2022, MRI supports",
            "According to the 2022 optic neuritis criteria, MRI supports",
        ),
    ],
)
def test_authors_go_and_years_of_criteria_stay(text: str, bare: str) -> None:
    assert without_authors(text) == bare


@pytest.mark.parametrize(
    "text",
    [
        "Wong 2019 found that the criteria had a sensitivity of 83%",
        "In the study of Sechi 2021, complete resolution occurred in 72%",
        "In the ten-year analysis of Lebrun-Frenay 2020, younger age was a predictor",
        "In the 2023 revised criteria by Lebrun-Frenay 2023, two features are needed",
        "In PML, the frontal lobe was affected in 14 patients in the series of Wattjes 2015 and others",
    ],
)
def test_sentences_about_a_paper_are_left_out(text: str) -> None:
    assert without_authors(text) == "" or "2015" not in without_authors(text)

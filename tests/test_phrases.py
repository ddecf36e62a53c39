from __future__ import annotations

from examgen.phrases import candidate_phrases, content_words, key_phrase


def test_content_words_leave_out_what_says_nothing() -> None:
    assert content_words("At least 3 of the lesions, in a T2 image") == {"3", "lesions", "t2", "image"}


def test_phrases_do_not_cross_stop_words_or_stops() -> None:
    found = candidate_phrases("Central vein sign. Rim lesions of the spinal cord")
    assert found["central vein sign"] == 1
    assert found["spinal cord"] == 1
    assert "sign rim" not in found
    assert "lesions spinal" not in found


def test_the_key_phrase_is_frequent_here_and_rare_elsewhere() -> None:
    here = "The central vein sign is common. A central vein sign needs a vein. White matter is common."
    there = ["White matter is common.", "White matter lesions.", here]
    assert key_phrase(here, there) == "Central vein sign"
    assert key_phrase("", []) == "Untitled"
    assert key_phrase("encephalomyelitis", []) == "Encephalomyelitis"

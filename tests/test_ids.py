from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from examgen import ids


@given(st.text(), st.text(), st.text(), st.text())
def test_digest_separates_its_parts(a: str, b: str, c: str, d: str) -> None:
    assert (ids.digest(a, b) == ids.digest(c, d)) == ((a, b) == (c, d))


@given(st.lists(st.text(min_size=1), min_size=4, max_size=4, unique=True), st.randoms())
def test_item_id_does_not_depend_on_the_order_of_options(options: list[str], random: object) -> None:
    shuffled = sorted(options, reverse=True)
    assert ids.item_id("stem", options, options[0]) == ids.item_id("stem", shuffled, options[0])
    assert ids.item_id("stem", options, options[0]) != ids.item_id("stem", options, options[1])


def test_ids_are_stable() -> None:
    assert ids.chunk_id("s", 3, "text") == ids.chunk_id("s", 3, "text") != ids.chunk_id("s", 4, "text")
    assert ids.topic_id("Spinal cord", "Lesions ") == ids.topic_id("spinal  cord", "lesions")
    assert ids.digest("a") == "3b196fd4907bedf5"
    assert 0 <= ids.seed_of("x") < 2**63


@given(st.text())
def test_normalised_is_idempotent(text: str) -> None:
    once = ids.normalised(text)
    assert ids.normalised(once) == once or once.endswith(".")

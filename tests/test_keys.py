"""Several answer keys: tiers, hash, probe, abstention."""

from __future__ import annotations

import pytest

from examgen import tables
from examgen.errors import BankError
from examgen.keys import (
    PROBE,
    Key,
    abstention_rows,
    agreement,
    hard_stop_rows,
    hard_stops,
    locked_tier_hash,
    parse_keys,
    release_note,
    tier_rows,
    tier_table,
    with_bank_key,
)
from examgen.records import LETTERS, BankItem, Response
from examgen.statistics.tiers import TierRules, tier_hash
from tests.panels import answer, endpoint, make_answers, make_bank

BANK = make_bank(2, 5)


def other(item: BankItem) -> str:
    return LETTERS[(item.key + 1) % 4]


def lines(*rows: str) -> str:
    return "\n".join(["item_id,source,letter,human", *rows]) + "\n"


def given() -> list[Key]:
    """Two sources that agree with the bank on all but the second item; nothing from one of them on the third."""
    keys = []
    for place, item in enumerate(BANK):
        for source, human in (("expert", True), ("model", False)):
            letter = other(item) if (place, source) == (1, "model") else item.key_letter
            keys.append(Key(item.item_id, source, "" if (place, source) == (2, "model") else letter, human))
    return with_bank_key(keys, BANK)


def test_three_unanimous_keys_are_tier_a_and_disagreement_is_the_probe() -> None:
    table = tier_table(BANK, given()).set_index("item_id")
    assert table.loc[BANK[0].item_id, "tier"] == "A"
    assert table.loc[BANK[0].item_id, "key_source"] == "human and model"
    assert table.loc[BANK[1].item_id, "tier"] == PROBE
    assert table.loc[BANK[2].item_id, "reasons"] == "2 of 3 keys"
    flagged = [BANK[0].model_copy(update={"flags": ("length",)}), *BANK[1:]]
    assert tier_table(flagged, given()).loc[0, "reasons"] == "audit flag"
    bare = [BANK[0].model_copy(update={"evidence": ()}), *BANK[1:]]
    assert tier_table(bare, given()).loc[0, "reasons"] == "provenance incomplete"


def test_model_keys_are_labelled_as_such() -> None:
    keys = with_bank_key([Key(i.item_id, s, i.key_letter, False) for i in BANK for s in ("m1", "m2")], BANK)
    assert set(tier_table(BANK, keys)["key_source"]) == {"model"}


def test_endorsement_is_the_share_of_raters() -> None:
    keys = [Key(i.item_id, s, i.key_letter, True, s != "c") for i in BANK for s in "abc"]
    assert set(tier_table(BANK, keys, TierRules(3, 0.6))["tier"]) == {"A"}
    assert set(tier_table(BANK, keys, TierRules(3, 0.9))["reasons"]) == {"endorsement too low or missing"}


def test_the_hash_holds_the_assignment_whatever_the_order() -> None:
    table = tier_table(BANK, given())
    assert tier_hash(table) == tier_hash(table.iloc[::-1])
    note = release_note(table, BANK, given(), TierRules(), "before scoring")
    assert note["tier_hash"] == tier_hash(table)
    assert note["counts"] == {"A": 8, "B": 1, PROBE: 1}
    assert note["sources"] == {"bank": "model", "expert": "human", "model": "model"}
    locked = locked_tier_hash(BANK)
    assert locked != locked_tier_hash([BANK[0].model_copy(update={"tier": "B"}), *BANK[1:]])


def test_rows_fit_the_table_and_agreement_is_told() -> None:
    rows = tier_rows(tier_table(BANK, given()))
    assert tables.as_table("tiers", rows).num_rows == 10
    assert rows[1]["key"] is None
    found = agreement(BANK, given())["percent_agreement"]
    assert found == pytest.approx((9 + 1 / 3) / 10)


def test_parsing_takes_what_people_write() -> None:
    item = BANK[0]
    text = lines(f"{item.item_id},ann, {item.key_letter.lower()} ,yes", f"{item.item_id},bob,,0")
    keys = parse_keys("\ufeff" + text, "k", BANK)
    assert keys == [Key(item.item_id, "ann", item.key_letter, True), Key(item.item_id, "bob", "", False)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item_id,source,letter\n", "column 'human' is missing"),
        (lines("nothing,ann,A,1"), "line 2: the bank has no item 'nothing'"),
        (lines(f"{BANK[0].item_id},ann,E,1"), "letter 'E' is none of the item's 4 options"),
        (lines(f"{BANK[0].item_id},,A,1"), "name who gave the key"),
        (lines(f"{BANK[0].item_id},bank,A,1"), "'bank' is the bank's own"),
        (lines(f"{BANK[0].item_id},ann,A,maybe"), "'maybe' is neither yes nor no"),
        (lines(f"{BANK[0].item_id},ann,A,1", f"{BANK[0].item_id},ann,B,1"), "line 3: a second key of 'ann'"),
        (lines(f"{BANK[0].item_id},ann,A,1", f"{BANK[1].item_id},ann,B,0"), "human in one line and not in another"),
        (lines(), "holds no key"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(BankError) as caught:
        parse_keys(text, "k.csv", BANK)
    assert message in str(caught.value)


def abstained(item: BankItem, name: str) -> Response:
    return Response(item_id=item.item_id, endpoint_id=name, status="abstained")


def test_abstention_on_the_probe_beside_over_abstention() -> None:
    tiers = {item.item_id: PROBE if place < 4 else "A" for place, item in enumerate(BANK)}
    rows = [abstained(item, "careful") if place < 3 or place == 9 else answer(item, "careful", item.key)
            for place, item in enumerate(BANK)]  # fmt: skip
    rows += [answer(item, "bold", item.key if place else None) for place, item in enumerate(BANK)]
    ends = [endpoint("careful"), endpoint("bold")]
    found = abstention_rows(BANK, rows, ends, tiers, offered=True)
    tables.as_table("abstention", found)
    value = {(row["endpoint_id"], row["statistic"]): row["value"] for row in found}
    assert value["careful", "abstention on the probe"] == 0.75
    assert value["careful", "over-abstention on answerable items"] == pytest.approx(1 / 6)
    assert value["careful", "coverage of answerable items"] == pytest.approx(5 / 6)
    assert value["careful", "accuracy where answered"] == 1.0
    assert value["bold", "forced commitment on the probe"] == 1.0
    assert value["bold", "unresolved"] == 1
    assert value["bold", "separation"] == 0


def test_abstention_that_was_not_offered_is_not_estimable() -> None:
    given_answers = make_answers(BANK, {"a": 0.5})
    assert abstention_rows(BANK, given_answers, [endpoint("a")], {}, offered=False) == []
    tiers = {BANK[0].item_id: PROBE}
    (row,) = abstention_rows(BANK, given_answers, [endpoint("a")], tiers, offered=False)
    assert row["value"] is None
    assert "not offered" in row["note"]
    tables.as_table("abstention", abstention_rows(BANK, given_answers, [endpoint("a")], {}, offered=True))


def test_hard_stops_count_options_that_must_never_be_chosen() -> None:
    text = "item_id,source,letter,human,never\n" + "".join(
        f"{item.item_id},ann,{item.key_letter},yes,{'ABCD'[(item.key + 1) % 4]}\n" for item in BANK[:59]
    )
    never = hard_stops(parse_keys(text, "keys.csv", BANK))
    assert len(never) == min(59, len(BANK))
    safe = [answer(item, "safe", item.key) for item in BANK]
    bold = [answer(item, "bold", (item.key + 1) % 4 if place < 6 else item.key) for place, item in enumerate(BANK)]
    rows = hard_stop_rows([*safe, *bold], [endpoint("safe"), endpoint("bold"), endpoint("absent")], never)
    assert [row["value"] for row in rows] == [0.0, 6 / len(never), None]
    assert rows[0]["high"] == pytest.approx(1 - 0.05 ** (1 / len(never)))
    assert hard_stop_rows(safe, [endpoint("safe")], {}) == []
    with pytest.raises(BankError, match="must never be chosen"):
        parse_keys(f"item_id,source,letter,human,never\n{BANK[0].item_id},ann,A,yes,AB\n", "keys.csv", BANK)

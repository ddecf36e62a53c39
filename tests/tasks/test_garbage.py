"""Garbage is collected seldom while a panel is asked, and as before afterwards."""

from __future__ import annotations

import gc

import pytest

from tasks.garbage import SELDOM, collected_seldom


def test_the_last_of_overlapping_blocks_puts_back_what_was() -> None:
    before = gc.get_threshold()
    first, second = collected_seldom(), collected_seldom()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == (SELDOM, *before[1:])
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == SELDOM
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
    with pytest.raises(ValueError, match="inside"), collected_seldom():
        raise ValueError("inside")
    assert gc.get_threshold() == before

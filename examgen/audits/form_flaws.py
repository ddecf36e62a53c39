"""Item-writing flaws of the form of the options: what they share, mix, carry or repeat. NBME = NBME Item-Writing
Guide (2020), ch. 3; HDR = Haladyna, Downing & Rodriguez, Applied Measurement in Education 15 (2002) 309-333.
"""

from __future__ import annotations

import re

from examgen.audits.items import STOP_WORDS, AuditItem
from examgen.audits.observations import Observation, absent, counted
from examgen.audits.option_flaws import bare_text, is_all_of_the_above
from examgen.records import LETTERS


def repeated_start(item: AuditItem) -> Observation:
    """Number of words with which every option begins alike, content words among them; they belong in the stem.

    NBME, HDR: put the central idea in the stem, avoid repetition in the choices.
    """
    if len(item.options) < 2:
        return absent()
    shared: list[str] = []
    for row in zip(*item.option_folded, strict=False):
        if len(set(row)) > 1:
            break
        shared.append(row[0])
    content = [word for word in shared if word not in STOP_WORDS and not word.isdigit()]
    return Observation(float(len(shared)) if content else 0.0, " ".join(shared))


_NUMERIC = re.compile(
    r"^[^\w]*(?:about |approximately |at least |at most |more than |less than |up to )?[$€£]?[-−+]?\d[\d.,]*(?![-\w])"
)
_AMOUNT = re.compile(
    r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|none|all|half|infinite|infinitely|infinity|"
    r"unlimited|no limit|never|once|"
    r"twice|cannot|undefined|indeterminate|unknown|not enough|insufficient|impossible|does not exist|weekly|daily|"
    r"monthly|"
    r"annually|yearly|hundred|thousand|million|billion|pi|sqrt|ln|log|e)\b",
    re.IGNORECASE,
)


def mixed_options(item: AuditItem) -> Observation:
    """Some options are amounts and others are words that are no amount: how many stand on the smaller side.

    Amounts in words ("twice", "infinite", "cannot be determined") and "all/none of the above" go with either side.
    HDR: keep choices homogeneous in content.
    """
    amounts, others = [], []
    for option in item.options:
        bare = bare_text(option)
        if _NUMERIC.match(bare) and len(bare.split()) <= 6:
            amounts.append(option)
        elif (
            not _AMOUNT.search(bare)
            and re.search(r"[a-z]{4}", bare)
            and not re.search(r"\d", bare)
            and not is_all_of_the_above(option)
        ):
            others.append(option)
    return counted(amounts if len(amounts) <= len(others) else others)


def labelled_options(item: AuditItem) -> Observation:
    """Options that carry the label of their own place ("A) ...", "2. ..."), wrong after any shuffle; two or more
    count.
    """
    found = []
    for place, option in enumerate(item.options[: len(LETTERS)]):
        mark = re.match(r"\s*\(?([A-Ja-j]|\d)[).:]\s+\S", option)
        if mark and mark[1].upper() in (LETTERS[place], str(place + 1)):
            found.append(option)
    return counted(found if len(found) > 1 else ())


_DOUBLED = re.compile(r"\b([a-z]{2,}) \1\b(?!-)")
_TWICE = """
that had very so bye log is blah can do ha hear no now there well one two three four five six seven eight nine
"""
_MEANT_TWICE = frozenset(_TWICE.split())


def doubled_words(item: AuditItem) -> Observation:
    """A word written twice in a row ("the the"), except where English allows it ("had had").

    HDR: edit and proof items.
    """
    texts = (item.stem, *item.options)
    return counted(m.group() for text in texts for m in _DOUBLED.finditer(text) if m[1] not in _MEANT_TWICE)

"""Two small documents on one subject, cut into passages, for the tests of the writer."""

# ruff: noqa: E501 (sentences of the field are data and stand on one line)

from __future__ import annotations

from examgen import ids
from examgen.evidence import Statement
from examgen.lexicons import Lexicons, load_lexicons
from examgen.records import Chunk
from examgen.writing.clauses import Clause, read

LEXICONS: Lexicons = load_lexicons()

FIRST = """# Optic neuritis and myelitis

## Optic neuritis in MOGAD and NMOSD

In MOGAD, the acute optic nerve lesion is typically anterior and intraorbital, whereas in NMOSD the lesion is typically posterior and intracranial. In multiple sclerosis, optic neuritis is typically unilateral and affects a short segment of the optic nerve.

## Spinal cord lesions in NMOSD

In AQP4-IgG-seropositive NMOSD, acute spinal cord lesions typically extend over three or more contiguous vertebral segments and occupy the central grey matter of the cord. It may be longer. In NMOSD, spinal cord lesions are often painful and can be swollen in the acute phase of the attack.

## Dissemination in space in the 2017 McDonald criteria

In the 2017 McDonald criteria, dissemination in space requires at least one T2-weighted lesion in at least two of four sites. In the 2017 McDonald criteria, an attack lasts at least 24 hours and occurs in the absence of fever or infection.
"""
SECOND = """# Protocols

## Contrast dose and timing

According to the 2021 MAGNIMS-CMSC-NAIMS recommendations, the standard contrast dose for brain MRI is 0.1 mmol/kg with a delay of at least 5 minutes. According to the 2021 MAGNIMS-CMSC-NAIMS recommendations, slices of the optic nerve are 2 to 3 mm thick and are acquired without an inter-slice gap.

## Spinal cord lesions in multiple sclerosis

In multiple sclerosis, acute spinal cord lesions typically span fewer than two vertebral segments and are asymmetric on axial images. In the 2024 McDonald criteria, dissemination in space requires lesions in at least two of five topographies.

## Optic nerve imaging

In MOGAD, optic neuritis is frequently bilateral, and perineural enhancement of the optic nerve sheath is more common than in multiple sclerosis. In paediatric MOGAD, optic neuritis of the acute phase affects a long segment of the optic nerve.
"""


def chunks_of(text: str, path: str, size: int = 700, overlap: int = 100) -> list[Chunk]:
    """Passages of equal length that cut sentences where it falls."""
    source = ids.source_id(text.encode())
    found = []
    start = 0
    while start < len(text):
        piece = text[start : start + size]
        found.append(
            Chunk(
                chunk_id=ids.chunk_id(source, start, piece),
                content_hash=ids.content_hash(piece),
                source_id=source,
                path=path,
                start=start,
                end=start + len(piece),
                ordinal=len(found),
                heading="",
                text=piece,
            )
        )
        if start + size >= len(text):
            break
        start += size - overlap
    return found


def corpus() -> list[Chunk]:
    """The passages of both documents."""
    return [*chunks_of(FIRST, "first.md"), *chunks_of(SECOND, "second.md")]


def clause(text: str) -> Clause:
    """A statement read as a clause; the test fails when it cannot be read."""
    found = read(Statement("s", 0, len(text), text, text), LEXICONS)
    assert found is not None, text
    return found

"""Rows of a printed table from lines with their places."""

from __future__ import annotations

from tasks.pdf_tables import Line, joined_rows

COLUMNS = (66.0, 183.0, 301.0, 419.0)


def line(top: float, *cells: tuple[int, str]) -> Line:
    """A line with texts in numbered columns."""
    placed = tuple((COLUMNS[number] + 0.4 * number, text) for number, text in cells)
    return Line(" | ".join(text for _, text in placed), 1, 10.0, top, placed)


def texts(*lines: Line) -> list[str]:
    return [row.text for row in joined_rows(lines)]


HEAD = line(700, (0, "Feature"), (1, "MS"), (2, "NMOSD"), (3, "MOGAD"))
TAIL = line(640, (0, "Bands"), (1, "90%"), (2, "Minority"), (3, "Minority"))


def test_a_cell_printed_over_two_lines_is_one_cell() -> None:
    """As a document that prints cell by cell has it, each in the middle of its row."""
    cell_by_cell = (
        line(661, (0, "Shape"), (1, "Ovoid, sharp")), line(668, (2, "Periependymal,")), line(653, (2, "cloud-like")),
        line(661, (3, "Fluffy")),
    )
    assert texts(HEAD, *cell_by_cell, TAIL) == [
        "Feature | MS | NMOSD | MOGAD",
        "Shape | Ovoid, sharp | Periependymal, cloud-like | Fluffy",
        "Bands | 90% | Minority | Minority",
    ]


def test_lines_of_a_row_that_is_printed_line_by_line() -> None:
    first = line(670, (0, "Shape of"), (1, "Ovoid,"), (2, "Periependymal,"), (3, "Fluffy"))
    second = line(658, (1, "sharp"), (2, "cloud-like"))
    assert texts(HEAD, first, second, TAIL)[1] == "Shape of | Ovoid, sharp | Periependymal, cloud-like | Fluffy"
    apart = line(650, (1, "sharp"), (2, "cloud-like"))
    assert texts(HEAD, first, apart, TAIL)[1:3] == [
        "Shape of | Ovoid, | Periependymal, | Fluffy", "| sharp | cloud-like |",
    ], "further away it is a row of its own whose first cell is empty"


def test_a_first_cell_over_two_lines() -> None:
    rest = line(661, (1, "Cervical"), (2, "Both"), (3, "Conus"))
    wrapped = (line(668, (0, "Preferred cord")), line(655, (0, "level")), rest)
    assert texts(HEAD, *wrapped, TAIL)[1] == "Preferred cord level | Cervical | Both | Conus"


def test_text_behind_a_table_is_no_row() -> None:
    heading, paragraph = line(600, (0, "Susceptibility")), line(580, (0, "In multiple sclerosis, lesions"))
    footer = Line("Page 1 of 3", 1, 8.0, 35.0, ((245.0, "Page 1 of 3"),))
    rest = (heading, paragraph, line(566, (0, "show the sign.")), footer)
    assert joined_rows((HEAD, TAIL, *rest))[2:] == list(rest)


def test_what_does_not_line_up_stays_as_it_is() -> None:
    centred = Line("Oval | 3", 1, 10.0, 680.0, ((80.0, "Oval"), (215.0, "3")))
    alone = Line("wrapped", 1, 10.0, 668.0, ((77.0, "wrapped"),))
    assert texts(HEAD, centred, alone, TAIL) == [HEAD.text, "Oval | 3", "wrapped", TAIL.text]
    unknown = [Line("a | b", 1), Line("c", 1)]
    assert joined_rows(unknown) == unknown
    assert joined_rows([]) == []

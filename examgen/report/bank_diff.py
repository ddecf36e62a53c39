"""The difference between two releases for people: Markdown for a run's page and a terminal, HTML for a browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from examgen import releases, report
from examgen.records import BankDiffRow, ReleaseItem

_STATUS = ("retired", "new", "kept")
_LONGEST = 160


def _reasons(rows: Sequence[BankDiffRow]) -> list[tuple[str, str, int]]:
    found = releases.counts(rows)
    return sorted(((*key, number) for key, number in found.items()), key=lambda r: (_STATUS.index(r[0]), -r[2], r[1]))


def _sets(sets: Sequence[ReleaseItem]) -> list[tuple[str, int]]:
    found = Counter(row.release_set for row in sets)
    return [(name, found[name]) for name in ("core", "stress", "carried", "refreshed")]


def markdown(old: str, new: str, rows: Sequence[BankDiffRow], sets: Sequence[ReleaseItem] = (), items: int = 40) -> str:
    """Counts by reason, the release sets, and the first `items` retired and new items."""
    lines = [f"## Bank {new} after {old}", "", f"{releases.headline(rows)}.", ""]
    lines += ["| status | why | items |", "|---|---|---|"]
    lines += [f"| {status} | {reason} | {number} |" for status, reason, number in _reasons(rows)]
    if sets:
        lines += ["", "| release set | items |", "|---|---|", *(f"| {name} | {n} |" for name, n in _sets(sets))]
        lines += [f"\n{note}." for note in sorted({row.note for row in sets if row.note})]
    changed = [row for row in rows if row.status != "kept"]
    if changed[:items]:
        lines += ["", "| item | status | why | of what | subtopic | stem |", "|---|---|---|---|---|---|"]
        for row in changed[:items]:
            cells = (row.item_id, row.status, row.reason, row.detail, f"{row.topic}: {row.subtopic}", _short(row.stem))
            lines.append(f"| {' | '.join(cell.replace('|', ' ') for cell in cells)} |")
    if len(changed) > items:
        lines.append(f"\nand {len(changed) - items} more: see the table `bank_diff`.")
    return "\n".join(lines) + "\n"


def _short(text: str) -> str:
    told = " ".join(text.split())
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 1]}…"


def html(old: str, new: str, rows: Sequence[BankDiffRow], sets: Sequence[ReleaseItem] = ()) -> str:
    """The same as a page of its own, with every retired and new item."""
    style = (Path(report.__file__).parent / "page.css").read_text(encoding="utf-8")
    title = f"Bank {new} after {old}"
    parts = [f"<p>{escape(releases.headline(rows))}.</p>", _table(("status", "why", "items"), _reasons(rows))]
    if sets:
        notes = "".join(f"<p>{escape(note)}.</p>" for note in sorted({row.note for row in sets if row.note}))
        parts += ["<h2>Release sets</h2>", _table(("set", "items"), _sets(sets)), notes]
    for status in ("retired", "new"):
        mine = [
            (row.item_id, row.reason, row.detail, f"{row.topic}: {row.subtopic}", row.stratum, row.other, row.stem)
            for row in rows
            if row.status == status
        ]
        other = "in its place" if status == "retired" else "in place of"
        heads = ("item", "why", "of what", "subtopic", "stratum", other, "stem")
        parts += [f"<h2>{status.capitalize()} items</h2>", _table(heads, mine) if mine else "<p>None.</p>"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>{escape(title)}</title><style>{style}</style></head>'
        f'<body><div class="page"><header class="title"><h1>{escape(title)}</h1></header>'
        f'<main id="main">{"".join(parts)}</main></div></body></html>\n'
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"

"""The HTML report of an audited bank, and of two banks side by side: one file, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from examgen import report
from examgen.audits.bank_summary import BankSummary
from examgen.audits.items import AuditItem
from examgen.cue_probe import CueProbe
from examgen.records import LETTERS
from examgen.statistics.estimate import Estimate
from expectations.bank_audit import BankAudit, CheckCount

_EXAMPLES = 3
_STYLE = """
.headline{font-size:1.45rem;line-height:1.35;font-weight:600;max-width:46rem;margin:0 0 1rem}
h1.headline{font-size:clamp(1.45rem,4vw,2.1rem);line-height:1.25;max-width:46rem;margin:.2rem 0 1rem}
.check small{display:block;color:var(--quiet);overflow-wrap:anywhere}
.check{min-width:11rem}
@media (max-width:40rem){.track{display:none}}
.bar{display:inline-block;height:.7rem;background:#00558a;vertical-align:middle}.bar.b{background:#b84a00}
.track{width:11rem;white-space:nowrap}.rejects{color:#b84a00;font-weight:600}
details{margin:.4rem 0 .9rem;max-width:52rem}
summary{cursor:pointer;font:600 .95rem/1.4 var(--sans)}
details article{border-left:2px solid var(--rule);padding-left:1rem;margin:.8rem 0}
details .stem{font-size:1rem;white-space:pre-line;overflow-wrap:anywhere}
.seen{font:.86rem/1.4 var(--sans);color:var(--quiet)}
"""


def _page(title: str, kicker: str, body: str, sections: Sequence[tuple[str, str]], headline: str = "") -> str:
    """A whole page; `headline` stands in place of the title at its top, which then goes above it in small."""
    top = f'<h1 class="headline">{escape(headline)}</h1>' if headline else f"<h1>{escape(title)}</h1>"
    style = (Path(report.__file__).parent / "page.css").read_text(encoding="utf-8") + _STYLE
    links = "".join(f'<li><a href="#{name}">{escape(text)}</a></li>' for name, text in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><style>{style}</style></head><body><div class="page"><header class="title">'
        f'<p class="kicker">{escape(title if headline else kicker)}</p>{top}</header><nav '
        f'aria-label="Sections"><ol>{links}</ol></nav>'
        f'<main id="main">{body}</main></div></body></html>\n'
    )


def percent(estimate: Estimate) -> str:
    """A share in per cent with its interval."""
    if estimate.value is None:
        return f"not estimable ({escape(estimate.note)})"
    told = f"{100 * estimate.value:.1f} %"
    known = estimate.low is not None and estimate.high is not None
    return f"{told} [{100 * (estimate.low or 0):.1f}, {100 * (estimate.high or 0):.1f}]" if known else told


def _probe(probe: CueProbe | None) -> str:
    if probe is None:
        return "not run"
    told = percent(probe.accuracy)
    if probe.null_mean is not None and probe.p is not None:
        told += f"; with keys drawn at random {100 * probe.null_mean:.1f} %"
        told += f" (P = {probe.p:.2g}, {probe.permutations} redrawings)"
    return told


def figures(summary: BankSummary) -> list[tuple[str, str]]:
    """What a bank looks like from outside, in words: name and value."""
    places = ", ".join(f"{letter} {count:,}" for letter, count in summary.positions.items())
    return [
        ("Items audited", f"{summary.items:,}"),
        ("Chance (mean of one over the number of options)", f"{100 * summary.chance:.1f} %"),
        ("Key is the longest option, in characters", percent(summary.key_longest)),
        ("Key is the longest option, in words", percent(summary.key_uniquely_longest_words)),
        ("Key is longest by 3 words and by a quarter over the mean distractor", percent(summary.key_stands_out)),
        ("Cue probe: key picked from the form of the options alone", _probe(summary.probe)),
        ("Where the keys stand", f"{places} (chi-square P = {summary.position_p:.3g})"),
    ]


def _figure_table(summary: BankSummary) -> str:
    rows = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in figures(summary))
    return f'<div class="table scroll"><table><tbody>{rows}</tbody></table></div>'


def _named(check: CheckCount) -> str:
    """The cell that tells a check: what should hold, and the id by which the tables know it."""
    return f'<th scope="row" class="check">{escape(check.reason)}<small>{escape(check.check_id)}</small></th>'


def _check_table(checks: Sequence[CheckCount]) -> str:
    top = max((check.share for check in checks), default=0) or 1
    rows = []
    for check in (check for check in checks if check.count):
        severity = f'<span class="rejects">{check.severity}</span>' if check.severity == "reject" else check.severity
        bar = f'<span class="bar" style="width:{10 * check.share / top:.2f}rem"></span>'
        rows.append(
            f"<tr>{_named(check)}<td>{severity}</td>"
            f'<td class="num">{check.count:,}</td><td class="num">{100 * check.share:.2f} %</td><td '
            f'class="track">{bar}</td></tr>'
        )
    head = (
        '<tr><th>What should hold</th><th>Severity</th><th class="num">Items</th>'
        '<th class="num">Share</th><th class="track"></th></tr>'
    )
    return f'<div class="table scroll"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def _item(item: AuditItem, seen: str) -> str:
    options = "".join(
        f'<li class="{"key" if place == item.key else ""}">'
        f"<span>{LETTERS[place]}</span><span>{escape(option)}</span></li>"
        for place, option in enumerate(item.options)
    )
    stem = item.stem if len(item.stem) <= 600 else f"... {item.stem[-600:]}"
    return (
        f'<article><p class="stem">{escape(stem)}</p><ol class="options">{options}</ol>'
        f'<p class="seen">{escape(item.row_id)}: {escape(seen)}</p></article>'
    )


def _examples(audit: BankAudit) -> str:
    """The first items that each check found, folded."""
    items = {item.row_id: item for item in audit.bank.items}
    parts = []
    for check in (check for check in audit.checks if check.count):
        found = [finding for finding in audit.judgement.findings if finding.check_id == check.check_id][:_EXAMPLES]
        shown = "".join(
            _item(
                items[f.candidate_id],
                f"observed {f.observed}; expected {f.limit}" + (f"; partner {f.partner}" if f.partner else ""),
            )
            for f in found
        )
        parts.append(f"<details><summary>{escape(check.check_id)} ({check.count:,})</summary>{shown}</details>")
    return "".join(parts)


def _funnel(audit: BankAudit) -> str:
    rows = "".join(
        f'<tr><th scope="row">{row.stage}</th><td>{row.outcome}</td><td>{escape(row.reason)}</td><td '
        f'class="num">{row.count:,}</td></tr>'
        for row in audit.funnel()
    )
    head = '<tr><th>Stage</th><th>Outcome</th><th>Reason</th><th class="num">Rows</th></tr>'
    return f'<div class="table scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'


def bank_page(audit: BankAudit) -> str:
    """The report of one bank; its first line says what matters most."""
    summary = audit.summary
    skipped = "".join(f"<li>{escape(text)}</li>" for text in summary.skipped)
    bank_wide = "".join(
        f"<li>{escape(f.reason)} Observed {escape(f.observed)}, expected {escape(f.limit)}.</li>"
        for f in audit.judgement.table_findings
    )
    body = (
        f'<section id="summary">{_figure_table(summary)}'
        + (f'<ul class="plain">{bank_wide}</ul>' if bank_wide else "")
        + '</section><section id="findings"><h2>Findings by check</h2><p>Flaws are reported one by one and not '
          'added up: how many an'
        " item has says little of its quality.</p>"
        + _check_table(audit.checks)
        + f'</section><section id="examples"><h2>Items behind the findings</h2>{_examples(audit)}</section>'
        f'<section id="funnel"><h2>What was read</h2><p>Columns: '
        f'{escape(audit.bank.layout)}.</p>{_funnel(audit)}</section>'
        f'<section id="skipped"><h2>Checks left out</h2><ul class="plain">{skipped}</ul></section>'
    )
    sections = (
        ("summary", "Summary"),
        ("findings", "Findings by check"),
        ("examples", "Items"),
        ("funnel", "What was read"),
        ("skipped", "Checks left out"),
    )
    return _page(f"Audit of {summary.name}", "Bank audit", body, sections, summary.headline)


def comparison_page(left: BankAudit, right: BankAudit) -> str:
    """Two banks side by side: length cues, cue probe, places of the keys, and the share of items behind each check."""
    pairs = zip(figures(left.summary), figures(right.summary), strict=True)
    table = "".join(f'<tr><th scope="row">{name}</th><td>{a}</td><td>{b}</td></tr>' for (name, a), (_, b) in pairs)
    there = {check.check_id: check for check in right.checks}
    top = max([check.share for check in (*left.checks, *right.checks)], default=0) or 1
    rows = []
    for check in left.checks:
        other = there[check.check_id]
        if check.count or other.count:
            bars = (
                f'<span class="bar" style="width:{10 * check.share / top:.2f}rem"></span><br>'
                f'<span class="bar b" style="width:{10 * other.share / top:.2f}rem"></span>'
            )
            rows.append(
                f'<tr>{_named(check)}<td class="num">{100 * check.share:.2f} %</td>'
                f'<td class="num">{100 * other.share:.2f} %</td><td class="track">{bars}</td></tr>'
            )
    names = [escape(audit.summary.name) for audit in (left, right)]
    head = (
        f'<tr><th>What should hold</th><th class="num">{names[0]}</th>'
        f'<th class="num">{names[1]}</th><th class="track"></th></tr>'
    )
    body = (
        f'<section id="summary"><p class="headline">{names[0]}: {escape(left.summary.headline)}</p>'
        f'<p class="headline">{names[1]}: {escape(right.summary.headline)}</p>'
        f'<div class="table scroll"><table><thead><tr><th></th><th>{names[0]}</th><th>{names[1]}</th></tr></thead>'
        f"<tbody>{table}</tbody></table></div>"
        f'</section><section id="checks"><h2>Share of items behind each check</h2><div class="table '
        f'scroll"><table><thead>{head}</thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></section>"
    )
    return _page(
        f"{left.summary.name} and {right.summary.name}",
        "Two banks",
        body,
        (("summary", "Summary"), ("checks", "Checks")),
    )

"""Data Docs: Great Expectations' own pages of each validation, made self-contained so that they open offline and
styled.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examgen.ids import canonical_json, digest
from expectations import engine
from expectations.acceptance import Judgement

_STYLE = Path(__file__).resolve().parent / "vendor" / "data_docs.css"
_SCRIPT = """
function showRows(all) {
  document.querySelectorAll(".ge-section").forEach(function (section) {
    var rows = section.querySelectorAll("tr");
    var failed = section.querySelector(".text-danger") || section.id === "section-1" || !rows.length;
    section.style.display = all || failed ? "" : "none";
    document.querySelectorAll('a[href="#' + section.id + '"]').forEach(function (link) {
      link.parentElement.style.display = section.style.display; });
  });
}
function showAllValidations() { showRows(true); }
function hideSucceededValidations() { showRows(false); }
"""

_REMOTE = re.compile(
    r"<link\b[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>|<img\b[^>]*>|<form\b.*?</form>|<style\b[^>]*>.*?</style>|"
    r"<script\b[^>]*>(?:(?!</script>).)*</script>",
    re.DOTALL | re.IGNORECASE,
)


def self_contained(page: str, depth: int) -> str:
    """A page without anything remote: own style and script inside, links to the other pages relative.

    `depth` is how many folders the page lies below the index.
    """
    up = "../" * depth
    bare = _REMOTE.sub("", page)
    bare = re.sub(r"(?:\.\./)+(index\.html|expectations/)", rf"{up}\1", bare)
    bare = re.sub(r"<a\b[^>]*href=[\"']https?://[^>]*>(.*?)</a>", r"\1", bare, flags=re.DOTALL)
    bare = bare.replace("Data asset: None", "").replace(" / __none__", "")
    head = f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n<script>{_SCRIPT}</script>\n</head>"
    branded = re.sub(r"(<a href=\"[^\"]*index\.html\">)\s*(</a>)", r"\1Data Docs\2", bare)
    return re.sub(r"\n\s*\n+", "\n", branded.replace("</head>", head, 1))


def _results(results: Sequence[Judgement | Mapping[str, Any]]) -> list[dict[str, Any]]:
    plain = [result.result if isinstance(result, Judgement) else dict(result) for result in results]
    return [result for result in plain if result]


def _pages(result: dict[str, Any]) -> tuple[str, str]:
    """The validation page and the suite page of one result, as GX renders them."""
    import great_expectations as gx
    from great_expectations.core.expectation_validation_result import (
        ExpectationSuiteValidationResult,
        expectationSuiteValidationResultSchema,
    )
    from great_expectations.render.renderer import ExpectationSuitePageRenderer, ValidationResultsPageRenderer
    from great_expectations.render.view import DefaultJinjaPageView

    loaded = expectationSuiteValidationResultSchema.load(result)
    if not isinstance(loaded, ExpectationSuiteValidationResult):
        loaded = ExpectationSuiteValidationResult(**loaded)
    view = DefaultJinjaPageView()
    validation = view.render(ValidationResultsPageRenderer(run_info_at_end=True).render(loaded))
    asked = []
    for answer in result["results"]:
        config = answer["expectation_config"]
        kwargs = {name: value for name, value in config["kwargs"].items() if name != "batch_id"}
        asked.append({"type": config["type"], "kwargs": kwargs, "meta": config["meta"], "severity": config["severity"]})
    suite = gx.ExpectationSuite(name=str(result["suite_name"]), expectations=asked)
    return str(validation), str(view.render(ExpectationSuitePageRenderer().render(suite)))


def _row(result: Mapping[str, Any], link: str) -> str:
    broken = [a for a in result["results"] if not a["success"]]
    critical = sum(a["expectation_config"].get("severity") == "critical" for a in broken)
    state = ("bad", f"{critical} critical") if critical else ("flag", "flags only") if broken else ("good", "all hold")
    rows = max((a["result"].get("element_count") or 0 for a in result["results"]), default=0)
    name = html.escape(str(result["suite_name"]))
    return (
        f'<tr><td><a href="{link}">{name}</a></td><td class="number">{rows:,}</td><td '
        f'class="number">{len(result["results"])}</td>'
        f'<td class="number">{len(broken)}</td><td><span class="badge badge-{state[0]}">{state[1]}</span></td></tr>'
    )


def build_data_docs(results: Sequence[Judgement | Mapping[str, Any]], folder: str | Path) -> Path:
    """Write the Data Docs of validations (judgements, or results of `contracts.check`) under `folder`; returns
    index.html.

    The pages are Great Expectations' own, without a request to anywhere. A result of the same content keeps its file
    name.
    """
    place = Path(folder)
    rows = []
    plain = _results(results)
    if plain:
        engine.prepare()
    for kind in ("validations", "expectations"):
        (place / kind).mkdir(parents=True, exist_ok=True)
    for number, result in enumerate(plain):
        name = re.sub(r"[^\w-]+", "_", str(result["suite_name"]))
        asked = [answer["expectation_config"]["meta"] for answer in result["results"]]
        link = f"validations/{number:02d}_{name}_{digest('docs', canonical_json(asked), length=6)}.html"
        validation, suite = _pages(result)
        (place / link).write_text(self_contained(validation, 1), encoding="utf-8")
        (place / "expectations" / f"{name}.html").write_text(self_contained(suite, 1), encoding="utf-8")
        rows.append(_row(result, link))
    index = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Data Docs</title></head><body><div '
        'class="home">'
        '<h1>Data Docs</h1><p class="lead">What the suites promised, and what was found. A critical check rejects '
        'an item or stops'
        ' the run; any other leaves a flag.</p><table><thead><tr><th>Suite</th><th class="number">Rows</th>'
        '<th class="number">Checks</th><th class="number">Not met</th><th>State</th></tr></thead><tbody>'
        + "".join(rows)
        + "</tbody></table></div></body></html>"
    )
    path = place / "index.html"
    path.write_text(self_contained(index, 0), encoding="utf-8")
    return path

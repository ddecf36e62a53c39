"""Pictures of the Prefect UI for the docs, from the records of a finished run: python -m docs.make_screenshots --help.

Before it: `examgen serve` and `examgen run STUDY`, so that there are deployments and a run to look at.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks import server, serving
from tasks.workplace import prefect_home
from tests.browser import Browser

IMAGES = Path(__file__).resolve().parent / "images"
LARGEST = 300_000
"""Bytes of a picture at most."""


def asked(url: str, path: str, **body: Any) -> list[dict[str, Any]]:
    """The reply of the server's API."""
    request = urllib.request.Request(
        f"{url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        found: list[dict[str, Any]] = json.load(reply)
    return found


@contextlib.contextmanager
def address(results: Path) -> Iterator[str]:
    """API address of the server on these records: the one that is served, or one for the moment."""
    home = prefect_home(results)
    served = serving.address(home)
    if served:
        yield served
        return
    server.quiet()
    guard, url = server.start(home)
    try:
        yield url
    finally:
        server.stop(guard)


def pages(url: str, name: str) -> dict[str, tuple[str, str, int]]:
    """Picture → (page, text to wait for, height)."""
    runs = asked(url, "flow_runs/filter", sort="START_TIME_DESC")
    deployment = next(d for d in asked(url, "deployments/filter") if d["entrypoint"].startswith("flows.run_study"))
    build = next(r for r in runs if r["name"] == f"{name} · build" and r["state_type"] == "COMPLETED")
    left = [a for a in asked(url, "artifacts/filter", sort="CREATED_DESC") if a["key"]]
    bank = next(a for a in left if a["flow_run_id"] == build["id"] and a["key"].endswith("-bank"))
    accuracy = next(a for a in left if a["key"].endswith("-accuracy"))
    found = {
        "runs": ("/runs", f"{name} · build", 1080),
        "flow-run": (f"/runs/flow-run/{build['id']}", "Finished in state", 1000),
        "bank": (f"/v2/artifacts/artifact/{bank['id']}", "items locked", 640),
        "accuracy": (f"/artifacts/artifact/{accuracy['id']}", "primary", 560),
        "form": (f"/deployments/deployment/{deployment['id']}/run", "Study file", 900),
    }
    failures = [a for a in left if a["key"].endswith("-failure")]
    if failures:
        found["failure"] = (f"/artifacts/artifact/{failures[0]['id']}", "run again", 420)
    return found


def main() -> None:
    """Write the pictures and say how large they are."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    words.add_argument("--results", type=Path, default=Path("data/results"))
    words.add_argument("--study", default="ms_mri", help="name of the study's file, without .yaml")
    words.add_argument("--only", default="", help="name of one picture")
    words.add_argument("--out", type=Path, default=IMAGES)
    told = words.parse_args()
    with address(told.results) as url, Browser() as page:
        for name, (path, text, height) in pages(url, told.study).items():
            if told.only not in ("", name):
                continue
            page.size(1280, height)
            page.open(url.removesuffix("/api") + path, until=text, seconds=60)
            page.wait("\0", seconds=6)  # the timeline is drawn after the text, and so is a mermaid picture
            for _ in range(60 if path.startswith("/v2/") else 0):
                if page.run("!!document.querySelector('svg[id^=mermaid], .mermaid svg')"):
                    break
                page.wait("\0", seconds=1)
            size = page.picture(told.out / f"prefect-{name}.png")
            print(f"prefect-{name}.png: {size / 1000:.0f} KB{'  TOO LARGE' if size > LARGEST else ''}")
        print(f"called outside: {sorted(page.outside) or 'nobody'}")


if __name__ == "__main__":
    main()

"""A build and the bank before it: what it follows, what it carries over, what is told of the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examgen.endpoints import answering
from examgen.ids import canonical_json, digest
from examgen.study import Study
from flows.item_rounds import Bench
from tasks import artifacts, releases
from tasks.progress import Step
from tasks.publishing import publish
from tasks.releases import carry_items, describe_release
from tasks.stages import Done, make_shard
from tasks.workplace import Workplace


@dataclass(frozen=True)
class Following:
    """The documents and the writer of a build (hashes), and the folder name of the bank it follows, if any."""

    documents: str
    writer: str
    parent: str

    @classmethod
    def of(cls, study: Study, place: Workplace, files: Sequence[Sequence[str]]) -> Following:
        """What a build of these files, rows of (path, hash), follows. Banks of one writer carry on each other only."""
        writing = study.writing
        endpoint = answering(study.endpoint(writing.endpoint)) if writing.method == "llm" else {}
        writer = digest("line", writing.method, study.language, canonical_json(endpoint))
        documents = releases.documents_of(files)
        return cls(documents, writer, releases.followed(place, documents, writer))

    def carry_over(self, bench: Bench, passages: Done, topics: Done) -> Done | None:
        """The items of the bank before, as far as they still stand in the documents; None where there is none."""
        if not self.parent:
            return None
        depends = {"parent": self.parent, "read": passages.key, "topics": topics.key}
        inputs = {
            "parent_folder": str(bench.place.banks / self.parent),
            "read": passages.folder,
            "topics": topics.table("topics"),
        }
        with Step("carry") as step:
            done = carry_items(bench.shard("carry", "carry over", depends, inputs))
            found = done.counts
            step.outcome = f"{found['carried']} of {found['locked']} items of bank {self.parent} still stand"
        return done

    def enter(self, place: Workplace, bank_id: str) -> dict[str, Any]:
        """Enter the bank that was locked into the study's releases."""
        return releases.enter(place, self.documents, self.writer, self.parent, bank_id)


def tell_difference(study: Study, place: Workplace, entry: dict[str, Any]) -> None:
    """What became of each item since the bank before, beside the banks and as an artifact; nothing of a first bank."""
    if not entry["compared"]:
        return
    earlier = releases.release_of(place, entry["compared"])
    depends = {
        "earlier": Path(earlier).name,
        "old": entry["compared"],
        "new": entry["bank"],
        "line": releases.line_of(place.banks, entry["compared"]),
        "results": entry["results"],
    }
    inputs = {
        "banks": str(place.banks),
        "results_folder": str(place.root / entry["results"]) if entry["results"] else "",
        "earlier_release": earlier,
    }
    with Step("release") as step:
        name = f"{study.study} · release"
        done = describe_release(make_shard(study.study, "release", name, place.work, depends, inputs))
        step.outcome = f"{done.facts['headline']} since bank {entry['compared']}"
    folder = publish(done, place.root / "releases" / entry["bank"] / done.key)
    releases.note_release(place, entry, folder)
    place.point("release", {"bank": entry["bank"], "before": entry["compared"], "folder": str(folder)})
    artifacts.release_artifacts(study.study, folder)

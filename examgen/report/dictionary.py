"""The data dictionary, generated from the schemas: every table, every column, its type and what it means."""

from __future__ import annotations

from typing import Any

from examgen.tables import RESULT_COLUMNS, SCHEMAS

ABOUT: dict[str, str] = {
    "accuracy": "Accuracy of each endpoint by axis; overall also its rank, unresolved three ways, commonest letter.",
    "topic_accuracy": "Accuracy of each endpoint within a topic.",
    "item_difficulty": "Misses of each item over the primary endpoints.",
    "contrasts": "Differences between two endpoints, paired by item.",
    "cue_probe": "How well a selector finds the key from the form of the options.",
    "key_risk": "Review list: items on which endpoints agree on one wrong option.",
    "option_order": "Stability over option orders and tests of position effects.",
    "leave_one_out": "Difficulty of items without one endpoint.",
    "reliability": "The panel's queues, item analysis, and how far endpoints repeat themselves.",
    "construction": "Sources per item, expected ordering of strata, acceptance per stage.",
    "profiles": "Accuracy in the cells of crossed axes.",
    "sizing": "What planned contrasts need and what this bank can resolve.",
    "short_form": "Fewest items that keep the ranking, and their weights.",
    "agreement": "Agreement of two screeners, and of reviewers.",
    "abstention": "How endpoints deal with items that have no agreed key, beside those that have one.",
    "power_curves": "Exact power of a planned contrast by number of items.",
    "pair_comparisons": "Every pair of endpoints after an evaluation: counts, tests, what could be resolved.",
    "pair_interactions": "Whether a difference between two endpoints differs between groups of items.",
    "increments": "Steps between nested configurations of one system.",
    "keys": "The letter an independent source gave for an item.",
    "tiers": "The tier of each item, fixed before scoring.",
    "rejected_drafts": "A writer's reply, or part of one, that never became a candidate, and why.",
    "embeddings": "Vectors of passages by the hash of their text.",
}
"""What a row is, for tables whose record does not say it."""

COLUMNS = {
    "statistic": "name of the number",
    "value": "the number; empty when it cannot be estimated, and `note` says why",
    "low": "lower limit of the interval, where one is claimed",
    "high": "upper limit of the interval",
    "method": "how value and interval were obtained",
    "n": "units the value rests on (items, pairs, endpoints: the method says which)",
    "seed": "seed of the random draws, empty where nothing is random",
    "note": "reason, caution or verdict",
    "endpoint_id": "the endpoint, or `all`",
    "endpoint_a": "first endpoint",
    "endpoint_b": "second endpoint",
    "axis": "classification of items: overall, stratum, difficulty bin, …",
    "level": "level of that axis",
    "scope": "what the number speaks of",
    "item_id": "hash of stem, options in sorted order and key text",
    "misses": "primary endpoints that answered and were wrong",
    "seen": "primary endpoints with a resolved answer",
    "miss_rate": "misses over seen",
    "easiness": "theta of the question in a 2PL with endpoints as items",
    "easiness_se": "its standard error",
    "bin": "bin of misses",
    "queue": "review queue the item is in",
    "topic": "topic of the taxonomy",
    "stratum": "construction label, not a difficulty",
    "option": "0-based place of the option chosen instead, in the bank's own order",
    "votes": "endpoints, or families, that chose it",
    "assumption": "where the planned discordance comes from, or which other table it may turn out to be",
    "p_b": "share of items only the better endpoint gets right",
    "p_c": "share of items only the other gets right",
    "alpha": "level the contrast is planned at, after the correction for several",
    "items": "items authored",
    "effective_items": "items that count of them: after attrition, over the design effect",
    "power": "exact power at that size",
    "floor_reached": "probability of as many discordant items as significance needs at the least",
    "perfect_score": "probability that the better endpoint gets every item right",
    "family": "pairs that are tested together: Holm's correction runs within a family and level",
    "first": "first endpoint; gains are first minus second",
    "second": "second endpoint",
    "both_right": "items both got right",
    "first_only": "items only the first got right (b)",
    "second_only": "items only the second got right (c)",
    "both_wrong": "items both got wrong",
    "gain": "difference of accuracies, as a share of items",
    "gain_low": "lower Tango limit of the gain",
    "gain_high": "upper Tango limit of the gain",
    "p_exact": "exact two-sided McNemar P",
    "p_midp": "mid-p McNemar P",
    "p_holm": "P after Holm's correction over the family (at the level)",
    "clusters": "topics, the clusters of the clustered test",
    "cluster_low": "lower limit of the gain, clustered t with G - 1 degrees of freedom",
    "cluster_high": "upper limit of the same",
    "cluster_p": "P of the clustered t test",
    "cluster_p_holm": "the same after Holm",
    "sign_flip_p": "exact P of the sign-flip test over topics",
    "design_effect": "variance of the gain with topics over its variance without",
    "minimum_gain": "smallest gain these items detect with the planned power",
    "planned": "the study's contrast the pair was sized for",
    "power_planned": "power at the planned effect, at `planning_alpha`",
    "observed_effect_power": "power at the observed effect: a relabelled P value, adds nothing to the interval",
    "planning_alpha": "level divided by the pairs of the family",
    "items_needed": "items needed for the effect that `items_for` names",
    "items_for": "planned effect, or the observed one where none was planned",
    "verdict": "resolved, unresolved or underpowered; never equal",
    "levels": "the levels that are compared",
    "test_statistic": "z for two levels, chi-square for more",
    "df": "degrees of freedom",
    "p": "P that the gain is the same at all levels",
    "p_permutation": "the same by permuting items over the levels",
    "difference": "difference of the two gains",
    "system": "the configurations of the system, first to last",
    "before": "arm before the step",
    "after": "arm after the step",
    "fixed": "items wrong before and right after",
    "broken": "items right before and wrong after",
    "fixed_items": "their ids",
    "broken_items": "their ids",
    "changed": "items fixed or broken",
    "calls_before": "attempts of the whole configuration before the step, the first call included; over all items once",
    "calls_after": "the same after the step",
    "tokens_before": "tokens in and out of the same, empty where unknown",
    "tokens_after": "the same after the step",
    "cost_before": "money of the same, in the currency of the study's prices; empty where unknown",
    "cost_after": "the same after the step",
    "letter": "option in the bank's own order, empty where the source gave none",
    "human": "whether people gave the key",
    "never": "options that must never be chosen, in the bank's own order, empty for none",
    "endorses": "whether the source endorses the item, empty where not asked",
    "tier": "A, B, or probe where keys disagree",
    "key_source": "human, human and model, model, none",
    "agreement": "share of the commonest key",
    "reasons": "why it is not tier A",
    "path": "file, relative to the corpus folder, forward slashes",
    "media_type": "format, as found from the content",
    "bytes": "size of the file",
    "modified": "time of the last change, seconds since 1970",
    "title": "title, from the file or the list of sources",
    "year": "year of publication, where known",
    "kind": "kind of document, as the list of sources says",
    "licence": "licence, as the list of sources says",
    "pages": "pages, where the format has them",
    "characters": "characters of the normalised text",
    "chunks": "passages cut from it",
    "sources.status": "what became of the file",
    "sources.reason": "why it was not used, or what to know of it",
    "reader": "what read it, with its version",
    "text_hash": "hash of the normalised text",
    "near_duplicate_of": "source whose text is nearly the same",
    "source_id": "hash of the file's bytes",
    "text": "the text itself",
    "sections": "headings with their offsets",
    "chunk_id": "id of the passage",
    "content_hash": "hash of the passage's text: equal texts in two places share it",
    "page": "page on which it begins, where there are pages",
    "start": "offset of its first character in the source's text",
    "end": "offset after its last character",
    "ordinal": "place among the passages of its source, from 0",
    "query_id": "id of the query",
    "retrievals.purpose": "what the query was for",
    "query": "text of the query",
    "rank": "place among the passages found, from 1",
    "distance": "1 minus the cosine of query and passage",
    "topic_id": "id of the subtopic",
    "subtopic": "subtopic of the taxonomy",
    "description": "what the subtopic is about",
    "concept": "concept of the checklist",
    "covered": "whether a subtopic reaches it",
    "coverage.score": "1 when covered; otherwise the largest share of its terms in one near passage of a subtopic",
    "coverage.reason": "why it is not covered",
    "candidate_id": "id of the item as written; a repaired one has another",
    "stem": "the question",
    "options": "options in the order shown",
    "key": "0-based place of the right option",
    "key_letter": "letter of the right option",
    "key_text": "text of the right option",
    "explanation": "why the key is right",
    "evidence": "verbatim quotes with passage and offsets",
    "question_type": "kind of question, as its writer names it",
    "semantic_parent": "topic or subtopic by which the pilot draws its sample",
    "construction_batch": "items written together; intervals can resample such batches",
    "axes": "classifications beside topic and stratum",
    "writer": "generator label: endpoint and model, or the rule-based writer and its version",
    "prompt_id": "id of the prompt, which changes with its text",
    "attempt": "which try, from 1",
    "repaired": "whether it is the repaired form of a rejected one",
    "suite": "suite of expectations",
    "expectation": "expectation in Great Expectations' words",
    "check_id": "id of the check in the suite",
    "severity": "reject or flag",
    "observed": "value seen, and where",
    "limit": "what was expected",
    "findings.reason": "what should hold, in the suite's words",
    "partner": "the other item of a pair",
    "findings.score": "the value as a number",
    "measure": "name of the measure",
    "measures.value": "the measure; empty where it does not apply",
    "screener": "who screened: endpoint and model, or the rules and their version",
    "verdicts.family": "whether the screener's model is of the writer's family",
    "answerable": "whether the passages suffice to answer; empty where not judged",
    "key_consistent": "whether the screener's answer is the key",
    "explanation_consistent": "whether the explanation supports the key",
    "unique": "whether no other option is right too",
    "accepted": "whether the screen lets the item pass",
    "issues": "what was found wrong",
    "context": "whether the screener saw the writer's passages or its own search",
    "context_chunk_ids": "passages it saw",
    "stage": "stage of the pipeline",
    "funnel.outcome": "what became of so many items",
    "funnel.reason": "why, for those that did not go on",
    "count": "items",
    "flags": "checks that the item did not pass and was kept with",
    "detail": "what the reason speaks of",
    "retired.outcome": "superseded: a later release has it no more",
    "retired.reason": "why it is in this release no more",
    "order": "rotation of the options: 0 is the bank's own",
    "repeat": "which repetition, from 0",
    "mode": "how it was asked: letter, logprobs, likelihood, and without the stem",
    "request_hash": "hash of model, address, settings and prompt",
    "raw": "the reply as it came",
    "reply": "the reply as it came",
    "rule": "rule of the parser that read it",
    "parser_version": "version of the parser",
    "responses.status": "what became of the question",
    "correct": "whether the chosen option is the key; empty where none was read",
    "attempts": "attempts it took",
    "prompt_tokens": "tokens sent, as the endpoint counts; empty where it does not say",
    "completion_tokens": "tokens received, likewise",
    "cost": "money, from the endpoint's prices or its own word; empty where unknown",
    "latency_seconds": "seconds of the last attempt",
    "finish_reason": "why the model stopped, in the endpoint's words",
    "error": "what went wrong",
    "provider": "who runs it",
    "model": "model asked for",
    "runtime": "program and checkpoint that served it, of local servers",
    "base_url": "address, without user and query",
    "decoding": "settings of decoding, as JSON",
    "role": "primary, construction_overlap (its model wrote items), baseline or arm",
    "group": "group for ranges of accuracy: API, local, …",
    "endpoints.family": "family of models",
    "capabilities": "what the endpoint was found to take",
    "complete": "whether every item has a final row",
    "calls.purpose": "what the call was for",
    "outcome": "what came back",
    "rejected_drafts.reason": "why it became no candidate",
    "number": "which item of the subtopic and stratum, from 1",
    "repairs": "what was mended before it was judged",
    "reviewer": "who decided",
    "decision": "accept, wrong key, ambiguous or flawed",
    "correct_letter": "with wrong key: the letter that is right, if one is",
    "comment": "the reviewer's words",
    "bank_diff.status": "kept, retired or new",
    "cue_probe.bank": "the bank looked at",
    "features": "features the selector sees",
    "cell": "levels of the axes, in their order",
    "profiles.axes": "the axes that are crossed",
    "quotes": "the evidence",
    "chosen_text": "text of the option chosen instead",
    "contrast": "the study's planned contrast",
    "alternative": "assumed shares of discordant items",
    "test": "the test whose power is told",
    "before_right": "items right before the step",
    "after_right": "items right after the step",
    "source": "who gave the key",
    "n_keys": "keys known",
    "tiers.key": "commonest key, in the bank's own order",
    "embedder": "id of the embedder",
    "vector": "the vector, of unit length",
}
"""What a column means where the record does not say it, by name, or by table and name."""


def dictionary() -> list[dict[str, Any]]:
    """One entry a table: name, what a row is, and its columns (name, type, may be empty, meaning)."""
    return [
        {
            "table": name,
            "about": _about(name),
            "columns": [
                {
                    "name": field.name, "type": str(field.type), "empty": field.nullable,
                    "meaning": _meaning(name, field.name, field.metadata),
                }
                for field in schema
            ],
        }
        for name, schema in SCHEMAS.items()
    ]


def _about(name: str) -> str:
    said = (SCHEMAS[name].metadata or {}).get(b"doc", b"").decode().strip()
    return " ".join(said.split()) or ABOUT.get(name, "")


def _meaning(table: str, name: str, metadata: dict[bytes, bytes] | None) -> str:
    said = (metadata or {}).get(b"doc", b"").decode()
    return said or COLUMNS.get(f"{table}.{name}") or COLUMNS.get(name, "")


def markdown() -> str:
    """The dictionary as Markdown, for the analyst's page."""
    shared = ", ".join(f"`{name}`" for name, _, _ in RESULT_COLUMNS)
    lines = [f"Results tables share the columns {shared}.", ""]
    for entry in dictionary():
        lines += [f"### {entry['table']}", "", entry["about"], ""]
        lines += ["| column | type | empty | meaning |", "|---|---|---|---|"]
        for column in entry["columns"]:
            kind = column["type"].replace("|", "\\|")
            kind = "list of records" if kind.startswith("list<element: struct") else kind.replace("element: ", "")
            empty = "yes" if column["empty"] else ""
            lines.append(f"| {column['name']} | {kind} | {empty} | {column['meaning'].replace('|', ' ')} |")
        lines.append("")
    return "\n".join(lines)


BEGIN, END = "<!-- dictionary -->", "<!-- end of dictionary -->"


def refreshed(page: str) -> str:
    """A Markdown page with what stands between its two dictionary marks written anew from the schemas."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}"

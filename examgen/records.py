"""The nouns of the pipeline as frozen records. Each is a row of the table of the same name in `examgen.tables`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Stratum = Literal["easy", "medium", "hard", "synthesis"]
STRATA: tuple[Stratum, ...] = ("easy", "medium", "hard", "synthesis")
SourceStatus = Literal["indexed", "excluded", "unreadable", "empty", "duplicate"]
ResponseStatus = Literal["parsed", "unparseable", "refused", "abstained", "truncated", "error", "unresolved"]
ReviewVerdict = Literal["accept", "wrong key", "ambiguous", "flawed"]
LETTERS = "ABCDEFGHIJ"
NOT_RECORDED = "not recorded"
NO_STEM_MODES = ("no_stem", "options_only")
"""Answer modes that show the options alone: a cue test, never part of an accuracy."""


class Record(BaseModel):
    """A frozen row; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Section(Record):
    """A heading of a source and the span of text under it, to the next heading of the same or a higher level."""

    level: int
    title: str
    start: int
    end: int


class Source(Record):
    """A file of the corpus, whatever became of it."""

    source_id: str
    path: str = Field(description="relative to the corpus folder, forward slashes")
    media_type: str
    bytes: int
    modified: float = 0.0
    title: str = ""
    year: int | None = None
    kind: str = NOT_RECORDED
    licence: str = NOT_RECORDED
    pages: int | None = None
    characters: int = 0
    chunks: int = 0
    status: SourceStatus
    reason: str = ""
    reader: str = ""
    text_hash: str = ""
    near_duplicate_of: str = ""


class SourceText(Record):
    """The normalised text of a source, by which every offset can be checked."""

    source_id: str
    path: str
    text: str
    sections: tuple[Section, ...] = ()
    page_starts: tuple[int, ...] = Field(
        default=(), description="offset at which each page begins; empty without pages"
    )


class Chunk(Record):
    """A passage: `source_text[start:end] == text`."""

    chunk_id: str
    content_hash: str
    source_id: str
    path: str
    page: int | None = None
    start: int
    end: int
    ordinal: int
    heading: str = Field(default="", description="headings above the passage's start, outermost first, joined by ' > '")
    text: str


class Retrieval(Record):
    """One passage returned for one query."""

    query_id: str
    purpose: str
    query: str
    rank: int
    chunk_id: str
    source_id: str
    distance: float


class Topic(Record):
    """A subtopic of the taxonomy."""

    topic_id: str
    topic: str
    subtopic: str
    description: str = ""
    seed: str = Field("", description="seed query that found it first; `by hand` for a taxonomy from a file")
    chunk_ids: tuple[str, ...] = Field(default=(), description="passages the subtopic was found in")
    passages: tuple[str, ...] = Field(
        default=(), description="passages its items are written from: its own, then those nearest to it"
    )


class Coverage(Record):
    """A checklist concept and whether the taxonomy reaches it."""

    concept: str
    covered: bool
    topic_id: str = ""
    topic: str = ""
    subtopic: str = ""
    score: float | None = None
    reason: str = ""
    items: int | None = Field(
        default=None, description="items of the bank in that subtopic; empty before the bank is locked"
    )


class Evidence(Record):
    """A verbatim quote: `chunk.text[start:end] == quote`."""

    source_id: str
    chunk_id: str
    quote: str
    start: int
    end: int


class Axis(Record):
    """A classification of an item beside topic and stratum."""

    name: str
    value: str


class Candidate(Record):
    """An item as written, rejected or not. `options` stand as shown; `key` is the 0-based place of the right one."""

    candidate_id: str
    item_id: str
    topic_id: str
    topic: str
    subtopic: str
    stratum: Stratum
    stem: str
    options: tuple[str, ...]
    key: int
    explanation: str
    evidence: tuple[Evidence, ...]
    question_type: str = ""
    semantic_parent: str = ""
    construction_batch: str = ""
    axes: tuple[Axis, ...] = ()
    writer: str = Field(description="generator label: endpoint and model, or the rule-based writer and its version")
    prompt_id: str = ""
    attempt: int = 1
    repaired: bool = False
    raw: str = Field(default="", description="the reply as it came, or the construction of a rule-written item as JSON")

    @property
    def key_text(self) -> str:
        """Text of the right option."""
        return self.options[self.key]

    @property
    def key_letter(self) -> str:
        """Letter of the right option in the order shown."""
        return LETTERS[self.key]


class Finding(Record):
    """A rule that an item broke, with the value seen and the limit."""

    candidate_id: str
    item_id: str
    suite: str
    expectation: str
    check_id: str
    severity: Literal["reject", "flag"]
    observed: str
    limit: str
    reason: str = ""
    partner: str = ""
    score: float | None = None


class Measure(Record):
    """One audit measure of one item, accepted or not."""

    candidate_id: str
    item_id: str
    measure: str
    value: float | None


class Verdict(Record):
    """What the screen said of an item, and the context it saw."""

    candidate_id: str
    item_id: str
    screener: str
    family: Literal["same-family", "other-family", "rules"]
    answerable: bool | None
    key_consistent: bool | None
    explanation_consistent: bool | None
    unique: bool | None
    accepted: bool
    issues: tuple[str, ...] = ()
    context: Literal["stored", "fresh"] = "stored"
    context_chunk_ids: tuple[str, ...] = ()
    prompt_id: str = ""
    raw: str = ""


class FunnelRow(Record):
    """What went into a stage and what became of it: `entered` is the sum of the other counts there."""

    stage: str
    stratum: str
    outcome: Literal["entered", "accepted", "rejected", "superseded", "unresolved"]
    reason: str = ""
    count: int


class BankItem(Record):
    """A locked item."""

    item_id: str
    candidate_id: str
    topic_id: str
    topic: str
    subtopic: str
    stratum: Stratum
    stem: str
    options: tuple[str, ...]
    key: int
    key_letter: str
    explanation: str
    evidence: tuple[Evidence, ...]
    question_type: str = ""
    semantic_parent: str = ""
    construction_batch: str = ""
    axes: tuple[Axis, ...] = ()
    writer: str
    prompt_id: str = ""
    flags: tuple[str, ...] = ()
    tier: str = ""


class Response(Record):
    """The one final row of item × endpoint × order × repeat."""

    item_id: str
    endpoint_id: str
    order: int = 0
    repeat: int = 0
    mode: str = "letter"
    request_hash: str = ""
    raw: str = ""
    shown_letter: str | None = Field(default=None, description="letter parsed, in the order shown")
    choice: int | None = Field(default=None, description="0-based place of the chosen option in the bank's own order")
    rule: str = ""
    parser_version: str = ""
    status: ResponseStatus
    correct: bool | None = None
    attempts: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_seconds: float | None = None
    finish_reason: str = ""
    error: str = ""
    probabilities: tuple[float, ...] = Field(
        default=(), description="likelihood of each option in the bank's own order, if asked for"
    )


class EndpointRow(Record):
    """An endpoint as it was used; unknown is "not recorded"."""

    endpoint_id: str
    provider: str = NOT_RECORDED
    model: str = NOT_RECORDED
    reported: str = Field(NOT_RECORDED, description="the models that the replies name, each once")
    runtime: str = NOT_RECORDED
    base_url: str = NOT_RECORDED
    decoding: str = NOT_RECORDED
    role: Literal["primary", "construction_overlap", "baseline", "arm"]
    group: str = NOT_RECORDED
    family: str = NOT_RECORDED
    capabilities: str = NOT_RECORDED
    complete: bool = True
    note: str = ""
    after: str = Field("", description="of an arm: the endpoint whose replies it starts from")
    step: str = Field("", description="of an arm: what it adds to them")


class Call(Record):
    """One model call."""

    request_hash: str
    purpose: str
    endpoint_id: str
    model: str
    reported: str = Field("", description="the model that the reply names, with the system's fingerprint if it has one")
    attempt: int = 1
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_seconds: float | None = None
    outcome: str
    reply: str = ""
    finish_reason: str = ""
    error: str = ""


class ReviewRow(Record):
    """An item to be reviewed, with what a reviewer needs and three columns to fill in."""

    item_id: str
    reason: str = Field(description="the queues it is in, or the adjudication sample")
    topic: str
    stratum: str
    stem: str
    options: str = Field(description="the options with their letters, one a line")
    key: str = Field(description="letter of the present key")
    chosen_instead: str = Field("", description="the wrong option most endpoints chose, with their number")
    evidence: str = Field(description="the quotes, one a line")
    decision: str = Field("", description="accept, wrong key, ambiguous or flawed")
    correct_letter: str = Field("", description="with wrong key: the letter that is right, if one is")
    comment: str = ""
    reviewer: str = ""


ReleaseSet = Literal["core", "stress", "refreshed", "carried"]


class BankDiffRow(Record):
    """An item of one of two banks and what became of it between them."""

    item_id: str
    status: Literal["kept", "retired", "new"]
    reason: str = Field(description="why, in a few fixed words")
    detail: str = Field("", description="the document, check or subtopic the reason speaks of")
    other: str = Field("", description="the item that holds a retired item's place now, or whose place a new one took")
    topic: str
    subtopic: str
    stratum: Stratum
    stem: str


class RetiredItem(BankItem):
    """An item of an earlier release that is in this one no more, as it was locked."""

    outcome: Literal["superseded"] = "superseded"
    last_bank: str = Field(description="the last bank that held it")
    reason: str
    detail: str = ""
    other: str = Field("", description="the item that holds its place now")


class ReleaseItem(Record):
    """The set an item of a release belongs to."""

    item_id: str
    release_set: ReleaseSet = Field(
        description="core: in every release so far and missed by few; stress: missed by many endpoints of an earlier"
        " panel; refreshed: new here; carried: kept, without what core asks for"
    )
    since: str = Field(description="the first release, in this line, that held it")
    misses: int | None = Field(None, description="primary endpoints of the earlier panel that missed it")
    seen: int | None = Field(None, description="primary endpoints of the earlier panel that answered it")
    note: str = ""


class Decision(Record):
    """What one reviewer decided on one item."""

    item_id: str
    reviewer: str
    decision: ReviewVerdict
    correct_letter: str = ""
    comment: str = ""

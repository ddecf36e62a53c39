"""The study: one YAML file that says everything a run does. Unknown keys are refused with the nearest valid name."""

from __future__ import annotations

import difflib
import typing
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from examgen import arms
from examgen.errors import StudyError
from examgen.ids import canonical_json, digest
from examgen.records import STRATA, Stratum
from examgen.sizing_section import Contrast as Contrast
from examgen.sizing_section import Sizing


class Part(BaseModel):
    """A section of the study."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(Part):
    """What one file may cost before it is recorded as unreadable."""

    file_bytes: int = Field(200_000_000, gt=0, description="largest file read, in bytes")
    seconds: float = Field(120.0, gt=0, description="longest time to read one file")
    memory_bytes: int = Field(3_000_000_000, gt=0, description="address space of the reading process beyond its start")
    characters: int = Field(20_000_000, gt=0, description="longest extracted text")


class Corpus(Part):
    """Where the documents are and what of them is left out."""

    folder: str = Field(description="folder of documents, relative to the study file")
    exclude: tuple[str, ...] = Field((), description="glob patterns of files to leave out, relative to the folder")
    drop_references: bool = Field(True, description="leave out reference lists at the end of documents")
    drop_front_matter: bool = Field(True, description="leave out YAML front matter and repeated page furniture")
    near_duplicate: float = Field(
        0.8, gt=0, le=1, description="share of five-word runs in common from which two documents are flagged"
    )
    limits: Limits = Limits()


class Chunking(Part):
    """How texts are cut into passages, in characters."""

    size: int = Field(1200, ge=50)
    overlap: int = Field(200, ge=0)
    mode: Literal["characters", "structure"] = "structure"

    @model_validator(mode="after")
    def _overlap_fits(self) -> Chunking:
        if self.overlap >= self.size:
            raise ValueError("overlap must be smaller than size")
        return self


class Embedding(Part):
    """What turns text into vectors."""

    kind: Literal["minilm", "lsa", "openai"] = "minilm"
    model: str = Field("all-MiniLM-L6-v2", description="model name at an OpenAI-compatible endpoint")
    base_url: str = ""
    key_env: str = Field("", description="environment variable that holds the key")
    dimensions: int | None = None
    batch: int = Field(64, ge=1)


class Index(Part):
    """The vector index."""

    server: str = Field(
        "", pattern=r"^([^:/\s]+(:\d+)?)?$", description="host:port of a Chroma server; empty = a local folder"
    )


class Retrieval(Part):
    """How many passages are fetched for what."""

    passages_per_seed: int = Field(4, ge=1)
    passage_cap: int = Field(60, ge=1)
    focused: int = Field(3, ge=1, description="passages for easy, medium and hard items and for a fresh screen")
    synthesis: int = Field(30, ge=2, description="passages fetched for synthesis items")
    synthesis_per_source: int = Field(2, ge=1)
    synthesis_snippets: int = Field(10, ge=2)


class Seed(Part):
    """A seed query."""

    query: str
    label: str = Field("", description="topic label to prefer for what this seed finds")


class Concept(Part):
    """A checklist concept the taxonomy should cover."""

    concept: str
    terms: tuple[str, ...] = Field((), description="words that must all occur for a subtopic to count as covering it")


class Taxonomy(Part):
    """How topics are found."""

    method: Literal["headings", "llm"] = "headings"
    endpoint: str = Field("", description="endpoint id for the method llm")
    file: str = Field("", description="a taxonomy edited by hand (YAML), used as given")
    topics_at_most: int = Field(40, ge=1)
    subtopics_per_topic: int = Field(6, ge=1)


def _two_each() -> dict[Stratum, int]:
    return dict.fromkeys(STRATA, 2)


class Writing(Part):
    """Who writes items and how many."""

    method: Literal["rules", "llm"] = "rules"
    endpoint: str = Field("", description="endpoint id for the method llm")
    per_subtopic: dict[Stratum, int] = Field(
        default_factory=_two_each,
        description="locked items wanted per subtopic and stratum",
    )
    surplus: float = Field(1.5, ge=1.0, description="candidates written for each item wanted")
    rounds: int = Field(3, ge=1, description="at most this many rounds of topping up")
    temperature: float = Field(0.3, ge=0)
    repair_temperature: float = Field(0.1, ge=0)
    repairs: int = Field(2, ge=0, description="repair calls per reply at most")
    lexicons: str = Field("", description="folder of lexicons; empty = those of the project")

    @field_validator("per_subtopic")
    @classmethod
    def _known_strata(cls, value: dict[Stratum, int]) -> dict[Stratum, int]:
        return {stratum: value.get(stratum, 0) for stratum in STRATA}


class Audits(Part):
    """Which suites accept items."""

    suites: str = Field("", description="folder of suites; empty = expectations/suites of the project")
    near_duplicate: float | None = Field(
        None, gt=0, le=1, description="string similarity from which two items are alike; empty = the suite's (0.90)"
    )
    semantic_duplicate: float | None = Field(
        None, gt=0, le=1, description="cosine from which two items say the same; empty = the one calibrated for the "
        "embedder, 0.90 (the paper's) for an embedder without a calibration"
    )  # fmt: skip


class Screen(Part):
    """The consistency screen."""

    method: Literal["rules", "llm"] = "rules"
    endpoint: str = ""
    second_endpoint: str = Field("", description="a second screener of another family; agreement is reported")
    context: Literal["stored", "fresh"] = "stored"


class Endpoint(Part):
    """A model endpoint."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    kind: Literal["openai", "local", "baseline", "arm"] = "openai"
    base_url: str = Field("", description="OpenAI-compatible address; empty for local and baseline")
    model: str = ""
    provider: str = ""
    key_env: str = Field("", description="environment variable that holds the key")
    key_block: str = Field("", description="Prefect Secret block that holds the key")
    temperature: float | None = 0.0
    max_tokens: int = Field(16, ge=1)
    reasoning_tokens: int = Field(0, ge=0, description="extra allowance of a reasoning model")
    extra_body: dict[str, Any] = Field(default_factory=dict)
    concurrency: int = Field(8, ge=1)
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = Field(60.0, gt=0, description="seconds")
    attempts: int = Field(5, ge=1)
    price_in: float | None = Field(None, description="per million prompt tokens")
    price_out: float | None = Field(None, description="per million completion tokens")
    role: Literal["primary", "construction_overlap", "baseline", "arm"] | None = Field(
        None, description="empty = found out: construction_overlap for the writer's model, baseline, arm, primary"
    )
    family: str = ""
    group: str = Field("", description="for comparisons by group, such as API or local")
    mode: Literal["letter", "letter_logprobs", "option_likelihood"] = "letter"
    slots: int = Field(1, ge=1, description="parallel slots of a local server")
    after: str = Field("", description="of an arm: the endpoint whose stored replies it starts from")
    asks: str = Field("", description="of an arm: the endpoint whose model makes its step; empty = the chain's first")
    step: Literal["verifier", "vote"] = Field(
        "verifier", description="of an arm: one call that sees the reply, or a vote among the reply and fresh samples"
    )
    samples: int = Field(4, ge=1, description="of an arm that votes: fresh samples beside the reply")


class Panel(Part):
    """What is asked of which endpoints."""

    endpoints: tuple[str, ...] = Field((), description="endpoint ids; empty = all with a panel role")
    orders: Literal[1, 4, "all"] = 1
    pilot_items: int = Field(100, ge=1, description="items of the option-order pilot when orders is not 1")
    order_scope: Literal["pilot", "bank"] = "pilot"
    repeats: int = Field(1, ge=1)
    shard_items: int = Field(500, ge=1, description="items of an endpoint that are one task run of Prefect")
    abstention: bool = False
    system_prompt: str = ""
    examples: int = Field(0, ge=0, description="few-shot examples")
    no_stem: bool = Field(False, description="also ask with the options alone, as a cue test")
    allowed_models: tuple[str, ...] = Field(
        (), description="the models that may be asked; an endpoint with another one is an error. Empty: no restriction"
    )
    nested: tuple[str, ...] = Field(
        (), description="endpoints that are configurations of one system, each adding a part to the one before"
    )

    @field_validator("nested")
    @classmethod
    def _steps(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) == 1 or len(set(value)) != len(value):
            raise ValueError("name two different endpoints or more, in the order in which the parts were added")
        return value


class Statistics(Part):
    """How uncertainty is computed."""

    confidence: float = Field(0.95, gt=0, lt=1)
    bootstrap_replicates: int = Field(4000, ge=100)
    permutations: int = Field(200, ge=1)
    seed: int = 20261130


class Report(Part):
    """What the report shows."""

    examples_per_stratum: int = Field(2, ge=0)
    include_source_text: bool = True


class Runner(Part):
    """Where the shards of writing, screening and asking are done. It changes no result."""

    kind: Literal["threads", "dask", "ray"] = Field(
        "threads", description="`runner: dask` is short for this key; dask and ray are extras to install"
    )
    address: str = Field("", description="address of a cluster that runs already; empty starts workers on this machine")
    workers: int = Field(0, ge=0, description="processes to start where the address is empty; 0 is one a processor")

    @model_validator(mode="before")
    @classmethod
    def _plain_kind(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value


class Study(Part):
    """The whole study."""

    study: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$", description="short name; names folders and runs")
    title: str = ""
    language: str = "en"
    corpus: Corpus
    chunking: Chunking = Chunking()
    embedding: Embedding = Embedding()
    index: Index = Index()
    retrieval: Retrieval = Retrieval()
    seeds: tuple[Seed, ...] = Field(min_length=1)
    checklist: tuple[Concept, ...] = ()
    taxonomy: Taxonomy = Taxonomy()
    writing: Writing = Writing()
    audits: Audits = Audits()
    screen: Screen = Screen()
    endpoints: tuple[Endpoint, ...] = ()
    panel: Panel = Panel()
    statistics: Statistics = Statistics()
    sizing: Sizing = Sizing()
    report: Report = Report()
    runner: Runner = Runner()
    budget: float | None = Field(None, gt=0, description="hard stop, in the currency of the prices")

    @field_validator("seeds", mode="before")
    @classmethod
    def _plain_seeds(cls, value: Any) -> Any:
        return [{"query": seed} if isinstance(seed, str) else seed for seed in value or ()]

    @field_validator("checklist", mode="before")
    @classmethod
    def _plain_concepts(cls, value: Any) -> Any:
        return [{"concept": concept} if isinstance(concept, str) else concept for concept in value or ()]

    def _check_allowed(self) -> None:
        allowed, asked = self.panel.allowed_models, self.panel.endpoints
        for number, endpoint in enumerate(self.endpoints):
            in_panel = endpoint.id in asked or not asked
            if allowed and in_panel and endpoint.kind in ("openai", "local") and endpoint.model not in allowed:
                raise ValueError(
                    f"endpoints.{number}.model: {endpoint.model!r} is not among panel.allowed_models"
                    f"{_nearest(endpoint.model, allowed)}"
                )

    @model_validator(mode="after")
    def _endpoints_exist(self) -> Study:
        ids = [endpoint.id for endpoint in self.endpoints]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(f"endpoints: two endpoints are called {name!r}; give each its own id")
        asked = {
            "taxonomy.endpoint": self.taxonomy.endpoint,
            "writing.endpoint": self.writing.endpoint,
            "screen.endpoint": self.screen.endpoint,
            "screen.second_endpoint": self.screen.second_endpoint,
        }
        for number, name in enumerate(self.panel.endpoints):
            asked[f"panel.endpoints.{number}"] = name
        for number, name in enumerate(self.panel.nested):
            asked[f"panel.nested.{number}"] = name
        for number, contrast in enumerate(self.sizing.contrasts):
            for place, name in enumerate(() if contrast.pilot else contrast.endpoints or ()):
                asked[f"sizing.contrasts.{number}.endpoints.{place}"] = name
        for key, name in asked.items():
            if name and name not in ids:
                raise ValueError(f"{key}: no endpoint is called {name!r}{_nearest(name, ids)}")
        self._check_allowed()
        wrong = arms.problem(self.endpoints, self.panel.endpoints)
        if wrong:
            raise ValueError(wrong)
        stepping = {endpoint.id for endpoint in self.endpoints if endpoint.kind == "arm"}
        for key, name in asked.items():
            if name in stepping and not key.startswith(("panel.", "sizing.")):
                raise ValueError(f"{key}: {name} is an arm, which only answers items: name an endpoint with a model")
        for key, part in (("taxonomy", self.taxonomy), ("writing", self.writing), ("screen", self.screen)):
            if part.method == "llm" and not part.endpoint:
                raise ValueError(f"{key}.endpoint: the method llm needs the id of an endpoint")
        return self

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of that id."""
        return next(endpoint for endpoint in self.endpoints if endpoint.id == name)

    def section_hash(self, *sections: str) -> str:
        """Hash of the named sections, spelled canonically: what a stage that uses them depends on."""
        whole = self.model_dump(mode="json")
        return digest("study", canonical_json({name: whole[name] for name in sections}))


def _nearest(name: str, valid: typing.Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.5)
    return f"; did you mean {found[0]!r}?" if found else ""


def _part_at(path: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The model that holds the last key of a path into the study."""
    model: type[BaseModel] | None = Study
    for key in path:
        if isinstance(key, int) or model is None:
            continue
        info = model.model_fields.get(key)
        model = _inner_model(info.annotation) if info else None
    return model


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in typing.get_args(annotation):
        found = _inner_model(inner)
        if found:
            return found
    return None


def _explain(error: ValidationError, path: str) -> str:
    lines = []
    for problem in error.errors():
        where = problem["loc"]
        dotted = ".".join(str(part) for part in where)
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            model = _part_at(where[:-1])
            names = list(model.model_fields) if model else []
            hint = _nearest(str(where[-1]), names) or (f"; valid keys here: {', '.join(names)}" if names else "")
            message = f"unknown key{hint}"
        lines.append(f"{path}: {dotted}: {message}" if dotted else f"{path}: {message}")
    return "\n".join(lines)


def parse_study(data: Any, path: str = "study") -> Study:
    """A study from parsed YAML; a `StudyError` names the file, the key and what to do."""
    if data is None:
        raise StudyError(f"{path}: is empty: write a study, or make one with `examgen init`")
    if not isinstance(data, dict):
        raise StudyError(f"{path}: a study is a mapping of keys, found {type(data).__name__}: see `examgen init`")
    try:
        return Study.model_validate(data)
    except ValidationError as error:
        raise StudyError(_explain(error, path)) from error


class _EachKeyOnce(yaml.SafeLoader):
    """YAML in which a key that is given twice is an error: the first of two sections would be lost in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping, if no key of it stands there twice."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                line = key.start_mark.line + 1
                if key.value in seen:
                    told = f"{key.value!r} is given twice, on lines {seen[key.value]} and {line}: keep one"
                    raise yaml.constructor.ConstructorError(None, None, told)
                seen[key.value] = line
        return super().construct_mapping(node, deep)


def load_study(path: str | Path) -> Study:
    """Read a study file; `StudyError` on anything wrong with it."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise StudyError(
            f"{place}: no such study file: give the path of a YAML study, or make one with `examgen init`"
        ) from error
    except IsADirectoryError as error:
        raise StudyError(f"{place}: is a folder: give a study file, or make one with `examgen init {place}`") from error
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{place}: cannot be read as UTF-8 text: {error}") from error
    try:
        data = yaml.load(text, Loader=_EachKeyOnce)
    except yaml.YAMLError as error:
        raise StudyError(f"{place}: not valid YAML: {' '.join(str(error).split())}") from error
    return parse_study(data, str(place))

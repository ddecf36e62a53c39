"""Custom expectations of the suites. Importing this module registers them with Great Expectations, once.

No parameter has a default: one left out of the JSON would change its meaning when the default changes.
"""

# No `from __future__ import annotations`: Great Expectations reads the annotations when the classes are made.
from typing import Any, ClassVar, Literal

import pandas as pd
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import ColumnAggregateExpectation, ColumnMapExpectation
from great_expectations.expectations.metrics import (
    ColumnAggregateMetricProvider,
    ColumnMapMetricProvider,
    column_aggregate_value,
    column_condition_partial,
)
from great_expectations.render import LegacyRendererType, RenderedStringTemplateContent
from great_expectations.render.renderer.renderer import renderer

from examgen.audits.positions import position_p_value

Unmeasured = Literal["reject", "skip"]


class MeasureAtMost(ColumnMapMetricProvider):
    """Rows whose measure is at most the limit; an unmeasured row passes only where the suite says "skip"."""

    condition_metric_name = "column_values.measure_at_most"
    condition_value_keys = ("limit", "unmeasured")
    filter_column_isnull = False

    @column_condition_partial(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, limit: float, unmeasured: str, **_: Any) -> pd.Series:  # noqa: N805
        return (column <= limit) | (column.isna() & (unmeasured == "skip"))


class MeasureAtLeast(ColumnMapMetricProvider):
    """Rows whose measure is at least the limit; an unmeasured row passes only where the suite says "skip"."""

    condition_metric_name = "column_values.measure_at_least"
    condition_value_keys = ("limit", "unmeasured")
    filter_column_isnull = False

    @column_condition_partial(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, limit: float, unmeasured: str, **_: Any) -> pd.Series:  # noqa: N805
        return (column >= limit) | (column.isna() & (unmeasured == "skip"))


class MeasureBelow(ColumnMapMetricProvider):
    """Rows whose measure is below the limit; an unmeasured row passes only where the suite says "skip"."""

    condition_metric_name = "column_values.measure_below"
    condition_value_keys = ("limit", "unmeasured")
    filter_column_isnull = False

    @column_condition_partial(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, limit: float, unmeasured: str, **_: Any) -> pd.Series:  # noqa: N805
        return (column < limit) | (column.isna() & (unmeasured == "skip"))


class PositionBalance(ColumnAggregateMetricProvider):
    """P value of the chi-square test that the key stands equally often in every place."""

    metric_name = "column.position_p_value"

    @column_aggregate_value(engine=PandasExecutionEngine)
    def _pandas(cls, column: pd.Series, **_: Any) -> float:  # noqa: N805
        return position_p_value(column.tolist())


def _sentence(template: str, configuration: Any, runtime_configuration: Any) -> list[RenderedStringTemplateContent]:
    """The line that Data Docs show for an expectation: its condition, what is expected, and the reason in the suite."""
    params = dict(configuration.kwargs)
    params["reason"] = (configuration.meta or {}).get("reason", "")
    condition = params.get("row_condition")
    if isinstance(condition, dict):
        params["when"] = f"{condition['column']['name']} {condition['operator']} {condition['parameter']}"
        template = f"if $when, {template}"
    styling = (runtime_configuration or {}).get("styling", {})
    content = {"template": f"{template}. $reason", "params": params, "styling": styling}
    return [RenderedStringTemplateContent(content_block_type="string_template", string_template=content)]


class _MeasureExpectation(ColumnMapExpectation):
    """A measure of every row against a limit."""

    limit: float
    unmeasured: Unmeasured

    phrase: ClassVar[str] = ""
    success_keys: ClassVar[tuple[str, ...]] = ("limit", "unmeasured", "mostly")
    args_keys: ClassVar[tuple[str, ...]] = ("column", "limit", "unmeasured")

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    def _prescriptive_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
    ) -> list[RenderedStringTemplateContent]:
        known = configuration or result.expectation_config
        return _sentence(f"$column is {cls.phrase} $limit", known, runtime_configuration)


class ExpectMeasureToBeAtMost(_MeasureExpectation):
    """Expect the measure of every row to be at most the limit."""

    map_metric = "column_values.measure_at_most"
    phrase: ClassVar[str] = "at most"


class ExpectMeasureToBeAtLeast(_MeasureExpectation):
    """Expect the measure of every row to be at least the limit."""

    map_metric = "column_values.measure_at_least"
    phrase: ClassVar[str] = "at least"


class ExpectMeasureToBeBelow(_MeasureExpectation):
    """Expect the measure of every row to be below the limit."""

    map_metric = "column_values.measure_below"
    phrase: ClassVar[str] = "below"


class ExpectKeyPositionsToBeBalanced(ColumnAggregateExpectation):
    """Expect the places of the keys to be as even as chance makes them: chi-square p value at least `p_value`."""

    p_value: float

    metric_dependencies = ("column.position_p_value",)
    success_keys: ClassVar[tuple[str, ...]] = ("p_value",)
    args_keys: ClassVar[tuple[str, ...]] = ("column", "p_value")

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: Any = None,  # noqa: ARG002
        execution_engine: Any = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        observed = metrics["column.position_p_value"]
        return {"success": bool(observed >= self.p_value), "result": {"observed_value": observed}}

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)
    def _prescriptive_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
    ) -> list[RenderedStringTemplateContent]:
        known = configuration or result.expectation_config
        return _sentence("$column is as even as chance makes it, p at least $p_value", known, runtime_configuration)

"""The `sizing` section of a study: the contrasts a bank should resolve, told in whichever way people know them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]

WAYS = (
    "better and worse, or gain and worse, or accuracies (with agreement or correlation), or counts, "
    "or pilot and endpoints"
)
"""How the discordance of a pair of endpoints can be given."""


class Section(BaseModel):
    """Frozen; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Contrast(Section):
    """A planned paired comparison. Accuracies alone leave the number of items open: then a range is shown."""

    name: str = Field(min_length=1)
    better: Share | None = Field(None, description="share of items only the better endpoint gets right (p_b)")
    worse: Share | None = Field(None, description="share of items only the other gets right (p_c)")
    gain: Share | None = Field(None, description="difference of the two accuracies, with `worse` beside it")
    accuracies: tuple[Share, Share] | None = Field(None, description="of the better endpoint and of the other")
    agreement: Share | None = Field(None, description="share of items on which both are right or both wrong")
    correlation: float | None = Field(
        None, ge=-1, le=1, description="phi of the two scores over items; 0 is independence"
    )
    counts: tuple[int, int, int] | None = Field(
        None, description="a table already seen: items only the better got right, only the other, items in all"
    )
    pilot: str = Field("", description="CSV of item_id, endpoint, correct, relative to the study file")
    endpoints: tuple[str, str] | None = Field(
        None, description="the pair, better first: as the pilot or the panel names it"
    )
    accuracy: Share | None = Field(
        None, description="of the better endpoint, for the ceiling; default: that of `accuracies`"
    )
    source: str = Field("", description="where the numbers come from, in your words; shown beside them")

    @model_validator(mode="after")
    def _one_way(self) -> Contrast:
        extras = ("agreement", "correlation")
        given = {name for name in ("better", "gain", "accuracies", "counts") if getattr(self, name) is not None}
        given |= {"pilot"} if self.pilot else set()
        if len(given) != 1:
            said = f"{' and '.join(sorted(given))} are too much" if given else "the discordance is missing"
            raise ValueError(f"contrast {self.name!r}: {said}: give {WAYS}")
        way = given.pop()
        if way in ("better", "gain") and self.worse is None:
            raise ValueError(f"contrast {self.name!r}: worse: is missing beside {way}")
        if way not in ("better", "gain") and self.worse is not None:
            raise ValueError(f"contrast {self.name!r}: worse: goes with better or gain, not with {way}")
        for name in extras:
            if getattr(self, name) is not None and way != "accuracies":
                raise ValueError(f"contrast {self.name!r}: {name}: goes with accuracies, not with {way}")
        if all(getattr(self, name) is not None for name in extras):
            raise ValueError(f"contrast {self.name!r}: correlation: give it or agreement, not both")
        if way == "pilot" and self.endpoints is None:
            raise ValueError(f"contrast {self.name!r}: endpoints: name the two endpoints of the pilot, better first")
        self._check_numbers()
        return self

    def _check_numbers(self) -> None:
        here = f"contrast {self.name!r}"
        if self.endpoints is not None and self.endpoints[0] == self.endpoints[1]:
            raise ValueError(f"{here}: endpoints: name two different endpoints")
        if self.counts is not None and not (
            min(self.counts) >= 0 and self.counts[2] >= max(1, self.counts[0] + self.counts[1])
        ):
            raise ValueError(f"{here}: counts: three whole numbers, the first two together at most the third")
        worse = self.worse or 0.0
        better = self.better if self.better is not None else None if self.gain is None else self.gain + worse
        if better is not None and better <= worse:
            raise ValueError(f"{here}: there is no gain to size for: better must exceed worse, gain must exceed 0")
        if better is not None and better + worse > 1 + 1e-12:
            raise ValueError(f"{here}: {better:g} and {worse:g} make more items than there are")
        if self.accuracies is None:
            return
        one, two = self.accuracies
        if one <= two:
            raise ValueError(f"{here}: accuracies: the better endpoint comes first, and the two must differ")
        if self.agreement is not None:
            low, high = (1 - one - two + 2 * both for both in (max(0.0, one + two - 1), min(one, two)))
            if not low - 1e-9 <= self.agreement <= high + 1e-9:
                raise ValueError(
                    f"{here}: agreement: with accuracies {one:g} and {two:g} it lies between {low:.4f} and {high:.4f}, "
                    f"not {self.agreement:g}"
                )


class Sizing(Section):
    """Contrasts the bank should be able to resolve, and the rules they are planned by."""

    alpha: float = Field(0.05, gt=0, lt=1)
    power: float = Field(0.80, gt=0, lt=1)
    test: Literal["exact", "midp", "asymptotic", "corrected"] = Field("exact", description="form of McNemar's test")
    one_sided: bool = Field(False, description="only a gain of the better endpoint counts; two-sided is the custom")
    correction: Literal["holm", "bonferroni", "none"] = Field("holm", description="for several contrasts")
    comparisons: int | None = Field(
        None, ge=1, description="size of the family when more pairs will be tested than are declared here"
    )
    design_effect: float = Field(1.0, ge=1, description="items clustered in topics count for so much less")
    attrition: float = Field(0.0, ge=0, lt=1, description="share of authored items that will not be analysed")
    cap: int | None = Field(None, ge=1, description="most items that can be authored")
    floor_probability: float | None = Field(
        None, gt=0, lt=1, description="chance of reaching the fewest discordant items; empty = the power"
    )
    ceiling_accuracy: Share | None = Field(None, description="accuracy expected of the best endpoint")
    ceiling_probability: float = Field(0.01, gt=0, lt=1, description="most a perfect score may be likely")
    hard_stop_rate: float | None = Field(
        None, gt=0, lt=1, description="rate of hard-stop violations that a run without any excludes, one-sided 95%"
    )
    contrasts: tuple[Contrast, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        """A contrast without a name is called by its place."""
        if isinstance(value, dict) and isinstance(value.get("contrasts"), list | tuple):
            named = [
                {"name": f"contrast {place}", **contrast} if isinstance(contrast, dict) else contrast
                for place, contrast in enumerate(value["contrasts"], start=1)
            ]
            return {**value, "contrasts": named}
        return value

    @model_validator(mode="after")
    def _names_differ(self) -> Sizing:
        names = [contrast.name for contrast in self.contrasts]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"contrasts: two are called {name!r}; give each its own name")
        return self

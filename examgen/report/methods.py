"""The method notes of the report."""

from __future__ import annotations

METHODS: tuple[tuple[str, str], ...] = (
    (
        "Accuracy",
        "Share of items right among resolved rows. Interval: t with G − 1 degrees of freedom over G topics, "
        "clustered standard error with the factor √(G/(G − 1)). It speaks of topics like these. Wilson intervals, "
        "which speak of these items only, and the two-level bootstrap (construction batches, then items within) "
        "are in table accuracy. The bootstrap counts the noise of items twice; that widens it and happens to "
        "repair the undercoverage of few clusters.",
    ),
    (
        "Unresolved rows",
        "A reply that could not be read, a refusal or an error is never a wrong answer. It is left out of the "
        "accuracy, counted as wrong beside it, and bounded by taking all as wrong and all as right.",
    ),
    (
        "Differences",
        "Paired by item: exact McNemar P, Holm over the family named, Tango score interval of the difference; "
        "beside them the clustered t test and the joint bootstrap. \"Unresolved\" means that the data do not "
        "decide.",
    ),
    (
        "Empirical difficulty",
        "Number of primary endpoints that miss an item, unresolved rows not counted. Thresholds are a third and "
        "the majority of the panel (4 and 7 of 12). An endpoint's accuracy by bin uses bins made by the other "
        "endpoints.",
    ),
    (
        "Cue probe",
        "Logistic selector on standardised features of the form of each option (lengths, punctuation, digits, "
        "hedges, absolutes, overlap with the other options, …), balanced classes, C = 0.5, trained on all topics "
        "but one and scored on that one; ties share credit. Null: keys redrawn within items. A binomial test "
        "would be too narrow, as all picks share one fit. The second version adds TF-IDF overlap with the stem.",
    ),
    (
        "Key risk",
        "Items on which more than half of the primary endpoints choose one and the same wrong option, and the "
        "stricter list on which every endpoint family does. Both set priorities for review; neither decides. "
        "Removing such items can only raise the mean score of a panel that is right on half of the items or more; a "
        "single endpoint may lose.",
    ),
    (
        "Option order",
        "Cyclic rotations, answers mapped back to content. Preference for a position: permutation of an item's "
        "answers over its orders; effect on accuracy: Cochran's Q over places of the key; Holm over endpoints. A "
        "chi-square test of letters is invalid here and not used.",
    ),
    (
        "Item analysis",
        "KR-20, discrimination, 2PL and differential functioning are shown only where the number of endpoints can "
        "bear them; a dozen systems are not a sample of examinees.",
    ),
)
"""Heading and text, in the order of the report."""

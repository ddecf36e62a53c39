"""Statistics of paired benchmarks and item banks: all a statistician needs is imported from here.

Scores are arrays (n_items, n_endpoints): 1 right, 0 wrong, nan missing; clusters are one label an item. Results
carry value, interval, method, n and seed; what the data cannot give is None with a note, never nan.
"""

from examgen.errors import StatisticsError
from examgen.statistics.accuracy import AccuracyThreeWays, accuracy_by, accuracy_intervals, accuracy_three_ways
from examgen.statistics.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement
from examgen.statistics.bootstrap import Replicates, cluster_bootstrap, hierarchical_bootstrap, item_bootstrap
from examgen.statistics.clusters import (
    clustered_p,
    clustered_se,
    clustered_t,
    design_effect,
    intraclass_correlation,
    observed_design_effect,
    sign_flip_p,
)
from examgen.statistics.dif import MINIMUM_GROUP, MantelHaenszel, dif_table, mantel_haenszel
from examgen.statistics.discordance import (
    Discordance,
    discordance_from_accuracies,
    discordance_from_gain,
    discordance_from_pilot,
    discordance_limits,
    discordance_range,
    required_n_range,
)
from examgen.statistics.estimate import Estimate, not_estimable
from examgen.statistics.interaction import Interaction, compare_strata, interaction_test
from examgen.statistics.intervals import bonett_price, clopper_pearson, hard_stop, newcombe, tango, tango_limits, wilson
from examgen.statistics.irt import MINIMUM_RESPONDENTS, ItemResponseFit, ability, fit_2pl, fit_rasch
from examgen.statistics.mcnemar import (
    Design,
    critical_values,
    mcnemar_p,
    power_at,
    power_exact,
    power_simulated,
    rejection_probability,
)
from examgen.statistics.multiplicity import bonferroni, holm, planning_alpha
from examgen.statistics.nested import Increment, increment_table, nested_increments
from examgen.statistics.order import (
    OrderTest,
    cochran_q,
    order_stability,
    position_test,
    recall_by_position,
    score_changes,
)
from examgen.statistics.paired import OBSERVED_POWER_LABEL, VERDICTS, compare_pairs
from examgen.statistics.plan import (
    Contrast,
    SizingPlan,
    SizingRules,
    authored_items,
    mean_difference_n,
    resolvable,
    size_contrasts,
)
from examgen.statistics.ranks import rank_correlation, rank_intervals
from examgen.statistics.reliability import (
    SUFFICIENT_RESPONDENTS,
    distractor_functioning,
    item_statistics,
    kr20,
    split_panel_reliability,
)
from examgen.statistics.short_form import ShortForm, short_form
from examgen.statistics.sizing import (
    RequiredN,
    ceiling_n,
    discordance_floor,
    floor_n,
    hard_stop_n,
    minimum_detectable_gain,
    power_curve,
    probability_of_floor,
    probability_perfect,
    required_n,
)
from examgen.statistics.tiers import AbstentionProfile, TierRules, abstention_profile, assign_tiers, tier_hash

__all__ = [
    "MINIMUM_GROUP",
    "MINIMUM_RESPONDENTS",
    "OBSERVED_POWER_LABEL",
    "SUFFICIENT_RESPONDENTS",
    "VERDICTS",
    "AbstentionProfile",
    "AccuracyThreeWays",
    "Contrast",
    "Design",
    "Discordance",
    "Estimate",
    "Increment",
    "Interaction",
    "ItemResponseFit",
    "MantelHaenszel",
    "OrderTest",
    "Replicates",
    "RequiredN",
    "ShortForm",
    "SizingPlan",
    "SizingRules",
    "StatisticsError",
    "TierRules",
    "ability",
    "abstention_profile",
    "accuracy_by",
    "accuracy_intervals",
    "accuracy_three_ways",
    "assign_tiers",
    "authored_items",
    "bonett_price",
    "bonferroni",
    "ceiling_n",
    "clopper_pearson",
    "cluster_bootstrap",
    "clustered_p",
    "clustered_se",
    "clustered_t",
    "cochran_q",
    "cohen_kappa",
    "compare_pairs",
    "compare_strata",
    "critical_values",
    "design_effect",
    "dif_table",
    "discordance_floor",
    "discordance_from_accuracies",
    "discordance_from_gain",
    "discordance_from_pilot",
    "discordance_limits",
    "discordance_range",
    "distractor_functioning",
    "fit_2pl",
    "fit_rasch",
    "fleiss_kappa",
    "floor_n",
    "gwet_ac1",
    "hard_stop",
    "hard_stop_n",
    "hierarchical_bootstrap",
    "holm",
    "increment_table",
    "interaction_test",
    "intraclass_correlation",
    "item_bootstrap",
    "item_statistics",
    "kr20",
    "mantel_haenszel",
    "mcnemar_p",
    "mean_difference_n",
    "minimum_detectable_gain",
    "nested_increments",
    "newcombe",
    "not_estimable",
    "observed_design_effect",
    "order_stability",
    "percent_agreement",
    "planning_alpha",
    "position_test",
    "power_at",
    "power_curve",
    "power_exact",
    "power_simulated",
    "probability_of_floor",
    "probability_perfect",
    "rank_correlation",
    "rank_intervals",
    "recall_by_position",
    "rejection_probability",
    "required_n",
    "required_n_range",
    "resolvable",
    "score_changes",
    "short_form",
    "sign_flip_p",
    "size_contrasts",
    "split_panel_reliability",
    "tango",
    "tango_limits",
    "tier_hash",
    "wilson",
]

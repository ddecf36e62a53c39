"""Item-writing flaws: the catalogue of rules over one item, from the NBME guide and the Haladyna taxonomy.

The rules are defined, with their citations, in `option_flaws`, `form_flaws`, `stem_flaws`, `cue_flaws`,
`grammar_flaws` and `numeric_flaws`. They are reported one by one and never added up into a score: how many flaws an
item has says little of its quality (Schmucker & Moore 2025).
"""

from __future__ import annotations

from examgen.audits import cue_flaws, form_flaws, grammar_flaws, numeric_flaws, option_flaws, stem_flaws

FLAW_RULES = (
    option_flaws.all_of_the_above,
    option_flaws.none_of_the_above,
    option_flaws.combined_options,
    option_flaws.true_false_options,
    option_flaws.absolute_terms,
    option_flaws.vague_terms,
    option_flaws.length_heterogeneity,
    option_flaws.nested_options,
    option_flaws.near_duplicate_options,
    option_flaws.opposite_pair,
    form_flaws.repeated_start,
    form_flaws.mixed_options,
    form_flaws.labelled_options,
    form_flaws.doubled_words,
    stem_flaws.negative_stem,
    stem_flaws.unmarked_negative,
    stem_flaws.double_negative,
    stem_flaws.inner_blank,
    stem_flaws.unfocused_stem,
    stem_flaws.statement_lead_in,
    stem_flaws.opinion_stem,
    cue_flaws.clang,
    cue_flaws.key_in_stem,
    cue_flaws.convergence,
    grammar_flaws.article_cue,
    grammar_flaws.number_cue,
    grammar_flaws.unparallel_key,
    grammar_flaws.punctuation_cue,
    cue_flaws.abbreviation_cue,
    cue_flaws.hedged_key,
    cue_flaws.negation_cue,
    numeric_flaws.overlapping_ranges,
    numeric_flaws.unordered_numbers,
    numeric_flaws.mixed_units,
    numeric_flaws.precision_cue,
)
"""Every flaw rule; a rule's column has the rule's name."""

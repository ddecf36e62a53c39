"""The rule-based item writer: statements of the corpus become items by typed, checked perturbations."""

"""The report: one self-contained HTML page, its figures and the data dictionary."""

"""The deciding core of MS-Exam-Gen: pure functions over records and tables, without network, clock or environment."""

__version__ = "0.1.0"

"""The one exception tree. Every message says which file, key or endpoint, what is wrong, and what to do."""

from __future__ import annotations


class ExamGenError(Exception):
    """Anything this project raises on purpose."""


class InputError(ExamGenError):
    """The user's input is wrong (study, folder, bank file): exit code 2."""


class StudyError(InputError):
    """A study file that cannot be used; the message names the file and the key."""


class CorpusError(InputError):
    """A corpus folder that cannot be used (missing, empty, nothing readable in it)."""


class BankError(InputError):
    """A bank file or folder that cannot be used, or that does not verify."""


class TableError(ExamGenError):
    """A table that breaks its contract: wrong columns, duplicate ids, newer schema version."""


class EndpointError(ExamGenError):
    """An endpoint that cannot be used; the message names the endpoint, never its key."""


class IndexMismatchError(ExamGenError):
    """An index built with another embedder, dimension or chunk set than the one asked for."""


class RunError(ExamGenError):
    """The run failed for a reason outside the user's input (disk, server, lock): exit code 1."""


class StatisticsError(ExamGenError, ValueError):
    """A statistic called with arguments outside its domain."""

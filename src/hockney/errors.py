"""Errors that a user can act on: what happened, what to do, and the exit code that says which kind it was."""

from __future__ import annotations

from typing import ClassVar


class HockneyError(Exception):
    """Base of every error that reaches the user as one line instead of a traceback; by itself, a defect of ours.

    `message` says what happened and where, `hint` the one thing to do about it.
    """

    kind: ClassVar[str] = "defect"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NegativeAnswer(HockneyError):
    """The question was answered, and the answer is no (a check failed)."""

    kind = "negative"
    exit_code = 1


class RequestError(HockneyError):
    """The request is wrong: an argument, a file, a size."""

    kind = "request"
    exit_code = 2


class EnvironmentLack(HockneyError):
    """The environment lacks something: an MPI, a compiler, memory, slots."""

    kind = "environment"
    exit_code = 3


class Incomplete(HockneyError):
    """Interrupted or partly done; what was measured is kept and the work can be resumed."""

    kind = "incomplete"
    exit_code = 4

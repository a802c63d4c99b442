"""Signals that ask a verb to end: Ctrl-C, and what batch systems and closed terminals send."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TextIO

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """One of these signals came; `name` is what it is called."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@contextmanager
def _answered(answer: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """These signals are answered so while the block runs, but for those that are ignored already.

    `nohup` and a shell's background ignore them. What the answer itself changes stays changed.
    """
    before = {number: signal.getsignal(number) for number in ENDING}
    listened = [number for number in ENDING if before[number] != signal.SIG_IGN]
    for number in listened:
        signal.signal(number, answer)
    try:
        yield
    finally:
        for number in listened:
            if signal.getsignal(number) is answer:
                signal.signal(number, before[number])


@contextmanager
def interruptible() -> Iterator[None]:
    """The first of these signals raises Interrupted; from then on they are ignored until the process ends.

    Only in the main thread, and not around long work in C++, which runs to its end before Python sees a signal.
    """

    def end(number: int, _: FrameType | None) -> NoReturn:
        for one in ENDING:
            signal.signal(one, signal.SIG_IGN)
        _leave_closed_terminal()
        raise Interrupted(signal.Signals(number).name)

    with _answered(end):
        yield


@contextmanager
def undisturbed() -> Iterator[None]:
    """None of these signals ends the block: all is done, and what is left is to write it down and to say so."""

    def go_on(_: int, __: FrameType | None) -> None:
        _leave_closed_terminal()

    with _answered(go_on):
        yield


def send_nowhere(stream: TextIO) -> None:
    """Drop from now on what is written to a stream: nobody reads it, and writing would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _leave_closed_terminal() -> None:
    """Send what is said from now on nowhere, where it would fail: who closed the terminal does not read it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            os.write(stream.fileno(), b"")
        except io.UnsupportedOperation:
            pass  # a text in memory, which nobody closes
        except OSError:
            send_nowhere(stream)

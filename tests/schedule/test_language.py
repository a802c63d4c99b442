"""The language of schedules in files: what is no text of it is refused, and its numbers are Python's."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney import _core
from hockney._core import Problem
from hockney.errors import RequestError
from hockney.schedule import written

AT_READ = [
    ("x = 1 / 2", "line 1: numbers are whole"),
    ("\nsned(output, 1)", "line 2: a line that does nothing"),
    ("send(output)", "line 1: send takes 2 arguments, not 1"),
    ("send(outptu, 1)", "line 1: outptu is no memory"),
    ("x = y + 1", "line 1: y is no number here"),
    ("x = 'text'", "no whole number"),
    ("x = 1.5", "no whole number"),
    ("x = 0 < P < 9", "two numbers are compared"),
    ("x, y = 1, 2", "one name is set at a time"),
    ("P = 3", "P is a name of the form"),
    ("for i in (1, 2):\n    pass", "a loop is"),
    ("while True:\n    pass", "line 1: only assignments, for, if and calls"),
    ("import os", "line 1: only assignments, for, if and calls"),
    ("__import__('os').system('true')", "line 1: a line that does nothing"),
    ("x = (lambda: 1)()", "no whole number"),
    ("if x:", "line 1"),
    ("x = " + "(" * 300 + "1" + ")" * 300, "line 1"),
    ("x = " + "-" * 20000 + "1", "cannot be read"),
    ("x = scratch(*[1])", r"line 1: scratch takes no list of arguments (*)"),
    ("x = 99999999999999999999", "line 1: a number beyond 2^63"),
    ("x = 1\0", "null bytes"),
    ("x = 1\nx = output", "x holds a number here and memory there"),
    ("send(output, 1, at=3)", "send takes only after= by its name"),
    ("#" * 40000, "longer than"),
]


@pytest.mark.parametrize(("text", "said"), AT_READ)
def test_what_is_no_schedule_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(RequestError) as raised:
        written.compiled(text, "mine.schedule")
    assert re.match(f"mine.schedule.*{re.escape(said)}", str(raised.value), re.DOTALL)


OPERATORS = ["+", "-", "*", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", ">", ">="]
NUMBERS = st.recursive(
    st.integers(0, 9).map(str) | st.sampled_from(["P", "r", "n"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda of: f"({of[0]} {of[1]} {of[2]})"),
        inner.map(lambda of: f"(-{of})"),
        inner.map(lambda of: f"(not {of})"),
        st.tuples(inner, inner).map(lambda of: f"min({of[0]}, max({of[1]}, 2))"),
        st.tuples(inner, inner, inner).map(lambda of: f"({of[0]} if {of[1]} and {of[2]} else {of[1]})"),
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(NUMBERS)
def test_numbers_are_what_they_are_in_python(text: str) -> None:
    """A chain of copies whose number is the value: the machine calculates as Python does."""
    try:
        value = int(eval(text, {"__builtins__": {}, "P": 4, "r": 0, "n": 64, "min": min, "max": max}))
        copies = value % 97
    except ZeroDivisionError:
        copies = -1
    _core.define(
        "allreduce", "value", written.compiled(f"for i in range(({text}) % 97):\n    copy(input, output)", "")
    )
    problem = Problem(ranks=4, bytes=64)
    if copies < 0:
        with pytest.raises((RequestError, ValueError), match="division by zero"):
            _core.generate_rank("allreduce", "value", problem, 0)
    else:
        assert len(_core.generate_rank("allreduce", "value", problem, 0).steps) == copies


def holds(text: str) -> bool:
    """Whether a condition holds in the language."""
    _core.define("barrier", "value", written.compiled(f"require({text})", ""))
    return not _core.refusal("barrier", "value", Problem(ranks=4))


LEAST = "(-2**62 * 2)"
ENDS = ["1", "(-1)", "3", "(-3)", "2**40", "(-2**40 - 1)", str(2**63 - 1), f"({LEAST} + 1)", LEAST]


@pytest.mark.parametrize("right", ENDS)
def test_divisions_are_what_they_are_in_python_at_the_ends_too(right: str) -> None:
    for text in (f"{left} {operator} {right}" for left in ENDS for operator in ("//", "%")):
        value = int(eval(text))
        if value < 2**63:
            assert holds(f"{text} == {value if value > -(2**63) else LEAST}"), text
        else:
            with pytest.raises(RequestError, match=r"a number beyond 2\^63"):
                holds(text)


@pytest.mark.parametrize(
    "text",
    [
        *("(7 and 5) == 1", "(0 or 6) == 1", "(0 or 0) == 0", "(3 and 0) == 0", "(3 and 0 or 2 and 4) == 1"),
        *("(0 and 1 // 0) == 0", "(6 or 1 // 0) == 1"),
    ],
)
def test_and_and_or_give_0_or_1(text: str) -> None:
    assert holds(text)


def test_what_is_nested_is_compiled_once() -> None:
    """Twice the depth, twice the program: it was squared."""

    def size(depth: int) -> int:
        return len(written.compiled(f"x = {'len(output[' * depth}0{'])' * depth}", ""))

    assert size(40) - size(20) == size(20) - size(0)


SIGNS = ["\n", "\n    ", *"()[]:,=+-*/%^0127"]
WORDS = st.sampled_from(
    [*written.OWN_NAMES, *written.CALLS, *written.VECTORS, "x", "for", "in", "if", "else", "or", "after", *SIGNS]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=60))
def test_any_text_is_a_schedule_or_refused(text: str) -> None:
    with suppress(RequestError):
        _run(written.compiled(text, "any.schedule"))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-3, len(written.OPERATIONS) + 2) | st.integers(-(2**63), 2**63 - 1), max_size=60))
def test_any_program_ends(program: list[int]) -> None:
    """Programs come from campaigns too: the machine takes any numbers."""
    _run(program)


def _run(program: list[int]) -> None:
    _core.define("allreduce", "any", program)
    problem = Problem(ranks=3, bytes=12, element_B=4)
    with suppress(RequestError, ValueError, _core.TooLarge):
        _core.verify("allreduce", problem, _core.generate("allreduce", "any", problem))

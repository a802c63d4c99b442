"""Choices on held-out ranks are judged by what was measured there, among what was measured there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from hockney.models.over_ranks.choice import Time
from hockney.tune.cells import CallTimes
from hockney.tune.rules import Method

BENCH = runpy.run_path(str(Path(__file__).resolve().parents[2] / "bench" / "choice"))
WHERE = ("planted", "bcast", 8)


def cell(default_s: float, width: float = 1.0, **others: float) -> CallTimes:
    times = {name: Time(time_s, time_s / width, time_s * width) for name, time_s in others.items()}
    default = Time(default_s, default_s / width, default_s * width)
    return CallTimes("bcast", 8, 1024, default, {Method(name): time for name, time in times.items()})


def ratios(real: CallTimes, nearest_s: dict[str, float], modelled: list[CallTimes]) -> tuple[float, ...]:
    named = {Method(name): time_s for name, time_s in nearest_s.items()}
    found: tuple[float, ...] = BENCH["judged"](WHERE, real, named, modelled, "all").ratios
    return found


def test_each_choice_is_held_against_the_best_that_was_measured() -> None:
    """The nearest ranks say a, the model b, whose gain is within its interval."""
    real = cell(4.0, a=3.0, b=2.0, c=1.0)
    nearest_s = {"default": 3.0, "a": 2.0, "b": 5.0}
    assert ratios(real, nearest_s, [cell(4.0, 1.2, a=4.0, b=3.0)]) == pytest.approx((4, 3, 2, 4))
    assert ratios(real, nearest_s, [cell(4.0, 1.1, a=4.0, b=3.0)]) == pytest.approx((4, 3, 2, 2))


def test_what_was_not_measured_there_is_no_candidate() -> None:
    real = cell(4.0, a=2.0, b=1.0)
    assert ratios(real, {"c": 0.1, "a": 1.0}, [cell(4.0, c=0.1, a=1.0)]) == pytest.approx((4, 2, 2, 2))


def test_where_nothing_is_known_the_default_stays() -> None:
    real = cell(4.0, a=2.0, b=1.0)
    assert ratios(real, {}, []) == pytest.approx((4, 4, 4, 4))


def test_a_model_that_is_worse_in_the_tail_alone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Default, nearest, model, rules: in the mean the model is better, and worse where the default is slow."""
    calm = BENCH["Judged"](WHERE, "all", (1.2, 2.0, 1.0, 1.0), True)
    slow = BENCH["Judged"](WHERE, "all", (2.0, 1.0, 1.5, 1.0), True)
    assert BENCH["line"]("planted", [calm, calm])
    assert "worse" not in capsys.readouterr().out
    assert not BENCH["line"]("planted", [calm, slow])
    said = capsys.readouterr().out
    assert "nearest mean 50.0% P95 95.0%; tail of 1: mean 0.0%, cut 100%; over 1.5 times the best in 1" in said
    assert "worse than the nearest" in said

"""A scaling study: the baseline, speed-ups, and which law is preferred, if any."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.models.scaling.study import study
from hockney.models.scaling.times import Times

COUNTS = np.array([1.0, 2, 4, 8, 16, 32])


def times(serial: float, coherency: float, noise: float = 0.0, seed: int = 1) -> Times:
    p = np.tile(COUNTS, 2)
    scatter = np.exp(np.random.default_rng(seed).normal(0, noise, p.size))
    return Times(p, 10 * (1 + (serial + coherency * p) * (p - 1)) / p * scatter)


def test_speedups_are_against_the_median_of_one_process() -> None:
    made = study(Times(np.array([1.0, 1, 1, 2, 4]), np.array([9.0, 10, 30, 5, 4])), "amdahl")
    points = made.points
    assert [one.speedup for one in points] == pytest.approx([1, 2, 2.5])
    assert [one.efficiency for one in points] == pytest.approx([1, 1, 0.625])
    assert [one.repetitions for one in points] == [3, 1, 1]
    # Karp and Flatt: (1/2.5 − 1/4)/(1 − 1/4) = 0.2
    assert [one.karp_flatt for one in points] == [None, pytest.approx(0), pytest.approx(0.2)]


def test_weak_scaling_multiplies_by_the_work() -> None:
    made = study(Times(np.array([1.0, 2, 4]), np.array([10.0, 10, 12.5])), is_weak=True)
    assert [one.speedup for one in made.points] == pytest.approx([1, 2, 3.2])
    assert list(made.fits) == ["growing_overhead", "gustafson"]


def test_the_law_that_made_the_times_is_preferred() -> None:
    assert study(times(0.05, 2e-3, 0.01)).preferred == "usl"
    assert study(times(0.05, 0.0)).preferred == "amdahl"


def test_laws_are_preferred_by_two_of_aicc_and_not_otherwise() -> None:
    outcomes = set()
    # Of these the gains are -0.5, -3.6, 1.6 and 2.1.
    for seed in (2, 8, 9, 10):
        made = study(times(0.05, 2e-4, 0.02, seed))
        scores = {name: one.aicc for name, one in made.fits.items()}
        assert scores["amdahl"] is not None
        assert scores["usl"] is not None
        gain = scores["amdahl"] - scores["usl"]
        expected = "usl" if gain >= 2 else "amdahl" if gain <= -2 else None
        assert made.preferred == expected
        assert ("is preferred" in made.comparison) == (expected is not None)
        outcomes.add(expected)
    assert outcomes == {"usl", "amdahl", None}


def test_too_few_times_prefer_nothing() -> None:
    two = study(Times(COUNTS[:2], np.array([10.0, 6.0])))
    assert two.preferred is None
    assert "cannot be identified" in two.skipped["usl"]
    four = study(Times(COUNTS[:4], np.array([10.0, 6.0, 4.0, 3.0])))
    assert four.preferred is None
    assert "too few times" in four.comparison


def test_without_one_process_there_is_no_baseline() -> None:
    whole = times(0.05, 2e-3)
    rest = Times(whole.processes[whole.processes > 1], whole.time_s[whole.processes > 1])
    with pytest.raises(RequestError, match="no time of 1 process"):
        study(rest)


def test_more_than_ideal_is_said() -> None:
    made = study(Times(COUNTS[:4], np.array([10.0, 4.5, 2.2, 1.3])), "amdahl")
    assert any("more than the ideal speed-up at 2, 4 processes" in note for note in made.notes)


@pytest.mark.parametrize(
    ("law", "is_weak", "message"),
    [
        ("amdahl", True, "for strong scaling"),
        ("gustafson", False, "for weak scaling"),
        ("none", False, "unknown law"),
    ],
)
def test_laws_for_the_other_scaling_are_refused(law: str, is_weak: bool, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        study(times(0.05, 0), law, is_weak=is_weak)


@pytest.mark.parametrize("processes", [1.0, 4.0])
def test_one_number_of_processes_is_no_scaling(processes: float) -> None:
    with pytest.raises(RequestError, match=f"all times are of {processes:.0f} process"):
        study(Times(np.full(3, processes), np.array([1.0, 2.0, 3.0])))

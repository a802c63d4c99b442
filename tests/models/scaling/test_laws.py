"""The laws themselves: amdahl, gustafson and usl against their papers' forms, by counting, and at their ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.factories import not_none

from hockney.models.scaling.laws import exact, laws, whole_processes

THETA: dict[str, list[tuple[float, ...]]] = {
    "amdahl": [(0.1,), (0.03,), (1.0,)],
    "gustafson": [(0.1,), (0.6,), (1.0,)],
    "growing_overhead": [(0.1,), (0.003,), (1.0,)],
    "usl": [(0.1, 0.002), (0, 0.01)],
}
CASES = [(name, theta) for name, several in THETA.items() for theta in several]


def test_amdahl_is_one_over_serial_plus_shared() -> None:
    # 1/(0.1 + 0.9/4) = 1/0.325
    assert laws.get("amdahl").speedup(Fraction(4), [Fraction(1, 10)]) == Fraction(40, 13)
    assert laws.get("amdahl").limits([0.1]) == {"speedup_limit": pytest.approx(10)}
    assert laws.get("amdahl").limits([0.0]) == {"speedup_limit": None}


def test_gustafson_grows_by_the_parallel_fraction() -> None:
    # p = 0.9 parallel on s = 8: 1 − p + sp = 7.3.
    assert laws.get("gustafson").speedup(Fraction(8), [Fraction(1, 10)]) == Fraction(73, 10)
    assert laws.get("gustafson").limits([0.1])["efficiency_limit"] == pytest.approx(0.9)


def test_usl_without_coherency_is_amdahl() -> None:
    processes = np.arange(1.0, 65.0)
    both = laws.get("usl").speedup(processes, [0.07, 0.0]), laws.get("amdahl").speedup(processes, [0.07])
    np.testing.assert_allclose(both[0], both[1], rtol=1e-14)  # the same arithmetic but for a zero that is added
    assert laws.get("usl").limits([0.25, 0.0]) == {
        "peak_processes": None,
        "peak_speedup": None,
        "speedup_limit": pytest.approx(4),
    }


def test_usl_peaks_where_no_other_number_of_processes_is_faster() -> None:
    theta = [0.05, 0.0007]
    processes = np.linspace(1, 200, 199_001)  # a thousandth apart
    speedup = laws.get("usl").speedup(processes, theta)
    limits = laws.get("usl").limits(theta)
    assert limits["peak_processes"] == pytest.approx(processes[np.argmax(speedup)], abs=1e-3)
    assert limits["peak_speedup"] == pytest.approx(speedup.max(), rel=1e-9)
    # Where two processes are slower than one, one is best.
    assert laws.get("usl").limits([0.5, 3.0])["peak_processes"] == 1


@pytest.mark.parametrize(("name", "theta"), CASES)
def test_one_process_has_no_speedup(name: str, theta: tuple[float, ...]) -> None:
    assert laws.get(name).speedup(Fraction(1), [exact(one) for one in theta]) == 1


@pytest.mark.parametrize(("name", "theta"), CASES)
@pytest.mark.parametrize("efficiency", [0.7, 0.92, 0.5, 1.0])
def test_most_processes_is_what_counting_finds(name: str, theta: tuple[float, ...], efficiency: float) -> None:
    law, wanted, exactly = laws.get(name), exact(efficiency), [exact(one) for one in theta]
    kept = [p for p in range(1, 500) if law.speedup(Fraction(p), exactly) / p >= wanted]
    found = whole_processes(law, efficiency, theta)
    assert (found and found[0]) == (None if len(kept) == 499 else kept[-1])


def test_a_tenth_serial_keeps_70_percent_up_to_five_processes() -> None:
    assert list(whole_processes(laws.get("amdahl"), 0.7, [0.1]) or ()) == pytest.approx(
        [5, 37 / 7]
    )  # (1/0.7 − 0.9)/0.1


@pytest.mark.parametrize(
    ("name", "efficiency", "theta", "processes"),
    [
        ("amdahl", 0.8, (0.25,), 2),  # (1.25 − 0.75)/0.25
        ("gustafson", 0.92, (0.1,), 5),  # 0.1/0.02, which is 4.99… in binary
        ("usl", 0.25, (0.5994, 0.0001), 6),  # 5 · (0.5994 + 6 · 0.0001) = 3; the root is 5.99… in binary
        ("usl", 0.5, (0.05, 0.04), 5),  # 4 · (0.05 + 5 · 0.04) = 1 = 1/0.5 − 1
    ],
)
def test_a_bound_that_is_whole_is_not_lost_to_rounding(
    name: str, efficiency: float, theta: tuple[float, ...], processes: int
) -> None:
    found = not_none(whole_processes(laws.get(name), efficiency, theta))
    assert found[0] == processes
    assert found[1] == pytest.approx(processes)


def test_nothing_lost_is_no_bound() -> None:
    assert whole_processes(laws.get("amdahl"), 0.9, [0.0]) is None
    assert whole_processes(laws.get("gustafson"), 0.9, [0.1]) is None  # it never falls below 0.9
    assert whole_processes(laws.get("usl"), 0.9, [0.0, 0.0]) is None

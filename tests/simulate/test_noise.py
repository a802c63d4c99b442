"""Noise: an exponential delay of each act of a processor, of its own stream for each rank."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import not_none

from hockney.predict.costs import LoggopsParameters
from hockney.predict.simulation import SimulationResult, simulate
from hockney.schedule.catalogue import ask

PLAIN = LoggopsParameters(5.0, 1.0, 0.0, 0.0, receive_overhead_s=1.0)
MEAN_S = 0.3


def run(seed: int, ranks: int = 2) -> SimulationResult:
    asked = ask("bcast", "linear", ranks=ranks, size_B=8)
    return simulate(asked, PLAIN, noise_s=MEAN_S, seed=seed, critical_path=True)


def test_the_delays_are_exponential() -> None:
    """The root's one act and the receiver's one act, each over 2,000 seeds."""
    finish_s = np.array([run(seed).finish_s for seed in range(2000)])
    sent_s = finish_s[:, 0] - 1.0
    received_s = finish_s[:, 1] - finish_s[:, 0] - 6.0
    for delay_s in (sent_s, received_s):
        assert (delay_s > 0).all()
        # The mean of 2,000 has a standard deviation of 1/√2000 = 2.2 % of it; four of them.
        assert delay_s.mean() == pytest.approx(MEAN_S, rel=0.09)
        # P(x > mean) = 1/e; a share of 2,000 has a standard deviation of 0.011.
        assert (delay_s > MEAN_S).mean() == pytest.approx(np.exp(-1), abs=0.044)
    # Ranks have nothing in common: the correlation of 2,000 pairs has a standard deviation of 0.022.
    assert abs(np.corrcoef(sent_s, received_s)[0, 1]) < 0.09


def test_a_seed_repeats_itself_and_another_does_not() -> None:
    assert run(7, 64).finish_s.tolist() == run(7, 64).finish_s.tolist()
    assert run(7, 64).finish_s.tolist() != run(8, 64).finish_s.tolist()
    # All 64 bits of the seed count.
    assert run(7, 64).finish_s.tolist() != run(7 + 2**32, 64).finish_s.tolist()


def test_noise_is_what_the_critical_path_does_not_explain() -> None:
    outcome = run(3, 64)
    terms_s = not_none(not_none(outcome.critical_path)).terms_s
    assert terms_s["noise"] > 0
    assert sum(terms_s.values()) == pytest.approx(outcome.finish_s.max())


def test_noise_needs_every_rank() -> None:
    outcome = simulate(ask("barrier", "dissemination", ranks=16), PLAIN, noise_s=MEAN_S)
    assert outcome.method == "simulated"
    assert len(set(outcome.finish_s.tolist())) == 16

"""Whether the exponents with which times go with the reference come back from planted drifts."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import not_none, record, references

from hockney.records.exponents import F_SPREAD, PRIOR, PRIOR_SPREAD, Exponents, reference_exponents
from hockney.records.levels import MOST_EXPONENT
from hockney.records.record import Record
from hockney.records.visits import levels_of

SIZES = (8, 64, 1024, 65536, 262144, 1048576)
PLANTED = {8: 1.0, 64: 1.0, 1024: 0.7, 65536: 0.3, 262144: 0.3, 1048576: 0.0}
OF_MEMORY = {8: 0.0, 64: 0.0, 1024: 0.4, 65536: 1.0, 262144: 1.0, 1048576: 1.0}


def visits(
    *,
    drift: float,
    memory: float | None = None,
    large_noise: float = 0.0,
    noise: float = 0.01,
    reference_noise: float = 0.0,
    seed: int = 0,
    times: int = 9,
    operation: str = "pingpong",
    steeper: float = 1.0,
) -> list[Record]:
    """Visits of all sizes, `times` each, while the reference of 0.1 µs wanders with that standard deviation.

    `reference_noise`: of each of the seven references of a visit, beside that. `memory`: the large reference of
    1 µs wanders by itself so much, with `large_noise`, and sizes go with it as `OF_MEMORY` says.
    """
    random = np.random.default_rng(seed)
    records = []
    for _ in range(times):
        off = drift * float(random.standard_normal())
        large = memory * float(random.standard_normal()) if memory else 0.0
        for size_B in SIZES:
            of_memory = 0.0 if memory is None else OF_MEMORY[size_B]
            of_short = steeper * PLANTED[size_B] if memory is None else 1.0 - of_memory
            time_s = (1e-6 + size_B / 1e10) * float(
                np.exp(of_short * off + of_memory * large + noise * random.standard_normal())
            )
            short_s = (1e-7 * np.exp(off + reference_noise * random.standard_normal(7))).tolist()
            large_s = []
            if memory is not None:
                large_s = (1e-6 * np.exp(large + large_noise * random.standard_normal(7))).tolist()
            bracket = references(short_s, 6, 3) | {"large_reference_s": large_s}
            visit = {"operation": operation, "ranks": 2, "pair": "0-1", "samples": [time_s] * 20}
            records.append(record(size_B, time_s, within=0.0, **visit, **bracket))
    return records


def exponents_of(runs: int, **planted: float) -> dict[int, np.ndarray]:
    """The exponents of `runs` campaigns, and their errors: shape (runs, 2) for each size."""
    found: dict[int, list[tuple[float, float]]] = {}
    for seed in range(runs):
        records = visits(seed=seed, **planted)  # type: ignore[arg-type]
        for size_B, exponent in reference_exponents(records, levels_of(records)).items():
            found.setdefault(size_B, []).append((exponent.value, exponent.error))
    return {size_B: np.array(rows) for size_B, rows in found.items()}


def test_planted_exponents_come_back_with_their_errors() -> None:
    found = exponents_of(40, drift=0.02, noise=0.005, times=12)
    # Twelve visits with 0.5 % of noise and 2 % of drift: a standard error of 0.005 / (0.02 √12) = 0.07. 8 B has
    # no neighbours, so that nothing but the weight of what was known before moves the mean: 0.07² beside 0.5².
    assert found[8][:, 0].mean() == pytest.approx(0.99, abs=0.04)
    assert found[8][:, 1].mean() == pytest.approx(0.07, abs=0.02)
    # 64 KiB counts with 256 KiB, and 1 MiB with 256 KiB.
    assert found[65536][:, 0].mean() == pytest.approx(0.3, abs=0.04)
    assert found[1048576][:, 0].mean() == pytest.approx(0.15, abs=0.05)


def test_where_memory_drifts_times_move_more_than_the_reference() -> None:
    found = exponents_of(40, drift=0.02, noise=0.005, times=12, steeper=1.8)
    # What was known before, 0.5, weighs 2 %, and visits that are over 8 % off are bounded.
    assert found[8][:, 0].mean() == pytest.approx(1.8, abs=0.08)
    assert exponents_of(10, drift=0.02, noise=0.005, steeper=3.0)[8][:, 0].max() == MOST_EXPONENT


def test_noise_of_the_references_does_not_flatten_an_exponent() -> None:
    # The noise of a median of seven, 1.25 · 2 % / √7, is as much as half of the drift.
    found = exponents_of(40, drift=0.02, noise=0.005, reference_noise=0.02, times=12)
    # Not told from drift it would leave 1 / (1 + 0.47²) = 0.82.
    assert found[8][:, 0].mean() > 0.87


def test_where_references_keep_still_nothing_is_learned() -> None:
    for planted in ({"drift": 1e-6}, {"drift": 0.0, "reference_noise": 0.005}):
        found = exponents_of(40, **planted)
        assert found[8][:, 0].mean() == pytest.approx(PRIOR, abs=0.1)
        assert found[8][:, 1].mean() > 0.8 * PRIOR_SPREAD


def test_one_disturbed_visit_hardly_moves_an_exponent() -> None:
    records = visits(drift=0.02, noise=0.005)
    levels = levels_of(records)
    disturbed = [
        record.model_copy(update={name: 3 * getattr(record, name) for name in ("value", "low", "high")})
        if place == 0
        else record
        for place, record in enumerate(records)
    ]
    assert records[0].bytes == 8
    before, after = (reference_exponents(each, levels)[8].value for each in (records, disturbed))
    # It counts as 8 % off; with references 2 % off, one of nine visits moves a slope by up to 8 / 2 / 9 = 0.45,
    # and three times as long, not bounded, by 110 / 2 / 9 = 6.
    assert after == pytest.approx(before, abs=0.45)


def test_nothing_is_said_of_differences_of_ranks_that_share_a_core_and_of_single_visits() -> None:
    overheads = visits(drift=0.02, operation="send_overhead")
    assert reference_exponents(overheads, levels_of(overheads)) == {}
    records = visits(drift=0.02)
    shared = [record.model_copy(update={"oversubscribed": True}) for record in records]
    assert reference_exponents(shared, levels_of(records)) == {}
    once = visits(drift=0.02, times=1)
    assert reference_exponents(once, levels_of(once)) == {}


def of_both(runs: int = 40, **planted: float) -> dict[int, np.ndarray]:
    """e and f, each with its error, of campaigns with both references: shape (runs, 2, 2) for each size."""
    found: dict[int, list[list[list[float]]]] = {}
    for seed in range(runs):
        records = visits(seed=seed, **planted)  # type: ignore[arg-type]
        for size_B, of_size in reference_exponents(records, levels_of(records)).items():
            both = [[of_size.value, of_size.error], [not_none(of_size.large), not_none(of_size.large_error)]]
            found.setdefault(size_B, []).append(both)
    return {size_B: np.array(rows) for size_B, rows in found.items()}


# Everything goes with the two together (e = 1); 8 B with the short one, large messages with the large one. 1 KiB,
# which nothing is near, has the 0.4 that was planted where 0 was believed before.
BOTH = ((8, 0.0), (1024, 0.4), (65536, 1.0), (1048576, 1.0))


@pytest.mark.parametrize("memory", [0.03, 0.1])
def test_what_goes_with_memory_is_told_from_what_goes_with_the_processor(memory: float) -> None:
    found = of_both(drift=0.02, memory=memory, noise=0.005, times=12)
    for size_B, planted in BOTH:
        # An error of 0.005 / (0.036 √12) = 0.04 leaves 3 % of the difference of 0.4 from the prior.
        assert found[size_B][:, :, 0].mean(axis=0) == pytest.approx((1.0, planted), abs=0.06)


def test_noise_of_both_references_does_not_move_exponents() -> None:
    # Of a visit's median of seven the noise is 0.6 % beside a drift of 2 %, and 0.3 % beside 3 %; sixty visits.
    # ln(l/s) holds the noise of both, so that a correction of each by itself is off, the farther the more visits.
    found = of_both(drift=0.02, memory=0.03, noise=0.005, times=60, reference_noise=0.012, large_noise=0.006)
    for size_B, planted in BOTH:
        assert found[size_B][:, :, 0].mean(axis=0) == pytest.approx((1.0, planted), abs=0.04)


def test_where_both_references_keep_still_the_prior_of_the_size_stays() -> None:
    records = visits(drift=1e-6, memory=1e-6)
    # 1 MiB lies as far from 64 KiB as 4 KiB does from 1 KiB, a third of the way, and its e is less sure by that.
    for size_B, f, e_error in ((8, 0.0, 0.1), (1024, 0.0, 0.1), (65536, 1.0, 0.25), (1048576, 1.0, 0.35)):
        of_size = reference_exponents(records, levels_of(records))[size_B]
        assert (of_size.value, of_size.large) == pytest.approx((1.0, f), abs=0.02)
        assert (of_size.error, of_size.large_error) == pytest.approx((e_error, F_SPREAD), rel=0.01)


def test_visits_without_a_large_reference_are_left_out_where_most_have_one() -> None:
    records = visits(drift=0.02, memory=0.03, noise=0.005, times=13)
    levels = levels_of(records)

    def without(some: range) -> dict[int, Exponents]:
        mixed = [
            record.model_copy(update={"large_reference_s": []}) if place // len(SIZES) in some else record
            for place, record in enumerate(records)
        ]
        return reference_exponents(mixed, levels)

    # One of thirteen visits less moves slopes by less than their errors, 0.005 / (0.02 √12).
    assert without(range(1))[65536].large == pytest.approx(without(range(0))[65536].large, abs=0.07)
    assert all(of_size.large is None for of_size in without(range(7)).values())


def test_one_disturbed_large_reference_hardly_moves_exponents() -> None:
    records = visits(drift=0.02, memory=0.03, noise=0.005, times=12)
    levels = levels_of(records)
    before = reference_exponents(records, levels)[65536]
    disturbed = [record.model_copy() for record in records]
    disturbed[3].large_reference_s = [1e-3, *records[3].large_reference_s[1:]]
    after = reference_exponents(disturbed, levels)[65536]
    assert (after.value, after.large) == pytest.approx((before.value, before.large), abs=0.01)


def test_how_far_times_move_and_how_sure_that_is() -> None:
    memory_s, processor_s = Exponents(1.0, 0.1, 1.0, 0.25), Exponents(1.0, 0.1, 0.0, 0.25)
    # s moves by 2 %, l by 10 %: what goes with memory by 10 %; the errors are of 0.1 · 2 % and 0.25 · 8 %.
    assert memory_s.moved(0.02, 0.10) == pytest.approx((0.10, np.hypot(0.002, 0.02)))
    assert processor_s.moved(0.02, 0.10) == pytest.approx((0.02, np.hypot(0.002, 0.02)))
    # Where nobody says how l moved, it moved by half as much as s, give or take as much again.
    assert memory_s.moved(0.02, None) == pytest.approx((0.01, np.linalg.norm([0.002, 0.0025, 0.01])))
    assert Exponents(0.5, 0.5).moved(0.02, 0.10) == pytest.approx((0.01, 0.01))

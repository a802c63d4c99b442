"""Whether the exponents with which times go with the reference come back from planted drifts."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.records.exponents import PRIOR, reference_exponents
from hockney.records.record import Record
from hockney.records.visits import levels_of

SIZES = (8, 64, 1024, 65536, 262144, 1048576)
PLANTED = {8: 1.0, 64: 1.0, 1024: 0.7, 65536: 0.3, 262144: 0.3, 1048576: 0.0}


def visits(
    *, drift: float, noise: float = 0.01, seed: int = 0, times: int = 9, operation: str = "pingpong"
) -> list[Record]:
    """Visits of all sizes, `times` each, while the reference of 0.1 µs wanders with that standard deviation."""
    random = np.random.default_rng(seed)
    records = []
    for _ in range(times):
        off = drift * float(random.standard_normal())
        for size_B in SIZES:
            time_s = (1e-6 + size_B / 1e10) * float(
                np.exp(PLANTED[size_B] * off + noise * random.standard_normal())
            )
            records.append(
                Record.model_validate(
                    {
                        "source": "hockney",
                        "operation": operation,
                        "bytes": size_B,
                        "statistic": "one_way",
                        "value": time_s,
                        "low": time_s,
                        "high": time_s,
                        "ranks": 2,
                        "pair": "0-1",
                        "samples": [time_s] * 20,
                        "reference_s": [1e-7 * float(np.exp(off))] * 3,
                        "reference_iqr_s": [1e-9] * 3,
                        "group_begins": [0, 10],
                    }
                )
            )
    return records


@pytest.mark.parametrize("seed", range(5))
def test_planted_exponents_come_back(seed: int) -> None:
    records = visits(drift=0.02, noise=0.005, seed=seed, times=12)
    levels = levels_of(records)
    assert [len(of_ranks) for of_ranks in levels.values()] == [1]
    exponents = reference_exponents(records, levels)
    # Twelve visits with 0.5 % of noise and 2 % of drift: the standard error of a slope is 0.1 at most. 1 MiB and
    # 64 KiB count with 256 KiB, which gets what lies between.
    assert exponents[8] == pytest.approx(1.0, abs=0.3)
    assert exponents[262144] == pytest.approx(0.2, abs=0.3)
    assert exponents[8] > exponents[1024] > exponents[1048576] - 0.1


def test_where_references_keep_still_nothing_is_learned() -> None:
    records = visits(drift=1e-6)
    exponents = reference_exponents(records, levels_of(records))
    assert list(exponents.values()) == pytest.approx([PRIOR] * len(SIZES), abs=0.05)


def test_one_disturbed_visit_hardly_moves_an_exponent() -> None:
    records = visits(drift=0.02)
    levels = levels_of(records)
    disturbed = [
        record.model_copy(update={name: 3 * getattr(record, name) for name in ("value", "low", "high")})
        if place == 0
        else record
        for place, record in enumerate(records)
    ]
    assert records[0].bytes == 8
    before, after = (reference_exponents(each, levels)[8] for each in (records, disturbed))
    # As a tenth of the visits, at most a level's width off, it may move a slope by its own weight; unclipped, a
    # time three times as long would move it by more than the whole range.
    assert after == pytest.approx(before, abs=0.5)


def test_nothing_is_said_of_differences_of_ranks_that_share_a_core_and_of_single_visits() -> None:
    overheads = visits(drift=0.02, operation="send_overhead")
    assert reference_exponents(overheads, levels_of(overheads)) == {}
    records = visits(drift=0.02)
    shared = [record.model_copy(update={"oversubscribed": True}) for record in records]
    assert reference_exponents(shared, levels_of(records)) == {}
    once = visits(drift=0.02, times=1)
    assert reference_exponents(once, levels_of(once)) == {}

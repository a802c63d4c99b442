"""Overlap, o and O come back from planted answers with noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.answers import answering, words_of
from tests.factories import holds, not_none

from hockney.errors import RequestError
from hockney.models.effects.base import effect_models
from hockney.records.effect_answers import OverlapAnswer
from hockney.records.effect_record import EffectRecord

CLOCK_S = 3e-8
EAGER_B = 4096
TESTS = 8
TEST_S = 1e-7
TOLERANCE = 0.03
"""What the issue asks; 400 samples of 2 % noise leave medians of 0.1 %."""
SAMPLES = 400
O_S = {("sender", True): 5e-7, ("receiver", True): 8e-7, ("sender", False): 2e-6, ("receiver", False): 3e-6}
O_S_PER_B = {
    ("sender", True): 2e-10,
    ("receiver", True): 3e-10,
    ("sender", False): 1e-11,
    ("receiver", False): 5e-11,
}


def record(
    size_B: int, side: str, tests: int, proceeds: float = 1.0, factor: float = 2.0, extra_s: float = 0.0
) -> EffectRecord:
    """A transfer of 10 µs + 1 ns/B beside o + O·n of the host; 2 % noise, every tenth sample disturbed.

    `proceeds`: the share of the transfer that needs no host; `factor`: computation over the time alone;
    `extra_s`: by how much both together take longer than they must.
    """
    chance = np.random.default_rng([size_B, tests, side == "sender"])
    eager = size_B <= EAGER_B
    host = O_S[side, eager] + O_S_PER_B[side, eager] * size_B
    transfer = 1e-5 + 1e-9 * size_B
    alone = host + transfer
    computation = factor * alone

    def noisy(value: float) -> list[float]:
        noise = 1 + 0.02 * chance.standard_normal(SAMPLES)
        noise[chance.random(SAMPLES) < 0.1] *= 20
        return [float(one) for one in value * noise]

    # What the computation has no time for is left, too.
    left = transfer - min(proceeds * transfer, computation)
    return EffectRecord(
        effect="overlap",
        parameters={"bytes": size_B, "side": side, "tests": tests},
        answer=OverlapAnswer.model_validate(
            {
                "done_early": 5 if eager else 0,
                "tries": 5,
                "computation_s": computation,
                "clock_s": CLOCK_S,
                "alone_s": noisy(alone),
                "total_s": noisy(computation + host + left + extra_s),
                "start_s": noisy(0.75 * host + CLOCK_S),
                "wait_s": noisy(0.25 * host + left + CLOCK_S),
                "tests_s": noisy(tests * (TEST_S + CLOCK_S)),
                "tests": [tests] * SAMPLES,
                "disturbed": [0] * SAMPLES,
                "verified": True,
            }
        ),
    )


fit = effect_models.get("overlap")


def campaign(**other: Any) -> list[EffectRecord]:
    return [
        record(size, side, tests, **other)
        for size in (8, 1024, 4096, 65536, 1048576)
        for side in ("sender", "receiver")
        for tests in (0, TESTS)
    ]


def test_overheads_come_back_for_each_side_and_protocol() -> None:
    found = fit(campaign())
    for side, short in (("sender", "send"), ("receiver", "recv")):
        for eager, protocol in ((True, "eager"), (False, "rendezvous")):
            o = found.parameters[f"o_{short}_{protocol}_s"]
            O = found.parameters[f"O_{short}_{protocol}_s_per_B"]  # noqa: E741
            assert o.value == pytest.approx(O_S[side, eager], rel=TOLERANCE), (side, protocol)
            assert O.value == pytest.approx(O_S_PER_B[side, eager], rel=TOLERANCE), (side, protocol)
            for one in (o, O):
                assert holds(one, one.value)
    assert found.parameters["test_s"].value == pytest.approx(TEST_S, rel=TOLERANCE)
    assert found.not_identified == {}


def test_a_transfer_that_proceeds_is_hidden() -> None:
    found = fit(campaign())
    # All but the host's own part; at 65536 B and 1 MiB sending, 2.7 and 12.5 of 78.2 and 1071 µs.
    assert found.parameters["overlap_send_rendezvous"].value == pytest.approx(
        1 - (2.7 / 78.2 + 12.5 / 1071) / 2, rel=0.03
    )


def test_the_interval_spans_the_overlaps_of_all_sizes() -> None:
    """All of 64 KiB is hidden and nothing of 1 MiB: half is true of neither."""
    found = fit([record(65536, "sender", 0), record(2**20, "sender", 0, proceeds=0)])
    ratio = found.parameters["overlap_send_rendezvous"]
    # The host's part of 78.2 µs is 2.7. Medians of a total of 3 transfers to 0.3 % (95 %: twice that).
    assert not_none(ratio.low) == pytest.approx(0, abs=0.03)
    assert not_none(ratio.high) == pytest.approx(1 - 2.7 / 78.2, abs=0.03)
    for row in found.points:
        low, value, high = (float(str(row[key])) for key in ("overlap_low", "overlap", "overlap_high"))
        assert low < value < high
        assert high - low < 0.05
    assert any("by size" in one.where for one in found.views.exact)


def test_an_overlap_is_a_share_of_the_shorter_of_the_two() -> None:
    """A transfer of which a quarter's time is computed meanwhile, and all of that is hidden."""
    found = fit([record(2**20, "sender", 0, factor=0.25)])
    # Computation of 268 µs; the noise of 2 % is of a total of 1071 µs: medians to 0.5 %.
    assert found.parameters["overlap_send_rendezvous"].value == pytest.approx(1, abs=0.03)


def test_with_mpi_test_and_without_are_told_apart() -> None:
    found = fit([record(2**20, "sender", 0, proceeds=0), record(2**20, "sender", TESTS)])
    assert found.parameters["overlap_send_rendezvous"].value == pytest.approx(0, abs=0.03)
    assert found.parameters["overlap_send_rendezvous_tests"].value == pytest.approx(1 - 12.5 / 1071, abs=0.03)


def test_more_than_one_after_the_other_is_no_overlap() -> None:
    """8 B whose calls take 10 µs longer beside computation: (10 − 10 − host)/10.5, near −1."""
    found = fit([record(8, "sender", 0, extra_s=2e-5), record(4096, "sender", 0)])
    ratio = found.parameters["overlap_send_eager"]
    # Only 4096 B is left: host 1.3 of 15.4 µs.
    assert ratio.value == pytest.approx(1 - 1.3192 / 15.4152, abs=0.03)
    assert not_none(ratio.low) > 0.8
    assert any("overlap_send_eager" in note and "at 8 B" in note for note in found.notes)
    (plot,) = found.plots
    drawn = [row["bytes"] for row in found.points if all(row[name] == word for name, word in plot.where.items())]
    assert drawn == [4096], "what is left out is not drawn"
    alone = fit([record(8, "sender", 0, extra_s=2e-5)])
    assert "overlap_send_eager" not in alone.parameters
    assert "one after the other" in alone.not_identified["overlap_send_eager"]


def test_an_interval_wider_than_all_that_is_possible_tells_nothing() -> None:
    """Half of the repetitions of both together, by lot, take ten transfers longer: the median is any of two."""
    wild = record(65536, "sender", 0)
    is_long = np.random.default_rng(0).permutation(SAMPLES) % 2
    total_s = (np.array(words_of(wild)["total_s"]) + 1e-3 * is_long).tolist()
    wild = answering(wild, total_s=total_s)
    found = fit([wild, record(2**20, "sender", 0)])
    ratio = found.parameters["overlap_send_rendezvous"]
    assert not_none(ratio.low) > 0.9
    assert any("too disturbed" in note and "at 64 KiB" in note for note in found.notes)
    assert [row["left_out"] for row in found.points] == [True, False]
    assert "overlap_send_rendezvous" in fit([wild]).not_identified


@pytest.mark.parametrize(("proceeds", "is_told"), [(0.7, True), (0.3, False)])
def test_overheads_need_a_transfer_that_proceeds_by_itself_for_the_most_part(
    proceeds: float, is_told: bool
) -> None:
    """The last call takes 30 or 70 % of a transfer; half is the limit."""
    found = fit([record(size, "sender", 0, proceeds=proceeds) for size in (65536, 2**20)])
    assert ("o_send_rendezvous_s" in found.parameters) is is_told
    assert ("o_send_rendezvous_s" in found.not_identified) is not is_told


def test_overheads_below_the_clock_are_not_told() -> None:
    """500 ns and 0.2 ns/B up to 4 KiB on a clock of 2 µs; then up to 16 B on one of 30 ns."""
    coarse = [record(size, "sender", tests) for size in (8, 1024, 4096) for tests in (0, TESTS)]
    found = fit([answering(one, clock_s=2e-6) for one in coarse])
    assert {"o_send_eager_s", "O_send_eager_s_per_B"} <= set(found.not_identified)
    assert all(
        "resolution" in found.not_identified[f"{name}"] for name in ("o_send_eager_s", "O_send_eager_s_per_B")
    )
    assert "resolution" in found.not_identified["test_s"]
    assert not any(name.startswith(("o_", "O_", "test")) for name in found.parameters)
    flat = fit([record(size, "sender", 0) for size in (8, 16)])
    assert flat.parameters["o_send_eager_s"].value == pytest.approx(O_S["sender", True], rel=TOLERANCE)
    assert "resolution" in flat.not_identified["O_send_eager_s_per_B"]


def test_one_that_waits_for_the_host_is_not_and_its_overhead_is_not_told() -> None:
    found = fit(campaign(proceeds=0))
    # 2 % of noise in a total three times as long as the transfer.
    assert found.parameters["overlap_recv_rendezvous"].value == pytest.approx(0, abs=0.03)
    assert "o_recv_rendezvous_s" not in found.parameters
    assert "does not proceed" in found.not_identified["o_recv_rendezvous_s"]


def test_one_size_has_no_cost_per_byte() -> None:
    found = fit([record(65536, "sender", 0)])
    assert set(found.not_identified) == {"o_send_rendezvous_s", "O_send_rendezvous_s_per_B"}


def test_a_transfer_as_short_as_the_clock_has_no_overlap() -> None:
    found = fit([answering(record(8, "sender", 0), clock_s=1e-5)])
    assert "overlap_send_eager" in found.not_identified
    assert found.points[0]["overlap"] is None


def test_repetitions_in_which_a_rank_was_suspended_are_left_out_and_counted() -> None:
    records = []
    for one in campaign():
        slowed = {
            key: [value * (50 if index % 5 else 1) for index, value in enumerate(words_of(one)[key])]
            for key in ("alone_s", "total_s", "start_s", "wait_s")
        }
        # Four of five: the median would be a disturbed one.
        disturbed = [int(index % 5 != 0) for index in range(SAMPLES)]
        records.append(answering(one, disturbed=disturbed, **slowed))
    found = fit(records)
    # A fifth of the samples: medians to 0.3 %.
    assert found.parameters["o_send_eager_s"].value == pytest.approx(O_S["sender", True], rel=TOLERANCE)
    assert any("6400 of 8000 repetitions" in note for note in found.notes)


def test_every_view_speaks() -> None:
    views = fit(campaign()).views
    assert all((views.asymptotic, views.dominant, views.bounded, views.exact))


def test_damaged_messages_prove_nothing() -> None:
    damaged = answering(record(8, "sender", 0), verified=False)
    with pytest.raises(RequestError, match="damaged"):
        fit([damaged])


def test_transfers_with_and_without_a_thread_are_not_fitted_together() -> None:
    records = [record(size_B, "sender", 0) for size_B in (8, 1024)]
    records[1].parameters["thread_cpus"] = "2,3"
    with pytest.raises(RequestError, match=r"with a progress thread.*two variants"):
        fit(records)
    records[0].parameters["thread_cpus"] = "2"
    assert fit(records).points

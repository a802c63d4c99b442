"""The ring's statistics, lines of each process and its curves, from answers that are written by hand."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import pytest
from tests.factories import app_run, not_none

from hockney.apps.launched import Launched
from hockney.apps.ring.app import RingStudy
from hockney.apps.ring.lines import compared
from hockney.apps.ring.rings import (
    STATISTICS,
    RingName,
    RingRun,
    RingSeries,
    of_records,
    process_lines,
    statistics,
    statistics_csv,
)
from hockney.apps.ring.run import Places, asking
from hockney.campaign.loop import Request
from hockney.errors import RequestError
from hockney.fields import checked
from hockney.records.answers import RankPlace
from hockney.records.app_record import AppRecord
from hockney.runner.session import Refused, Session

NAME = RingName(mapping="core", variant="default", topology="world", exchange="nonblocking")


def run(
    ranks: int,
    means_s: Sequence[float],
    variances_s2: Sequence[float] | None = None,
    cycles: int = 10,
    order: Sequence[int] | None = None,
) -> RingRun:
    """What the program answers where process `i` of the ring is rank `order[i]`, by rank."""
    around = list(range(ranks)) if order is None else list(order)
    positions = [around.index(rank) for rank in range(ranks)]
    total = ranks * (ranks - 1) // 2
    answer: dict[str, Any] = {
        "cycles": cycles,
        "positions": positions,
        "received": [2 * ranks] * ranks,
        "left_tags": [10 * position for position in positions],
        "right_tags": [10 * position for position in positions],
        "left_values": [-total] * ranks,
        "right_values": [total] * ranks,
        "means_s": list(means_s),
        "variances_s2": list(variances_s2 or [0.0] * ranks),
    }
    record = app_run("ring", ranks, max(means_s), answer=answer)
    return RingRun(record, around, ["package"] * ranks if ranks > 1 else [])


WALLTIMES_S = (0.00023979, 0.00026223, 0.00026877, 0.00017639)
"""Of ten iterations, as an unpublished report prints them."""


def test_the_lines_that_count_messages() -> None:
    lines = process_lines(run(4, [time_s / 10 for time_s in WALLTIMES_S]), "messages")
    assert lines == [
        "I am process 0 and I have received 8 messages. My final messages have tags 0, 0; values -6, 6",
        "# walltime on processor 0 after 10 iterations 0.00023979. Average: 0.00002398",
        "I am process 1 and I have received 8 messages. My final messages have tags 10, 10; values -6, 6",
        "# walltime on processor 1 after 10 iterations 0.00026223. Average: 0.00002622",
        "I am process 2 and I have received 8 messages. My final messages have tags 20, 20; values -6, 6",
        "# walltime on processor 2 after 10 iterations 0.00026877. Average: 0.00002688",
        "I am process 3 and I have received 8 messages. My final messages have tags 30, 30; values -6, 6",
        "# walltime on processor 3 after 10 iterations 0.00017639. Average: 0.00001764",
    ]


def test_the_lines_that_count_hops() -> None:
    lines = process_lines(run(5, [7e-6] * 5), "hops")
    assert lines == [
        f"I am process {rank} and I have received 5 messages. "
        f"My final messages have tag {10 * rank} and value msg-left -10, msg-right 10"
        for rank in range(5)
    ]


def test_lines_are_in_the_order_of_the_ring() -> None:
    # Rank 2 of the launch is the ring's process 0.
    lines = process_lines(run(3, [1e-6, 2e-6, 3e-6], order=[2, 0, 1]), "messages")
    assert [line.split()[3] for line in lines[::2]] == ["0", "1", "2"]
    assert [line.rsplit(maxsplit=1)[1] for line in lines[1::2]] == ["0.00000300", "0.00000100", "0.00000200"]


TABLE_1 = [
    # t_mean, t_xmsg, var, s2, dev, s of an unpublished report, P = 5, N = 10000
    (7.073931, 1.414786, 1425.467, 1425.496, 37.75536, 37.75574),
    (7.072714, 1.414543, 1423.095, 1423.123, 37.72393, 37.72430),
    (7.073540, 1.414708, 1428.383, 1428.412, 37.79395, 37.79433),
    (7.072797, 1.414559, 1419.479, 1419.507, 37.67598, 37.67635),
    (7.074060, 1.414812, 1430.666, 1430.694, 37.82414, 37.82452),
]


def test_the_columns_of_a_printed_table() -> None:
    made = statistics(run(5, [1e-6 * row[0] for row in TABLE_1], [1e-12 * row[2] for row in TABLE_1], 10000))
    for rank, (row, (mean, per_message, variance, printed_s2, deviation, _)) in enumerate(
        zip(made, TABLE_1, strict=True)
    ):
        assert tuple(row) == STATISTICS
        assert (row["rank"], row["P"], row["N"]) == (rank, 5, 10000)
        assert row["t_mean"] == pytest.approx(mean, abs=1e-9)
        # The printed digits: half a unit of the last one.
        assert row["t_xmsg"] == pytest.approx(per_message, abs=0.6e-6)
        assert row["var"] == pytest.approx(variance, abs=1e-9)
        assert row["dev"] == pytest.approx(deviation, abs=1e-5)
        assert row["s2"] == pytest.approx(variance * 10000 / 9999, rel=1e-12)
        assert row["s"] == pytest.approx(math.sqrt(variance * 10000 / 9999), rel=1e-12)
        # The report's own follow from five times as many samples; that is why ours differ from them.
        assert printed_s2 == pytest.approx(variance * 50000 / 49999, abs=1e-3)
        assert row["s2"] != pytest.approx(printed_s2, abs=1e-2)


def test_one_cycle_has_no_sample_variance() -> None:
    (row, _) = statistics(run(2, [1e-6, 1e-6], cycles=1))
    assert (row["var"], row["s2"], row["s"]) == (0, None, None)


def curve(times_s: dict[int, float], **name: str) -> RingSeries:
    return RingSeries(NAME._replace(**name), [run(ranks, [time_s] * ranks) for ranks, time_s in times_s.items()])


def test_the_csv_has_a_line_for_each_process_of_each_ring() -> None:
    text = statistics_csv([curve({1: 1e-6, 3: 3e-6}), curve({2: 2.5e-6}, topology="cartesian")])
    assert text.endswith("\n")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == [*STATISTICS, "mapping", "variant", "topology", "exchange"]
    assert [(row["rank"], row["P"]) for row in rows] == [
        ("0", "1"), ("0", "3"), ("1", "3"), ("2", "3"), ("0", "2"), ("1", "2"),
    ]  # fmt: skip
    assert (rows[1]["t_mean"], rows[1]["t_xmsg"]) == ("3", "1")
    assert rows[-1]["topology"] == "cartesian"


def test_the_csv_leaves_a_field_empty_where_there_is_no_value() -> None:
    one = RingSeries(NAME, [run(1, [1e-6], cycles=1)])
    (row,) = csv.DictReader(io.StringIO(statistics_csv([one])))
    assert (row["s2"], row["s"], row["var"]) == ("", "", "0")


def test_a_ring_of_one_process_is_no_part_of_the_line() -> None:
    # t = 1 µs + 2 µs·P but for one process, whose messages go nowhere.
    ran = curve({1: 9e-6, **{ranks: 1e-6 + 2e-6 * ranks for ranks in range(2, 9)}})
    made = not_none(ran.fitted())
    (segment,) = made.segments
    assert (segment.first, segment.last) == (2, 8)
    (line,) = compared([ran])[0].segments
    # Half the slope: a further process sends two messages more.
    assert (line.slope_s, line.intercept_s, line.latency_s) == pytest.approx((2e-6, 1e-6, 1e-6))
    assert curve({1: 1e-6}).fitted() is None


class Turned:
    """A launch of four ranks on two packages whose library deals the ring's processes out in turns."""

    placement: ClassVar[list[RankPlace]] = [
        RankPlace(rank=rank, host="a", package=rank // 2, numa=rank // 2, cpu=rank) for rank in range(4)
    ]

    def __init__(self, *, verified: bool = True) -> None:
        self.asked: list[tuple[int, object, object]] = []
        self._verified = verified

    def request(self, operation: str, parameters: Mapping[str, object], ranks: int) -> Request[AppRecord]:
        assert operation == "ring"
        self.asked.append((ranks, parameters["topology"], parameters["exchange"]))
        answer = {
            "verified": self._verified,
            "cycles": 7,
            "positions": [0, 2, 3, 1] if ranks == 4 else [*range(ranks)],
        }
        record = app_run("ring", ranks, ranks * 1e-6, parameters=dict(parameters), answer=answer)
        return Request(lambda _: [record])

    def answer(self, study: RingStudy, places: Places) -> list[AppRecord]:
        """Every request of the study."""
        requests = asking(study, places, cast("Launched", self))
        records: list[AppRecord] = []
        request = next(requests, None)
        while request is not None:
            new = request.ask(cast("Session", None))
            records += new
            try:
                request = requests.send(new)
            except StopIteration:
                request = None
        return records


def test_a_sweep_follows_the_order_of_the_ring() -> None:
    launched, places = Turned(), Places()
    study = RingStudy(
        ranks=[4, 2, 4], exchange=["sendrecv", "persistent"], topology=["cartesian-reorder"], iterations=7
    )
    records = launched.answer(study, places)
    # The fewest processes first, ways that are compared next to each other.
    assert launched.asked == [
        (ranks, "cartesian-reorder", exchange) for ranks in (2, 4) for exchange in ("sendrecv", "persistent")
    ]
    # A given number of cycles is run once.
    assert [(one.parameters["iterations"], one.parameters["repetitions"]) for one in records] == [(7, 1)] * 4
    curves = of_records(records, lambda record: places[record.launch, record.ranks])
    two, four = curves[0].runs
    assert (two.order, two.localities) == ([0, 1], ["numa", "numa"])
    assert (four.order, four.localities) == ([0, 3, 1, 2], ["node"] * 4)
    assert [(one.before, one.after, one.level) for one in curves[1].boundaries] == [(2, 4, "package")]


def test_a_wrong_ring_ends_the_sweep() -> None:
    with pytest.raises(Refused, match="has wrong values or tags"):
        Turned(verified=False).answer(RingStudy(ranks=[2]), Places())


def test_a_title_leaves_out_what_is_usual() -> None:
    assert curve({2: 1e-6}).title == "core, world, nonblocking"


@pytest.mark.parametrize(
    "wrong", [{"exchange": "sendrecv,smoke"}, {"topology": "torus"}, {"iterations": 0}, {"iterations": 10**8 + 1}]
)
def test_what_the_program_would_refuse_is_refused_before(wrong: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="--"):
        checked(RingStudy, wrong, "run ring")

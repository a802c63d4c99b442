"""The answers that a page begins with: their order, and what is said of messages and of collectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.factories import not_none

from hockney.models.base import Fit
from hockney.models.over_ranks.choice import AlgorithmChoice
from hockney.models.over_ranks.points import Configuration
from hockney.records.app_record import AppRecord
from hockney.records.contents import Contents
from hockney.records.journal import FailureLine, HostLine, LaunchLine
from hockney.records.keys import PairKey
from hockney.records.record import Record
from hockney.report.collective_findings import fastest_by_size, of_choices
from hockney.report.curves import MessageCurve, headline
from hockney.report.figures import in_words
from hockney.report.findings import MOST, Finding, faster_in_words, of_crowding, of_results, weightiest
from hockney.report.messages import of_curve, of_rivals, of_transports

PLACE = Configuration(())


def choice(size_B: int, best: str, *ties: str, default_s: float | None = None, ranks: int = 8) -> AlgorithmChoice:
    default = None if default_s is None else "default"
    return AlgorithmChoice(PLACE, ranks, size_B, best, 1.0, ties, 3, default, default_s)


def test_a_page_of_parts_begins_with_an_answer_of_each() -> None:
    offered = [Finding("ring", "ring", 0.9), Finding("ring too", "ring", 0.8), Finding("sum", "app-sum3d", 0.1)]
    chosen = weightiest(offered, ["ring", "sum3d"], [["sum3d"], ["ring"], ["cg"]])
    assert [finding.text for finding in chosen] == ["sum", "ring", "ring too"]


def test_each_part_has_its_own_answer_however_many_there_are() -> None:
    """Two parts about the same operation have two of its answers."""
    names = [f"part{number}" for number in range(MOST + 2)]
    offered = [Finding(name, name, 0.5) for name in names] + [Finding("more", "part0", 0.4)]
    parts = [[name] for name in (*names, "part0")]
    assert [finding.text for finding in weightiest(offered, names, parts)] == [*names, "more"]


def test_the_weightiest_come_first_those_about_the_subject_before_all() -> None:
    many = [Finding(str(number), "pingpong", number / 20) for number in range(12)]
    assert [finding.text for finding in weightiest(many)] == [str(number) for number in range(11, 11 - MOST, -1)]
    about = [Finding("light", "app-ring", 0.01), Finding("drawn", "figure-app-ring-core", 0.02)]
    assert [finding.text for finding in weightiest([*many, *about], ["ring"])][:3] == ["drawn", "light", "11"]


def measured(
    curve: Callable[..., MessageCurve], alpha_s: float, beta_s_per_B: float, **held: Any
) -> MessageCurve:
    """α + βn at powers of 4 from 1 B to 1 MiB, within 1 %."""
    times_s = {4**power: alpha_s + beta_s_per_B * 4**power for power in range(11)}
    return curve([(n, t, 0.99 * t, 1.01 * t) for n, t in times_s.items()], {}, **held)


def test_latency_peak_and_a_largest_message_far_below_it(
    curve: Callable[..., MessageCurve], line: Callable[[float, float], Fit]
) -> None:
    """1 MiB at 1 GB/s; 4 MiB at only half of it."""
    points = [
        (size_B, time_s, (1 - share) * time_s, (1 + share) * time_s)
        for size_B, time_s, share in ((8, 1e-6, 0.2), (2**20, 2**20 * 1e-9, 0.02), (2**22, 2**22 * 2e-9, 0.5))
    ]
    fit = line(1e-6, 1e-9)
    said = of_curve(curve(points, {"piecewise": fit}), "pingpong", 0.9)
    assert [one.text.partition(": ")[2] for one in said] == [
        "the latency is 1 µs (95 %: 0.8 to 1.2 µs), at 8 B.",
        "the peak bandwidth is 1 GB/s (95 %: 980 MB/s to 1.02 GB/s), at 1 MiB.",
        "the largest message, 4 MiB, reaches only 500 MB/s (95 %: 333 MB/s to 1 GB/s).",
    ]
    assert [one.verdict for one in said] == ["look", "good", "look"]
    assert len(of_curve(curve(points[:2], {"piecewise": fit}), "pingpong", 0.9)) == 2
    # A window has no latency, and a time without an interval is to be looked at.
    (rate,) = of_curve(curve([(8, 1e-6)], {"piecewise": fit}, operation="bandwidth"), "bandwidth", 0.9)
    assert rate.text.endswith("the peak bandwidth is 8 MB/s (no interval), at 8 B.")
    assert rate.verdict == "look"


def test_a_noisy_point_is_no_peak_anywhere(
    curve: Callable[..., MessageCurve], line: Callable[[float, float], Fit]
) -> None:
    """64 KiB at 2 GB/s, or at half of it; 1 MiB surely at 1.9 GB/s: answer, headline and figure say the same."""
    times_s = {2**16: 2**16 / 2e9, 2**20: 2**20 / 1.9e9}
    points = [(n, t, t / 1.01, t * (2 if n == 2**16 else 1.01)) for n, t in times_s.items()]
    noisy = curve(points, {"hockney": line(0, 1 / 2e9)})
    headlined = not_none(headline(noisy, []))
    assert headlined.highest_throughput_B_per_s == pytest.approx(1.9e9)
    assert "measured peak 1.9 GB/s at 1 MiB" in headlined.text
    assert in_words(noisy).endswith("the measured peak is 1.9 GB/s at 1 MiB.")
    assert "the peak bandwidth is 1.9 GB/s" in of_curve(noisy, "pingpong", 0.9)[1].text


def test_variants_are_compared_for_long_and_for_short_messages(curve: Callable[..., MessageCurve]) -> None:
    """The second has four times the bandwidth, and the same latency within what is known of it."""
    slow = measured(curve, 1e-6, 1e-9, variant="roce")
    fast = measured(curve, 1e-6, 0.25e-9, variant="ib")
    long, short = of_rivals("pingpong", [slow, fast], "pingpong")
    assert long.text == "pingpong, long messages: ib is 3.95 × faster than roce (3.83 to 3.99 ×, 3 points)."
    assert (long.verdict, short.verdict) == ("fact", "fact")
    assert short.text.startswith("pingpong, short messages: ")
    assert long.weight > short.weight
    # Another mapping of one of them is no rival of the other.
    apart = measured(curve, 9e-6, 1e-9, variant="roce", mapping="socket")
    assert of_rivals("pingpong", [fast, apart], "pingpong") == []


def test_libraries_and_transports_are_compared_at_each_place(curve: Callable[..., MessageCurve]) -> None:
    """Three libraries and transports at one place, two at another: those are rivals alone."""
    made = [
        measured(curve, alpha_s, beta_s_per_B, variant=variant, other={"mpi": mpi}, locality=place)
        for mpi, variant, alpha_s, beta_s_per_B, place in (
            ("Open MPI 5", "ob1-sm", 1e-6, 2e-9, "cache"),
            ("Open MPI 5", "ob1-tcp", 5e-6, 4e-9, "cache"),
            ("MPICH 4", "ob1-sm", 2e-6, 1e-9, "cache"),
            ("Open MPI 5", "ob1-sm", 9e-6, 2e-9, "node"),
            ("Open MPI 5", "ob1-tcp", 9e-6, 2e-9, "node"),
        )
    ]
    short, long = of_transports("pingpong", made)
    assert short.text == (
        "pingpong, cache, 1 B: Open MPI 5, ob1-sm is fastest of 3 transports, with 1 µs; the slowest takes "
        "4.99 × as long."
    )
    alike = [measured(curve, 1e-6, 1e-9, variant=name) for name in ("default", "ob1-sm", "ucx")]
    assert [one.text.partition(": ")[2] for one in of_transports("pingpong", alike)] == [
        "no transport of 3 is faster than the others by more than chance."
    ] * 2
    # (5 + 0.004)/(1 + 0.002); 2^20 B: 2 + 1049 µs, and 5 + 4194 µs.
    assert long.text.startswith(
        "pingpong, cache, 1 MiB: MPICH 4, ob1-sm is fastest of 3 transports, with 1.05 ms"
    )
    assert long.text.endswith("the slowest takes 4 × as long.")


def test_of_systems_the_fastest_is_set_before_each_other(curve: Callable[..., MessageCurve]) -> None:
    """Whatever else differs: where they were measured is a system's own."""
    class_ = [
        measured(curve, share * 1e-6, share * 1e-9, other={"system": name}, locality=place)
        for name, share, place in (("anna", 2.0, "cache"), ("ben", 1.0, "network"), ("carla", 8.0, "network"))
    ]
    found = [one.text for one in of_rivals("pingpong", class_, "pingpong")]
    assert found == [
        f"pingpong, {kind} messages: ben is {ratio} × faster than {slow} ({ratio} to {ratio} ×, {count} points)."
        for kind, count in (("long", 3), ("short", 6))
        for slow, ratio in (("anna", "2.00"), ("carla", "8.00"))
    ]


def test_what_is_equal_within_intervals_is_as_fast(curve: Callable[..., MessageCurve]) -> None:
    both = [measured(curve, 1e-6, 1e-9, mapping=name) for name in ("core", "socket")]
    said = of_rivals("pingpong", both, "pingpong")
    assert said[0].text == "pingpong, long messages: mapping socket is as fast as mapping core (3 points)."


@pytest.mark.parametrize(("slower_at", "is_sure"), [(1.5, True), (0.5, False)])
def test_a_gain_whose_ends_hold_1_is_no_gain(slower_at: float, is_sure: bool) -> None:
    """Two sizes at which the first is twice as fast, and one at which it is faster or slower."""
    ratio = pd.DataFrame({"ratio": [2.0, 2.0, slower_at], "is_told": True})
    said = faster_in_words("ben", "anna", ratio)
    assert said == (
        "anna is 2.00 × faster than ben (1.50 to 2.00 ×, 3 points)"
        if is_sure
        else "anna has the shorter time; as fast may be ben (0.50 to 2.00 ×, 3 points)"
    )
    untold = faster_in_words("ben", "anna", ratio.assign(is_told=False))
    assert untold.startswith("anna has the shorter time; as fast may be ben")


def test_ranges_of_sizes_end_where_another_is_the_fastest() -> None:
    sizes = [choice(8, "chain"), choice(64, "chain", "binary"), choice(512, "binary", "chain")]
    assert fastest_by_size(sizes) == "chain is fastest from 8 B to 64 B, binary is fastest at 512 B"
    assert fastest_by_size(sizes[:1]) == "chain is fastest at 8 B"


@pytest.mark.parametrize(("worst", "verdict"), [(1.5, "look"), (3.0, "bad")])
def test_the_default_is_set_against_the_fastest(worst: float, verdict: str) -> None:
    told = [choice(8, "chain", default_s=1.2), choice(512, "chain", default_s=worst)]
    (cost, by_size) = of_choices("bcast", told)
    assert cost.text == (
        f"bcast: chain is {worst:.2f} × faster than the default at 512 B on 8 ranks; the default is slower at "
        "2 of 2 points."
    )
    assert (cost.verdict, by_size.verdict) == (verdict, "fact")
    assert by_size.text == "bcast on 8 ranks: chain is fastest from 8 B to 512 B."
    # Once is enough: no second answer says that the default is the fastest.
    (cost,) = of_choices("bcast", [choice(8, "default", "chain", default_s=1.01)])
    assert cost.text == "bcast: no algorithm is faster than the default (1 point)."
    assert cost.verdict == "good"
    assert of_choices("bcast", []) == []
    noisy = replace(choice(64, "default", "chain", default_s=1.0), is_noisy=True)
    (cost,) = of_choices("bcast", [noisy])
    assert (cost.verdict, cost.text) == (
        "look",
        "bcast: too noisy to tell whether an algorithm is faster than the default (1 point).",
    )


def test_of_several_allocations_the_sentence_says_which() -> None:
    placed = replace(choice(8, "chain", default_s=2.0), configuration=Configuration((("mapping", "node"),)))
    (cost, by_size) = of_choices("bcast", [placed], ["mapping"])
    assert cost.text.endswith("than the default at 8 B on 8 ranks (allocation node).")
    assert by_size.text.startswith("bcast on 8 ranks (allocation node): ")


def test_of_one_kind_two_come_before_the_others() -> None:
    """Ten collectives have a default each, and the page has other things to say."""
    many = [Finding(f"default {number}", "x", 0.9, "default") for number in range(10)]
    texts = [one.text for one in weightiest([*many, Finding("trust", "y", 0.1), Finding("level", "y", 0.2)])]
    assert texts == ["default 0", "default 1", "level", "trust", "default 2"]


def test_that_ranks_shared_cores_comes_before_all_answers() -> None:
    launches = [
        LaunchLine(oversubscribed=shared, hosts=[HostLine(host="h")] * hosts)
        for shared, hosts in ((True, 1), (False, 1))
    ]
    (said,) = of_crowding(launches, "provenance")
    assert said.text.startswith("Ranks shared cores in 1 of 2 launches:")
    assert weightiest([Finding("bcast: fastest", "bcast", 0.9), said], ["bcast"])[0] is said
    # Two hosts in a lab share a machine, and a network that is slower than their cores.
    assert of_crowding([LaunchLine(oversubscribed=True, hosts=[HostLine(host="h")] * 2)], "provenance") == []


CHECKED = {
    "source": "x",
    "operation": "bcast",
    "statistic": "completion",
    "value": 1.0,
    "system": "s",
    "mpi": "m",
}
POINTS = [
    Record.model_validate({**CHECKED, "algorithm": name, "ranks": 8, "bytes": size, "verified": True})
    for name, size in (("chain", 2), ("chain", 2), ("chain", 4), ("flat", 2))
]
RUN = AppRecord.model_validate(
    {"operation": "ring", "ranks": 8, "parameters": {}, "time_s": 1.0, "answer": {"verified": True}}
)


def results(
    records: Sequence[Record] = (), apps: Sequence[AppRecord] = (), failures: Sequence[FailureLine] = ()
) -> str:
    contents = Contents(
        Path("s"), pd.DataFrame(), records=list(records), apps=list(apps), failures=list(failures)
    )
    return "".join(finding.text for finding in of_results(contents, "warnings"))


def test_of_crowded_ranks_it_is_told_whether_results_are_right() -> None:
    assert results(POINTS) == "All checked results are right (3 points)."
    assert results(POINTS, [RUN, RUN]) == "All checked results are right (3 points and 2 runs)."
    assert results(apps=[RUN]) == "All checked results are right (1 run)."
    assert results([record.model_copy(update={"verified": None}) for record in POINTS]) == ""


def test_a_wrong_measurement_and_a_wrong_application_are_named() -> None:
    wrong = POINTS[0].model_copy(update={"verified": False})
    wrong_run = RUN.model_copy(update={"answer": RUN.answer.model_copy(update={"verified": False})})
    assert results([*POINTS, wrong], [wrong_run]) == "Results are wrong: bcast chain, ring on 8 ranks."


def test_what_came_to_no_end_is_counted_beside_what_is_right() -> None:
    lost = FailureLine(series=PairKey("pingpong", "core", 0, 1, "warm"), bytes=8, reason="?")
    limitation = FailureLine(limitation="powers of two only")
    # Tried twice, it is one point; a run of an application has no series; a limitation is no failure.
    failures = [lost, lost, FailureLine(reason="the launch ended"), limitation]
    assert results(POINTS, failures=failures).endswith(
        " (3 points).2 measurements did not end, without a result."
    )
    assert results(failures=[limitation]) == ""

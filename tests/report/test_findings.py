"""The answers that a page begins with: their order, and what is said of messages and of collectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hockney.models._evaluate import HeldOut
from hockney.models.base import Fit, Parameter, Regime
from hockney.models.over_ranks.choice import AlgorithmChoice
from hockney.models.over_ranks.points import Configuration
from hockney.records.app_record import AppRecord
from hockney.records.contents import Contents
from hockney.records.journal import FailureLine, HostLine, LaunchLine
from hockney.records.keys import PairKey
from hockney.records.levels import Level
from hockney.records.record import Record
from hockney.report.collective_findings import fastest_by_size, of_choices, to_set
from hockney.report.curves import MessageCurve, headline
from hockney.report.findings import MOST, Finding, of_results, of_trust, weightiest
from hockney.report.messages import of_headlines, of_mappings, of_models

PLACE = Configuration(())


def choice(size_B: int, best: str, *ties: str, default_s: float | None = None, ranks: int = 8) -> AlgorithmChoice:
    default = None if default_s is None else "default"
    return AlgorithmChoice(PLACE, ranks, size_B, best, 1.0, ties, 3, default, default_s)


def stepped(before_s: float, after_s: float, at_B: float = 4096.0) -> Fit:
    """Two levels with a step between."""

    def level(low_B: float, high_B: float | None, time_s: float) -> Regime:
        constant = Parameter(value=time_s, unit="s")
        return Regime(min_B=low_B, max_B=high_B, alpha_s=constant, beta_s_per_B=Parameter(value=0.0, unit="s/B"))

    return Fit(model="piecewise", regimes=[level(0, at_B, before_s), level(at_B, None, after_s)])


def test_one_point_is_no_points() -> None:
    (said, *_) = of_choices("bcast", [choice(8, "chain", default_s=2.0)])
    assert "in the median of 1 point (P90" in said.text
    assert "slower at 1 point: faster there is chain at 1;" in said.text
    (said, *_) = of_choices("bcast", [choice(size_B, "chain", default_s=2.0) for size_B in (8, 16)])
    assert "slower at 2 points: faster" in said.text


def test_the_weightiest_come_first_those_about_the_subject_before_all() -> None:
    many = [Finding(str(number), "pingpong", number / 20) for number in range(12)]
    assert [finding.text for finding in weightiest(many)] == [str(number) for number in range(11, 11 - MOST, -1)]
    about = [Finding("light", "app-ring", 0.01), Finding("drawn", "figure-app-ring-core", 0.02)]
    assert [finding.text for finding in weightiest([*many, *about], ["ring"])][:3] == ["drawn", "light", "11"]


@pytest.mark.parametrize(
    ("ratio", "wide", "said"),
    [
        (1.5, 0.1, "steps from 1 µs to 1.5 µs (× 1.50)"),
        (0.6, 0.1, "steps from 1 µs to 0.6 µs (× 0.60)"),
        # The intervals overlap: up to 1.3 µs before the limit, and from 1.05 µs beyond it.
        (1.5, 0.3, "cannot be told: the fit has × 1.50"),
        (0.6, 0.5, "cannot be told: the fit has × 0.60"),
        (1.02, 0.1, "without a step (× 1.02)"),
    ],
)
def test_the_step_at_the_eager_limit(
    ratio: float, wide: float, said: str, curve: Callable[..., MessageCurve]
) -> None:
    levels_s = [(size, ratio * 1e-6 if size > 4096 else 1e-6) for size in (8, 64, 4096, 8192, 65536)]
    points = [(size, time_s, time_s * (1 - wide), time_s * (1 + wide)) for size, time_s in levels_s]
    fits = {"piecewise": stepped(1e-6, ratio * 1e-6)}
    head = headline(curve(points, fits, eager_limit_B=4096), [])
    assert head is not None
    texts = [finding.text for finding in of_headlines([head])]
    assert "empty message takes 1 µs (no interval)" in texts[0]
    assert said in texts[1]
    # Lines that were fitted to sizes far from the limit do not tell what happens there.
    for few in (points[:2] + points[3:], points[:3] + points[4:]):
        head = headline(curve(few, fits, eager_limit_B=4096), [])
        assert head is not None
        assert "too few sizes near it" in of_headlines([head])[1].text


def test_a_line_that_rises_too_steeply_up_to_the_eager_limit_is_no_step(
    curve: Callable[..., MessageCurve],
) -> None:
    # The library goes another way from 2112 B on, between the sizes: to 4016 B the line is a guess.
    times_us = {64: 0.28, 256: 0.36, 1024: 0.7, 2048: 1.13, 4096: 1.27, 16384: 1.6}
    points = [(size, 1e-6 * time, 0.98e-6 * time, 1.02e-6 * time) for size, time in times_us.items()]
    alpha, slope = Parameter(value=0.24e-6, unit="s"), Parameter(value=1 / 2.22e9, unit="s/B")
    beyond, flat = Parameter(value=1.14e-6, unit="s"), Parameter(value=1 / 33.5e9, unit="s/B")
    eager = Regime(min_B=0, max_B=4016, alpha_s=alpha, beta_s_per_B=slope)
    long = Regime(min_B=4016, max_B=None, alpha_s=beyond, beta_s_per_B=flat)
    head = headline(
        curve(points, {"piecewise": Fit(model="piecewise", regimes=[eager, long])}, eager_limit_B=4016), []
    )
    assert head is not None
    assert "whether the time steps there cannot be told" in of_headlines([head])[1].text


@pytest.mark.parametrize(("high_s", "is_off"), [(3e-3, False), (1.5e-3, True)])
def test_a_largest_message_off_the_model_stands_beside_its_bandwidth(
    high_s: float, *, is_off: bool, curve: Callable[..., MessageCurve], line: Callable[[float, float], Fit]
) -> None:
    """1 MB in 1 ms, where a model of 0.5 GB/s says 2 ms."""
    points = [(8, 1e-6, 9e-7, 2e-6), (1_000_000, 1e-3, 0.8e-3, high_s)]
    head = headline(curve(points, {"piecewise": line(1e-6, 2e-9)}), [])
    assert head is not None
    text = of_headlines([head])[0].text
    rates = "came to 1 GB/s (95 %: 667 MB/s to 1.25 GB/s), where the model says 500 MB/s."
    assert text.endswith(f"; 1000000 B, the largest measured, {rates}") == is_off
    assert ("largest" in text) == is_off


def test_mappings_are_set_beside_each_other(curve: Callable[..., MessageCurve]) -> None:
    """Half of the sizes take twice the time across packages; the others are within the intervals."""

    def mapped(mapping: str, locality: str, factors: Sequence[float]) -> MessageCurve:
        sizes = [8 * 4**place for place in range(len(factors))]
        points = [(n, f * 1e-6, 0.95e-6 * f, 1.05e-6 * f) for n, f in zip(sizes, factors, strict=True)]
        return curve(points, {}, mapping=mapping, locality=locality)

    first, other = mapped("core", "cache", [1, 1, 1, 1]), mapped("socket", "package", [1.02, 2, 1, 2])
    (said,) = of_mappings("pingpong", [first, other])
    assert said.text == (
        "pingpong: mapping socket (package) takes 1.51 times as long as mapping core (cache) in the median of "
        "4 points; it is slower at 2, and at 2 the two cannot be told apart."
    )
    # Where both have a locality, it is compared with its like.
    near = mapped("socket", "cache", [1, 1, 1, 1])
    (said,) = of_mappings("pingpong", [mapped("core", "package", [3, 3, 3, 3]), first, near])
    assert "takes 1.00 times as long as mapping core (cache) in" in said.text
    assert said.text.endswith("; the two cannot be told apart at any of them.")
    (said,) = of_mappings("pingpong", [first, mapped("socket", "package", [2, 2, 2, 2])])
    assert said.text.endswith("; it is slower at all of them.")
    assert of_mappings("pingpong", [first]) == []
    # What tells several pairs of curves apart is said, what all have in common is not.
    off = [replace(one, entry=one.entry.model_copy(update={"cache": "off"})) for one in (first, other)]
    heads = [one.text.partition(":")[0] for one in of_mappings("pingpong", [first, other, *off])]
    assert heads == ["pingpong", "pingpong, off cache"]


def test_a_break_far_from_the_limit_is_not_that_of_the_limit(curve: Callable[..., MessageCurve]) -> None:
    made = curve([(8, 1e-6), (65536, 2e-6)], {"piecewise": stepped(1e-6, 2e-6, 256.0)}, eager_limit_B=4096)
    head = headline(made, [])
    assert head is not None
    assert "no break there" in of_headlines([head])[1].text


def test_the_model_stands_beside_the_strongest_baseline() -> None:
    nothing = np.array([1e-6])

    def result(median: float) -> HeldOut:
        return HeldOut(nothing, nothing, median, 2 * median, 0.02)

    (said,) = of_models("pingpong", {"piecewise": result(0.03), "hockney": result(0.1)}, "piecewise")
    assert "off by 3 %" in said.text
    assert ", more than the strongest baseline, lines between the neighbouring sizes, with 2 %" in said.text
    (said,) = of_models("pingpong", {"piecewise": result(0.03), "hockney": result(0.01)}, "piecewise")
    assert ", more than the strongest baseline, hockney, with 1 %" in said.text
    # Both are shown as 2 %.
    (said,) = of_models("pingpong", {"piecewise": result(0.01999)}, "piecewise")
    assert "off by 2 % in" in said.text
    assert ", as much as the strongest baseline, lines between the neighbouring sizes, with 2 %" in said.text
    (said,) = of_models("pingpong", {"piecewise": result(0.005)}, "piecewise")
    assert ", less than the strongest baseline" in said.text
    assert of_models("pingpong", {}, "piecewise") == []


def test_ranges_of_sizes_end_where_no_algorithm_is_unbeaten_in_all() -> None:
    sizes = [choice(8, "chain"), choice(64, "chain"), choice(512, "binary", "chain"), choice(4096, "linear")]
    # The chain ties at 512 B, so its range goes on; nothing is unbeaten both there and at 4 KiB.
    assert fastest_by_size(sizes) == "chain is not beaten from 8 B to 512 B, linear is fastest at 4 KiB"
    assert fastest_by_size([choice(8, "chain"), choice(8, "chain")]) == "chain is fastest at 8 B"
    assert fastest_by_size([choice(8, "chain", "binary")]) == (
        "chain is not beaten at 8 B (and cannot be told from binary)"
    )


def test_the_default_is_set_against_the_fastest() -> None:
    told = [
        choice(8, "chain", default_s=1.2),
        choice(64, "chain", default_s=1.4),
        choice(512, "chain", default_s=3.0),
    ]
    (cost, by_size) = of_choices("bcast", told)
    assert "takes × 1.40 of the fastest algorithm's time in the median of 3 points" in cost.text
    assert "at worst × 3.00, at 512 B on 8 ranks, where chain is fastest" in cost.text
    assert by_size.text == "bcast on 8 ranks: chain is fastest from 8 B to 512 B."
    (cost, *_, open_) = of_choices("bcast", [choice(8, "chain", "default", default_s=1.01)])
    assert "at no point can it be told from the fastest" in cost.text
    assert "at 1 of 1 point the fastest cannot be told" in open_.text
    assert of_choices("bcast", []) == []


def test_of_several_allocations_the_sentence_says_which() -> None:
    placed = replace(choice(8, "chain", default_s=2.0), configuration=Configuration((("mapping", "node"),)))
    (cost, by_size) = of_choices("bcast", [placed], ["mapping"])
    assert "on 8 ranks (allocation node), where chain is fastest" in cost.text
    assert by_size.text.startswith("bcast on 8 ranks (allocation node): ")


def test_of_one_kind_three_come_before_the_others() -> None:
    """Ten collectives have a default each, and the page has other things to say."""
    many = [Finding(f"default {number}", "x", 0.9, "default") for number in range(10)]
    texts = [one.text for one in weightiest([*many, Finding("trust", "y", 0.1), Finding("level", "y", 0.2)])]
    assert texts[:5] == ["default 0", "default 1", "default 2", "level", "trust"]
    assert len(texts) == MOST


def test_what_to_set_counts_where_the_default_is_told_to_be_slower() -> None:
    slower = [
        choice(8, "chain", default_s=2.0),
        choice(16, "chain", default_s=2.0),
        choice(32, "tree", default_s=3.0),
    ]
    said = to_set([*slower, choice(64, "chain", "default", default_s=1.01)])
    assert "slower at 3 points: faster there is chain at 2, tree at 1" in said
    assert to_set([choice(64, "chain", "default", default_s=1.01)]) == ""


def test_levels_what_is_missing_and_warnings_are_said() -> None:
    levels = [
        Level(reference_s=reference_s, low_s=reference_s, high_s=reference_s, share=share, stay=9.0)
        for reference_s, share in ((1e-6, 0.75), (2e-6, 0.25))
    ]
    of_two, of_one, missing, warned = (
        of_trust([levels], "", []),
        of_trust([levels[:1]], "", []),
        of_trust([], "Not measured: x.", []),
        of_trust([], "", ["first.", "second."]),
    )
    assert "changed its speed (1 of 1 sets of ranks saw several levels)" in of_two[0].text
    assert "2 µs (2 times as long) for 25%" in of_two[0].text
    assert "kept one level of speed" in of_one[0].text
    assert [one.text for one in missing] == ["Not measured: x."]
    assert warned[0].text == "2 warnings stand before the numbers; the first: first."
    assert warned[0].anchor == "warnings"


def test_that_ranks_shared_cores_comes_before_all_answers() -> None:
    launches = [
        LaunchLine(oversubscribed=shared, hosts=[HostLine(host="h")] * hosts)
        for shared, hosts in ((True, 1), (False, 1))
    ]
    (said,) = of_trust([], "", [], launches)
    assert said.text.startswith("Ranks shared cores in 1 of 2 launches:")
    assert weightiest([Finding("bcast: fastest", "bcast", 0.9), said], ["bcast"])[0] is said
    # Two hosts in a lab share a machine, and a network that is slower than their cores.
    assert of_trust([], "", [], [LaunchLine(oversubscribed=True, hosts=[HostLine(host="h")] * 2)]) == []


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
    at = "Results were checked at 3 points of 2 algorithms of collectives"
    assert results(POINTS) == f"{at}: all are right."
    assert results(POINTS, [RUN, RUN]) == f"{at} and in 2 runs of applications: all are right."
    assert results(apps=[RUN]) == "Results were checked in 1 run of applications: all are right."
    assert results([record.model_copy(update={"verified": None}) for record in POINTS]) == ""


def test_a_wrong_measurement_and_a_wrong_application_are_named() -> None:
    wrong = POINTS[0].model_copy(update={"verified": False})
    assert results([*POINTS, wrong], [RUN]).endswith(": wrong are those of bcast chain.")
    wrong_run = RUN.model_copy(update={"answer": RUN.answer.model_copy(update={"verified": False})})
    assert results(POINTS, [RUN, wrong_run]).endswith(": wrong are those of ring on 8 ranks.")


def test_what_came_to_no_end_is_counted_beside_what_is_right() -> None:
    lost = FailureLine(series=PairKey("pingpong", "core", 0, 1, "warm"), bytes=8, reason="?")
    limitation = FailureLine(limitation="powers of two only")
    # Tried twice, it is one point; a run of an application has no series; a limitation is no failure.
    failures = [lost, lost, FailureLine(reason="the launch ended"), limitation]
    assert results(POINTS, failures=failures).endswith(
        ": of those that came to an end, all are right; 2 did not."
    )
    assert results(failures=failures) == "No result was checked: 2 came to no end."
    assert results(failures=[limitation]) == ""

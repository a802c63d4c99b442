"""Sections on effects: what is known, what is not, and why."""

from __future__ import annotations

import pytest

from hockney.models.base import Parameter
from hockney.models.effects.base import Effect, Plot, effect_models
from hockney.models.views import Statement, Views
from hockney.report.effects import column, parameters_table, sections
from hockney.report.reading import shared_cores
from hockney.report.style import drawing_style


def matching(**changes: object) -> Effect:
    effect = Effect(
        effect="matching",
        locality="cache",
        mpi="Open MPI 5.0.11",
        parameters={"entry_s": Parameter(value=5e-9, low=4e-9, high=6e-9, unit="s")},
        not_identified={"hash_s": "measure longer queues"},
        views=Views(exact=[Statement(text="T(R) = 1 µs + 5 ns · R", latex="T(R)", where="R ≤ 4096")]),
        points=[
            {"depth": 2**k, "time_s": 1e-6 + 5e-9 * 2**k, "position": position}
            for k in range(6)
            for position in ("first", "last")
        ],
        plots=[Plot(x="depth", y="time_s", by="position")],
    )
    return effect.model_copy(update=changes)


def test_parameters_stand_with_their_interval_or_what_would_settle_them() -> None:
    rows = [list(row) for row in parameters_table(matching()).rows]
    assert rows == [
        ["entry_s", "5 ns", "4 to 6 ns", ""],
        ["hash_s", "—", "—", "not identified: measure longer queues"],
    ]


def test_each_locality_is_a_part_and_what_is_not_measurable_is_said() -> None:
    hidden = Effect(effect="matching", locality="network", not_measurable="there is one node only")
    with drawing_style():
        (section,) = sections([matching(), hidden])
    assert section.parts[0].title.endswith("Open MPI 5.0.11")
    assert "not measurable: there is one node only" in section.note
    (part,) = section.parts
    (figure,) = section.figures
    (axes,) = figure.figure.axes
    drawn = {str(line.get_label()): list(line.get_ydata()) for line in axes.lines}  # type: ignore[arg-type]
    assert drawn["last"][-1] == pytest.approx(1.0 + 5e-3 * 32)
    assert axes.get_ylabel() == "time [µs]"
    assert len(part.points.rows) == 12
    assert part.tables[0].rows[0] == ["exact", "T(R) = 1 µs + 5 ns · R", "R ≤ 4096"]


def test_points_that_cannot_be_drawn_are_left_in_the_table() -> None:
    with drawing_style():
        (section,) = sections([matching(points=[{"depth": 1, "time_s": None}, {"depth": 2}])])
    assert section.parts[0].figures == []
    assert len(section.parts[0].points.rows) == 2


def test_more_ranks_than_cores_are_told() -> None:
    assert shared_cores([], [matching()], [])[1] == []
    assert "matching" in shared_cores([], [matching(oversubscribed=True)], [])[1][0]


def test_a_column_names_its_unit() -> None:
    assert column("block_length_B") == ("block length", "B")
    assert column("bandwidth_B_per_s") == ("bandwidth", "B/s")
    assert column("time_s") == ("time", "s")
    assert column("bytes") == ("message size", "B")
    assert column("depth") == ("depth", "")


@pytest.mark.parametrize("name", effect_models.names())
def test_each_model_says_in_a_sentence_what_its_section_is_about(name: str) -> None:
    (section,) = sections([matching(effect=name)])
    assert section.meaning == effect_models.meaning(name)
    assert section.meaning.endswith(".")


def test_an_effect_of_another_version_has_a_section_without_a_meaning() -> None:
    (section,) = sections([matching(effect="unheard_of")])
    assert section.meaning == ""


def test_each_effect_answers_in_a_sentence_with_its_number_and_interval() -> None:
    """What is not told is said; an interval is there only where the parameter has one."""
    entry = {"posted_entry_s": Parameter(value=5e-9, low=4e-9, high=6e-9, unit="s")}
    limit = {
        "S_B": Parameter(value=4096, low=4000, high=4200, unit="B"),
        "S_absent_B": Parameter(value=256, unit="B"),
    }
    shares = {
        "overlap_send_rendezvous": Parameter(value=0.87, low=0.65, high=0.99, unit="1"),
        "overlap_recv_rendezvous": Parameter(value=0.1, unit="1"),
    }
    eager = {"overlap_send_eager": Parameter(value=-0.02, low=-0.1, high=0.05, unit="1")}
    blocks = {
        "send_strided_block_s": Parameter(value=1e-9, low=0.0, high=2e-9, unit="s"),
        "hand_strided_block_s": Parameter(value=3e-9, low=1.5e-9, high=4e-9, unit="s"),
    }
    bracket = Parameter(value=9e5, low=400_000, high=2**21, unit="B")
    point = Parameter(value=64, low=64, high=64, unit="B")
    untold = {"mean_congestion": "two ranks have one bisection", "congestion_p95": "two ranks have one bisection"}

    def said(name: str, locality: str = "cache", **changes: object) -> Effect:
        return Effect.model_validate({"effect": name, "locality": locality, "mpi": "MPICH 4", **changes})

    effects = [
        matching(parameters=entry, mpi="MPICH 4"),
        said("synchronisation", parameters=limit),
        said("overlap", parameters=shares),
        said("datatypes", parameters=blocks),
        said("congestion", not_identified=untold),
        said("injection", not_measurable="ranks share cores"),
        said("matching", "network", parameters=entry),
        said("overlap", "network", parameters=eager),
        said("datatypes", "network", parameters={"hand_wins_above_block_B": bracket}),
        said("datatypes", "numa", parameters={"hand_wins_below_block_B": point}),
    ]
    with drawing_style():
        made = sections(effects)
    found = {finding.text: finding for section in made for finding in section.findings}
    place = "cores that share a cache"
    assert list(found) == [
        f"matching, {place}: each receive posted before the right one costs 5 ns (95 %: 4 to 6 ns).",
        "matching, two nodes: each receive posted before the right one costs 5 ns (95 %: 4 to 6 ns).",
        f"synchronisation, {place}: a blocking send waits for its receiver if the message is longer than 4 KiB "
        "(95 %: 4000 B to 4200 B); while the receiver computes, if it is longer than 256 B.",
        f"overlap, {place}: computing meanwhile hides of the time of a long message 87 % (65 % to 99 % by size) "
        "at the sender and 10 % (no interval) at the receiver.",
        "overlap, two nodes: computing meanwhile hides of the time of an eager message nothing measurable "
        "(−10 % to 5 % by size) at the sender.",
        f"datatypes, {place}: each block at a stride costs a sender 1 ns (95 %: 0 to 2 ns) as a derived "
        "datatype and 3 ns (95 %: 1.5 to 4 ns) packed by hand; neither is faster by more than chance.",
        "datatypes, two nodes: packing by hand is faster than a derived datatype for blocks above 400000 B to "
        "2 MiB, slower below (a stride of twice the block).",
        "datatypes, one NUMA domain: packing by hand is faster than a derived datatype for blocks below 64 B, "
        "slower above (a stride of twice the block).",
        f"congestion, {place}: not measurable: two ranks have one bisection.",
    ]
    anchors = {section.id for section in made} | {
        f"figure-{figure.name}" for section in made for figure in section.drawings
    }
    assert {finding.anchor for finding in found.values()} <= anchors
    lightest = min(found.values(), key=lambda finding: finding.weight)
    assert "not measurable" in lightest.text, "whatever has a number comes first"

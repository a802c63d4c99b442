"""Costs from a machine file: which entries they stand on, and what is said of those that stand in for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.factories import VERSION_1 as FILE

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine, load
from hockney.predict.machine_costs import of_machine


def machine(*changes: dict[str, Any], others: tuple[Entry, ...] = ()) -> Machine:
    """A file of one ping-pong between packages, once for each change, and of `others`."""
    whole = load(FILE)
    entry = next(
        entry
        for entry in whole.point_to_point
        if (entry.operation, entry.locality, entry.variant) == ("pingpong", "package", "default")
    )
    entries = [
        entry.model_copy(
            update={name: word for name, word in change.items() if name != "mpi"}
            | {"other": {**entry.other, **({"mpi": change["mpi"]} if "mpi" in change else {})}}
        )
        for change in changes
    ]
    return whole.model_copy(update={"point_to_point": [*entries, *others]})


@pytest.mark.parametrize(
    "changes",
    [({"mpi": "Open MPI 5"}, {"mpi": "MPICH 4"}), ({"mapping": "core"}, {"mapping": "numa"})],
    ids=["two MPIs", "two mappings"],
)
def test_several_conditions_are_named_and_one_can_be_chosen(changes: tuple[dict[str, Any], ...]) -> None:
    ((name, _),) = changes[0].items()
    several = machine(*changes)
    (said,) = [text for text in of_machine(several, "m", where={}).warnings if "configurations" in text]
    assert all(change[name] in said for change in changes)
    assert f"{name} {changes[0][name]} is taken: --where NAME=WORD chooses" in said
    chosen = of_machine(several, "m", where={name: changes[1][name]}).warnings
    assert not any("configurations" in text for text in chosen)
    with pytest.raises(RequestError, match="not measured"):
        of_machine(several, "m", where={name: "none"})


@pytest.mark.parametrize("change", [{"variant": "tcp"}, {"cache": "off"}], ids=["a variant", "a cold cache"])
def test_what_stands_in_for_the_default_is_named(change: dict[str, str]) -> None:
    (word,) = change.values()
    (said,) = [text for text in of_machine(machine(change), "m").warnings if "uses pingpong" in text]
    assert word in said
    usual = of_machine(machine({}, change), "m")
    assert not any("configurations" in text for text in usual.warnings)


def test_rates_of_another_library_are_not_mixed_in() -> None:
    (entry,) = machine({"mpi": "Open MPI 5"}).point_to_point
    entry = entry.model_copy(update={"fits": {"piecewise": entry.fits["piecewise"]}})
    rate = entry.model_copy(update={"operation": "bandwidth"})
    other = rate.model_copy(update={"other": {**rate.other, "mpi": "MPICH 4"}})
    for rates, source in (((rate,), "m, package: bandwidth"), ((other,), "assumed: 35 % of an empty message")):
        (messages,) = of_machine(machine(others=(entry, *rates)), "m").messages.values()
        assert messages.origins["gap_s"] == source


def test_each_measured_time_has_its_own_interval() -> None:
    """One-way times that of the ping-pong, times between messages that of many in a row; shares move along."""
    (entry,) = machine({}).point_to_point
    ping_pong, often = (entry.fits["piecewise"].model_copy(deep=True) for _ in range(2))
    factors = 1.2, 1.5
    for fit, factor in zip((ping_pong, often), factors, strict=True):
        assert fit.quality is not None
        fit.quality.prediction_factor = factor
    no_points = entry.measurements.model_copy(update={"points": []})
    bare = entry.model_copy(update={"fits": {"piecewise": ping_pong}, "measurements": no_points})
    rate = bare.model_copy(update={"operation": "bandwidth", "fits": {"piecewise": often}})
    costs = of_machine(machine(others=(bare, rate)), "m")
    (usual,) = costs.messages.values()
    assert usual.send_s > 0
    for end in (0, 1):
        at_end = costs.at_end(end)
        assert at_end is not None
        (moved,) = at_end.messages.values()
        ping_pong_ratio, rate_ratio = (factor ** (2 * end - 1) for factor in factors)
        np.testing.assert_allclose(moved.one_way_s, usual.one_way_s * ping_pong_ratio)
        np.testing.assert_allclose(moved.between_s, usual.between_s * rate_ratio)
        assert moved.send_s == pytest.approx(usual.send_s * ping_pong_ratio)
        assert moved.receive_s == pytest.approx(usual.receive_s * ping_pong_ratio)


def test_the_first_message_of_a_window_and_its_answer_are_no_gap() -> None:
    (entry,) = machine({}).point_to_point
    no_points = entry.measurements.model_copy(update={"points": []})
    bare = entry.model_copy(
        update={"fits": {"piecewise": entry.fits["piecewise"]}, "measurements": no_points, "eager_limit_B": None}
    )
    rate = bare.model_copy(update={"operation": "bandwidth", "other": {**bare.other, "window": "4"}})
    (messages,) = of_machine(machine(others=(bare, rate)), "m").messages.values()
    one_way_s = messages.one_way_s
    # Four messages that take T(n) each.
    np.testing.assert_allclose(3 * messages.between_s + one_way_s + one_way_s[0], 4 * one_way_s)


def test_shares_of_the_processor_that_are_assumed_are_named() -> None:
    measured = machine({})
    (entry,) = measured.point_to_point
    bare = entry.model_copy(update={"fits": {"piecewise": entry.fits["piecewise"]}})
    told = [
        any("o and g are assumed, not measured" in text for text in of_machine(made, "m").assumptions(None, 2))
        for made in (measured, machine(others=(bare,)))
    ]
    assert told == ["loggp" not in entry.fits, True]

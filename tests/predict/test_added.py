"""A message with what a ping-pong hides, against the figures of Hoefler et al. 2010 and planted effects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hockney.errors import RequestError
from hockney.machine.file import Machine, load
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect
from hockney.predict.added import AddedTime, added
from hockney.predict.message import predict_message
from hockney.predict.options import AddedEffects, Strides

SIZE_B = 16384
MESSAGE_S = 9.8e-6 + 2.67e-9 * SIZE_B
"""Equation (1), n > 1024 B."""


def sum_of(machine: Machine, **asked: Any) -> AddedTime:
    (entry,) = machine.point_to_point
    return added(machine, entry, predict_message(entry, SIZE_B, "piecewise"), AddedEffects(**asked))


@pytest.fixture
def blue() -> Machine:
    return load(Path("bluegene_p"))


def with_effects(machine: Machine, *effects: Effect) -> Machine:
    """The machine with these, measured, instead of its published ones."""
    return machine.model_copy(update={"effects": list(effects)})


def measured(name: str, **parameters: tuple[float, float, float]) -> Effect:
    values = {
        key: Parameter(value=value, low=low, high=high, unit="s")
        for key, (value, low, high) in parameters.items()
    }
    return Effect(effect=name, locality="network", parameters=values)


def test_published_figures_add_up(blue: Machine) -> None:
    """T_match(13) ≤ 1.3 µs; a stride of 1 takes 1292 µs where contiguous memory takes 53 µs."""
    answer = sum_of(blue, queue=13, strides=Strides("vector", 1, 1), congestion="2.1")
    times = {term.effect: term.time_s for term in answer.terms}
    assert times == pytest.approx(
        {
            "message": MESSAGE_S,
            "queue": 1.3e-6,
            "layout": 1239e-6,
            "congestion": 1.1 * 2.67e-9 * SIZE_B,
        }
    )
    origins = {term.effect: term.origin for term in answer.terms}
    assert origins == {
        "message": "published",
        "queue": "published",
        "layout": "published",
        "congestion": "given",
    }
    assert answer.time_s == pytest.approx(sum(times.values()))
    # The queue is a bound, and nothing published has an interval.
    assert (answer.is_bound, answer.low_s, answer.high_s) == (True, None, None)
    assert answer.least_s == pytest.approx(answer.time_s - 1.3e-6)


def test_an_unknown_stride_is_a_bound(blue: Machine) -> None:
    """At most 2090 µs, whatever the stride; other sizes are not known at all."""
    answer = sum_of(blue, strides=Strides("vector", 1, 7))
    assert answer.terms[1].time_s == pytest.approx(2090e-6 - 53e-6)
    assert answer.terms[1].is_bound
    with pytest.raises(RequestError, match="16 KiB alone"):
        sum_of(blue, strides=Strides("vector", 8, 64))


def test_nothing_is_assumed(blue: Machine) -> None:
    with pytest.raises(RequestError) as error:
        sum_of(blue, hops=5, busy_sender=True, congestion="worst")
    for what in ("hops was not measured", "overlap is not known", "formula alone"):
        assert what in error.value.message
    assert "hockney fit CAMPAIGN --topology" in error.value.hint


def test_the_worst_mapping_of_a_network(blue: Machine) -> None:
    """A ring of 8: ⌈8/2⌉ − 1 = 3 further, both links of a node sending."""
    answer = sum_of(blue, congestion="torus:8")
    assert answer.time_s == pytest.approx(MESSAGE_S + (6.0 - 1) * 2.67e-9 * SIZE_B)


def test_intervals_are_added(blue: Machine) -> None:
    """Beyond 8 entries a longer queue costs more; 3 of 4 is hidden."""
    machine = with_effects(
        blue,
        measured(
            "matching",
            posted_entry_s=(2e-9, 1e-9, 3e-9),
            posted_long_entry_s=(5e-9, 4e-9, 6e-9),
            posted_break_entries=(8, 8, 8),
        ),
        measured("overlap", overlap_send_rendezvous=(0.75, 0.5, 1.5)),
        measured("synchronisation", S_B=(4096, 4096, 4096)),
    )
    answer = sum_of(machine, queue=10, busy_sender=True)
    message, queue, busy = answer.terms
    assert (queue.time_s, queue.low_s, queue.high_s) == pytest.approx((26e-9, 16e-9, 36e-9))
    assert busy.time_s == pytest.approx(-0.75 * MESSAGE_S)
    assert message.low_s is None
    assert answer.low_s is None
    assert {term.origin for term in (queue, busy)} == {"measured"}


def test_an_effect_that_lacks_a_parameter_is_named(blue: Machine) -> None:
    by_hand = with_effects(blue, measured("hops", per_hop_s=(1e-7, 0.8e-7, 1.3e-7)))
    with pytest.raises(RequestError, match="no time over hops"):
        sum_of(by_hand, hops=5)


def test_effects_of_another_locality_do_not_count(blue: Machine) -> None:
    inside = measured("matching", posted_entry_s=(2e-9, 1e-9, 3e-9)).model_copy(update={"locality": "cache"})
    with pytest.raises(RequestError, match="matching was not measured"):
        sum_of(with_effects(blue, inside), queue=3)

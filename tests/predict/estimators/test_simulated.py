"""simulated: a machine that is what the simulator says comes back, far beyond training, with honest intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.predict.calibrate import Paths, Replay, calibrate
from hockney.predict.estimators import _fitting, _simulation
from hockney.predict.estimators.base import Prediction, Training
from hockney.predict.estimators.simulated import procedure_of, simulated
from hockney.predict.points import points
from hockney.predict.scenario import Scenario

Table = Callable[..., pd.DataFrame]
OPEN_MPI = "Open MPI 4.1.5"
NOISE = 0.03
RANKS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
FAR = (48, 96, 128)
"""Four times the ranks of training, and less."""


def training(
    table: pd.DataFrame, system: System | None, pairs: pd.DataFrame | None = None, statistic: str = ""
) -> Training:
    operation = str(table["operation"].iloc[0])
    made = points(table, operation, statistic)
    return Training(made.frame, table[:0] if pairs is None else pairs, system, operation, made.statistic)


def asked(table: pd.DataFrame) -> pd.DataFrame:
    return points(table, str(table["operation"].iloc[0])).frame


def errors(made: Prediction, table: pd.DataFrame) -> np.ndarray:
    return np.asarray(np.abs(made.time_s / asked(table)["time_s"].to_numpy() - 1))


def inside(made: Prediction, table: pd.DataFrame) -> float:
    true_s = asked(table)["time_s"].to_numpy()
    return float(((made.low_s <= true_s) & (true_s <= made.high_s)).mean())


@pytest.fixture(scope="module")
def tables(simulated_table: Table) -> list[pd.DataFrame]:
    """Of several draws of the noise: the median error of one lies anywhere from 4 to 7 %."""
    return [
        simulated_table(
            ranks=(*RANKS, *FAR),
            statistic="mean_over_ranks",
            mpi=OPEN_MPI,
            noise=NOISE,
            sizes=(8, 512, 16384),
            seed=seed,
        )
        for seed in (3, 4, 5, 6)
    ]


@pytest.fixture
def table(tables: list[pd.DataFrame]) -> pd.DataFrame:
    return tables[0]


@pytest.mark.thorough
def test_four_times_the_ranks(tables: list[pd.DataFrame], system: System) -> None:
    is_far = tables[0]["ranks"] > max(RANKS)
    pairs = [
        (simulated(training(one[~is_far], system)).predict(asked(one[is_far])), one[is_far]) for one in tables
    ]
    off = np.concatenate([errors(made, far) for made, far in pairs])
    # The noise of a point is 3 %; two thirds of it is what a perfect model would be off in the median.
    assert np.median(off) < 2 * NOISE
    # Two doublings beyond training, the worst points are further off; the claim is that intervals hold them.
    assert np.quantile(off, 0.95) < 9 * NOISE
    assert np.mean([inside(made, far) for made, far in pairs]) >= 0.9
    for made, _ in pairs:
        assert (made.low_s < made.time_s).all()
        assert (made.time_s < made.high_s).all()


@pytest.mark.thorough
def test_points_among_training_are_covered_as_claimed(table: pd.DataFrame, system: System) -> None:
    left_out = np.random.default_rng(7).random(len(table)) < 0.3
    made = simulated(training(table[~left_out], system)).predict(asked(table[left_out]))
    # About 45 points: 95 % less two standard deviations of such a share. Times are predicted within their noise.
    assert inside(made, table[left_out]) >= 0.88
    assert np.median(errors(made, table[left_out])) < 2 * NOISE
    assert np.median(made.high_s / made.low_s) < np.exp(2 * 6 * NOISE)


WAITS = "bcast linear: messages above 8192 B wait for their receiver"
HELD = "senders of messages above 8192 B wait until they are out"
PORT = "inside a node these leave one after another, beside what goes into the network"
STEP = "the network costs more from 30 ranks on"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocols", "expected"),
    [
        ({}, {HELD}),
        ({"held_above_B": np.inf}, set()),
        ({"rendezvous_above_B": {"bcast linear": 8192.0}}, {HELD, WAITS}),
        ({"step_from": 30.0}, {HELD, STEP}),
        ({"has_port": True}, {HELD, PORT}),
    ],
    ids=["held", "buffered", "rendezvous", "a step", "a port"],
)
def test_the_protocol_that_made_the_times_is_chosen(
    simulated_table: Table, system: System, protocols: dict[str, Any], expected: set[str]
) -> None:
    seen = simulated_table(
        ranks=(4, 8, 12, 20, 24, 28, 30), sizes=(64, 1024, 16384, 65536), noise=0.01, protocols=protocols
    )
    notes = simulated(training(seen, system)).predict(asked(seen.head(1))).note or []
    assert {note for note in notes if note in (WAITS, HELD, STEP, PORT)} == expected


def ping_pongs(simulated_table: Table) -> pd.DataFrame:
    """Half of what a broadcast among two takes is not asked: it is one message, one way."""
    near = simulated_table(algorithms=["linear"], ranks=(2,), mappings=["core"], sizes=(8, 128, 1024, 16384))
    far = simulated_table(algorithms=["linear"], ranks=(2,), mappings=["node"], sizes=(8, 128, 1024, 16384))
    joined = pd.concat([near.assign(locality="cache"), far.assign(locality="network")], ignore_index=True)
    return joined.assign(operation="pingpong", statistic="one_way")


def test_ping_pongs_and_a_few_collectives(simulated_table: Table, system: System) -> None:
    few = simulated_table(ranks=(8, 16), sizes=(8, 16384), mappings=["half"])
    other = simulated_table(ranks=(12, 32), sizes=(1024,), mappings=["half"])
    with_pairs = simulated(training(few, system, ping_pongs(simulated_table))).predict(asked(other))
    without = simulated(training(few, system)).predict(asked(other))
    # Neither the size nor the ranks were measured.
    assert np.median(errors(with_pairs, other)) < 0.15
    assert np.median(errors(with_pairs, other)) < np.median(errors(without, other))
    assert inside(with_pairs, other) == 1.0


def test_ping_pongs_of_an_unnamed_system_count_and_those_of_another_mpi_are_said_to_be_left_out(
    simulated_table: Table, system: System
) -> None:
    few = simulated_table(ranks=(8, 16), sizes=(8, 16384), mappings=["half"], mpi=OPEN_MPI)
    pairs = ping_pongs(simulated_table)

    def times(**columns: str) -> Prediction:
        return simulated(training(few, system, pairs.assign(**columns))).predict(asked(few))

    own, unnamed, other = times(mpi=OPEN_MPI), times(system="", mpi=""), times(mpi="MPICH 4.2")
    assert unnamed.time_s.tolist() == own.time_s.tolist() != other.time_s.tolist()
    said = f"{len(pairs)} rows between two ranks not used: of another system, MPI or variant"
    assert [said in (made.note or []) for made in (own, unnamed, other)] == [False, False, True]


def test_a_network_that_no_training_point_used_is_not_invented(simulated_table: Table, system: System) -> None:
    near = training(simulated_table(ranks=(2, 4), sizes=(8, 512), mappings=["core"]), system)
    far = asked(simulated_table(ranks=(4,), sizes=(8, 512), mappings=["node"]))
    given = simulated(near).predict(far)
    assert np.isfinite(given.time_s).all()
    assert any(note.startswith("network: messages are in no training point") for note in given.note or [])
    without = system.model_copy(update={"network": system.network.model_copy(update={"latency_s": None})})
    unknown = simulated(replace(near, system=without)).predict(far)
    assert np.isnan(unknown.time_s).all()
    assert any("nothing was measured between nodes" in note for note in unknown.note or [])


def test_the_first_run_on_a_second_node_is_less_certain(simulated_table: Table, system: System) -> None:
    """18 ranks are as much more than 16 on both mappings, but `half` was on two nodes before."""
    seen = simulated_table(ranks=(4, 8, 16), sizes=(8, 512), mappings=["core", "half"])
    far = asked(simulated_table(ranks=(18,), sizes=(8, 512), mappings=["core", "half"]))
    made = simulated(training(seen, system)).predict(far)
    width, is_new = made.high_s / made.time_s, (far["mapping"] == "core").to_numpy()
    # With so few points it is e^0.5 at least.
    assert width[is_new].min() > np.exp(0.5) > width[~is_new].max()


@pytest.mark.parametrize("apart", [0.5, pytest.param(0.0, marks=pytest.mark.thorough)], ids=["apart", "alike"])
def test_how_far_schedules_miss_each_other_is_the_interval_of_another(
    simulated_table: Table, system: System, apart: float
) -> None:
    """Three schedules predict a fourth, where all cost the same, and where each takes e^±0.5 of it."""
    of_each = {"linear": 1.0, "binomial": -1.0, "chain": 1.0, "binary": -1.0}
    every = simulated_table(algorithms=of_each, ranks=(4, 8, 16, 24, 32), sizes=(8, 512, 16384), noise=NOISE)
    every["time_s"] *= np.exp(apart * every["algorithm"].map(of_each))
    is_new = (every["algorithm"] == "binary").to_numpy()
    made = simulated(training(every[~is_new], system)).predict(asked(every[is_new]))
    assert inside(made, every[is_new]) >= 0.9
    width = float(np.median(np.log(made.high_s / made.time_s)))
    # Apart, two of three schedules say that the third takes about e^1 of what it does; alike, the planted machine
    # gives each schedule 10 % of its own, and 95 % of the points are within two such deviations and the noise.
    assert width > apart if apart else width < 3 * np.hypot(0.1, NOISE)


def test_what_all_schedules_miss_alike_is_corrected_and_does_not_widen_another(
    simulated_table: Table, system: System
) -> None:
    """On 12 and 16 ranks everything takes e^0.7 of what it does on fewer and on more: no cost explains that."""
    names, odd = ("linear", "binomial", "chain", "binary"), 0.7
    every = simulated_table(algorithms=names, ranks=(4, 6, 8, 12, 16, 24, 32), sizes=(8, 512, 16384), noise=NOISE)
    every["time_s"] *= np.exp(odd * every["ranks"].isin((12, 16)))
    is_new = (every["algorithm"] == "binary").to_numpy()
    told: list[tuple[float, str]] = []
    seen = replace(training(every[~is_new], system), progress=lambda share, what: told.append((share, what)))
    made = simulated(seen).predict(asked(every[is_new]))
    assert inside(made, every[is_new]) >= 0.9
    # The others say it of these ranks, and what is left is the 10 % that are each schedule's own, and the noise;
    # uncorrected, any fit would miss some ranks by half of it, many more than one point in twenty.
    assert np.median(np.log(made.high_s / made.time_s)) < odd / 2
    shares = [share for share, what in told if what == "calibrating without each schedule"]
    # Heard of after each replay, in pieces that add up.
    assert len(shares) > 100 * len(names)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert shares[len(shares) // 2] == pytest.approx(0.5, abs=0.2)


@pytest.mark.parametrize(
    ("few", "limit"),
    [({"sizes": (512,)}, 0.1), ({"ranks": (16,)}, 0.5)],
    ids=["a single size", "a single number of ranks"],
)
def test_little_is_enough_to_run(
    simulated_table: Table, system: System, few: dict[str, Any], limit: float
) -> None:
    seen = simulated_table(**({"ranks": RANKS, "sizes": (8, 512)} | few))
    far = simulated_table(ranks=(48,), sizes=(512,))
    made = simulated(training(seen, system)).predict(asked(far))
    assert np.median(errors(made, far)) < limit
    assert inside(made, far) == 1.0


def test_a_table_without_placement_says_what_to_do(simulated_table: Table) -> None:
    bare = simulated_table(ranks=(4, 8), mappings=["core"]).assign(mapping="")
    with pytest.raises(RequestError, match="does not say where its ranks were") as caught:
        simulated(training(bare, None))
    assert "--system" in (caught.value.hint or "")


def test_a_table_alone_is_enough_where_it_says_nodes_and_ppn(simulated_table: Table) -> None:
    alone = simulated_table(ranks=(8, 16, 32, 64), mappings=["half"]).assign(mapping="core", ppn=8)
    alone["nodes"] = alone["ranks"] // 8
    seen, far = alone[alone["ranks"] <= 32], alone[alone["ranks"] > 32]
    made = simulated(training(seen, None)).predict(asked(far))
    assert np.median(errors(made, far)) < 0.1


def test_several_systems_are_refused_in_words(simulated_table: Table, system: System) -> None:
    two = pd.concat([simulated_table(ranks=(4, 8)), simulated_table(ranks=(4, 8)).assign(system="t")])
    with pytest.raises(RequestError, match="of 2 systems: s, t") as caught:
        simulated(training(two, system))
    assert "system == 's'" in (caught.value.hint or "")


def test_libraries_are_calibrated_apart(simulated_table: Table, system: System) -> None:
    """One is three times slower than the other: a fit to both would be off by √3 for each."""
    fast = simulated_table(ranks=(4, 8, 16), sizes=(8, 512), mappings=["core"])
    slow = fast.assign(mpi="Other 1", time_s=fast["time_s"] * 3)
    both = pd.concat([fast, slow], ignore_index=True)
    made = simulated(training(both, system)).predict(asked(both))
    assert np.median(errors(made, both)) < 0.03
    stranger = simulated(training(both, system)).predict(asked(fast.assign(mpi="Third 1")))
    assert np.isnan(stranger.time_s).all()
    assert stranger.note == ["s, Third 1: nothing was trained"]


def test_an_unknown_library_needs_names_of_schedules(simulated_table: Table, system: System) -> None:
    seen = simulated_table(ranks=(4, 8, 16)).assign(mpi="Unheard MPI 1")
    named = simulated(training(seen, system)).predict(asked(seen))
    assert np.isfinite(named.time_s).all()
    with pytest.raises(RequestError, match="magic: there is no schedule bcast magic"):
        simulated(training(seen.assign(algorithm="magic"), system))


def test_the_librarys_own_choice_is_simulated(simulated_table: Table, system: System) -> None:
    table = simulated_table(
        operation="allreduce", algorithms=["default"], ranks=RANKS, sizes=(8, 512, 65536), mpi=OPEN_MPI,
        statistic="mean_over_ranks",
    )  # fmt: skip
    far = table["ranks"] == max(RANKS)
    made = simulated(training(table[~far], system)).predict(asked(table[far]))
    # Twice the ranks that were trained; the machine's schedules cost 10 % more or less than their messages do.
    assert np.median(errors(made, table[far])) < 0.15


def test_points_that_cannot_be_simulated_are_left_out_with_a_reason(
    simulated_table: Table, system: System
) -> None:
    seen = simulated_table(ranks=(2, 4, 8), mappings=["core"])
    odd = pd.concat(
        [
            seen,
            seen.head(1).assign(ranks=1),
            seen.head(1).assign(bytes=0),
            seen.head(1).assign(algorithm="magic"),
        ],
        ignore_index=True,
    )
    made = simulated(training(odd, system)).predict(asked(odd))
    assert np.isfinite(made.time_s).tolist() == [True] * len(seen) + [False] * 3
    assert any("magic" in note for note in made.note or [])
    assert any("0 B are sent in no message" in note for note in made.note or [])


def test_batches_change_nothing(simulated_table: Table, system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand points are not in memory at once, and none is lost between two batches."""
    seen = simulated_table(ranks=(2, 4, 8), mappings=["core"])
    fitted = simulated(training(seen, system))
    whole = fitted.predict(asked(seen))
    most: list[int] = []

    simulate = Paths.simulated

    def counted(some: list[Scenario], *rest: Any) -> Any:
        most.append(len(some))
        return simulate(some, *rest)

    monkeypatch.setattr(_simulation, "_BATCH", 5)
    monkeypatch.setattr(Paths, "simulated", counted)
    parts = fitted.predict(asked(seen))
    assert max(most) == 5
    assert parts.time_s == pytest.approx(whole.time_s, rel=1e-9)
    assert parts.high_s == pytest.approx(whole.high_s, rel=1e-9)


def test_the_same_table_gives_the_same_answer(simulated_table: Table, system: System) -> None:
    seen = simulated_table(ranks=(2, 4, 8), noise=NOISE)
    once, again = (simulated(training(seen, system)).predict(asked(seen)) for _ in range(2))
    assert (once.time_s == again.time_s).all()
    assert (once.low_s == again.low_s).all()


def test_a_calibration_is_found_again_for_the_same_times_alone(
    simulated_table: Table, system: System, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path))
    monkeypatch.setattr(_fitting, "_KEPT_FROM", 0)
    begun: list[int] = []

    def counted(replays: Sequence[Replay], *rest: Any, **how: Any) -> Any:
        begun.append(len(replays))
        return calibrate(replays, *rest, **how)

    monkeypatch.setattr(_fitting, "calibrate", counted)
    seen = simulated_table(ranks=(2, 4, 8), mappings=["core"])
    anew = simulated(training(seen, system)).predict(asked(seen))
    count = len(begun)
    found = simulated(training(seen, system)).predict(asked(seen))
    assert len(begun) == count > 0
    for name in ("time_s", "low_s", "high_s"):
        assert np.array_equal(getattr(found, name), getattr(anew, name))
    slower = seen.assign(time_s=seen["time_s"] * np.where(np.arange(len(seen)) == 0, 2.0, 1.0))
    simulated(training(slower, system))
    assert len(begun) > count


def test_more_points_than_are_needed_are_drawn(
    simulated_table: Table, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fitting, "_MOST", 10)
    seen = simulated_table(ranks=(2, 4, 8), mappings=["core"])
    made = simulated(training(seen, system)).predict(asked(seen))
    assert "calibrated on 10 of 18 training points, chosen at random" in (made.note or [])


@pytest.mark.parametrize(
    ("source", "statistic", "told", "expected"),
    [
        ("OSU 7.3", "mean_over_ranks", "imb", "osu"),
        ("Intel MPI Benchmarks (imb)", "max_over_ranks", None, "imb"),
        ("", "mean_over_ranks", "imb", "imb"),
        ("", "completion", None, "hockney"),
        ("", "max_over_ranks", None, "pico"),
        ("somebody's", "mean_over_ranks", None, "osu"),
    ],
)
def test_which_procedure(system: System, source: str, statistic: str, told: str | None, expected: str) -> None:
    assert procedure_of(source, statistic, system.model_copy(update={"procedure": told})) == expected


def test_rates_are_not_simulated(simulated_table: Table, system: System) -> None:
    odd = training(simulated_table(ranks=(2, 4)), system)
    with pytest.raises(RequestError, match="jitter cannot be simulated"):
        simulated(Training(odd.points, odd.point_to_point, system, "bcast", "jitter"))


def test_systems_of_one_table_are_calibrated_apart(simulated_table: Table) -> None:
    """Without a description each system is what its own rows say: one is three times slower than the other."""
    fast = simulated_table(ranks=(2, 4, 8), sizes=(8, 512), mappings=["core"])
    fast = fast.assign(nodes=1, ppn=fast["ranks"])
    slow = fast.assign(system="t", time_s=fast["time_s"] * 3)
    both = pd.concat([fast, slow], ignore_index=True)
    made = simulated(training(both, None)).predict(asked(both))
    assert np.median(errors(made, both)) < 0.2

"""What a trial launches, and what is left of rules whose cells go back to the default."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.models.over_ranks.choice import Time
from hockney.records.defaults import defaults_of
from hockney.records.journal import LaunchLine
from hockney.runner.mpi import Mpi
from hockney.runner.variants import Variant, parse_variant
from hockney.tune.cells import CallTimes
from hockney.tune.choose import span
from hockney.tune.loading import expect_own_choice
from hockney.tune.rules import Method, Rule, find
from hockney.tune.targets.base import Reader, targets
from hockney.tune.trial import base_variant, best_rules, probes, trial, without

A, B = Method("tuned:binomial"), Method("tuned:chain", 8192, 4)
OPEN_MPI = Reader("Open MPI 5.0.11", (5, 0, 11))
TARGET = targets.get("openmpi_v2")
SIZES = (100, 400, 1600)


def time(seconds: float, width: float = 0.05) -> Time:
    return Time(seconds, seconds * (1 - width), seconds * (1 + width))


def cell(size_B: int, default: float, a: float, b: float, ranks: int = 8) -> CallTimes:
    return CallTimes("bcast", ranks, size_B, time(default), {A: time(a), B: time(b)})


CELLS = [cell(size_B, 1.0, 2.0, 0.5, ranks) for ranks in (4, 8) for size_B in SIZES]


def test_a_cell_stands_for_its_neighbourhood() -> None:
    assert [span(one, CELLS) for one in CELLS[:3]] == [(100, 200), (201, 800), (801, 1600)]


@pytest.mark.parametrize("gone", range(len(CELLS)))
@pytest.mark.parametrize("ends", [(1, None, 0, None), (4, 8, 100, 1600), (3, 12, 50, 5000)])
def test_without_a_cell_its_neighbourhood_alone_loses_its_rule(
    gone: int, ends: tuple[int, int | None, int, int | None]
) -> None:
    rule = Rule("bcast", *ends, *A)
    left = without([rule], [CELLS[gone]], CELLS, whole=False)
    least, most = span(CELLS[gone], CELLS)
    # Beyond the outermost cells nothing was tried.
    least, most = 0 if least == SIZES[0] else least, 10**9 if most == SIZES[-1] else most
    for ranks, size_B in product(range(2, 15), (0, 60, 100, 200, 201, 400, 800, 801, 1600, 2000, 6000)):
        is_gone = ranks == CELLS[gone].ranks and least <= size_B <= most
        expected = None if is_gone else find([rule], "bcast", ranks, size_B)
        assert find(left, "bcast", ranks, size_B) == expected


def test_rules_for_other_operations_stay() -> None:
    rules = [Rule("bcast", 1, None, 0, None, *A), Rule("reduce", 1, None, 0, None, *A)]
    assert without(rules, [CELLS[0]], CELLS, whole=True) == rules[1:]
    assert rules[1] in without(rules, [CELLS[0]], CELLS, whole=False)


def test_the_best_of_each_cell_whatever_its_interval() -> None:
    cells = [cell(100, 1.0, 0.97, 2.0), cell(400, 1.0, 0.9, 0.8), cell(1600, 1.0, 2.0, 1.0)]
    assert best_rules(cells, TARGET, OPEN_MPI) == [
        Rule("bcast", 8, 8, 100, 200, *A),
        Rule("bcast", 8, 8, 201, 800, *B),
    ]


def test_the_best_is_said_as_the_rules_are() -> None:
    without_radix = Method("tuned:chain", 8192)
    cells = [CallTimes("bcast", 8, 100, time(1.0), {without_radix: time(0.5)})]
    assert best_rules(cells, TARGET, OPEN_MPI) == [Rule("bcast", 8, 8, 100, 100, *B)]


def test_neighbours_with_the_same_best_share_a_rule() -> None:
    cells = [cell(100, 1.0, 0.5, 2.0), cell(400, 1.0, 0.5, 2.0), cell(1600, 1.0, 2.0, 0.5)]
    assert best_rules(cells, TARGET, OPEN_MPI)[0] == Rule("bcast", 8, 8, 100, 800, *A)


def test_a_probe_changes_its_time_most_and_surely() -> None:
    rules = [Rule("bcast", 8, 8, 100, 1600, *B)]
    # At 400 B the change of 2.5 is known best; at 1600 B a larger one may be as small as 1.1.
    wide = CallTimes("bcast", 8, 1600, time(1.0), {A: time(3.0, 0.6)})
    found = probes([cell(100, 1.0, 1.1, 0.95), cell(400, 1.0, 2.5, 0.5), wide], rules, TARGET, OPEN_MPI)
    assert (found["bcast"].cell.bytes, found["bcast"].algorithm) == (400, A)
    assert found["bcast"].expected == pytest.approx(2.5)
    assert probes([wide], rules, TARGET, OPEN_MPI) == {}
    # 1.1 times as long is no observable, and without a rule nothing is to be proven.
    assert probes([cell(100, 1.0, 1.1, 0.95)], rules, TARGET, OPEN_MPI) == {}
    assert probes(CELLS, [], TARGET, OPEN_MPI) == {}


def test_a_faster_algorithm_is_a_probe_where_none_is_slower() -> None:
    (probe,) = probes([cell(100, 3.0, 3.0, 1.0)], [Rule("bcast", 8, 8, 0, None, *B)], TARGET, OPEN_MPI).values()
    assert probe.algorithm == B
    assert probe.expected == pytest.approx(1 / 3)


def test_a_trial_launches_as_the_campaign_did(tmp_path: Path) -> None:
    plan = Plan(
        ranks=8,
        operations=["bcast", "pingpong"],
        algorithms=["library"],
        bind_to="none",
        variants=["tcp: A=1 --mca btl 'tcp,self'", "sm: --mca btl sm,self"],
        time_s=3,
        adaptive=True,
        segments_B=[0, 1024],
    )
    base = base_variant(plan, "tcp")
    variations = {"tuned": [Rule("bcast", 8, 8, 0, None, *A)]}
    made = trial(plan, base, CELLS, variations, TARGET, OPEN_MPI, tmp_path, 7)
    default, tuned = map(parse_variant, made.plan.variants)
    assert default == Variant("default", ("--mca", "btl", "tcp,self"), {"A": "1"})
    assert tuned.arguments == default.arguments
    assert tuned.environment["A"] == "1"
    (path,) = made.texts
    assert tuned.environment["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == str(path)
    assert (made.plan.operations, made.plan.algorithms, made.plan.bind_to) == (["bcast"], ["default"], "none")
    assert (made.plan.rank_counts, made.plan.sizes_B, made.plan.launches) == ([4, 8], [100, 400, 1600], 7)
    assert not made.plan.adaptive
    assert Plan.model_validate(made.plan.model_dump()) == made.plan


SWITCH, FORCED = "coll_tuned_use_dynamic_rules", "coll_tuned_bcast_algorithm"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ([{SWITCH: "1", FORCED: "chain"}] * 2, f"{FORCED}=chain"),
        # A file of parameters that was there in one launch.
        ([{SWITCH: "1", FORCED: "chain"}, {}], FORCED),
        # 4.1 takes the switch at launch only, so that launches for its algorithms have it.
        ([{SWITCH: "1"}] * 2, None),
    ],
)
def test_a_default_that_a_file_of_parameters_forced_is_none(
    tmp_path: Path, settings: list[dict[str, str]], named: str | None
) -> None:
    """Launches say what the library has read; neither variables nor the words of a variant do."""
    launches = [
        LaunchLine(mpi={"name": OPEN_MPI.name}, variant="default", settings=of_launch) for of_launch in settings
    ]
    known = defaults_of(tmp_path, launches)
    expect_own_choice(["allreduce"], known, OPEN_MPI.name, "default")
    expect_own_choice(["bcast"], known, OPEN_MPI.name, "tcp")
    with pytest.raises(RequestError, match=f"setting {named}") if named else nullcontext():
        expect_own_choice(["allreduce", "bcast"], known, OPEN_MPI.name, "default")


@pytest.mark.parametrize(
    ("name", "target", "named"),
    [
        ("openmpi_v2", "OMPI_MCA_coll_tuned_bcast_algorithm", "--mca coll_tuned_bcast_algorithm 3"),
        (
            "openmpi_classic",
            "OMPI_MCA_coll_tuned_use_dynamic_rules",
            "-x OMPI_MCA_coll_tuned_use_dynamic_rules=1",
        ),
        ("mpich_cvars", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "-genv MPIR_CVAR_BCAST_INTRA_ALGORITHM ring"),
        ("mpich_cvars", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", ""),
        ("mpich_json", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", "--export=ALL,MPIR_CVAR_BCAST_DEVICE_COLLECTIVE=0"),
        ("intel_env", "I_MPI_ADJUST_BCAST", ""),
        ("intel_env", "I_MPI_TUNING", ""),
    ],
)
def test_what_the_user_chose_is_no_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, target: str, named: str
) -> None:
    form, plan = targets.get(name), Plan(ranks=8, operations=["bcast"])

    def launched(base: Variant) -> None:
        trial(plan, base, CELLS, {"tuned": []}, replace(form, write=lambda *_: ""), OPEN_MPI, tmp_path, 4)

    launched(Variant("default", ("--mca", "coll", "^han"), {"A": "1"}))
    with pytest.raises(RequestError, match=target):
        launched(Variant("default", (), {target: "3"}))
    if named:
        with pytest.raises(RequestError, match=target):
            launched(Variant("default", tuple(named.split())))
    monkeypatch.setenv(target, "3")
    with pytest.raises(RequestError, match=target):
        launched(Variant("default"))


def test_our_own_layer_stands_before_what_the_user_preloads(
    mpi: Mpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan, target = Plan(ranks=8, operations=["bcast"], mpi=str(mpi.wrapper)), targets.get("hockney")
    monkeypatch.setenv("LD_PRELOAD", "/theirs.so")

    def preloaded(base: Variant) -> str:
        variations = {"tuned": [Rule("bcast", 8, 8, 16, 4096, "binomial")]}
        made = trial(plan, base, CELLS, variations, target, OPEN_MPI, tmp_path, 4)
        return " ".join(parse_variant(made.plan.variants[1]).arguments)

    assert "libhockney-preload.so:/theirs.so" in preloaded(Variant("default"))
    assert "libhockney-preload.so:/its.so" in preloaded(Variant("default", (), {"LD_PRELOAD": "/its.so"}))


def test_our_own_schedules_are_preloaded(mpi: Mpi, tmp_path: Path) -> None:
    plan, target = Plan(ranks=8, operations=["bcast"], mpi=str(mpi.wrapper)), targets.get("hockney")
    variations = {"tuned": [Rule("bcast", 8, 8, 16, 4096, "binomial")]}
    made = trial(plan, Variant("default", ("-v",)), CELLS, variations, target, OPEN_MPI, tmp_path, 4)
    default, tuned = map(parse_variant, made.plan.variants)
    assert (default.arguments, default.environment) == (("-v",), {})
    assert tuned.arguments[0] == "-v"
    assert "libhockney-preload.so" in " ".join(tuned.arguments)
    assert tuned.environment["HOCKNEY_PRELOAD_RULES"] == "bcast binomial 8 8 16 4096 0 0"

"""What a setting or a watched size says of the default, and which of them counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.predict.identify.forced import Forced, forced, in_doubt
from hockney.predict.identify.told import (
    SETTING,
    VERSION,
    WATCHING,
    WAYS,
    DefaultCall,
    tell,
    told_by,
)
from hockney.predict.watched import _expect_same
from hockney.records.defaults import FILE, Defaults, Seen, WatchedCell, add, defaults_of, find
from hockney.records.journal import LaunchLine

OPEN_MPI, MPICH = "Open MPI 5.0.11", "MPICH 5.0.2"
SWITCH = {"coll_tuned_use_dynamic_rules": "1"}


@pytest.mark.parametrize(
    ("settings", "is_flat", "expected"),
    [
        ({}, False, None),
        # Without the switch Open MPI heeds neither.
        ({"coll_tuned_bcast_algorithm": "chain"}, False, None),
        (
            SWITCH | {"coll_tuned_bcast_algorithm": "chain", "coll_tuned_bcast_algorithm_segmentsize": "8192"},
            False,
            # coll_tuned_init_chain_fanout is 4.
            Forced("coll_tuned_bcast_algorithm=chain", "tuned:chain", 8192, 4),
        ),
        (
            SWITCH
            | {
                "coll_tuned_bcast_algorithm": "knomial",
                "coll_tuned_bcast_algorithm_knomial_radix": "8",
                "coll_tuned_bcast_algorithm_chain_fanout": "2",
            },
            False,
            Forced("coll_tuned_bcast_algorithm=knomial", "tuned:knomial", 0, 8),
        ),
        (SWITCH | {"coll_tuned_reduce_algorithm": "chain"}, False, None),
        (
            SWITCH | {"coll_tuned_dynamic_rules_filename": "r.conf"},
            False,
            Forced("coll_tuned_dynamic_rules_filename=r.conf"),
        ),
        # Ranks that share a node are the device's.
        (
            {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"},
            False,
            Forced("MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial"),
        ),
        (
            {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"},
            True,
            Forced("MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial", "mpir:binomial"),
        ),
        (
            {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0"},
            False,
            Forced("MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial", "mpir:binomial"),
        ),
        (
            {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "s.json"},
            True,
            Forced("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=s.json"),
        ),
    ],
)
def test_which_setting_forces_a_broadcast(
    settings: dict[str, str], is_flat: bool, expected: Forced | None
) -> None:
    assert forced("bcast", settings, ranks=8, nodes=8 if is_flat else 2) == expected


@pytest.mark.parametrize(
    ("library", "operation", "nodes", "is_tuned"),
    [
        (OPEN_MPI, "bcast", 1, True),
        (OPEN_MPI, "bcast", None, True),
        # coll_han_component.c of 5.0: priority 35, tuned has 30.
        (OPEN_MPI, "bcast", 2, False),
        (OPEN_MPI, "alltoall", 2, True),
        ("Open MPI 4.1.5", "bcast", 2, True),
    ],
)
def test_what_tuned_is_forced_to_is_not_told_where_han_serves(
    library: str, operation: str, nodes: int | None, is_tuned: bool
) -> None:
    setting = {f"coll_tuned_{operation}_algorithm": "linear"}
    told = forced(operation, SWITCH | setting, mpi=library, ranks=8, nodes=nodes)
    ((name, value),) = setting.items()
    assert told == Forced(f"{name}={value}", "tuned:linear" if is_tuned else "")


# coll_tuned_decision_dynamic.c: 4.1 asks for the rules of the file first, 5.0 for the algorithm that is forced.
@pytest.mark.parametrize(("library", "is_file"), [("Open MPI 4.1.8", True), (OPEN_MPI, False)])
def test_which_of_a_file_and_a_forced_algorithm_goes_first(library: str, is_file: bool) -> None:
    algorithm, file = {"coll_tuned_bcast_algorithm": "linear"}, {"coll_tuned_dynamic_rules_filename": "r.conf"}
    told = forced("bcast", SWITCH | algorithm | file, mpi=library, ranks=8, nodes=1)
    assert told == (
        Forced("coll_tuned_dynamic_rules_filename=r.conf")
        if is_file
        else Forced("coll_tuned_bcast_algorithm=linear", "tuned:linear")
    )
    # A file in some launches alone leaves the algorithm of all in doubt where it goes first.
    (name,) = file
    assert in_doubt("bcast", SWITCH | algorithm, [name], library) == (name if is_file else "")
    # The other way round it always does: a file may have no rules of the operation.
    (forcing,) = algorithm
    assert in_doubt("bcast", SWITCH | file, [forcing], library) == forcing


def cell(size_B: int, *names: Seen, mpi: str = OPEN_MPI, operation: str = "bcast") -> WatchedCell:
    return WatchedCell(
        operation=operation,
        mpi=mpi,
        variant="default",
        ranks=5,
        nodes=1,
        bytes=size_B,
        names=list(names) or None,
        why="" if names else "all algorithms send the same messages",
    )


def call(size_B: int, operation: str = "bcast") -> DefaultCall:
    return DefaultCall(operation, OPEN_MPI, "default", 5, 1, size_B)


LINEAR, CHAIN = Seen(algorithm="linear", library=["tuned:basic_linear"]), Seen(algorithm="pipeline")


def test_a_setting_goes_before_what_was_watched_and_both_before_the_version() -> None:
    settings = {(OPEN_MPI, "default"): SWITCH | {"coll_tuned_bcast_algorithm": "binomial"}}
    watched = [cell(1024, LINEAR), cell(2048, LINEAR)]

    def names(defaults: Defaults, size_B: int = 1500) -> tuple[str, list[str]]:
        told = told_by(defaults, call(size_B), WAYS)
        assert told is not None
        return told.way, [name.name for name in told.names or ()]

    assert names(Defaults(watched, settings)) == (SETTING, ["binomial"])
    assert names(Defaults(watched)) == (WATCHING, ["linear"])
    # What coll_tuned_decision_fixed.c says of it is tested elsewhere.
    assert names(Defaults())[0] == VERSION
    radix = {"coll_tuned_bcast_algorithm": "knomial", "coll_tuned_bcast_algorithm_knomial_radix": "8"}
    assert names(Defaults(settings={(OPEN_MPI, "default"): SWITCH | radix})) == (SETTING, ["knomial, radix 8"])
    # Of another variant nothing was set.
    assert names(Defaults(settings={(OPEN_MPI, "tcp"): settings[OPEN_MPI, "default"]}))[0] == VERSION
    # A file of rules says that the shipped decision does not hold, and no more.
    rules = {(OPEN_MPI, "default"): SWITCH | {"coll_tuned_dynamic_rules_filename": "r.conf"}}
    told = told_by(Defaults(settings=rules), call(1500), WAYS)
    assert told is not None
    assert (told.names, "coll_tuned_dynamic_rules_filename=r.conf" in told.why) == (None, True)
    assert names(Defaults(watched, rules)) == (WATCHING, ["linear"])


def test_what_was_watched_holds_between_sizes_that_say_the_same_and_not_beyond() -> None:
    defaults = Defaults([cell(64, LINEAR), cell(1024, LINEAR), cell(1025, CHAIN), cell(4096, CHAIN)])

    def names(size_B: int) -> list[str] | None:
        told = tell(defaults, call(size_B))
        return None if told is None or told.names is None else [name.name for name in told.names]

    assert [names(size_B) for size_B in (63, 64, 500, 1024, 1025, 4096, 4097)] == [
        None, ["linear"], ["linear"], ["linear"], ["pipeline"], ["pipeline"], None,
    ]  # fmt: skip


def test_among_several_that_were_seen_the_shipped_decision_chooses_where_it_is_one() -> None:
    # coll_tuned_decision_fixed.c, alltoall on 4 to 7 ranks: linear_sync below 8192 bytes, all at once.
    both = Seen(algorithm="linear"), Seen(algorithm="pairwise")
    other = Seen(algorithm="bruck"), Seen(algorithm="pairwise")
    assert tell(Defaults([cell(64, *both, operation="alltoall")]), call(64, "alltoall")) is None
    told = tell(Defaults([cell(64, *other, operation="alltoall")]), call(64, "alltoall"))
    assert told is not None
    assert told.choice is None
    assert tell(Defaults([cell(64)]), call(64)) is None


def test_the_version_is_not_asked_where_something_else_was_seen() -> None:
    alike, other = (cell(size_B) for size_B in (64, 256))
    other = other.model_copy(update={"fits_none": True, "why": "none sends it"})
    defaults = Defaults([alike, other, other.model_copy(update={"bytes": 512})])
    for size_B in (256, 300):
        told = told_by(defaults, call(size_B), WAYS)
        assert told is not None
        assert (told.way, told.names, told.why) == (WATCHING, None, "none sends it")
        assert tell(defaults, call(size_B)) == told
    # Where all send the same, and between the two, it is.
    for size_B in (64, 100):
        told = told_by(defaults, call(size_B), WAYS)
        assert told is not None
        assert told.way == VERSION
        assert tell(defaults, call(size_B)) is None


def test_the_file_keeps_what_other_watchings_saw_and_is_refused_where_it_is_damaged(tmp_path: Path) -> None:
    assert find(tmp_path) == []
    add(tmp_path, "2026-01-01T00:00:00Z", [cell(64, LINEAR), cell(128, LINEAR)])
    add(tmp_path, "2026-01-02T00:00:00Z", [cell(64, LINEAR, mpi=MPICH)])
    add(tmp_path, "2026-01-03T00:00:00Z", [cell(64, CHAIN)])
    assert find(tmp_path) == [cell(64, LINEAR, mpi=MPICH), cell(64, CHAIN)]
    (tmp_path / FILE).write_text('{"time": "", "cells": [{"operation": "bcast"}]}', encoding="utf-8")
    with pytest.raises(RequestError, match="is damaged"):
        find(tmp_path)


def test_a_setting_that_not_all_launches_had_leaves_it_open(tmp_path: Path) -> None:
    forced = SWITCH | {"coll_tuned_bcast_algorithm": "chain"}
    one = LaunchLine(mpi={"name": OPEN_MPI}, variant="default", settings=forced)
    other = one.with_fields(settings=SWITCH)
    of_launch = OPEN_MPI, "default"
    for launches in ([one, other], [other, one], [other, one, other]):
        mixed = defaults_of(tmp_path, launches)
        assert mixed.settings == {of_launch: SWITCH}
        told = told_by(mixed, call(1500), WAYS)
        assert told is not None
        assert (told.way, told.names) == (SETTING, None)
        assert told.why == "the launches differ in the setting coll_tuned_bcast_algorithm"
        assert tell(mixed, call(1500)) == told
        # Of another operation nothing is in doubt.
        told = told_by(mixed, call(1500, "reduce"), WAYS)
        assert told is not None
        assert told.way == VERSION
        with pytest.raises(RequestError, match="bcast: the launches of the campaign differ"):
            _expect_same(mixed, of_launch, SWITCH, [("bcast", 5)])
        _expect_same(mixed, of_launch, SWITCH, [("reduce", 5)])
    same = defaults_of(tmp_path, [one, one])
    assert (same.settings, same.differing) == ({of_launch: forced}, {})


@pytest.mark.parametrize(
    ("settings", "differing", "expected"),
    [
        (SWITCH, ["coll_tuned_bcast_algorithm"], "coll_tuned_bcast_algorithm"),
        ({"coll_tuned_bcast_algorithm": "chain"}, list(SWITCH), "coll_tuned_use_dynamic_rules"),
        # Alone it changes nothing.
        ({}, list(SWITCH), ""),
        ({}, ["coll_tuned_bcast_algorithm"], ""),
        (SWITCH, ["coll_tuned_reduce_algorithm", "btl_sm_eager_limit"], ""),
        (
            SWITCH | {"coll_tuned_bcast_algorithm": "chain"},
            ["btl_sm_eager_limit", "coll_tuned_bcast_algorithm_segmentsize"],
            "coll_tuned_bcast_algorithm_segmentsize",
        ),
        (SWITCH | {"coll_tuned_bcast_algorithm": "chain"}, ["btl_sm_eager_limit"], ""),
        (
            {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"},
            ["MPIR_CVAR_BCAST_DEVICE_COLLECTIVE"],
            "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE",
        ),
        ({}, ["MPIR_CVAR_BCAST_DEVICE_COLLECTIVE"], ""),
    ],
)
def test_which_difference_between_launches_leaves_a_broadcast_open(
    settings: dict[str, str], differing: list[str], expected: str
) -> None:
    assert in_doubt("bcast", settings, differing) == expected

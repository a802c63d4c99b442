"""Campaigns of collectives against a runner that knows a few algorithms, some of them misbehaved."""

from __future__ import annotations

import time
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.campaign.fake_campaign import fake_launch, measured
from tests.factories import refusing

from hockney.campaign import collectives, loop
from hockney.campaign.offer import Offer
from hockney.campaign.plan import Plan
from hockney.campaign.sizes import spread
from hockney.errors import RequestError
from hockney.records import table
from hockney.records.answers import Candidate
from hockney.records.folder import Campaign
from hockney.records.keys import CollectiveKey
from hockney.runner.session import Session

BCAST = {"operation": "bcast", "segmented": False, "radix": 0}
GOOD = ["default", "binomial", "pipeline", "lib:linear"]


def plan(**choices: Any) -> Plan:
    asked = {"ranks": 2, "visits": 1, "operations": ["bcast"], "algorithms": GOOD, "sizes_B": [8, 64, 4096]}
    return Plan.model_validate({**asked, "time_limit_s": 20.0, **choices})


def points(campaign: Campaign) -> set[tuple[str, str, int | None, int]]:
    return {
        (r.operation, r.algorithm, r.ranks, r.bytes) for r in campaign.records() if r.statistic == "completion"
    }


def test_every_algorithm_at_every_size_with_four_statistics(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(tmp_path / "c", plan())
    assert points(campaign) == {("bcast", name, 2, size) for name in GOOD for size in (8, 64, 4096)}
    assert outcome.measured == 12
    assert outcome.failures == outcome.limitations == []
    by_visit: dict[str, set[str]] = {}
    for record in campaign.records():
        by_visit.setdefault(record.visit, set()).add(record.statistic)
    assert all(len(found) == 4 for found in by_visit.values())
    frame = table.load(tmp_path / "c")
    assert len(frame) == 4 * 12
    # The statistics of a point come from the visit that counts: here 0.7 of its completion.
    wide = frame.pivot_table(index=["algorithm", "bytes"], columns="statistic", values="time_s")
    assert (wide["mean_over_ranks"] / wide["completion"]).to_numpy() == pytest.approx(0.7)


def test_few_of_ranks_that_share_cores_share_them_too(tmp_path: Path) -> None:
    """And are asked for no level: others of the launch wake up on their cores."""
    for crowded in (True, False):
        asked = plan(ranks=3, rank_counts=[2, 3], sizes_B=[8])
        campaign, _, _ = measured(tmp_path / str(crowded), asked, fake_launch(ranks=3, crowded=crowded))
        assert {record.ranks: record.oversubscribed for record in campaign.records()} == {2: crowded, 3: crowded}


def test_one_size_for_all_algorithms_before_the_next(tmp_path: Path) -> None:
    campaign, _, _ = measured(tmp_path / "c", plan())
    order = [record.bytes for record in campaign.records() if record.statistic == "completion"]
    assert order == [8] * 4 + [4096] * 4 + [64] * 4


def test_named_algorithms_without_segments_or_radix_say_so(tmp_path: Path) -> None:
    asked = plan(algorithms=["binomial", "pipeline"], segments_B=[4096], radices=[3], sizes_B=[8])
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert outcome.limitations == [
        "bcast binomial: takes no segment size; measured without segments",
        "bcast binomial: takes no radix; measured without one",
        "bcast pipeline: takes no radix; measured without one",
    ]
    assert [failure.limitation for failure in campaign.failures()] == outcome.limitations
    assert {(r.algorithm, r.segment_bytes) for r in campaign.records()} == {
        ("binomial", None),
        ("pipeline", 4096),
    }


@pytest.mark.parametrize("asked", [(["ours"], [4096]), (["binomial"], [0, 4096])])
def test_groups_and_whole_messages_need_no_such_words(tmp_path: Path, asked: tuple[list[str], list[int]]) -> None:
    algorithms, segments_B = asked
    _, outcome, _ = measured(tmp_path / "a", plan(algorithms=algorithms, segments_B=segments_B, sizes_B=[8]))
    assert outcome.limitations == []


def test_a_selection_is_proved_or_said_to_be_unproved(tmp_path: Path) -> None:
    names = ["default", "binomial", "lib:linear", "lib:wrong"]
    campaign, _, _ = measured(tmp_path / "c", plan(algorithms=names, sizes_B=[8]))
    found = {r.algorithm: (r.selection, r.selection_why) for r in campaign.records()}
    # Our schedules and the library's own choice select nothing.
    assert found["default"] == found["binomial"] == ("", "")
    assert found["lib:linear"] == ("proved", "its first call maps shared memory")
    assert found["lib:wrong"][0] == "unproved"
    assert "does not say what it ran" in found["lib:wrong"][1]


def test_an_algorithm_asked_for_at_launch_is_unproved(tmp_path: Path) -> None:
    asked = plan(algorithms=["binomial_preset"], sizes_B=[8])
    campaign, _, _ = measured(tmp_path / "c", asked, fake_launch(only=("bcast", "binomial_preset")))
    found = {(r.algorithm, r.selection, r.selection_why) for r in campaign.records()}
    assert found == {("binomial_preset", "unproved", "asked for at launch; the library does not answer")}


def test_spread_takes_the_ends_and_then_the_widest_gap() -> None:
    assert spread([1, 2, 3, 4, 5]) == [1, 5, 3, 2, 4]
    assert spread([7]) == [7]
    assert spread([]) == []


def test_reductions_move_whole_numbers_and_a_barrier_nothing(tmp_path: Path) -> None:
    asked = plan(operations=["allreduce", "barrier"], algorithms=["binomial"], sizes_B=[1, 5, 8])
    campaign, _, _ = measured(tmp_path / "c", asked)
    assert points(campaign) == {
        ("allreduce", "binomial", 2, 4),
        ("allreduce", "binomial", 2, 8),
        ("barrier", "binomial", 2, 0),
    }


def test_segments_only_where_they_mean_something(tmp_path: Path) -> None:
    asked = plan(algorithms=["binomial", "pipeline"], segments_B=[0, 1024], sizes_B=[8])
    campaign, _, _ = measured(tmp_path / "c", asked)
    found = {(r.algorithm, r.segment_bytes) for r in campaign.records()}
    assert found == {("binomial", None), ("pipeline", None), ("pipeline", 1024)}


def test_what_an_algorithm_does_not_do_is_recorded_once_and_no_failure(tmp_path: Path) -> None:
    asked = plan(algorithms=["binomial", "lib:choosy"])
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert outcome.failures == []
    assert len(outcome.limitations) == 1
    assert "refuses 2 ranks" in outcome.limitations[0]
    measured(tmp_path / "c", asked)
    assert len([one for one in campaign.failures() if one.limitation]) == 1


def test_wrong_data_is_kept_marked_and_left_out_of_the_table(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(tmp_path / "c", plan(algorithms=["binomial", "lib:wrong"], sizes_B=[8]))
    assert any("wrong data" in text for text in outcome.failures)
    assert {r.algorithm for r in campaign.records() if r.verified is False} == {"lib:wrong"}
    assert set(table.load(tmp_path / "c")["algorithm"]) == {"binomial"}


def test_an_algorithm_that_kills_the_launch_is_left_alone_and_the_rest_measured(tmp_path: Path) -> None:
    campaign, outcome, _ = measured(tmp_path / "c", plan(algorithms=["lib:deadly", *GOOD]))
    assert {name for _, name, _, _ in points(campaign)} == set(GOOD)
    # Twice, although there are three sizes.
    assert len(outcome.failures) == 2


def test_an_unknown_algorithm_names_the_known_and_the_nearest(tmp_path: Path) -> None:
    with refusing("'binomal' of bcast", "did you mean 'binomial'", "lib:linear"):
        measured(tmp_path / "c", plan(algorithms=["binomal"]))


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("ours", {"binomial", "pipeline", "stepped"}),
        ("default", {"default"}),
        ("library", {"default", "lib:linear", "lib:choosy", "lib:wrong", "lib:deadly"}),
    ],
)
def test_words_for_many_algorithms(word: str, names: set[str]) -> None:
    kinds = {"default": "default", "binomial": "schedule", "pipeline": "schedule", "stepped": "schedule"}
    every = [*GOOD, "stepped", "lib:choosy", "lib:wrong", "lib:deadly"]
    known = [
        Candidate.model_validate({**BCAST, "algorithm": name, "kind": kinds.get(name, "library")})
        for name in every
    ]
    assert {one.algorithm for one in collectives.choose(known, plan(algorithms=[word]))} == names


@pytest.mark.parametrize(("word", "count"), [("all", 2), ("ours", 1), ("blocking_pipeline", 1)])
def test_what_is_there_to_teach_is_measured_where_it_is_named(word: str, count: int) -> None:
    kinds = {"default": "default", "pipeline": "schedule", "blocking_pipeline": "schedule"}
    known = [Candidate.model_validate({**BCAST, "algorithm": name, "kind": kinds[name]}) for name in kinds]
    found = [one.algorithm for one in collectives.choose(known, plan(algorithms=[word]))]
    assert len(found) == count
    assert ("blocking_pipeline" in found) == (word == "blocking_pipeline")


def test_rank_counts_grow_by_halves_and_refine_at_a_jump(tmp_path: Path) -> None:
    asked = plan(ranks=64, algorithms=["stepped"], sizes_B=[8])
    assert collectives.rank_counts(asked) == [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
    campaign, _, _ = measured(tmp_path / "c", asked)
    counts = {ranks for _, _, ranks, _ in points(campaign)}
    # The jump is at 40: of the ladder's 32 and 48 something between must have been tried.
    assert any(32 < ranks < 48 for ranks in counts if ranks)


def test_the_time_is_kept_and_what_is_left_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A hundredth of a second at each look: how far the time reaches is no matter of the machine's load.
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=count(step=0.01).__next__))
    asked = plan(ranks=64, sizes_B=[], budget_s=0.2, time_s=0.6)
    campaign, outcome, _ = measured(tmp_path / "c", asked)
    assert outcome.left_out > 0
    assert outcome.failures == []
    # In order: the smallest size of every algorithm and rank count comes before the second visit of any.
    sizes = [record.bytes for record in campaign.records() if record.statistic == "completion"]
    assert sizes[0] == 1
    again, more, _ = measured(tmp_path / "c", asked)
    assert more.measured > 0
    assert len(points(again)) > len(set(sizes))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"root": 4, "rank_counts": [2]}, "root 4 is none of 2 ranks"),
        ({"rank_counts": [9]}, "rank count of 9"),
        ({"rank_counts": [1]}, "rank count of 1"),
    ],
)
def test_a_root_or_rank_count_that_is_none_is_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(ranks=4, **choices)


def test_rounds_of_visits_are_spread_over_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches differ, so that a point's visits are of several; what is compared, of the same ones."""
    monkeypatch.setattr(loop, "LONG", 0)
    campaign, outcome, _ = measured(tmp_path / "c", plan(visits=3, sizes_B=[8, 64]))
    launches: dict[tuple[str, int], list[str]] = {}
    for record in campaign.records():
        if record.statistic == "completion":
            launches.setdefault((record.algorithm, record.bytes), []).append(record.launch)
    of_point, *of_others = launches.values()
    assert all(others == of_point for others in of_others), "every round has all points"
    assert len(set(of_point)) == len(of_point) == 12
    assert len(campaign.launches()) == len(set(of_point)), "none was made for nothing"
    assert outcome.failures == []


def test_one_point_alone_is_visited_in_each_of_its_launches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LONG", 0)
    campaign, outcome, _ = measured(tmp_path / "c", plan(visits=3, sizes_B=[8], algorithms=["binomial"]))
    assert len(campaign.launches()) == outcome.measured == 12


def test_what_the_time_left_out_is_told_where_it_ends_between_two_launches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LONG", 0)
    closed, launches = Session.close, []

    def late(session: Session) -> None:
        launches.append(session)
        if len(launches) == 3:
            time.sleep(3)
        closed(session)

    monkeypatch.setattr(Session, "close", late)
    _, outcome, _ = measured(tmp_path / "c", plan(visits=3, sizes_B=[8], time_s=3.0))
    assert not outcome.is_whole
    assert outcome.left_out > 20, "of 4 algorithms with 12 visits each, three rounds are made"


@pytest.mark.parametrize(("long", "choices"), [(10**6, {}), (0, {"mpi": "smpi"}), (0, {"visits": 1})])
def test_one_launch_does_where_others_cost_much_or_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int, choices: dict[str, object]
) -> None:
    monkeypatch.setattr(loop, "LONG", long)
    campaign, _, _ = measured(tmp_path / "c", plan(**{"visits": 3, "sizes_B": [8, 64], **choices}))
    assert len(campaign.launches()) == 1


def test_resume_measures_only_what_is_missing(tmp_path: Path) -> None:
    measured(tmp_path / "c", plan())
    _, outcome, _ = measured(tmp_path / "c", plan())
    assert outcome.measured == 0


def test_another_processor_is_another_machine(tmp_path: Path) -> None:
    asked = plan(sizes_B=[8])
    measured(tmp_path / "c", asked, fake_launch(cpu_model="another"))
    with pytest.raises(RequestError, match="begun on another; this is this"):
        measured(tmp_path / "c", asked, fake_launch(cpu_model="this"))


def test_two_processes_do_not_measure_into_one_folder(tmp_path: Path) -> None:
    asked = plan(sizes_B=[8])
    campaign = Campaign.create(tmp_path / "c", asked.model_dump())
    with campaign.locked(), pytest.raises(RequestError, match="another process is writing"):
        measured(tmp_path / "c", asked)


@pytest.mark.parametrize(
    ("algorithm", "library", "file", "refused"),
    [
        ("tuned:pipeline", "Open MPI 4.1.4", "rules_file", True),
        ("tuned:pipeline", "Open MPI 4.1.4", "", False),
        ("tuned:pipeline", "Open MPI 5.0.11", "rules_file", False),
        ("default", "Open MPI 4.1.4", "rules_file", False),
        ("basic:default", "Open MPI 4.1.4", "rules_file", False),
    ],
)
def test_what_a_file_of_rules_goes_before_is_refused(
    algorithm: str, library: str, file: str, refused: bool
) -> None:
    chosen = [Candidate(operation="bcast", algorithm=algorithm, kind="library", segmented=False, radix=0)]
    settings = {"coll_tuned_dynamic_rules_filename": file} if file else {}
    with pytest.raises(RequestError, match="of rules_file before it heeds tuned:") if refused else nullcontext():
        collectives.expect_heeded(chosen, library, settings)


@pytest.mark.parametrize("library", ["Open MPI 4.1.4", "Open MPI 5.0.11"])
def test_a_launch_is_asked_for_nothing_that_a_file_of_rules_goes_before(library: str) -> None:
    known = Candidate(operation="bcast", algorithm="tuned:pipeline", kind="library", segmented=False, radix=0)
    hello = SimpleNamespace(
        operations=[], algorithms=[known], settings={"coll_tuned_dynamic_rules_filename": "rules_file"}
    )
    running: Any = SimpleNamespace(hello=hello, launch=SimpleNamespace(only=None, mpi_name=library))
    loop: Any = None
    asked = plan(operations=["bcast"], algorithms=["tuned:pipeline"], rank_counts=[2])
    if library.startswith("Open MPI 4"):
        with pytest.raises(RequestError, match="of rules_file before it heeds tuned:pipeline"):
            Offer(loop, asked, running, set())
    else:
        (key,) = Offer(loop, asked, running, set()).series()
        assert isinstance(key, CollectiveKey)
        assert key.algorithm == "tuned:pipeline"

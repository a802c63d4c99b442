"""Ranks that share cores: what a probe changes of a study's plan and of its estimate."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.command_line import refused, succeeded
from tests.factories import not_none

from hockney.api import studies as of_api
from hockney.api.measuring import _is_crowded
from hockney.campaign import prepare
from hockney.campaign.estimate import first_pass_s
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import MapBy
from hockney.runner.mpi import Mpi
from hockney.runner.session import LaunchFailed, NoAnswer
from hockney.studies import crowding
from hockney.studies.asked import StudyRequest
from hockney.studies.crowding import Crowding, crowded, probed
from hockney.studies.files import Study, find, parse
from hockney.studies.steps import StudyStep, steps

NEVER_YIELDS = {3: 0.3, 4: 0.5, 6: 1.0, 8: 1.8}
YIELDS = dict.fromkeys(NEVER_YIELDS, 0.05)


def found(visit_s: dict[int, float]) -> Crowding:
    return Crowding(ranks=8, cores=2, what="cores", placements=["core"], start_s=0.5, visit_s=visit_s)


def planned(study: Study, visit_s: dict[int, float] | None, placement: MapBy = "core") -> list[StudyStep]:
    of_probe = None if visit_s is None else found(visit_s)
    asked = StudyRequest(name=study.name, quick=True, ranks=8, placements=[placement], crowding=of_probe)
    return steps(study, asked, Path("s"))


def shipped(name: str, visit_s: dict[int, float] | None) -> list[StudyStep]:
    return planned(find(name), visit_s)


def measuring(options: str) -> Study:
    text = (
        f'question = "?"\ncompares = "-"\nshows = "-"\nneeds = ["bcast"]\n[[steps]]\nverb = "measure"\n{options}'
    )
    return Study(name="mine", text=text, file=parse(text, "mine.toml"))


def test_fewer_ranks_wait_as_long_as_the_next_number_that_was_probed() -> None:
    of_probe = found(NEVER_YIELDS)
    assert [of_probe.least_s(ranks) for ranks in (2, 3, 5, 8)] == [0.0, 0.3, 1.0, 1.8]


def test_where_a_library_never_yields_fewer_points_are_planned_and_every_algorithm() -> None:
    usual, crowded = shipped("collectives", None)[1], shipped("collectives", NEVER_YIELDS)[1]
    assert crowded.command.endswith(" --quick --visits 1 --rank-counts 2,8")
    assert usual.plan is not None
    assert crowded.plan is not None
    assert crowded.plan.algorithms == usual.plan.algorithms
    assert (crowded.plan.rank_counts, crowded.plan.sizes_B) == ([2, 8], [2, 2**20])
    of_probe = crowded.crowding
    # A fifth of the points takes a quarter of the time; that is more than the minute of the file.
    needed_s = first_pass_s(crowded.plan, of_probe)
    assert 60 < needed_s < first_pass_s(usual.plan, of_probe) / 3
    assert crowded.plan.time_s == pytest.approx(1.2 * needed_s, abs=1)
    assert crowded.estimate_s > 1.2 * needed_s


def test_where_it_yields_the_plan_stays() -> None:
    assert [step.command for step in shipped("collectives", YIELDS)] == [
        step.command for step in shipped("collectives", None)
    ]


def test_runs_of_applications_that_wait_are_estimated_longer() -> None:
    slow = dict.fromkeys(NEVER_YIELDS, 12.0)
    # Sixteen runs of at least a third of 12 s.
    assert shipped("ring", slow)[1].estimate_s > 16 * 4
    assert shipped("ring", YIELDS)[1].estimate_s == shipped("ring", None)[1].estimate_s


def test_every_launch_of_every_variant_has_to_fit_into_the_time() -> None:
    def plan(options: str) -> Plan:
        made = planned(
            measuring(f"options = {{ operation = 'bcast', algorithm = 'all', {options} }}"), NEVER_YIELDS
        )
        return not_none(made[0].plan)

    one = plan("time = '1h'")
    needed_s = first_pass_s(one, found(NEVER_YIELDS))
    fits = f"time = '{math.ceil(1.5 * needed_s)}s'"
    assert plan(fits).rank_counts == []
    twice = plan(f"{fits}, variant = ['a=', 'b=']")
    assert twice.rank_counts == [2, 8]
    assert plan(f"{fits}, launches = 2").rank_counts == [2, 8]
    # Where the fewest points do not fit either, the time is for both.
    both = plan("time = '1s', variant = ['a=', 'b=']")
    assert both.time_s == pytest.approx(2 * (plan("time = '1s'").time_s or 0), abs=2)


def test_collectives_are_narrowed_at_placements_without_room_alone() -> None:
    study = measuring("options = { operation = 'pingpong,allreduce', algorithm = 'all', time = '10s' }")
    assert "--rank-counts 2,8" in planned(study, NEVER_YIELDS)[0].command
    assert "--rank-counts" not in planned(study, NEVER_YIELDS, "hwthread")[0].command


class Answering:
    """A launch whose broadcasts take as long as a table says, or fail as it says."""

    def __init__(self, visit_s: Mapping[int, float | LaunchFailed], clock: SimpleNamespace) -> None:
        self._visit_s, self._clock = visit_s, clock

    def collective(self, _limit_s: float, **request: Any) -> None:
        took_s = self._visit_s[request["ranks"]]
        if isinstance(took_s, LaunchFailed):
            raise took_s
        self._clock.now_s += took_s


def probe(
    monkeypatch: pytest.MonkeyPatch, visit_s: Mapping[int, float | LaunchFailed], cores: int = 2
) -> Crowding | None:
    clock = SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(crowding, "places", lambda _: cores)
    monkeypatch.setattr(crowding, "launches", lambda _: [SimpleNamespace(argv=[], environment={})])
    monkeypatch.setattr(time, "monotonic", lambda: clock.now_s)
    monkeypatch.setattr(crowding, "Session", lambda *_: nullcontext(Answering(visit_s, clock)))
    return probed({"ranks": max(visit_s)}, ["core"])


HANGS, DIES = NoAnswer("no answer", ""), LaunchFailed("the launch ended (exit code 9)", "")


@pytest.mark.parametrize(
    ("visit_s", "cores", "why", "hint"),
    [
        ({**NEVER_YIELDS, 8: 40.0}, 2, "2 B among 8 takes 40 s", "--ranks 6 fits"),
        ({**NEVER_YIELDS, 8: HANGS}, 2, "among 8 gave no answer within 60 s", "--ranks 6 fits"),
        ({**NEVER_YIELDS, 8: DIES}, 2, "among 8, the launch ended (exit code 9)", "--ranks 6 fits"),
        ({3: HANGS}, 2, "among 3 gave no answer", "--ranks 2 fits"),
        ({2: 20.0}, 1, "among 2 takes 20 s", "no study fits here"),
        ({2: HANGS}, 1, "among 2 gave no answer", "no study fits here"),
    ],
)
def test_ranks_that_wait_too_long_are_refused_with_the_number_that_fits(
    visit_s: dict[int, float | LaunchFailed],
    cores: int,
    why: str,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(RequestError) as caught:
        probe(monkeypatch, visit_s, cores)
    assert why in caught.value.message
    assert caught.value.hint == hint


def test_a_launch_that_does_not_start_is_left_to_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise LaunchFailed("no MPI", "")

    monkeypatch.setattr(crowding, "launches", lambda _: [SimpleNamespace(argv=[], environment={})])
    monkeypatch.setattr(crowding, "Session", failing)
    assert probed({"ranks": 8}, ["core"]) is None


def test_hardware_threads_count_where_ranks_are_placed_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "inventory", lambda: SimpleNamespace(cores=2, cpus=4))
    for name in prepare.HOST_FILES:
        monkeypatch.delenv(name, raising=False)
    both: list[MapBy] = ["hwthread", "core"]
    assert crowded({"ranks": 4}, both) == ["core"]
    assert crowded({"ranks": 5}, both) == both
    assert crowded({"ranks": 4, "bind_to": "hwthread"}, both) == []
    assert crowded({"ranks": 5, "mpi": "smpi"}, both) == []
    assert _is_crowded(Plan(ranks=4, mappings=both))
    assert not _is_crowded(Plan(ranks=4, map_by="hwthread"))


def test_a_folder_that_is_not_empty_is_refused_before_the_probe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(of_api, "crowded", never)
    (tmp_path / "mine").touch()
    err = refused("study", "collectives", "--ranks", "2", "-o", tmp_path)
    assert "is not empty" in err


@pytest.mark.one_mpi
def test_a_study_on_shared_cores_says_so_before_and_first_of_its_answers(mpi: Mpi, tmp_path: Path) -> None:
    study = tmp_path / "few.toml"
    study.write_text(
        'question = "?"\ncompares = "-"\nshows = "-"\nneeds = ["bcast"]\n'
        '[[steps]]\nverb = "measure"\noptions = { operation = "bcast", bytes = "2", time = "2s", visits = 1 }\n',
        encoding="utf-8",
    )
    ranks = inventory().cores + 1
    words: list[str | Path] = ["study", study, "--ranks", str(ranks), "--mpi", mpi.wrapper]
    words += ["-o", tmp_path / "s", "--json"]
    succeeded(*words, "--dry-run")
    out = succeeded(*words)
    said = json.loads(out)
    assert said["crowding"]["cores"] == inventory().cores
    assert said["findings"][0]["text"].startswith("Ranks shared cores in 1 of 1 launch:")

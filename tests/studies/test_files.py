"""Study files: each one that comes with the package is whole; a user's own is read, or refused by its place."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.command_line import refused, succeeded
from tests.factories import written

from hockney.campaign.estimate import LAUNCH_S, VISIT_SHARE, estimate
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.runner.inventory import inventory
from hockney.studies.asked import StudyRequest
from hockney.studies.files import FOLDER, find, names, parse
from hockney.studies.steps import StudyStep, runs, steps

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "studies.md"
OWN = """
question = "How long does it take?"
compares = "Nothing."
shows = "Times."
needs = ["ring"]

[[steps]]
verb = "run ring"
options = { ranks = "1-{ranks}", exchange = "sendrecv,nonblocking", communicator = ["world", "cartesian"] }
quick = { ranks = "{ranks}" }
a_run_s = "2s"
"""


def planned(text: str, tmp_path: Path, ranks: int = 4, **other: object) -> list[StudyStep]:
    asked = StudyRequest.model_validate({"name": "own", "ranks": ranks, "placements": ["core"], **other})
    path = written(tmp_path / "own.toml", text)
    return steps(find(str(path)), asked, tmp_path / "steps")


def test_there_is_a_file_for_each_study_that_was_promised() -> None:
    assert set(names()) == {
        *("point_to_point", "ring", "sum3d", "jacobi", "cg", "collectives", "pinning", "scaling", "machine"),
        *("transports", "assignment"),
    }


@pytest.mark.parametrize("name", names())
def test_a_study_is_documented(name: str) -> None:
    assert f"### {name}\n" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("ranks", [2, 8])
@pytest.mark.parametrize("name", names())
def test_the_plan_of_a_study_is_accepted_by_the_models_of_its_options(
    name: str, ranks: int, quick: bool, tmp_path: Path
) -> None:
    asked = StudyRequest(name=name, quick=quick, ranks=ranks, placements=["core", "node"])
    made = steps(find(name), asked, tmp_path)
    assert len({step.name for step in made}) == len(made)
    assert {step.placement for step in made} == {"core", "node"}
    # What a study needs of a folder from elsewhere is something that it measures itself.
    assert set(find(name).file.needs) & {operation for step in made for operation in step.operations()}
    # Without a time of its own a campaign takes as long as the machine has series.
    assert all(step.plan.time_s is not None for step in made if step.plan is not None)


def test_a_study_of_parts_has_their_steps_and_those_of_each_library(tmp_path: Path) -> None:
    asked = StudyRequest(
        name="assignment", ranks=12, placements=["core"], parts=["jacobi", "transports"],
        libraries=["/opt/other/bin/mpicc"],
    )  # fmt: skip
    made = steps(find("assignment"), asked, tmp_path)
    assert {step.name.partition("-")[0] for step in made} == {"jacobi", "transports"}
    plans = [step.plan for step in made if step.name.startswith("transports")]
    assert [plan.mpi for plan in plans if plan is not None] == ["auto", "/opt/other/bin/mpicc"]
    for study, part in (("assignment", "jacoby"), ("ring", "jacobi")):
        with pytest.raises(RequestError, match=f"no part '{part}'"):
            find(study).parts([part])


@pytest.mark.parametrize(("memory_B", "side", "least_s"), [(12 * 33e9, "1200", 30), (12 * 20e9, "800", 10)])
def test_cubes_are_those_of_the_documents_where_memory_holds_them(
    memory_B: float, side: str, least_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two arrays of 1200³ doubles are 27.6 GB; six sweeps of it take half a minute at 3 ns a cell."""
    node = replace(inventory(), memory_B=int(memory_B))
    monkeypatch.setattr("hockney.studies.steps.inventory", lambda: node)
    asked = StudyRequest(name="jacobi", ranks=12, placements=["core"])
    (weak,) = (step for step in steps(find("jacobi"), asked, tmp_path) if "subdomain" in step.options)
    assert (weak.options["subdomain"], weak.options["ranks"]) == (side, "1,4,8,12")
    assert weak.estimate_s > runs(weak) * least_s


def test_the_same_messages_are_measured_once(tmp_path: Path) -> None:
    parts = ["jacobi", "cg"]
    asked = StudyRequest(name="assignment", quick=True, ranks=2, placements=["core"], parts=parts)
    assert [step.name for step in steps(find("assignment"), asked, tmp_path) if step.verb == "measure"] == [
        "jacobi-1-measure-core"
    ]


def test_an_estimate_counts_shapes_and_transports(tmp_path: Path) -> None:
    """24 ranks have six shapes of a grid; three sizes, two splits."""
    asked = StudyRequest(name="sum3d", ranks=24, placements=["core"])
    (sums,) = (step for step in steps(find("sum3d"), asked, tmp_path) if step.verb == "run sum3d")
    assert runs(sums) == 3 * 6 * 2
    one = Plan.model_validate({"operations": ["pingpong"], "ranks": 2})
    every = Plan.model_validate({**one.model_dump(), "variants": ["all-transports"]})
    assert estimate(every).whole_s > 4 * estimate(one).whole_s


@pytest.mark.parametrize("name", names())
def test_quick_takes_less(name: str, tmp_path: Path) -> None:
    def takes_s(quick: bool) -> float:
        asked = StudyRequest(name=name, quick=quick, ranks=2, placements=["core"])
        return sum(step.estimate_s for step in steps(find(name), asked, tmp_path))

    assert takes_s(True) < takes_s(False)


def test_a_list_makes_a_command_of_each_value_and_words_are_filled(tmp_path: Path) -> None:
    made = planned(OWN, tmp_path)
    assert [step.options["communicator"] for step in made] == ["world", "cartesian"]
    assert made[0].command == (
        "hockney run ring --ranks 1-4 --exchange sendrecv,nonblocking --communicator world"
    )
    # Four numbers of processes in two ways, of two seconds each.
    assert runs(made[0]) == 8
    assert made[0].estimate_s - 16 == pytest.approx(planned(OWN, tmp_path, quick=True)[0].estimate_s - 4)


def test_powers_end_at_all_ranks(tmp_path: Path) -> None:
    (step, _) = planned(OWN.replace("1-{ranks}", "{powers}"), tmp_path, ranks=6)
    assert step.options["ranks"] == "1,2,4,6"


def test_the_estimate_of_a_campaign_is_its_visits_at_their_budget_or_its_time() -> None:
    plan = Plan(ranks=2, operations=["pingpong"], sizes_B=[8, 64, 512], budget_s=0.5, time_s=None)
    shorter = plan.model_copy(update={"time_s": 0.1})
    longer = plan.model_copy(update={"budget_s": 1.0})
    # Three sizes in one locality: half a second each.
    assert estimate(plan).estimate_s == pytest.approx(LAUNCH_S + VISIT_SHARE * 3 * 0.5)
    assert estimate(shorter).estimate_s == 0.1
    assert estimate(longer).estimate_s - estimate(plan).estimate_s == pytest.approx(VISIT_SHARE * 3 * 0.5)


def test_no_estimate_exceeds_the_time_that_bounds_it() -> None:
    # Twenty starts of 1.5 s are 30 s: they are made within --time, not before it.
    bounded = Plan(ranks=2, operations=["pingpong"], sizes_B=[8], launches=20, time_s=10.0)
    told = estimate(bounded)
    assert (told.estimate_s, told.bound_s) == (10.0, 10.0)
    assert told.whole_s > 20 * LAUNCH_S


def test_an_estimate_names_its_bound() -> None:
    plan = Plan(
        ranks=2, operations=["pingpong"], sizes_B=[8, 64, 512], visits=4, budget_s=0.5, launches=2, time_s=None
    )
    free, loose, tight = (estimate(plan.model_copy(update={"time_s": time_s})) for time_s in (None, 600.0, 10.0))
    assert (free.launches, free.points, free.visits) == (2, 3, 12)
    assert str(free) == f"about {round(free.whole_s)} s"
    assert str(loose) == f"about {round(free.whole_s)} s, at most 10 min 0 s (--time)"
    assert str(tight) == f"10 s (--time), in which not all fits: all of it takes about {round(free.whole_s)} s"
    assert loose.estimate_s == free.estimate_s == free.whole_s
    assert tight.estimate_s < tight.whole_s


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (("run ring", "run rings"), r"steps\.1\.verb: did you mean 'run ring'", "hockney study show"),
        (
            ('exchange = "sendrecv', 'exchanges = "sendrecv'),
            r"own, step 1: hockney run ring has no option",
            "exchange",
        ),
        (('ranks = "1-{ranks}"', 'ranks = "1-{rank}"'), r"unknown word \{rank\}", r"\{ranks\}"),
        (('ranks = "1-{ranks}"', 'ranks = "many"'), r"own, step 1: --ranks: 'many'", ""),
        (("question =", "questions ="), r"question: Field required", ""),
        (
            ('needs = ["ring"]', 'needs = ["rnig"]'),
            r"own.toml: needs: no operation 'rnig': did you mean 'ring'",
            "",
        ),
        (('a_run_s = "2s"', "a_run_s = inf"), r"own.toml: steps\.1\.a_run_s: .*finite", ""),
        (('a_run_s = "2s"', 'a_run_s = "abc"'), r"own.toml: steps\.1\.a_run_s: 'abc'", ""),
        (('a_run_s = "2s"', "a_quick_run_s = -100"), r"own.toml: steps\.1\.a_quick_run_s: .*greater than 0", ""),
        (('["world", "cartesian"]', "[]"), r"own, step 1: communicator = \[\]: a list without values", ""),
        (
            ('communicator = ["world", "cartesian"]', 'output = "elsewhere"'),
            r"own, step 1: .* cannot set output",
            "",
        ),
        (
            ('communicator = ["world", "cartesian"]', 'variant = "all-transports"'),
            r"own, step 1: a study takes no all-transports",
            "hockney doctor --transports",
        ),
        (("[[steps]]", 'parts = ["rnig"]\n[[steps]]'), r"no study 'rnig': did you mean 'ring'", ""),
        (("[[steps]]", 'parts = ["assignment"]\n[[steps]]'), r"a part of a study has no parts", ""),
        (("[[steps]]", "[[steps"), r"own.toml is no TOML", ""),
    ],
)
def test_what_is_wrong_in_a_file_is_named(
    change: tuple[str, str], message: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError) as refused:
        planned(OWN.replace(*change), tmp_path)
    assert re.search(message, refused.value.message)
    assert re.search(hint, refused.value.hint)


def test_one_value_of_a_repeated_option_needs_no_list(tmp_path: Path) -> None:
    variants = [
        planned(OWN.replace('communicator = ["world", "cartesian"]', f"variant = {given}"), tmp_path)[0].options[
            "variant"
        ]
        for given in ('"tcp: --mca btl tcp,self"', '["tcp: --mca btl tcp,self"]')
    ]
    assert [variants[0]] == variants[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list", "--quick", "--hosts", "a"], "list measures nothing, and does not take --quick, --hosts"),
        (["list", "--from", "t.csv"], "does not take --from"),
        (["show", "ring", "-o", "s"], "does not take --output"),
        (["ring", "jacobi", "--dry-run"], "'jacobi'"),
        (["ring", "--hosts", "a:x,b", "--dry-run"], "'a:x' is not a host"),
        (["ring", "--variant", "all-transports", "--dry-run"], "a study takes no all-transports"),
    ],
)
def test_words_that_mean_nothing_are_refused(words: list[str], message: str) -> None:
    err = refused("study", *words)
    assert message in " ".join(err.split())


def test_an_unknown_study_names_the_nearest() -> None:
    err = refused("study", "jacoby", "-o", "nowhere")
    assert "did you mean 'jacobi'?" in err


def test_a_study_is_listed_shown_and_planned_without_an_mpi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = succeeded("study", "list")
    assert all(name in out for name in names())
    out = succeeded("study", "show", "ring")
    assert parse(out, "shown") == parse((FOLDER / "ring.toml").read_text(encoding="utf-8"), "kept")
    out = succeeded("study", "ring", "--dry-run", "--ranks", "3", "--mpi", tmp_path, "-o", tmp_path / "s")
    assert "hockney run ring --ranks 1-3" in out
    assert re.search(r"on 3 ranks, about \d+", out)
    assert re.search(r"takes about \d+ s", out)
    assert not (tmp_path / "s").exists()
    # Bound and estimate are named.
    out = succeeded("study", "collectives", "--dry-run", "--ranks", "2", "--mpi", tmp_path)
    assert re.search(r"takes .*\d+ (s|min)\b.* \(--time\)", out)
    assert not re.search(r"--time \d+min \(", out)

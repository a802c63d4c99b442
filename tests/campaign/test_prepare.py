"""From a plan to launches: default ranks, variants, and what is said of a launch."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.factories import refusing

from hockney.batch.base import JobAllocation
from hockney.campaign import prepare
from hockney.campaign.estimate import estimate
from hockney.campaign.plan import Launching, Plan
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.answers import Hello, RankPlace
from hockney.records.journal import StoredPlan
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import LaunchRequest
from hockney.runner.mpi import Broken, Mpi
from hockney.runner.transports import Offered, Tried


@pytest.fixture(autouse=True)
def an_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    """An Open MPI that need not exist: nothing here launches it."""
    broken = Broken(Path("/old/bin/mpicc"), "PATH", "it prints nothing", "remove it")
    found = Mpi("openmpi", "5.0.7", "3.1", Path("/x/mpicc"), Path("/x/mpirun"), "openmpi", passed_over=(broken,))
    monkeypatch.setattr(prepare, "find", lambda *_: found)
    monkeypatch.setattr(prepare, "runner_binary", lambda _: Path("/cache/hockney-runner"))


def hello(thread_level: str = "", **rank: Any) -> Hello:
    ranks = [{"rank": r, "host": "h", "machine": "m", "cpu": r, "affinity": [r], **rank} for r in (0, 1)]
    return Hello(
        protocol=1,
        library="Open MPI",
        thread_level=thread_level,
        standard="3.1",
        operations=[],
        settings={"btl_sm_eager_limit": "4096"},
        ranks=[RankPlace.model_validate(rank) for rank in ranks],
        clock_granularity_s=1e-9,
    )


def test_ranks_default_to_the_cores_or_the_slots() -> None:
    assert prepare.default_ranks([]) == max(2, inventory().cores)
    assert prepare.default_ranks(["a:3", "b:5"]) == 8
    assert prepare.default_ranks(["a", "b"]) == 2 * inventory().cores


def test_each_variant_is_a_launch_of_the_same_program() -> None:
    plan = Plan(ranks=2, variants=["tcp: --mca btl tcp,self", "big: OMPI_X=1"])
    tcp, big = prepare.launches(plan)
    assert (tcp.variant, big.variant) == ("tcp", "big")
    assert tcp.argv[-4:] == ["--mca", "btl", "tcp,self", "/cache/hockney-runner"]
    assert big.environment["OMPI_X"] == "1"
    assert big.provenance.environment["OMPI_X"] == "1"


def test_two_variants_of_one_name_are_refused() -> None:
    with pytest.raises(RequestError, match="two variants have the same name"):
        prepare.launches(Plan(ranks=2, variants=["a: X=1", "a: X=2"]))


@pytest.mark.parametrize(
    ("launcher", "setting"),
    [
        ("openmpi", "OMPI_MCA_coll_tuned_dynamic_rules_filename={}"),
        ("openmpi", "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {}"),
        ("openmpi", "-x OMPI_MCA_coll_tuned_dynamic_rules_filename={} -x HOME"),
        ("openmpi", "--gmca coll_tuned_dynamic_rules_filename {}"),
        ("srun", "--export=ALL,OMPI_MCA_coll_tuned_dynamic_rules_filename={},A=1"),
        ("srun", "--export ALL,OMPI_MCA_coll_tuned_dynamic_rules_filename={}"),
        ("flux", "--env=OMPI_MCA_coll_tuned_dynamic_rules_filename={}"),
        ("hydra", "-genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE {}"),
        ("hydra", "-genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={}"),
        ("hydra", "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={}"),
        ("hydra", "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE={}"),
    ],
)
def test_a_file_of_rules_must_be_there(
    launcher: str, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open MPI would run on without it, and say nothing; MPICH would crash."""
    library = "mpich" if launcher == "hydra" else "openmpi"
    found = Mpi(library, "5.0.2", "4.1", Path("/x/mpicc"), Path("/x/mpiexec"), launcher)
    monkeypatch.setattr(prepare, "find", lambda *_: found)
    file = tmp_path / "rules"
    plan = Plan(ranks=2, variants=[f"with: {setting.format(file)}"])
    with pytest.raises(RequestError, match=f"{file}, which .*_(filename|FILE) names, cannot be read"):
        prepare.launches(plan)
    file.mkdir()
    with pytest.raises(RequestError, match="cannot be read"):
        prepare.launches(plan)
    file.rmdir()
    file.touch()
    assert [path for launch in prepare.launches(plan) for _, path in launch.rules] == [str(file)]
    # Empty it says that there are none.
    assert prepare.launches(Plan(ranks=2, variants=[f"without: {setting.format(chr(34) * 2)}"]))


def test_words_that_pass_a_variable_on_name_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Mpi("openmpi", "5.0.2", "4.1", Path("/x/mpicc"), Path("/x/mpiexec"), "openmpi")
    monkeypatch.setattr(prepare, "find", lambda *_: found)
    plan = Plan(ranks=2, variants=["passed: -x OMPI_MCA_coll_tuned_dynamic_rules_filename --mca btl self"])
    assert [launch.rules for launch in prepare.launches(plan)] == [()]


def test_hosts_are_looked_at_before_anything_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "find", lambda *_: pytest.fail("an MPI was looked for"))
    stored = Plan(ranks=2).model_dump() | {"hosts": ["-oProxyCommand=id"]}
    with pytest.raises(RequestError, match="'-oProxyCommand=id' is not a host"):
        prepare.launches(Plan.stored(StoredPlan.of(stored), tmp_path))
    with pytest.raises(RequestError, match="host file: /no/such/file does not exist"):
        prepare.app_launches(Launching(ranks=2, hostfile="/no/such/file"))


def test_a_launch_is_described_by_what_it_turned_out_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    (launch,) = prepare.launches(Plan(ranks=2))
    described = launch.describe(hello())
    assert (described.nodes, described.ppn, described.oversubscribed) == (1, 2, False)
    assert described.provenance.eager_limit_B == {"shared_memory": 4016}
    # `h` is another host: of its C library and caches nobody tells.
    assert described.provenance.breaks_B == {"shared_memory": [256]}
    monkeypatch.setattr(prepare, "largest_plain_copy_B", lambda tunables: int(tunables.partition("=")[2] or 2112))
    monkeypatch.setattr(prepare, "cache_line_B", lambda: 64)
    here = hello(host=platform.node())
    assert launch.describe(here).provenance.breaks_B == {"shared_memory": [10, 256, 2112]}
    (tuned,) = prepare.launches(Plan(ranks=2, variants=["far: GLIBC_TUNABLES=x=9000"]))
    assert tuned.describe(here).provenance.breaks_B == {"shared_memory": [10, 256, 9000]}
    assert any("/old/bin/mpicc was found first and cannot be used" in text for text in described.warnings)
    crowded = launch.describe(hello(affinity=[0]))
    assert crowded.oversubscribed
    assert any("oversubscribed" in text for text in crowded.warnings)


def test_a_launch_whose_calls_take_longer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the switch was set: exported, as here, or by the launcher's own arguments, which only ranks see."""
    monkeypatch.setenv("HOCKNEY_PROGRESS_THREAD", "1")
    (launch,) = prepare.launches(Plan(ranks=2))
    assert launch.provenance.environment["HOCKNEY_PROGRESS_THREAD"] == "1"
    described = launch.describe(hello("multiple", progress_threads=["HOCKNEY_PROGRESS_THREAD"]))
    assert described.provenance.mpi["thread_level"] == "multiple"
    assert any("each call takes longer" in text for text in described.warnings)
    assert not any("takes longer" in text for text in launch.describe(hello()).warnings)


@pytest.fixture
def no_batch_system(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*prepare.ALLOCATIONS, *prepare.HOST_FILES):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_batch_system")
def test_ranks_far_beyond_this_host_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with refusing("100000 ranks on the", "--hosts"):
        prepare.launches(Plan(ranks=100_000))
    # A few ranks a core are slow, and the user's business.
    assert prepare.launches(Plan(ranks=256))
    # Other hosts, named or allotted, may be many.
    assert prepare.launches(Plan(ranks=100_000, hosts=["a:50000", "b:50000"]))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert prepare.launches(Plan(ranks=100_000))


def test_nodes_of_a_flux_job_are_those_of_its_own_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """flux-batch(1) sets no variables for its script, so that mpirun knows one node: its own."""
    given = JobAllocation(system="flux", job="ƒM7", hosts=("n1", "n2"), cpus=(4, 4))
    monkeypatch.setattr(prepare, "allocation", lambda: given)
    plan = Plan(ranks=4, nodes=2)
    with refusing("mpirun does not take nodes from flux", "--hosts n1,n2", kind=EnvironmentLack):
        prepare.launches(plan)
    assert prepare.launches(Plan(ranks=2, nodes=1))
    flux = Mpi("openmpi", "5.0.7", "3.1", Path("/x/mpicc"), Path("/x/flux"), "flux")
    monkeypatch.setattr(prepare, "find", lambda *_: flux)
    (launch,) = prepare.launches(plan)
    assert {"run", "--nodes=2"} <= {*launch.argv}


def test_binding_is_dropped_where_ranks_outnumber_cores() -> None:
    ranks = inventory().cores + 1
    (launch,) = prepare.launches(Plan(ranks=ranks))
    assert (launch.provenance.bind_to, launch.provenance.bind_to_asked) == ("none", "core")


@pytest.mark.parametrize(
    ("name", "value", "is_kept"),
    [
        ("OMPI_MCA_btl", "self,sm", True),
        ("FI_PROVIDER_PATH", "/opt/site/libfabric-1.20.1-with-a-rather-long-name/lib/providers", True),
        ("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", True),
        ("SLURM_JOB_NODELIST", "n[001-128]", True),
        ("OMPI_MCA_orte_precondition_transports", "0123", False),
        ("PMIX_SERVER_TOKEN", "x", False),
        ("SLURM_JOB_PASSWORD", "x", False),
        ("FI_EFA_AUTH_KEY", "x", False),
        ("PMIX_X", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", False),
        ("OMPI_PROXY", "http://me:hunter2@proxy:3128", False),
    ],
)
def test_secrets_of_the_environment_are_not_recorded(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, is_kept: bool
) -> None:
    monkeypatch.setenv(name, value)
    (launch,) = prepare.launches(Plan(ranks=2))
    assert launch.provenance.environment[name] == (value if is_kept else prepare.HIDDEN)


def test_the_environment_is_recorded_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_X", os.fsdecode(b"a\xff"))
    (launch,) = prepare.launches(Plan(ranks=2))
    assert launch.provenance.environment["OMPI_X"] == "a\\udcff"


def test_all_transports_become_variants_that_the_plan_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that start; a variant that was named besides comes first, and a stored plan names none to try."""
    asked: list[LaunchRequest] = []

    def tried(_: Mpi, request: LaunchRequest, variants: Sequence[str], *__: object) -> list[Tried]:
        asked.append(request)
        return [Tried(text, "" if "tcp" in text or text == "default:" else "no device") for text in variants]

    monkeypatch.setattr(prepare, "tried", tried)
    monkeypatch.setattr(prepare, "offered", lambda _: Offered({"pml": ("ob1", "ucx"), "btl": ("sm", "tcp")}))
    plan, results = prepare.with_transports(
        Plan(ranks=2, variants=["mine: A=1", "all-transports"], hosts=["a:1", "b:1"]), lambda _: None
    )
    assert plan.variants[0] == "mine: A=1"
    assert "all-transports" not in plan.variants
    assert {"default:", "ob1-tcp: --mca pml ob1 --mca btl tcp,self"} <= set(plan.variants)
    assert not [text for text in plan.variants if "btl sm" in text]
    assert {one.name for one in results if one.why_not} >= {"ob1-sm", "ucx"}
    assert (asked[0].ranks, asked[0].map_by, asked[0].hosts) == (2, "node", ("a:1", "b:1"))


def test_where_no_transport_starts_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "tried", lambda *_: [Tried("default:", "no MPI runs here")])
    monkeypatch.setattr(prepare, "offered", lambda _: Offered())
    with pytest.raises(EnvironmentLack, match=r"no transport of .* starts: no MPI runs here"):
        prepare.with_transports(Plan(ranks=2, variants=["all-transports"]), lambda _: None)


@pytest.mark.mpi
def test_several_mappings_are_as_many_launches() -> None:
    """Each with its own words of the launcher, beside each variant; the first is the plan's."""
    asked = Plan(ranks=2, mappings=["node", "core"], variants=["a: A=1", "b: B=1"])
    planned = prepare.launches(asked)
    assert asked.map_by == "node"
    assert [launch.name for launch in planned] == ["a by node", "b by node", "a by core", "b by core"]
    assert [launch.provenance.mapping for launch in planned] == ["node", "node", "core", "core"]
    assert planned[0].argv != planned[2].argv
    assert estimate(asked).launches == 4
    with pytest.raises(ValueError, match="names a mapping twice: core, core"):
        Plan(ranks=2, mappings=["core", "core"])


def test_a_single_mapping_is_that_of_the_plan() -> None:
    assert Plan(ranks=2, mappings=["node"]) == Plan(ranks=2, map_by="node")


def test_a_simulation_knows_no_mappings() -> None:
    """Its launches would be the same under two names."""
    with pytest.raises(RequestError, match="is the same by core and node"):
        Plan(ranks=2, mpi="smpi:cluster.xml", mappings=["core", "node"])

"""What libraries' tools list, the variants that follow from it, and which of them start."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.planted_node import plant_node

from hockney.records.nodes import NodeDescription
from hockney.runner.inventory import node
from hockney.runner.launchers.base import LaunchRequest
from hockney.runner.mpi import Mpi
from hockney.runner.session import LaunchFailed, Session
from hockney.runner.transports import OFFERED, Offered, candidates, offered, tried
from hockney.runner.variants import parse_variant

OMPI_INFO = """\
package:Open MPI root@build Distribution
ompi:version:full:4.1.1
mca:btl:openib:version:"mca:2.1.0"
mca:btl:openib:version:"api:3.1.0"
mca:btl:openib:version:"component:4.1.1"
mca:btl:self:version:"mca:2.1.0"
mca:btl:tcp:version:"mca:2.1.0"
mca:btl:vader:version:"mca:2.1.0"
mca:mtl:ofi:version:"mca:2.1.0"
mca:pml:v:version:"mca:2.1.0"
mca:pml:cm:version:"mca:2.1.0"
mca:pml:monitoring:version:"mca:2.1.0"
mca:pml:ob1:version:"mca:2.1.0"
mca:pml:ucx:version:"mca:2.1.0"
mca:coll:tuned:version:"mca:2.1.0"
"""
"""As ompi_info --parsable of Open MPI 4.1 prints it, with the components that the exercises list."""
FI_INFO = """\
provider: verbs;ofi_rxm
    fabric: IB-0xfe80000000000000
    domain: mlx5_0
provider: tcp
    fabric: 10.0.0.0/8
    domain: br0
provider: tcp
    fabric: 127.0.0.0/8
    domain: lo
"""
UCX_INFO = """\
#
# Memory domain: mlx5_0
#     Component: ib
#
#      Transport: rc_mlx5
#         Device: mlx5_0:1
#           Type: network
#
#      Transport: tcp
#         Device: br0
#           Type: network
"""
MPICHVERSION = """\
MPICH Version:      4.2.1
MPICH Device:       ch4:ofi
MPICH configure:    --with-device=ch4:ofi
"""


def _mpi(kind: str, folder: Path) -> Mpi:
    return Mpi(kind, "4.1.1", "3.1", folder / "mpicc", folder / "mpirun", "openmpi")


@pytest.fixture
def thin(tmp_path: Path) -> NodeDescription:
    return node(plant_node(tmp_path / "root"))


@pytest.fixture
def open_mpi(tmp_path: Path, script: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """With tools beside its launcher, and one of OFI on the PATH."""
    script(tmp_path / "bin/ompi_info", OMPI_INFO)
    script(tmp_path / "bin/ucx_info", UCX_INFO)
    script(tmp_path / "path/fi_info", FI_INFO)
    script(tmp_path / "path/mpichversion", MPICHVERSION)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/bin:/usr/bin")
    return _mpi("openmpi", tmp_path / "bin")


def test_what_the_tools_list(open_mpi: Mpi) -> None:
    said = offered(open_mpi)
    assert said.components == {
        "pml": ("cm", "monitoring", "ob1", "ucx", "v"),
        "btl": ("openib", "self", "tcp", "vader"),
        "mtl": ("ofi",),
    }
    assert said.providers == ("verbs;ofi_rxm", "tcp")
    assert said.ucx == (("rc_mlx5", "mlx5_0:1"), ("tcp", "br0"))
    assert said.device == "", "mpichversion on the PATH is of another library"
    assert [Path(tool).name for tool in said.tools] == ["ompi_info", "fi_info", "ucx_info"]


def test_what_a_launch_keeps_is_read_back(open_mpi: Mpi) -> None:
    said = offered(open_mpi)
    assert OFFERED.validate_json(json.dumps(OFFERED.dump_python(said, exclude_defaults=True))) == said
    assert "btl: openib, self, tcp, vader" in said.lines
    for damaged in ({"components": 3}, {"ucx": [1]}, {"providers": 3}):
        with pytest.raises(ValidationError):
            OFFERED.validate_python(damaged)


def test_tools_that_are_absent_or_fail(
    tmp_path: Path, script: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert offered(_mpi("openmpi", tmp_path / "a")) == Offered()
    script(tmp_path / "b/ompi_info", OMPI_INFO, code=1)
    assert offered(_mpi("openmpi", tmp_path / "b")) == Offered()
    (tmp_path / "c").mkdir()
    (tmp_path / "c/ompi_info").write_text("no program", encoding="utf-8")
    assert offered(_mpi("openmpi", tmp_path / "c")) == Offered()


def test_the_exercises_combinations_are_among_the_variants(open_mpi: Mpi, thin: NodeDescription) -> None:
    found = candidates(open_mpi, offered(open_mpi), thin, between_nodes=True)
    variants = {one.name: one for one in map(parse_variant, found)}
    assert next(iter(variants)) == "default"
    # UCX_NET_DEVICES=ib0, br0, mlx5_0:1; ob1 with openib, tcp and vader.
    devices = {v.environment["UCX_NET_DEVICES"] for v in variants.values() if "UCX_NET_DEVICES" in v.environment}
    assert {"ib0", "br0", "mlx5_0:1"} <= devices
    btls = {v.arguments[-1] for name, v in variants.items() if name.startswith("ob1-") and len(v.arguments) == 6}
    assert btls == {"vader,self", "tcp,self", "openib,self"}
    assert variants["cm-ofi-verbs-ofi_rxm"].arguments[-1] == "verbs;ofi_rxm"
    # A port of the bridge has no address, and nothing goes to another node by the loopback.
    by_device = {v.arguments[-1] for name, v in variants.items() if name.startswith("ob1-tcp-")}
    assert by_device == {"ib0", "br0", "bond0"}
    assert len(variants) == len(found)


def test_inside_of_a_node_no_network_device_is_chosen(open_mpi: Mpi, thin: NodeDescription) -> None:
    found = candidates(open_mpi, offered(open_mpi), thin, between_nodes=False)
    assert not [one for one in found if "NET_DEVICES" in one or "if_include" in one]


def test_mpich_and_intel(tmp_path: Path, script: Callable[..., Path], thin: NodeDescription) -> None:
    script(tmp_path / "bin/mpichversion", MPICHVERSION)
    script(tmp_path / "bin/fi_info", FI_INFO)
    mpich = _mpi("mpich", tmp_path / "bin")
    assert offered(mpich).device == "ch4:ofi"
    variants = [parse_variant(text) for text in candidates(mpich, offered(mpich), thin, between_nodes=False)]
    assert [(one.name, one.environment) for one in variants] == [
        ("default", {}),
        *(
            (name, {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": provider})
            for name, provider in (("ofi-verbs-ofi_rxm", "verbs;ofi_rxm"), ("ofi-tcp", "tcp"))
        ),
    ]
    intel = [
        parse_variant(text) for text in candidates(_mpi("intel", tmp_path), Offered(), thin, between_nodes=False)
    ]
    assert intel[1].environment == {"I_MPI_FABRICS": "shm"}
    assert {"tcp", "mlx", "psm3"} <= {one.environment.get("FI_PROVIDER") for one in intel}, "tried by name"
    script(tmp_path / "both/mpichversion", MPICHVERSION.replace("ch4:ofi", "ch4:ucx ofi"))
    assert offered(_mpi("mpich", tmp_path / "both")).device == "ch4:ucx,ofi", "as the wheel of 5.0 prints it"
    of_ucx = candidates(mpich, Offered(device="ch4:ucx"), thin, between_nodes=True)
    assert any("UCX_NET_DEVICES=mlx5_0:1" in text and "NETMOD=ucx" in text for text in of_ucx)


def test_what_starts_is_told_from_what_does_not(mpi: Mpi) -> None:
    broken = (
        "none: --mca pml moon"
        if mpi.kind == "openmpi"
        else "none: MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=moon UCX_TLS=moon"
    )
    good, bad = tried(mpi, LaunchRequest(ranks=2, oversubscribe=True), ["default:", broken])
    assert (good.name, good.why_not) == ("default", "")
    assert bad.name == "none"
    # Seen once beside other work: Open MPI's launcher hung on ranks that could not start, and was ended.
    assert "the launch ended" in bad.why_not or "the launch was ended" in bad.why_not


def test_a_reason_that_is_broken_into_lines_is_told_as_a_whole_sentence(tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text(
        """--------------------------------------------------------------------------
At least one pair of MPI processes are unable to reach each other for
MPI communications.  This means that no Open MPI device has indicated
that it can be used to communicate between these processes.  This is
an error; Open MPI requires that all MPI processes be able to reach
each other.  This can sometimes be the result of forgetting to
specify the "self" BTL.
--------------------------------------------------------------------------
[host:1] 2 more processes
""",
        encoding="utf-8",
    )
    whole = "This is an error; Open MPI requires that all MPI processes be able to reach each other."
    with pytest.raises(LaunchFailed) as failed:
        Session(["sh", "-c", f"cat {message} >&2; exit 1"], {"PATH": os.environ["PATH"]}, 30.0)
    assert failed.value.message.endswith(f": {whole}")

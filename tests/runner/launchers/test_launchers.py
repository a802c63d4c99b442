"""Command lines of every launcher, from their manuals: mpirun(1), prterun-map(1), Hydra, Intel MPI, srun(1)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.factories import written

from hockney.errors import RequestError
from hockney.runner.launchers import srun as srun_module
from hockney.runner.launchers.base import (
    BindTo,
    LaunchRequest,
    MapBy,
    check_hostfile,
    check_hosts,
    command,
)
from hockney.runner.mpi import Mpi
from hockney.runner.platform import host_names


def _mpi(kind: str, version: str, launcher: str) -> Mpi:
    return Mpi(kind, version, "4.0", Path("/m/mpicc"), Path(f"/m/{launcher}"), launcher)


OMPI5, OMPI4 = _mpi("openmpi", "5.0.7", "openmpi"), _mpi("openmpi", "4.1.4", "openmpi")
MPICH, INTEL = _mpi("mpich", "4.2.0", "hydra"), _mpi("intel", "2021.14", "hydra")
SRUN_MPICH = _mpi("mpich", "4.2", "srun")


def _line(mpi: Mpi, **request: Any) -> str:
    argv, _ = command(mpi, LaunchRequest(**{"ranks": 4, **request}))
    return " ".join(argv)


@pytest.fixture(autouse=True)
def _ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


BY = {"ompi4": OMPI4, "ompi5": OMPI5, "mpich": MPICH, "intel": INTEL}
LINES = """
ompi5 | | --map-by core --bind-to core
ompi4 | map_by=socket | --map-by socket --bind-to core
ompi5 | map_by=socket | --map-by package --bind-to core --rank-by slot
ompi5 | map_by=socket bind_to=socket | --map-by package --bind-to package --rank-by slot
ompi4 | bind_to=socket | --map-by core --bind-to socket
ompi5 | map_by=node | --map-by node --bind-to core
ompi4 | map_by=hwthread bind_to=hwthread | --map-by hwthread --bind-to hwthread --use-hwthread-cpus
ompi5 | oversubscribe | --map-by core:OVERSUBSCRIBE --bind-to none
ompi4 | oversubscribe | --map-by core:OVERSUBSCRIBE --bind-to none
ompi5 | hosts=a:2,b:2 | --map-by core --bind-to core --host a:2,b:2
ompi4 | hosts=a,b ppn=2 map_by=socket | --map-by socket --bind-to core --host a:2,b:2
ompi5 | ppn=2 | --map-by ppr:2:node --bind-to core
ompi5 | hostfile=/h bind_to=none | --map-by core --bind-to none --hostfile /h
mpich | | -bind-to core -map-by core
mpich | map_by=socket | -bind-to core -map-by socket
mpich | map_by=node | -bind-to core -map-by core -ppn 1
mpich | map_by=hwthread bind_to=hwthread | -bind-to hwthread -map-by hwthread
mpich | oversubscribe | -bind-to none
mpich | hosts=a:2,b:2 | -bind-to core -map-by core -hosts a:2,b:2
mpich | hostfile=/h ppn=2 | -bind-to core -map-by core -ppn 2 -f /h
intel | |
intel | hosts=a:2,b:2 | -ppn 2 -hosts a,b
intel | hosts=a,b map_by=node | -ppn 1 -hosts a,b
"""
SRUN = """
openmpi | | --mpi=pmix --ntasks=4 {} --distribution=block:block --cpu-bind=cores
mpich | map_by=socket | --mpi=pmi2 --ntasks=4 {} --distribution=block:cyclic --cpu-bind=cores
mpich | map_by=node ppn=2 | --mpi=pmi2 --ntasks=4 {} {two} --distribution=cyclic:block --cpu-bind=cores
openmpi | hosts=a:2,b:2 bind_to=socket | \
  --mpi=pmix --ntasks=4 {} {two} --nodelist=a,b --distribution=block:block --cpu-bind=sockets
openmpi | map_by=hwthread bind_to=hwthread | \
  --mpi=pmix --ntasks=4 {} --distribution=block:block:block --cpu-bind=threads
openmpi | oversubscribe | --mpi=pmix --ntasks=4 {} --distribution=block:block --cpu-bind=none --overcommit
"""


def _rows(text: str) -> list[list[str]]:
    """The columns of each line."""
    return [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]


def _read(words: str) -> dict[str, Any]:
    """A request as these tables write it."""
    read: dict[str, Callable[[str], Any]] = {
        "ppn": int,
        "hosts": lambda text: tuple(text.split(",")),
        "hostfile": Path,
    }
    pairs = [word.partition("=") for word in words.split()]
    return {name: read.get(name, str)(value) if equals else True for name, equals, value in pairs}


@pytest.mark.parametrize(("by", "words", "options"), _rows(LINES))
def test_mpirun_and_hydra(by: str, words: str, options: str) -> None:
    mpi = BY[by]
    assert _line(mpi, **_read(words)) == f"{mpi.launcher} -n 4 {options}".strip()


def test_what_a_variant_adds_comes_last() -> None:
    added = {"arguments": ("--mca", "btl", "tcp,self"), "environment": {"A": "1"}}
    assert _line(OMPI5, **added).endswith("--bind-to core -x A --mca btl tcp,self")
    assert _line(MPICH, arguments=("-genv", "A", "1")).endswith("-map-by core -genv A 1")
    assert _line(_mpi("openmpi", "5.0.7", "srun"), arguments=("--exact",)).endswith("--cpu-bind=cores --exact")


@pytest.mark.parametrize(("kind", "words", "options"), _rows(SRUN))
def test_srun(kind: str, words: str, options: str) -> None:
    common = "--input=0 --kill-on-bad-exit=1 --export=ALL"
    expected = options.format(common, two="--nodes=2 --ntasks-per-node=2")
    assert _line(_mpi(kind, "5.0.7", "srun"), **_read(words)) == f"/m/srun {expected}"


def test_srun_with_intel_leaves_pinning_to_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "libpmi2.so"
    library.touch()
    monkeypatch.setattr(srun_module, "_INTEL_PMI", (str(tmp_path / "absent.so"), str(library)))
    monkeypatch.delenv("I_MPI_PMI_LIBRARY", raising=False)
    _, environment = command(_mpi("intel", "2021.14", "srun"), LaunchRequest(4))
    assert environment == {"I_MPI_PIN": "0", "I_MPI_PMI_LIBRARY": str(library)}


@pytest.mark.parametrize(
    ("request_", "pinning"),
    [
        ("", "1 core compact"),
        ("map_by=socket", "1 core scatter"),
        ("bind_to=hwthread map_by=hwthread", "1 1:compact compact"),
        ("oversubscribe", "0"),
        ("bind_to=none", "0"),
    ],
)
def test_intel_pins_by_environment(request_: str, pinning: str) -> None:
    _, environment = command(INTEL, LaunchRequest(4, **_read(request_)))
    names = ("I_MPI_PIN", "I_MPI_PIN_DOMAIN", "I_MPI_PIN_ORDER")
    assert environment == dict(zip(names, pinning.split(), strict=False))


OPENMP = {"OMP_NUM_THREADS": "2", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}


CPUS = {"cpus": ((0, 1), (4, 5))}
FULL = {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "omp", "I_MPI_PIN_CELL": "core", "I_MPI_PIN_ORDER": "compact"}


@pytest.mark.parametrize(
    ("by", "request_", "options", "added"),
    [
        (OMPI5, {}, "--map-by slot:PE=2 --bind-to core", {}),
        (OMPI4, {"map_by": "numa"}, "--map-by numa:PE=2 --bind-to core", {}),
        (OMPI5, {"map_by": "cache"}, "--map-by l3cache:PE=2 --bind-to core --rank-by slot", {}),
        (MPICH, {}, "-bind-to core:2 -map-by core:2", {}),
        (MPICH, {"map_by": "cache"}, "-bind-to core:2 -map-by l3cache", {}),
        (MPICH, _read("map_by=hwthread bind_to=hwthread"), "-bind-to hwthread:2", {"OMP_PLACES": "threads"}),
        # Ranks that share CPUs would all put their threads on the first of them.
        (MPICH, {"oversubscribe": True}, "-bind-to none", {"OMP_PLACES": None, "OMP_PROC_BIND": "false"}),
        (MPICH, {"environment": {"OMP_PLACES": "sockets"}}, "-bind-to core:2", {"OMP_PLACES": "sockets"}),
        (MPICH, CPUS, "-bind-to user:0+1,4+5", {}),
        (INTEL, {}, "-n 4", FULL),
        (INTEL, CPUS, "-n 4", {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "[3,30]"}),
        (
            SRUN_MPICH,
            {"map_by": "socket"},
            "--cpus-per-task=2 --threads-per-core=1 --distribution=block:cyclic",
            {},
        ),
        (
            SRUN_MPICH,
            {"cpus": ((0,), (14,)), "threads": 1},
            "--cpus-per-task=1 --cpu-bind=map_cpu:0,14",
            {"OMP_NUM_THREADS": "1"},
        ),
        (SRUN_MPICH, CPUS, "--cpus-per-task=2 --cpu-bind=mask_cpu:0x3,0x30", {}),
    ],
)
def test_threads(by: Mpi, request_: dict[str, Any], options: str, added: dict[str, str | None]) -> None:
    argv, environment = command(by, LaunchRequest(**{"ranks": 4, "threads": 2, **request_}))
    assert options in " ".join(argv)
    expected = {**OPENMP, **added}
    assert environment == {name: value for name, value in expected.items() if value is not None}
    if by.kind == "openmpi":
        assert "-x OMP_PLACES" in " ".join(argv)


@pytest.mark.parametrize(("by", "option"), [(OMPI4, "--rankfile "), (OMPI5, "--map-by rankfile:FILE=")])
def test_open_mpi_reads_lists_from_a_file(
    by: Mpi, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path))
    line = _line(by, ranks=2, slots=((0, 1), (4,)), cpus=((0, 8, 1, 9), (4, 12)))
    (file,) = (tmp_path / "rankfiles").iterdir()
    assert f"{option}{file}" in line
    assert file.read_text(encoding="utf-8") == "rank 0=localhost slot=0,1\nrank 1=localhost slot=4\n"


@pytest.mark.parametrize(
    ("by", "request_", "message"),
    [
        (MPICH, {"threads": 0}, "0 threads"),
        (MPICH, {"threads": 2, "bind_to": "socket"}, "not to a socket"),
        (SRUN_MPICH, {"map_by": "numa"}, "srun cannot deal ranks to each numa"),
    ],
)
def test_threads_that_cannot_be_placed(by: Mpi, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        command(by, LaunchRequest(4, **request_))


def test_root_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--allow-run-as-root" in _line(OMPI5)
    assert "--allow-run-as-root" not in _line(MPICH)


@pytest.mark.parametrize("launcher", ["openmpi", "hydra", "srun", "flux"])
def test_variant_wins_over_the_environment_of_the_mpi(launcher: str) -> None:
    kind = "openmpi" if launcher == "openmpi" else "mpich"
    mpi = Mpi(kind, "5.0", "4.0", Path("/m/mpicc"), Path("/m/x"), launcher, {"A": "mpi", "B": "mpi"})
    _, environment = command(mpi, LaunchRequest(2, environment={"B": "variant"}))
    assert environment == {"A": "mpi", "B": "variant"}


@pytest.mark.parametrize(
    ("by", "request_", "message"),
    [
        (OMPI5, {"bind_to": "socket"}, "the binding is wider"),
        (OMPI5, {"map_by": "socket", "ppn": 2}, "needs hosts"),
        (OMPI5, {"ranks": 0}, "0 ranks"),
        (MPICH, {"ppn": 0}, "0 ranks per node"),
        (MPICH, {"map_by": "slot"}, "unknown mapping 'slot'"),
        (MPICH, {"bind_to": "l3"}, "unknown binding 'l3'"),
        (MPICH, {"hosts": ("a:x",)}, "'a:x' is not a host"),
        (INTEL, {"hosts": ("a:2", "b:1")}, "same number of ranks"),
        (INTEL, {"hosts": ("a:2", "b")}, "same number of ranks"),
        (SRUN_MPICH, {"hosts": ("a:2", "b:1")}, "same number of ranks"),
    ],
)
def test_requests_that_no_launcher_could_obey(by: Mpi, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        _line(by, **request_)


OPTIONS = ("-oProxyCommand=id", "--host", "root@-oProxyCommand=id", "a;id", "$(id)", "a`id`", "")
"""What ssh, or a shell, would take for something other than a host's name."""


@pytest.mark.parametrize("host", OPTIONS)
@pytest.mark.parametrize("by", [OMPI5, MPICH, INTEL, SRUN_MPICH, _mpi("mpich", "4.2", "flux")])
def test_no_launcher_is_given_a_host_that_is_an_option(by: Mpi, host: str) -> None:
    with pytest.raises(RequestError, match="is not a host"):
        _line(by, hosts=("a", host))


def test_hosts_are_names_addresses_and_what_launchers_make_of_them() -> None:
    check_hosts(
        ["n1", "n-1.site.example:16", "10.0.0.1:2", "me@n1", "n[1-4]", "n[01-04].x", "+n0", "^n1", "knoten_1"]
    )


@pytest.mark.parametrize("host", OPTIONS[:-1])
def test_a_host_file_names_no_option(tmp_path: Path, host: str) -> None:
    file = written(tmp_path / "hosts", f"# mine\nn1 slots=4\n  {host} slots=2\n")
    with pytest.raises(RequestError, match=r"hosts:3: .* is not a host"):
        check_hostfile(file)


def test_a_host_file_in_the_formats_of_launchers(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("n1 slots=4 max-slots=8 # first\n\nn2:4\nme@n3\nn[4-5,7],n8\nfe80::1 slots=2\n")
    check_hostfile(file)


@pytest.mark.parametrize(("content", "message"), [(None, "does not exist"), (b"\xff\xfe", "is not text")])
def test_a_host_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "hosts"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RequestError, match=message):
        check_hostfile(file)


def test_smpi_needs_a_platform_and_puts_ranks_on_its_hosts_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    smpi = _mpi("smpi", "3.32", "smpi")
    with pytest.raises(RequestError, match="none was given"):
        _line(smpi)
    platform = tmp_path / "p.xml"
    platform.write_text(
        '<platform><cluster id="c" prefix="n" radical="0-2,7" suffix=".x"/><host id="last"/></platform>',
        encoding="utf-8",
    )
    words = _line(smpi, platform=platform).split()
    hosts = Path(words[words.index("-hostfile") + 1]).read_text(encoding="utf-8")
    assert hosts == "n0.x\nn1.x\nn2.x\nn7.x\n"
    with pytest.raises(RequestError, match=r"6 ranks, but .* has 5 hosts"):
        _line(smpi, platform=platform, ranks=6)
    platform.write_text("<platform", encoding="utf-8")
    with pytest.raises(RequestError, match=r"platform file: .* is no XML"):
        _line(smpi, platform=platform)


@pytest.mark.parametrize("radical", ["0-30000000", "0-99999999999999999999", "0-" + "9" * 5000, "x"])
def test_a_cluster_of_absurdly_many_hosts_is_refused(tmp_path: Path, radical: str) -> None:
    platform = written(tmp_path / "p.xml", f'<platform><cluster id="c" radical="{radical}"/></platform>')
    with pytest.raises(RequestError, match="the radical") as caught:
        host_names(platform)
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("map_by", "bind_to", "hint"),
    [
        ("hwthread", "core", "add --map-by core, or --bind-to hwthread"),
        ("core", "socket", "add --map-by socket, or --bind-to core"),
        ("cache", "numa", "add --map-by numa, or --bind-to core"),
    ],
)
def test_the_way_out_of_a_binding_that_is_too_wide_is_one(map_by: MapBy, bind_to: BindTo, hint: str) -> None:
    with pytest.raises(RequestError, match="the binding is wider") as caught:
        command(OMPI5, LaunchRequest(ranks=2, map_by=map_by, bind_to=bind_to))
    assert caught.value.hint == hint
    found = re.findall(r"--(map-by|bind-to) (\w+)", hint)
    for option, word in found:
        command(
            OMPI5,
            replace(LaunchRequest(ranks=2, map_by=map_by, bind_to=bind_to), **{option.replace("-", "_"): word}),
        )

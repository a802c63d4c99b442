"""The eager limit and further breaks as each library states them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runner.sessions import start

from hockney.runner.breaks import (
    CELL,
    CELL_HEADER_B,
    CMA,
    INLINE_B,
    breaks_B,
    cache_line_B,
    eager_limits_B,
    largest_plain_copy_B,
)
from hockney.runner.mpi import Mpi

OPENMPI_5 = {"btl_sm_eager_limit": "4096", "btl_vader_eager_limit": "4096", "btl_tcp_eager_limit": "65536"}


# 80 B of 5.x are for the headers; tests/runner/effects/test_synchronisation.py asks the library.
def test_open_mpi_states_one_for_each_channel() -> None:
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5) == {"shared_memory": 4016, "network": 65456}
    assert eager_limits_B("openmpi", "5.0.11", {"btl_vader_eager_limit": "8192"}) == {"shared_memory": 8112}


def test_a_variant_without_shared_memory_uses_the_networks() -> None:
    tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, tcp) == {"shared_memory": 65456, "network": 65456}
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "sm,self"])["shared_memory"] == 4016
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "^tcp"])["shared_memory"] == 4016


def test_a_choice_by_environment_or_exclusion_counts_too() -> None:
    assert (
        eager_limits_B("openmpi", "5.0.11", OPENMPI_5, [], {"OMPI_MCA_btl": "tcp,self"})["shared_memory"] == 65456
    )
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "^sm,vader"])["shared_memory"] == 65456
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "pml", "ucx"]) == {}
    assert eager_limits_B("openmpi", "5.0.11", OPENMPI_5, [], {"OMPI_MCA_pml": "cm"}) == {}


def test_defaults_that_say_nothing_say_nothing() -> None:
    assert eager_limits_B("mpich", "5.0.2", {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "-1"}) == {}
    assert eager_limits_B("mpich", "5.0.2", {"MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD": "16384"}) == {"network": 16384}
    assert eager_limits_B("unknown", "", OPENMPI_5) == {}


def test_older_headers_are_shorter() -> None:
    older = {"btl_vader_eager_limit": "4096"}
    assert eager_limits_B("openmpi", "4.1.4", older) == {"shared_memory": 4040}
    assert eager_limits_B("openmpi", "3.1.6", older) == {"shared_memory": 4040}, "as the oldest that is known"
    assert eager_limits_B("openmpi", "main", older) == {"shared_memory": 4016}, "as the newest that is known"
    assert eager_limits_B("openmpi", "4.1.4", {"btl_vader_eager_limit": "40"}) == {}


def test_open_mpi_sends_short_messages_inline_through_shared_memory_alone() -> None:
    assert breaks_B("openmpi", "5.0.11", OPENMPI_5) == {"shared_memory": [256]}
    assert breaks_B("openmpi", "5.0.11", OPENMPI_5, copy_B=2112) == {"shared_memory": [256, 2112]}
    assert breaks_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "btl", "tcp,self"], copy_B=2112) == {}
    assert breaks_B("openmpi", "5.0.11", OPENMPI_5, ["--mca", "pml", "ucx"], copy_B=2112) == {
        "shared_memory": [2112]
    }


def test_mpich_states_its_cells_and_from_where_on_the_receiver_copies() -> None:
    five = {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "8192", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "8192"}
    assert breaks_B("mpich", "5.0.2", five, copy_B=2112) == {"shared_memory": [2112, 8112, 8191]}
    assert breaks_B("mpich", "5.0.2", five | {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}) == {"shared_memory": [8112]}
    assert breaks_B("mpich", "5.0.2", five | {next(iter(five)): "64"}) == {"shared_memory": [8191]}
    assert breaks_B("mpich", "5.0.2", {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "-1"}) == {}


@pytest.mark.parametrize(
    ("kind", "version", "first_B"),
    [
        *(("openmpi", version, 10) for version in ("3.1", "4.1.4", "5.0.11", "main")),
        *(("mpich", version, 28) for version in ("4.0.2", "4.2")),
        *(("mpich", version, 32) for version in ("4.3.2", "4.10", "5.0.2")),
    ],
)
def test_the_first_cache_line_holds_the_header_and_so_many_bytes(kind: str, version: str, first_B: int) -> None:
    """Of 4.1.4, 5.0.11, 4.0.2, 4.3.2 and 5.0.2 as measured byte by byte; of others as the one before has it."""
    settings = {CELL: "1024"} if kind == "mpich" else {}
    stated = breaks_B(kind, version, settings, line_B=64)["shared_memory"]
    assert stated == [first_B, INLINE_B if kind == "openmpi" else 1024 - CELL_HEADER_B]


def test_where_lines_are_longer_or_unknown_or_another_layer_sends_nobody_has_looked() -> None:
    cells = {CELL: "1024"}
    for line_B in (None, 128, 256):
        assert breaks_B("mpich", "5.0.2", cells, line_B=line_B) == {"shared_memory": [1024 - CELL_HEADER_B]}
    assert breaks_B("mpich", "3.2", {}, line_B=64) == {}, "no cells"
    assert breaks_B("mpich", "5.0.2", cells, [], {"MPIR_CVAR_NOLOCAL": "1"}, 2112, 64) == {}
    assert breaks_B("mpich", "5.0.2", cells, [], {"MPIR_CVAR_NOLOCAL": "0"}, 2112, 64) != {}
    assert breaks_B("openmpi", "5.0.11", {}, ["--mca", "pml", "ucx"], line_B=64) == {}
    assert breaks_B("openmpi", "5.0.11", {}, ["--mca", "btl", "tcp,self"], line_B=64) == {}


@pytest.mark.parametrize(
    ("told", "line_B"), [("64\n", 64), ("128", 128), ("", None), ("many", None), (None, None)]
)
def test_the_kernel_tells_the_cache_line_or_it_is_not_guessed(
    told: str | None, line_B: int | None, tmp_path: Path
) -> None:
    first = tmp_path / "cache/index0"
    first.mkdir(parents=True)
    if told is not None:
        (first / "coherency_line_size").write_text(told)
    assert cache_line_B(tmp_path) == line_B


@pytest.mark.parametrize("kind", ["smpi", "intel", "unknown"])
def test_of_libraries_that_nobody_has_looked_at_nothing_is_said(kind: str) -> None:
    assert breaks_B(kind, "1", {"MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD": "8192"}, copy_B=2112, line_B=64) == {}


LOADER = """#!/bin/sh
echo "glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)"
echo "glibc.cpu.x86_rep_movsb_threshold: ${GLIBC_TUNABLES:-0x840} (min: 0x200, max: 0xffff)"
"""


@pytest.fixture
def host(tmp_path: Path) -> Callable[..., Path]:
    """The /proc of a process with these libraries mapped; those with a text are there and can be run."""

    def make(flags: str = "fpu erms fsrm", **texts: str | None) -> Path:
        (tmp_path / "self").mkdir()
        (tmp_path / "cpuinfo").write_text(f"processor : 0\nflags : {flags}\n")
        lines = ["7ffe-7fff r-xp 00000000 00:00 0 [vdso]\n", "7fee-7fef rw-p 00000000 00:00 0\n"]
        for folder, text in texts.items():
            loader = tmp_path / folder / "ld-linux-x86-64.so.2"
            loader.parent.mkdir()
            lines.append(f"7f00-7f01 r--p 00000000 08:01 12 {loader}\n")
            if text is not None:
                loader.write_text(text)
                loader.chmod(0o755)
        (tmp_path / "self/maps").write_text("".join(lines))
        return tmp_path

    return make


def test_the_loader_tells_what_the_c_library_copies_plainly(host: Callable[..., Path]) -> None:
    proc = host(gone=None, here=LOADER)
    assert largest_plain_copy_B("0x1000", proc) == 4096
    assert largest_plain_copy_B("glibc.cpu.hwcaps=-ERMS", proc) is None


def test_without_a_fast_string_move_there_is_no_threshold(host: Callable[..., Path]) -> None:
    assert largest_plain_copy_B("0x1000", host("fpu sse2", here=LOADER)) is None


@pytest.mark.parametrize("said", ["exit 1", "echo glibc.cpu.x86_rep_movsb_threshold:", "echo no such option >&2"])
def test_a_loader_that_does_not_tell_says_nothing(host: Callable[..., Path], said: str) -> None:
    assert largest_plain_copy_B("", host(here=f"#!/bin/sh\n{said}\n")) is None


def test_a_library_in_a_folder_of_that_name_is_not_run(host: Callable[..., Path], tmp_path: Path) -> None:
    proc, ran = host(), tmp_path / "ran"
    library = tmp_path / "ld-project/libfoo.so"
    library.parent.mkdir()
    library.write_text(f"#!/bin/sh\ntouch {ran}\n")
    library.chmod(0o755)
    (proc / "self/maps").write_text(f"7f00-7f01 r--p 00000000 08:01 12 {library}\n")
    assert largest_plain_copy_B("", proc) is None
    assert not ran.exists()


def test_without_proc_nothing_is_said(tmp_path: Path) -> None:
    assert largest_plain_copy_B("", tmp_path / "none") is None


def test_the_library_states_what_breaks_are_read_from(mpi: Mpi) -> None:
    with start(mpi) as session:
        settings = session.hello.settings
    stated = breaks_B(mpi.kind, mpi.version, settings).get("shared_memory", [])
    if mpi.kind == "mpich":
        assert int(settings[CELL]) - CELL_HEADER_B in stated
        # MPICH 4.0 knows no CMA.
        assert (CMA in settings) == (mpi.version >= "4.2")
    else:
        assert stated == ([INLINE_B] if mpi.kind == "openmpi" else [])

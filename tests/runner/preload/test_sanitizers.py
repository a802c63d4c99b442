"""The layer and its stress tests with address, leak and thread sanitizers: `make sanitize`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.factories import not_none
from tests.runner.preload.programs import HERE, every_schedule, launch_line
from tests.runner.preload.test_limits import BYTE_BY_BYTE

from hockney.records.preload_table import PreloadTable
from hockney.runner import build, preload_build
from hockney.runner.applied import Applied, applied, variables
from hockney.runner.launch_line import understand
from hockney.runner.mpi import Mpi
from hockney.runner.preload import run

pytestmark = pytest.mark.skipif(
    not os.environ.get("HOCKNEY_SANITIZE"),
    reason=lacking("sanitizers of the runner", "HOCKNEY_SANITIZE is not set (make sanitize)"),
)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the sanitizers need to run beside the libraries; none of it is of the layer."""
    # The layer is loaded before the sanitizer's own library, which is before all that allocates all the same.
    monkeypatch.setenv(
        "ASAN_OPTIONS", f"verify_asan_link_order=0:fast_unwind_on_malloc=0:log_path={tmp_path}/asan"
    )
    monkeypatch.setenv("LSAN_OPTIONS", f"suppressions={HERE / 'leak.supp'}:print_suppressions=0")
    monkeypatch.setenv(
        "TSAN_OPTIONS", f"suppressions={HERE / 'thread.supp'}:print_suppressions=0:log_path={tmp_path}/tsan"
    )
    # UCX stands before madvise in threads that the sanitizer has not met yet.
    monkeypatch.setenv("UCX_MEM_MMAP_HOOK_MODE", "none")
    monkeypatch.setenv("UCX_MEM_EVENTS", "n")
    # PMIx wants memory at addresses that belong to the sanitizer's shadow.
    monkeypatch.setenv("PMIX_MCA_gds", "hash")


def under(
    mpi: Mpi,
    kind: str,
    source: str,
    table: PreloadTable,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    kept_B: int | None = None,
) -> Applied:
    """A program and the layer, both with a sanitizer; each report of it is a failure."""
    flags = ("-O1", "-g", f"-fsanitize={kind}", "-fno-omit-frame-pointer")
    # The digest of a build has its flags.
    monkeypatch.setenv("HOCKNEY_CACHE", str(folder.parent / "sanitized"))
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, *flags))
    monkeypatch.setattr(preload_build, "FLAGS", build.FLAGS)
    monkeypatch.setattr(build, "COMPILE_LIMIT_S", 10 * build.COMPILE_LIMIT_S)
    program = folder / "program"
    compiling = [str(mpi.wrapper), *flags, "-pthread", "-Wno-cast-function-type", str(HERE / source)]
    subprocess.run([*compiling, "-o", str(program)], check=True, env=mpi.full_environment())
    launch = understand(launch_line(mpi, int(words[0]), program, *words[1:]), str(mpi.wrapper))
    settings = variables(table, sums=True) | ({} if kept_B is None else {"HOCKNEY_PRELOAD_KEPT": str(kept_B)})
    done = applied(run(launch, settings), table)
    reports = [path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("[at]san.*")]
    assert not reports, "\n".join(reports)[:5000]
    assert done.is_seen, done.warnings
    assert done.exit_code == 0
    return done


@pytest.mark.parametrize("turn", [0, 1, 2])
def test_every_collective_with_the_address_sanitizer(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    done = under(mpi, "address", "driver.c", every_schedule(turn), tmp_path, monkeypatch, ("3",))
    assert sum(row.calls for row in done.calls if row.rule >= 0) > 1000


def test_threads_with_the_thread_sanitizer(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = under(mpi, "thread", "threads.c", every_schedule(1), tmp_path, monkeypatch, ("2", "20", "500"))
    assert {row.operation for row in done.calls if row.rule >= 0} >= {"bcast", "allreduce"}


def test_threads_that_drop_each_others_schedules_with_the_thread_sanitizer(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = under(mpi, "thread", "threads.c", BYTE_BY_BYTE, tmp_path, monkeypatch, ("2", "40", "500"), 2**18)
    assert not_none(done.dropped).schedules > 0

"""The cache of the compiled runner: built once, again only when something it depends on changes, never half."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.factories import refusing

from hockney.errors import EnvironmentLack
from hockney.runner import build
from hockney.runner.build import BINARY, compiler_version, cxx_wrapper, runner_binary, shared_objects
from hockney.runner.cache import cache_root
from hockney.runner.mpi import Mpi

COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "$(cat {here}/name) (Debian) $(cat {here}/version)"; exit 0; fi
if [ "$1" = -show ]; then echo "g++ -I{here}/include -L{here}/lib -lmpi"; exit 0; fi
case "$*" in *-dM*) cat {here}/macros; exit 0;; esac
case "$*" in *-###*) cat {here}/options >&2; exit 0;; esac
if [ -n "$OMPI_CXX" ] && [ -f {here}/ccache-fails ]; then exit 1; fi
echo "call $OMPI_CXX" >> {here}/calls
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
if [ -f {here}/broken ]; then
  echo "x.cpp: In function main:" >&2; echo "x.cpp:3:5: error: nope was not declared" >&2; exit 1
fi
echo "#!/bin/sh" > "$out"; chmod +x "$out"
"""

ONCE = 6
"""Calls of a build: the questions whether there are MPI_T and OpenMP, two sources, a schedule and the link."""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """An MPI whose C++ wrapper counts its calls; two source files in a folder of their own."""
    (tmp_path / "version").write_text("12", encoding="utf-8")
    (tmp_path / "name").write_text("g++", encoding="utf-8")
    (tmp_path / "macros").write_text("#define __GNUC__ 12\n#define __x86_64__ 1\n", encoding="utf-8")
    (tmp_path / "options").write_text(f'COLLECT_GCC=g++\n cc1plus "-O3" -o "{tmp_path}/x.s"\n', encoding="utf-8")
    for name in ("mpicc", "mpicxx"):
        (tmp_path / name).write_text(COMPILER.format(here=tmp_path), encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    for installed in (tmp_path / "include" / "mpi.h", tmp_path / "lib" / "libmpi.so.40"):
        installed.parent.mkdir()
        installed.write_text("one", encoding="utf-8")
    (tmp_path / "lib" / "libmpi.so").symlink_to("libmpi.so.40")
    folder = tmp_path / "cpp"
    (folder / "runner" / "kernels").mkdir(parents=True)
    (folder / "schedule").mkdir()
    for name in ("runner/main.cpp", "runner/main.hpp", "runner/kernels/pingpong.cpp", "schedule/bcast.cpp"):
        (folder / name).write_text(f"// {name}\n", encoding="utf-8")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "sources", lambda: folder)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    return Mpi("openmpi", "5.0.7", "3.1", tmp_path / "mpicc", tmp_path / "mpirun", "openmpi")


def _calls(fake: Mpi) -> int:
    calls = fake.wrapper.with_name("calls")
    return len(calls.read_text(encoding="utf-8").splitlines()) if calls.exists() else 0


def test_second_use_does_not_compile(fake: Mpi, caplog: pytest.LogCaptureFixture) -> None:
    first = runner_binary(fake)
    assert os.access(first, os.X_OK)
    assert _calls(fake) == ONCE
    first_said, last_said = caplog.messages
    caplog.clear()
    assert first_said.startswith("note: compiling the runner for Open MPI 5.0.7")
    assert re.fullmatch(r"note: compiled the runner for Open MPI 5\.0\.7.* in \d+ s; it is kept", last_said)
    assert runner_binary(fake) == first
    assert not caplog.messages
    assert _calls(fake) == ONCE
    assert {p.name for p in first.parent.iterdir()} == {BINARY, "build.json", "build.log", "SHA256SUMS"}
    facts = json.loads((first.parent / "build.json").read_text(encoding="utf-8"))
    assert facts["compiler"] == "g++ (Debian) 12"
    assert facts["units"] == {"core": ["runner/main.cpp"], "pairs": ["runner/kernels/pingpong.cpp"]}
    assert [word for command in facts["commands"] for word in command.split() if word.endswith(".cpp")] == [
        "core.cpp",
        "pairs.cpp",
    ]


def _touch_source(fake: Mpi, name: str) -> None:
    (fake.wrapper.with_name("cpp") / name).write_text("// changed\n", encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda fake, _: _touch_source(fake, "runner/kernels/pingpong.cpp"),
        lambda fake, _: _touch_source(fake, "runner/main.hpp"),
        lambda fake, _: _touch_source(fake, "schedule/new.cpp"),
        lambda fake, _: fake.wrapper.with_name("version").write_text("13", encoding="utf-8"),
        lambda fake, _: fake.wrapper.with_name("include").joinpath("mpi.h").write_text("two", encoding="utf-8"),
        lambda fake, _: (
            fake.wrapper.with_name("lib").joinpath("libmpi.so").write_text("another", encoding="utf-8")
        ),
        lambda _, patch: patch.setattr(build, "FLAGS", (*build.FLAGS, "-g")),
    ],
    ids=["source", "header", "new-source", "compiler", "mpi.h", "libmpi", "flags"],
)
def test_a_change_compiles_again(
    fake: Mpi, monkeypatch: pytest.MonkeyPatch, change: Callable[[Mpi, pytest.MonkeyPatch], object]
) -> None:
    first = runner_binary(fake)
    before = _calls(fake)
    change(fake, monkeypatch)
    second = runner_binary(fake)
    assert second != first
    assert _calls(fake) > before
    assert first.exists()


def test_compile_error_names_the_first_error_and_the_log(fake: Mpi) -> None:
    broken = fake.wrapper.with_name("broken")
    broken.touch()
    with pytest.raises(EnvironmentLack, match="error: nope was not declared") as caught:
        runner_binary(fake)
    log = Path(caught.value.hint.removeprefix("see "))
    assert "In function main" in log.read_text(encoding="utf-8")
    broken.unlink()
    assert runner_binary(fake).is_file()
    assert not [p for p in log.parent.iterdir() if p.name.startswith(".")], "no half-made build stays"


def test_builds_at_the_same_time(fake: Mpi) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: runner_binary(fake), range(4)))
    (path,) = paths
    assert os.access(path, os.X_OK)
    assert [p.name for p in path.parents[1].iterdir()] == [path.parent.name]
    assert _calls(fake) == ONCE, "the others wait for the first"


def test_schedules_are_compiled_once_for_all_mpis_of_a_compiler(fake: Mpi, tmp_path: Path) -> None:
    runner_binary(fake)
    other = replace(fake, kind="mpich", version="5.0.2")
    assert runner_binary(other) != runner_binary(fake)
    assert _calls(fake) == ONCE + ONCE - 1
    # GCC, called by another of its names, in an order of its own.
    (tmp_path / "name").write_text("x86_64-linux-gnu-g++-12", encoding="utf-8")
    (tmp_path / "macros").write_text("#define __x86_64__ 1\n#define __GNUC__ 12\n", encoding="utf-8")
    runner_binary(fake)
    assert _calls(fake) == ONCE + 2 * (ONCE - 1)


@pytest.mark.parametrize(
    ("file", "text", "is_shared"),
    [
        ("macros", "#define __GNUC__ 12\n#define __AVX2__ 1\n", True),
        ("macros", "", False),
        ("options", " cc1plus -O3 -fsanitize=undefined\n", True),
    ],
)
def test_schedules_compiled_for_something_else_are_others(
    fake: Mpi, file: str, text: str, is_shared: bool
) -> None:
    """As when OMPI_CXXFLAGS has -mavx2; a compiler that names no macros shares with nobody."""
    mine = shared_objects(fake)
    fake.wrapper.with_name(file).write_text(text, encoding="utf-8")
    others = shared_objects(fake)
    assert set(others).isdisjoint(mine)
    assert shared_objects(fake) == others
    assert (shared_objects(replace(fake, version="5.0.8")) == others) == is_shared


def test_names_of_folders_are_no_options(fake: Mpi) -> None:
    mine = shared_objects(fake)
    options = fake.wrapper.with_name("options")
    options.write_text('COLLECT_GCC=/usr/bin/g++\n cc1plus "-O3" -fdebug-prefix-map=/a=/b -o "/y/x.s"\n', "utf-8")
    assert shared_objects(fake) == mine


def test_a_lost_object_is_made_again(fake: Mpi) -> None:
    _touch_source(fake, "runner/json.cpp")
    objects = shared_objects(fake)
    assert [path.name for path in objects] == ["schedule.o", "mathematics.o"]
    objects[0].unlink()
    assert shared_objects(fake) == objects
    assert all(one.is_file() for one in objects)


@pytest.mark.parametrize("works", [True, False])
def test_objects_are_compiled_through_ccache_where_it_works(
    fake: Mpi, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/opt/{name}")
    if not works:
        fake.wrapper.with_name("ccache-fails").touch()
    runner_binary(fake)
    *_, link = lines = fake.wrapper.with_name("calls").read_text(encoding="utf-8").splitlines()
    # An empty source each for the shared and the other objects says whether it works.
    assert lines.count("call /opt/ccache g++") == (2 + 3 if works else 0)
    assert link == "call "


def test_a_wrapper_without_a_variable_for_its_compiler_is_called_without_ccache(
    fake: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/opt/{name}")
    runner_binary(replace(fake, kind="smpi"))
    assert "ccache" not in fake.wrapper.with_name("calls").read_text(encoding="utf-8")


def test_what_all_mpis_share_includes_none_of_mpi() -> None:
    """Searched for here: every MPI's wrapper finds an mpi.h."""
    folder = build.sources()

    def included(file: Path, seen: set[Path]) -> set[Path]:
        if file not in seen:
            seen.add(file)
            text = file.read_text(encoding="utf-8")
            for name in re.findall(r'#include "(.+)"', text):
                beside = (file.parent / name).resolve()
                included(beside if beside.is_file() else folder / "runner" / name, seen)
        return seen

    shared = build.families(folder, is_shared=True)
    for files in shared.values():
        for file in files:
            needing = [p for p in included(file, set()) if "#include <mpi.h>" in p.read_text(encoding="utf-8")]
            assert needing == [], f"{file} needs MPI"


def test_a_lock_of_another_user_keeps_nobody_out(fake: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def denied(path: str | Path, flags: int, *more: int, **rest: Any) -> int:
        if Path(path).parent.name == "locks" and flags & refused:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *more, **rest)

    monkeypatch.setattr(os, "open", denied)
    (cache_root() / "locks").mkdir(parents=True)
    for refused in (os.O_RDWR, os.O_RDWR | os.O_CREAT):
        assert runner_binary(replace(fake, version=f"6.{refused}")).is_file()


def test_a_binary_that_was_exchanged_is_built_again(fake: Mpi, caplog: pytest.LogCaptureFixture) -> None:
    path = runner_binary(fake)
    built = path.read_bytes()
    path.write_text("#!/bin/sh\necho not ours\n", encoding="utf-8")
    assert runner_binary(fake) == path
    assert path.read_bytes() == built
    assert "is not as a build leaves it" in caplog.text


@pytest.mark.parametrize("mode", [0o775, 0o757])
@pytest.mark.parametrize("place", ["", "runner", "locks", "runner/*"])
def test_a_cache_that_others_may_write_to_is_refused(fake: Mpi, place: str, mode: int) -> None:
    runner_binary(fake)
    (folder,) = cache_root().glob(place) if place else [cache_root()]
    folder.chmod(mode)
    with refusing(f"other users may write to {folder}", f"chmod go-w {folder}", kind=EnvironmentLack):
        runner_binary(fake)


def test_a_cache_of_another_user_is_refused(fake: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    runner_binary(fake)
    owner = cache_root().stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    if owner == 0:  # root's are everybody's; a stranger's are nobody else's
        assert runner_binary(fake).is_file()
        os.chown(cache_root(), owner + 2, -1)
    with pytest.raises(EnvironmentLack, match="belongs to another user"):
        runner_binary(fake)


def test_a_new_cache_is_private_whatever_the_mask(fake: Mpi) -> None:
    before = os.umask(0o002)
    try:
        path = runner_binary(fake)
        assert runner_binary(fake) == path
    finally:
        os.umask(before)


def test_cache_that_cannot_be_written(fake: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "file"))
    with refusing("cannot keep the compiled runner", "HOCKNEY_CACHE", kind=EnvironmentLack):
        runner_binary(fake)


def test_cache_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOCKNEY_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_root() == Path("/x/hockney")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert cache_root() == Path("/h/.cache/hockney")


def test_no_cxx_compiler(fake: Mpi, script: Callable[..., Path]) -> None:
    script(fake.wrapper.with_name("mpicxx"), "mpicxx: line 3: g++: command not found", code=127, to=2)
    with refusing("g\\+\\+: command not found", "apt-get install g++", kind=EnvironmentLack):
        runner_binary(fake)


@pytest.mark.parametrize(
    ("c", "cxx"),
    [
        ("mpicc", "mpicxx"),
        ("mpicc", "mpic++"),
        ("mpicc.openmpi", "mpicxx.openmpi"),
        ("mpicc.mpich", "mpicxx.mpich"),
        ("mpiicx", "mpiicpx"),
        ("mpiicc", "mpiicpc"),
        ("smpicc", "smpicxx"),
        ("cc", "CC"),
        ("mpicxx", "mpicxx"),
        ("mpicc-openmpi-mp", "mpicxx-openmpi-mp"),
    ],
)
def test_cxx_wrapper_beside_the_c_wrapper(tmp_path: Path, script: Callable[..., Path], c: str, cxx: str) -> None:
    wrapper = script(tmp_path / c, "")
    script(tmp_path / cxx, "")
    assert cxx_wrapper(wrapper) == tmp_path / cxx


def test_no_cxx_wrapper(tmp_path: Path, script: Callable[..., Path]) -> None:
    with pytest.raises(EnvironmentLack, match="no C\\+\\+ wrapper"):
        cxx_wrapper(script(tmp_path / "mpicc", ""))


def test_the_runner_compiles_without_warnings_and_once(mpi: Mpi) -> None:
    """In the cache of the user: other tests need the same binaries."""
    path = runner_binary(mpi)
    assert "warning" not in (path.parent / "build.log").read_text(encoding="utf-8")
    stamp = path.stat().st_mtime_ns
    assert runner_binary(mpi) == path
    assert path.stat().st_mtime_ns == stamp
    assert compiler_version(mpi)
    linked = subprocess.run(["ldd", path], env=mpi.full_environment(), capture_output=True, text=True, check=True)
    assert "libmpi" in linked.stdout
    assert "not found" not in linked.stdout
    assert "libmpi_cxx" not in linked.stdout


def test_openmp_where_it_compiles(fake: Mpi) -> None:
    def flags(mpi: Mpi) -> list[str]:
        return list(json.loads((runner_binary(mpi).parent / "build.json").read_text(encoding="utf-8"))["flags"])

    assert "-fopenmp" in flags(fake)
    assert "-fopenmp" not in flags(replace(fake, kind="smpi")), "simulated ranks are threads of one process"
    wrapper = fake.wrapper.with_name("mpicxx")
    text = wrapper.read_text(encoding="utf-8")
    refusal = 'case "$*" in *fopenmp*) echo "clang: error: no libomp" >&2; exit 1;; esac\necho "call'
    wrapper.write_text(text.replace('echo "call', refusal), encoding="utf-8")
    assert "-fopenmp" not in flags(replace(fake, version="5.0.8"))

"""All applications with address and undefined-behaviour sanitizers, on two ranks: `make sanitize`."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hockney.runner.build import cxx_wrapper
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi

ROOT = Path(__file__).parents[3]
RUNNER = ROOT / "cpp" / "runner"
SOURCES = [
    ROOT / "bench" / "native" / "app_once.cpp",
    *sorted((RUNNER / "apps").rglob("*.cpp")),
    *sorted((RUNNER / "stopping").glob("*.cpp")),
    *(RUNNER / f"{name}.cpp" for name in ("json", "request", "clock", "placement", "point", "statistics")),
]
FLAGS = [
    *("-std=c++17", "-O1", "-g", "-ffp-contract=off", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
]
REPEATED = "repetitions=2 least_samples=6 budget_s=1 tolerance=0.01"
BOX = "nx=17 ny=13 nz=11 px=1 py=2 pz=1"
HALOS = ("sendrecv", "nonblocking", "overlap", "persistent", "neighborhood")
FORMULATIONS = ("reference", "fused", "joint", "single_sweep", "pipelined")
REQUESTS = [
    *(
        f"app operation=jacobi ranks=2 {BOX} halo={halo} faces={faces} iterations=3 threads=1 "
        f"instructions={words} stores=auto block_rows=0 bound=1 compute=1 cell_s=0 {REPEATED}"
        for halo in HALOS
        for faces in ("datatype", "packed")
        for words in ("auto", "portable")
    ),
    *(
        f"app operation=cg ranks=2 dimensions=3 {BOX} variant={one} halo={halo} faces=packed stores={stores} "
        f"eps=1e-6 iterations=50 replace_every=7 threads=1 cell_s=0 compute=1 stream=1 file= {REPEATED}"
        for one in FORMULATIONS
        for halo in ("nonblocking", "overlap")
        for stores in ("auto", "plain")
    ),
]


@pytest.mark.skipif(not os.environ.get("HOCKNEY_SANITIZE"), reason="HOCKNEY_SANITIZE is not set (make sanitize)")
def test_no_application_steps_beyond_its_memory(mpi: Mpi, tmp_path: Path) -> None:
    if mpi.kind == "smpi":
        pytest.skip("SimGrid's stacks are not those that the sanitizer knows")
    wrapper = str(cxx_wrapper(mpi.wrapper))
    objects = [tmp_path / f"{number}.o" for number in range(len(SOURCES))]
    commands = [
        [wrapper, *FLAGS, f"-I{RUNNER}", "-c", str(source), "-o", str(made)]
        for source, made in zip(SOURCES, objects, strict=True)
    ]
    environment = mpi.full_environment()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(lambda words: subprocess.run(words, env=environment, check=True), commands))
    program = tmp_path / "app_once"
    subprocess.run([wrapper, *FLAGS, *map(str, objects), "-o", str(program)], env=environment, check=True)
    lines = tmp_path / "requests"
    lines.write_text("\n".join(REQUESTS), encoding="utf-8")
    argv, added = command(mpi, LaunchRequest(ranks=2))
    done = subprocess.run(
        [*argv, str(program), str(lines)],
        # What the library keeps until the end is no fault of ours.
        env={**environment, **added, "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = [line for line in done.stdout.splitlines() if line.startswith("@ ")]
    assert len(answers) == len(REQUESTS)
    assert all('"type":"record"' in line for line in answers), answers

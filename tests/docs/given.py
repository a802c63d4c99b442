"""What pages take as there already, by name: made once a session, copied by the page that names it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from tests.batch.fake import fake
from tests.capabilities import shared
from tests.docs.page import ROOT

Given = Callable[[str], Path]
"""The file or folder of a name."""
MAKERS: dict[str, Callable[[Path, Path, Given], object]] = {}
"""By name: what makes it at a path, with a `hockney`, from others that are given."""

MOVED = r"1 failure, first: [0-9]+ of [0-9]+ points were not met at the level asked for"
"""Why a campaign that `hockney measure` ends with 4 may still do for a page: the machine changed its level.

Such points are marked and not fitted; a reader may resume, and what follows works either way.
"""

PROGRAMS = {"sbatch": "Submitted batch job 17", "squeue": "PENDING"}
"""Commands of a cluster, and what they print in a test: they lie on the PATH."""


def giver(folder: Path, hockney: Path) -> Given:
    """Makes what is asked for in a folder, when it is asked for first."""

    def given(name: str) -> Path:
        path = folder / name
        if not path.exists():
            MAKERS[name](path, hockney, given)
        return path

    return given


def _made_by(*names: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    def register(maker: Callable[..., object]) -> Callable[..., object]:
        MAKERS.update(dict.fromkeys(names, maker))
        return maker

    return register


def _run(hockney: Path, *words: object) -> None:
    done = subprocess.run([hockney, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 4 or not re.search(MOVED, done.stderr):
        done.check_returncode()


@_made_by("machine.json")
def _machine(path: Path, *_: object) -> None:
    """Of a machine with effects and messages."""
    shutil.copy(ROOT / "machines/ci_2core.json", path)


@_made_by("tidy.csv.gz", "table.csv.gz")
def _table(path: Path, *_: object) -> None:
    """A part of the published broadcasts: all of them would take minutes to calibrate on."""
    rows = pd.read_csv(shared("orfeo-epyc") / "tidy.csv.gz")
    part = rows[rows["operation"].eq("bcast") & rows["mapping"].eq("core") & rows["repetition"].eq(0)]
    sizes = [2**power for power in (3, 6, 10, 13, 16, 18, 20)]
    part[part["ranks"].isin([2, 8, 32, 64, 128, 254]) & part["bytes"].isin(sizes)].to_csv(path, index=False)


@_made_by("osu_latency.txt", "osu_bw.txt")
def _text(path: Path, *_: object) -> None:
    shutil.copy(ROOT / "examples/alaska/ib" / path.name, path)


@_made_by("results")
def _results(path: Path, *_: object) -> None:
    shutil.copytree(ROOT / "examples/alaska", path)


@_made_by("campaign", "c")
def _campaign(path: Path, hockney: Path, *_: object) -> None:
    """Messages and two collectives, each with its default and all algorithms, as the MPI here has them."""
    sizes = ("--bytes", "8,1KiB,64KiB", "--budget", "20ms", "--launches", "4", "--ranks", "2", "--visits", "1")
    operations = ("--operation", "pingpong,bandwidth,bcast,allreduce", "--algorithm", "default,library")
    _run(hockney, "measure", "-o", path, *operations, *sizes, "--level", "all")


@_made_by("folder", "jacobi")
def _runs(path: Path, hockney: Path, *_: object) -> None:
    """Runs of applications."""
    for size in ("100", "200"):
        _run(hockney, "run", "jacobi", "--subdomain", size, "--ranks", "1,2", "--grid", "all", "-o", path)


@_made_by("times.csv", "weak.csv")
def _times(path: Path, *_: object) -> None:
    """A tenth is serial, with rounding for noise."""
    rows = [f"{ranks},{0.1 + 0.9 / ranks:.3f}" for ranks in (1, 2, 4, 8, 16, 32)]
    path.write_text("\n".join(["ranks,time_s", *rows]) + "\n", encoding="utf-8")


@_made_by("network.txt")
def _edges(path: Path, *_: object) -> None:
    """33 nodes under one switch."""
    nodes = [f"n{node}" for node in range(33)]
    lines = ["switch s", f"node {' '.join(nodes)}", *(f"{node} s" for node in nodes)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@_made_by(*PROGRAMS)
def _program(path: Path, *_: object) -> None:
    fake(path.parent, path.name, PROGRAMS[path.name])


@_made_by("sites/here.toml")
def _site(path: Path, *_: object) -> None:
    """That of the page on batch systems."""
    text = (ROOT / "docs/how-to/batch.md").read_text(encoding="utf-8")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")

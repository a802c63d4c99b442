"""The measured configuration by a file's folder and name: the `variant` of its records.

Folders named after a test or a program (`imb`, `Osu_mbw_mr_4`, `run2`) are skipped; all others below the common
parent belong to the configuration. File names count only where two files hold the same point.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.importers._around import WORDS_ALONE, said_by_name
from hockney.importers.base import AroundTable
from hockney.records.columns import RECORD, codes
from hockney.records.keys import COLLECTIVES

_PROGRAMS = ("imb", "osu", "omb", "mpi", "nccl", "rccl", "perf", "benchmark", "benchmarks", "micro", "suite")
_PLACES = ("pt", "p", "coll", "collective", "collectives", "onesided", "result", "results", "output", "outputs")
_FILES = ("out", "log", "logs", "txt", "job", "slurm", "stdout")
_REPEATS = ("run", "runs", "rep", "reps", "repetition", "repeat", "trial", "trials", "test", "tests")
_POINT_TO_POINT = ("pingpong", "pingping", "sendrecv", "exchange", "uniband", "biband", "latency", "lat")
_RATES = ("bandwidth", "bw", "bibw", "mbw", "mr", "multi", "message", "rate")
_COLLECTIVES = (word for name in COLLECTIVES for word in name.split("_"))
_MORE_COLLECTIVES = ("all", "broadcast", "scatterv", "gatherv", "allgatherv", "alltoallv", "block")
_TEST_WORDS = frozenset(
    (*_PROGRAMS, *_PLACES, *_FILES, *_REPEATS, *_POINT_TO_POINT, *_RATES, *_COLLECTIVES, *_MORE_COLLECTIVES)
)
"""Words that name the test or program, not the configuration."""
_ENDINGS = re.compile(rf"(?i)(?:\.(?:{'|'.join(_FILES)}|stderr|err|csv|json|dat|data|md|rst|gz|[eo]\d+))+$")
LONG = 100
"""Letters of headings beyond which a variant has only the words in which they differ."""


def _words(name: str) -> list[str]:
    """Words of a name that are no test's, without numbers: `rfm_IMB_Uniband_2_job` → ['rfm']."""
    return [word for word in re.findall(r"[^\W\d_]+", name) if word.lower() not in _TEST_WORDS]


def _says_configuration(folder: str) -> bool:
    """A bare number may be a number of ranks or of nodes, so it counts."""
    return bool(_words(folder)) or not re.search(r"[^\W\d_]", folder)


def places(paths: Sequence[Path]) -> list[str]:
    """The folders below the common one that say a configuration, by file; "" where there is none."""
    left = [[said_by_name(part)[1] for part in names] for names in _folders(paths)]
    return ["/".join(part for part in names if part and _says_configuration(part)) for names in left]


def _folders(paths: Sequence[Path]) -> list[tuple[str, ...]]:
    folders = [Path(os.path.abspath(path)).parent for path in paths]  # noqa: PTH100 - links stay as written
    root = Path(os.path.commonpath(folders)) if folders else Path()
    return [folder.relative_to(root).parts for folder in folders]


def settings_apart(frame: pd.DataFrame, table: NDArray[np.intp], around: Sequence[AroundTable]) -> list[str]:
    """What distinguishes the tables that hold the same point, by table: the settings and headings that differ."""
    points = pd.DataFrame({"point": codes(frame, RECORD), "table": table}).drop_duplicates()
    shared = points[points["point"].duplicated(keep=False)].groupby("point")["table"].agg(frozenset)
    said = [{name: str(fact.value) for name, fact in of.settings.items()} for of in around]
    words_of_all = zip(*(of[""].split() for of in said if "" in of), strict=False)
    alike = sum(1 for _ in takewhile(lambda words: len({*words}) == 1, words_of_all))
    for of in said:
        if len(of.get("", "")) > LONG:
            of[""] = " ".join(of[""].split()[alike:]) or of[""]
    names: dict[str, None] = {}
    for tables in set(shared):
        every = {name: None for number in tables for name in said[number]}
        for name in every:
            values = {said[number].get(name) for number in tables}
            # A launcher without its folder may be the same.
            if len(values - ({None} if name == "launcher" else set())) > 1:
                names[name] = None
    return [", ".join(_spoken(name, of[name]) for name in names if name in of) for of in said]


def _spoken(name: str, value: str) -> str:
    """A setting in a variant: `UCX_TLS=rc`, `-i 100`; of headings and buffers the words alone."""
    if "-" in (name[:1], value[:1]):
        return f"{name} {value}".strip()
    return value if name in WORDS_ALONE else f"{name}={value}"


def names_apart(
    paths: Sequence[Path], point: NDArray[np.int64], no_ranks: NDArray[np.bool_], file: NDArray[np.intp]
) -> list[str]:
    """What distinguishes files by their names, "" where nothing needs to.

    Of each measurement, `point` is what it is of, `no_ranks` says that its ranks are unknown, and `file` is the
    index of its path. Files that hold the same point are repetitions if their names differ by numbers alone, and
    other configurations if they differ by a word. Where the number of ranks is unknown, a number in the name may
    be that number: then it distinguishes, too.
    """
    own = [
        "/".join([*(part for part in names if not _says_configuration(part)), _ENDINGS.sub("", path.name)])
        for names, path in zip(_folders(paths), paths, strict=True)
    ]
    words = ["-".join(dict.fromkeys(_words(said_by_name(name)[1]))) for name in own]
    holders: dict[int, set[int]] = defaultdict(set)
    without_ranks = {*point[no_ranks].tolist()}
    for i, of in zip(file.tolist(), point.tolist(), strict=True):
        holders[of].add(i)
    several = [(of, files) for of, files in holders.items() if len(files) > 1]
    if any(len({words[i] for i in files}) > 1 for _, files in several):
        return words
    by_numbers = {i for of, files in several if of in without_ranks for i in files}
    return [name if i in by_numbers else "" for i, name in enumerate(own)]

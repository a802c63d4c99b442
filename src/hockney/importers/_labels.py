"""The measured configuration by a file's folder and name: the `variant` of its records.

Folders named after a test or a program (`imb`, `Osu_mbw_mr_4`, `run2`) are skipped; all others below the common
parent belong to the configuration. File names count only where two files hold the same point.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hockney.records.columnar import RecordColumns, codes
from hockney.records.columns import RECORD
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


def _words(name: str) -> list[str]:
    """Words of a name that are no test's, without numbers: `rfm_IMB_Uniband_2_job` → ['rfm']."""
    return [word for word in re.findall(r"[^\W\d_]+", name) if word.lower() not in _TEST_WORDS]


def _says_configuration(folder: str) -> bool:
    """A bare number may be a number of ranks or of nodes, so it counts."""
    return bool(_words(folder)) or not re.search(r"[^\W\d_]", folder)


def places(paths: Sequence[Path]) -> list[str]:
    """The folders below the common one that say a configuration, by file; "" where there is none."""
    return ["/".join(part for part in names if _says_configuration(part)) for names in _folders(paths)]


def _folders(paths: Sequence[Path]) -> list[tuple[str, ...]]:
    folders = [Path(os.path.abspath(path)).parent for path in paths]  # noqa: PTH100 - links stay as written
    root = Path(os.path.commonpath(folders)) if folders else Path()
    return [folder.relative_to(root).parts for folder in folders]


def labels(paths: Sequence[Path], records: RecordColumns, file: NDArray[np.intp]) -> list[str]:
    """One label per file, "" where nothing needs to be said. `records` are of the paths with the indices `file`.

    Files that hold the same point are repetitions if their names differ by numbers alone, and other
    configurations if they differ by a word. Where the number of ranks is unknown, a number in the name may
    be that number: then it distinguishes, too.
    """
    if not paths:
        return []
    parts, kept = _folders(paths), places(paths)
    own = [
        "/".join([*(part for part in names if not _says_configuration(part)), path.name.partition(".")[0]])
        for names, path in zip(parts, paths, strict=True)
    ]
    words = ["-".join(dict.fromkeys(_words(name))) for name in own]
    by_words, by_numbers = _collisions(kept, own, words, records, file)
    result = []
    for i, label in enumerate(kept):
        suffix = own[i] if i in by_numbers else words[i] if by_words else ""
        result.append("/".join(filter(None, [label, suffix])))
    return result


def _collisions(
    kept: Sequence[str],
    own: Sequence[str],
    words: Sequence[str],
    records: RecordColumns,
    file: NDArray[np.intp],
) -> tuple[bool, set[int]]:
    """Whether words of the names are needed, and which files need their numbers."""
    holders: dict[tuple[str, int], set[int]] = defaultdict(set)
    without_ranks: set[tuple[str, int]] = set()
    points = codes(records.frame, (*RECORD, "repetition")).tolist()
    for i, code, lacks_ranks in zip(file.tolist(), points, records.frame["ranks"].isna(), strict=True):
        point = (kept[i], code)
        holders[point].add(i)
        if lacks_ranks:
            without_ranks.add(point)
    by_words = False
    by_numbers: set[int] = set()
    for point, files in holders.items():
        if len(files) < 2:
            continue
        if len({words[i] for i in files}) > 1:
            by_words = True
        elif point in without_ranks and len({own[i] for i in files}) > 1:
            by_numbers |= files
    return by_words, by_numbers

"""Rings of other programs: the text that each process prints, and tables of each process's statistics.

    I am process 0 and I have received 8 messages. My final messages have tags 0, 0; values -6, 6
    # walltime on processor 0 after 10 iterations 0.00023979. Average: 0.00002398

    rk,P,t_mean,t_xmsg,var,s2,N,dev,s

The header may be missing: then t_xmsg, which is t_mean / P, shows what the numbers are. A ring takes as long as
its slowest process in the mean over its cycles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from hockney.errors import RequestError
from hockney.importers._csv import LONGEST_S, count, header, rows, time_s
from hockney.importers._lines import is_number, split_lines
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.app_record import AppRecord
from hockney.statistics import NORMAL

_WALLTIME = re.compile(
    r"# walltime on processor (\d{1,9}) after (\d{1,9}) iterations? (\S{1,40}?)\.? Average:? *(\S{1,40})"
)
_RECEIVED = re.compile(r"I am process (\d{1,9}) and I have received (\d{1,9}) messages\. .*\b(tags?) ")
_COLUMNS = "rk,P,t_mean,t_xmsg,var,s2,N,dev,s"
_WORDS = ("mapping", "variant", "topology", "exchange")
_MEANS = {"Np", "mean"}
_LOOKS_LIKE_P = "\N{CYRILLIC CAPITAL LETTER ER}"


def recognises(_path: Path, text: str) -> bool:
    """Whether a line has a process's wall time, or the header is that of a table of processes."""
    return _WALLTIME.search(text) is not None or _is_table(text)


def read(path: Path, text: str, given: Given) -> Imported:
    """A run for each ring that is whole. RequestError for a damaged table."""
    imported = Imported(tool="ring")
    if {*header(text)} == _MEANS:
        raise RequestError(
            f"{path} has means by number of processes, and not of what, nor their unit",
            "import the tables of the processes that they were made of (np12.csv), or write a tidy table",
        )
    if _is_table(text):
        _read_table(path, _as_csv(text), imported)
    else:
        _read_text(path, text, given, imported)
    return imported


def _is_table(text: str) -> bool:
    names = {*header(_as_csv(text.lstrip().partition("\n")[0]))}
    return names == _MEANS or ({"P", "t_mean", "N"} <= names and not names.isdisjoint({"rk", "rank"}))


def _as_csv(text: str) -> str:
    """Columns set apart by blanks are set apart by commas; what looks like a P in the header is one."""
    first, end, others = text.lstrip().partition("\n")
    cells = first.replace(",", " ").split()
    if len(cells) == len(_COLUMNS.split(",")) and all(map(is_number, cells)):
        _, ranks, mean, of_message, *_ = map(float, cells)
        if math.isclose(mean, ranks * of_message, rel_tol=1e-3):
            names = _COLUMNS if "," in first else _COLUMNS.replace(",", " ")
            return _as_csv(f"{names}\n{text.lstrip()}")
    first = first.replace(_LOOKS_LIKE_P, "P")
    if "," in first:
        return first + end + others
    return re.sub(r"[ \t]+", ",", "\n".join(line.strip() for line in (first + end + others).split("\n")))


def _read_table(path: Path, text: str, imported: Imported) -> None:
    """µs and µs²; a process that comes again begins another ring."""
    rings: dict[tuple[str, ...], list[dict[int, tuple[str, dict[str, str]]]]] = {}
    for where, row in rows(path, text, ("P", "t_mean", "N")):
        rank = row.get("rk", row.get("rank", ""))
        key = (str(count(row, "P", where)), *(row.get(name, "") for name in _WORDS))
        of_words = rings.setdefault(key, [{}])
        if rank in {*map(str, of_words[-1])}:
            of_words.append({})
        if not rank.isdecimal() or len(rank) > 9:
            imported.warn(where, f"{rank!r} is no process; left out")
            continue
        of_words[-1][int(rank)] = (where, row)
    for (ranks, *words), of_words in rings.items():
        for ring in of_words:
            if not _is_whole(ring, int(ranks)):
                imported.warn(str(path), f"a ring of {ranks} has rows of {len(ring)} of them; left out")
                continue
            named = {name: word for name, word in zip(_WORDS, words, strict=True) if word}
            imported.apps.append(_of_rows([ring[rank] for rank in range(int(ranks))], named))


def _of_rows(ring: Sequence[tuple[str, dict[str, str]]], words: Mapping[str, str]) -> AppRecord:
    means_s = [time_s(row, "t_mean", where, 1e-6) for where, row in ring]
    cycles = [count(row, "N", where) for where, row in ring]
    variances = [float(row["var"]) if is_number(row.get("var", "")) else math.nan for _, row in ring]
    slowest = max(range(len(ring)), key=means_s.__getitem__)
    if not all(map(math.isfinite, variances)):
        return _run(means_s, cycles[slowest], words)
    run = _run(means_s, cycles[slowest], words, variances_s2=[1e-12 * variance for variance in variances])
    if cycles[slowest] == 1:
        return run
    # The mean of so many cycles is as good as normal.
    reach_s = NORMAL * 1e-6 * math.sqrt(variances[slowest] / (cycles[slowest] - 1))
    return run.model_copy(update={"low_s": max(0.0, run.time_s - reach_s), "high_s": run.time_s + reach_s})


def _read_text(path: Path, text: str, given: Given, imported: Imported) -> None:
    """A process says before its wall time how many messages came, which says how many processes there are.

    With `tags` it counts both messages of every hop, with `tag` the hops.
    """
    ranks_of: dict[int, int] = {}
    open_rings: dict[int | None, dict[int, tuple[float, int]]] = {}

    def close(ranks: int | None) -> None:
        ring = open_rings.pop(ranks, {})
        if ring and _is_whole(ring, ranks or len(ring)):
            means_s = [ring[rank][0] for rank in sorted(ring)]
            imported.apps.append(_run(means_s, ring[0][1], {}))
        elif ring:
            of = f" of {ranks}" if ranks else ""
            imported.warn(str(path), f"a ring{of} has wall times of {len(ring)} processes; left out")

    for line in split_lines(text):
        if received := _RECEIVED.search(line.text):
            ranks_of[int(received[1])] = int(received[2]) // (2 if received[3] == "tags" else 1)
            continue
        walltime = _WALLTIME.search(line.text)
        if walltime is None:
            if "# walltime" in line.text:
                imported.warn(f"{path}:{line.number}", "no whole line of a wall time; left out")
            continue
        rank, cycles = int(walltime[1]), int(walltime[2])
        ranks = ranks_of.pop(rank, None) or given.ranks
        mean_s = _mean_s(walltime[3], walltime[4], cycles)
        if mean_s is None or (ranks is not None and rank >= ranks):
            imported.warn(f"{path}:{line.number}", f"no time of a cycle of process {rank}; left out")
            continue
        if rank in open_rings.get(ranks, {}):
            close(ranks)
        open_rings.setdefault(ranks, {})[rank] = (mean_s, cycles)
        if ranks is not None and len(open_rings[ranks]) == ranks:
            close(ranks)
    for ranks in list(open_rings):
        close(ranks)


def _is_whole(ring: Collection[int], ranks: int) -> bool:
    """Whether all processes 0 to `ranks` − 1 are there."""
    return len(ring) == ranks and max(ring) == ranks - 1


def _mean_s(total: str, average: str, cycles: int) -> float | None:
    """The wall time over the cycles, which has more digits than the average; None where it is no time."""
    if not (is_number(total) and is_number(average)) or cycles < 1:
        return None
    mean_s = float(total) / cycles
    return mean_s if 0 < mean_s <= LONGEST_S else None


def _run(
    means_s: Sequence[float], cycles: int, words: Mapping[str, str], **statistics: Sequence[float]
) -> AppRecord:
    of_launch = {name: word for name, word in words.items() if name in ("mapping", "variant")}
    of_ranks = {"positions": list(range(len(means_s))), "means_s": list(means_s), **statistics}
    return AppRecord.model_validate(
        {
            "operation": "ring",
            "ranks": len(means_s),
            "parameters": {name: word for name, word in words.items() if name not in of_launch},
            "time_s": max(means_s),
            "answer": {"statistic": "max_over_ranks", "cycles": cycles, **of_ranks},
            **of_launch,
        }
    )


importers.register("ring")(Importer("rings: wall times or statistics of each process", recognises, read))

"""Runs of a Jacobi solver that were measured elsewhere: a table with ranks, grid and lattice updates per second.

A CSV file with a header: `ranks`, `grid` (4x3x2), the size as `subdomain` (cells along each side of
every rank's cube) or `cells` (of the whole, 400x400x400), and `mlups` or the time of a sweep as `time_s`,
`time_ms` or `time_us`; `system`, `mpi`, `mapping`, `variant`, `nodes`, `latency_us` and `bandwidth_MB_per_s`
where known. Rows that are alike are repetitions. Or tables as reports print them, in text: a title, a line with
T_s, T_l and B, and rows of N, (Nx, Ny, Nz), k, c in MB, P and N P₁/P by the formula, P and N P₁/P as measured.
There the cube's side follows from c = 16 k L², and the time on one rank is T_s. A third is the solver's own text:
lines `1 -Dim Input 1200 0 T` of the whole grid, `Process grid 3 2 2`, and of each sweep `… MLUPs 1318.5`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hockney.errors import RequestError
from hockney.importers._csv import LONGEST_S, count, header, real, rows, time_s
from hockney.importers._lines import is_number
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.app_record import AppRecord
from hockney.records.app_rows import joined
from hockney.records.record import SMALLEST
from hockney.units import counted

UNITS_S = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6}
SIZES = ("subdomain", "cells")
_WHOLE, _NUMBER = r"([0-9]{1,9})", r"([0-9]{1,15}(?:\.[0-9]{1,15})?)"
ROW = re.compile(
    rf"^\s*\|?\s*{_WHOLE}[\s|]+\(\s*{_WHOLE}\s*,\s*{_WHOLE}\s*,\s*{_WHOLE}\s*\)"
    rf"[\s|]+{_WHOLE}" + rf"[\s|]+{_NUMBER}" * 5 + r"\s*\|?\s*$"
)
"""N, grid, k, c in MB, P and N P₁/P by the formula, the same as measured."""
TITLE = re.compile(r"^\s*TABLE\s+\S+\s*:\s*(.+?)\s*$", re.IGNORECASE)
SERIAL = re.compile(rf"T_s(?:\^\{{?([A-Za-z0-9_-]+)\}}?)?\s*=\s*{_NUMBER}\s*\\?\s*(?:\\?text\{{)?\s*s\b")
LATENCY = re.compile(rf"T_\\?(?:ell|l|ℓ)\s*=\s*{_NUMBER}")
BANDWIDTH = re.compile(rf"\bB\s*=\s*{_NUMBER}\s*\\?\s*(?:\\?text\{{)?\s*MB/s")
INPUT = re.compile(rf"\s*([123]) -Dim Input\s+{_WHOLE}\s")
GRID = re.compile(rf"\bProcess grid\s+{_WHOLE}\s+{_WHOLE}\s+{_WHOLE}\s*$")
SWEEP = re.compile(r"\bMLUPs\s+(\S+)\s*$")


def recognises(path: Path, text: str) -> bool:
    """Whether a header has a grid and a rate or time of runs, or a row is one of a printed table."""
    names = set(header(text))
    if "grid" in names and "ranks" in names:
        return bool(names & set(SIZES)) and bool(names & {"mlups", *UNITS_S})
    lines = [] if path.name.endswith((".csv", ".csv.gz")) else text.splitlines()
    return any(ROW.match(line) or GRID.search(line) for line in lines)


def read(path: Path, text: str, _given: Given) -> Imported:
    """Runs of all rows; RequestError names the row that is wrong: a table is taken whole or not at all."""
    names = header(text)
    if "grid" in names:
        runs = joined([*_of_csv(path, text, names)])
    else:
        runs = joined([*_of_solver(path, text)]) or _of_print(path, text)
    return Imported(tool="Jacobi solver", apps=[_with_rate(run) for run in runs])


def _of_csv(path: Path, text: str, names: list[str]) -> Iterator[AppRecord]:
    sizes = [name for name in SIZES if name in names]
    values = [name for name in ("mlups", *UNITS_S) if name in names]
    for what, columns in (("size", sizes), ("rate or time", values)):
        if len(columns) != 1:
            raise RequestError(
                f"{path}: {' and '.join(columns) or 'no column'} for the {what}", "keep one column that says it"
            )
    (size,), (value,) = sizes, values
    for where, row in rows(path, text, ("ranks", "grid", size, value)):
        ranks, grid, sides = count(row, "ranks", where), _extents(row, "grid", where), _extents(row, size, where)
        if size == "subdomain":
            sides = tuple(side * along for side, along in zip(sides, grid, strict=True))
        if value == "mlups":
            sweep_s = _sweep_s(row[value], sides, where)
        else:
            sweep_s = time_s(row, value, where, UNITS_S[value])
        facts = {name: row[name] for name in ("system", "mpi", "mapping", "variant", "nodes") if row.get(name)}
        if "nodes" in facts and count(row, "nodes", where) > ranks:
            raise RequestError(f"{where}: {row['nodes']} nodes for {counted(ranks, 'rank')}", "correct that row")
        stated = {
            field: real(row, name, where) * unit
            for name, field, unit in (
                ("latency_us", "stated_latency_s", 1e-6),
                ("bandwidth_MB_per_s", "stated_bandwidth_B_per_s", 1e6),
            )
            if row.get(name)
        }
        yield _run(where, ranks, sides, grid, sweep_s, stated, facts)


def _of_solver(path: Path, text: str) -> Iterator[AppRecord]:
    """A run for each sweep."""
    sides: dict[str, int] = {}
    grid: tuple[int, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        if match := INPUT.match(line):
            sides[match[1]] = int(match[2])
        elif match := GRID.search(line):
            grid = tuple(map(int, match.groups()))
        elif grid and (match := SWEEP.search(line)):
            if sorted(sides) != ["1", "2", "3"]:
                raise RequestError(
                    f"{where}: MLUPs of a grid whose size no line `1 -Dim Input 1200` says",
                    "add the solver's first lines, or write a table ranks,grid,cells,mlups",
                )
            cells = tuple(sides[axis] for axis in "123")
            yield _run(where, math.prod(grid), cells, grid, _sweep_s(match[1], cells, where), {}, {})


def _sweep_s(mlups: str, cells: tuple[int, ...], where: str) -> float:
    rate = float(mlups) if is_number(mlups) else 0.0
    sweep_s = math.prod(cells) / 1e6 / rate if rate > 0 else math.inf
    if not SMALLEST <= sweep_s <= LONGEST_S:
        raise RequestError(f"{where}: mlups {mlups!r} is no rate of a solver", "correct that row")
    return sweep_s


def _of_print(path: Path, text: str) -> list[AppRecord]:
    """Tables in the order of the text. A title or a line with T_s begins the next."""
    apps: list[AppRecord] = []
    alone: dict[tuple[str, int], AppRecord] = {}
    title, system = "", ""
    serial_s: float | None = None
    stated: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path}:{number}"
        if match := TITLE.match(line):
            title, system, serial_s, stated = match[1].rstrip("."), "", None, {}
        if match := SERIAL.search(line):
            system, serial_s, stated = match[1] or "", float(match[2]), {}
        if (latency := LATENCY.search(line)) and (rate := BANDWIDTH.search(line)):
            stated = {
                "stated_latency_s": float(latency[1]) * 1e-6,
                "stated_bandwidth_B_per_s": float(rate[1]) * 1e6,
            }
        if not (match := ROW.match(line)):
            continue
        ranks, *grid, k = (int(match[place]) for place in range(1, 6))
        if math.prod(grid) == ranks == 1:
            continue
        side = round(math.sqrt(float(match[6]) * 1e6 / (16 * k))) if k else 0
        mlups = float(match[9])
        if not side or not mlups > 0:
            raise RequestError(
                f"{where}: neither k nor c gives the side of a cube, or P is 0", "correct that row"
            )
        sides = tuple(side * along for along in grid)
        sweep_s, facts = math.prod(sides) / mlups / 1e6, {"system": system, "variant": title}
        apps.append(_run(where, ranks, sides, tuple(grid), sweep_s, stated, facts))
        if serial_s and (system, side) not in alone:
            alone[system, side] = _run(where, 1, (side,) * 3, (1, 1, 1), serial_s, {}, {"system": system})
    return [*alone.values(), *apps]


def _run(
    where: str,
    ranks: int,
    sides: tuple[int, ...],
    grid: tuple[int, ...],
    sweep_s: float,
    stated: Mapping[str, float],
    facts: Mapping[str, str],
) -> AppRecord:
    """One sweep, timed once; RequestError for a grid of other ranks."""
    if math.prod(grid) != ranks:
        raise RequestError(f"{where}: grid {grid} is not one of {counted(ranks, 'rank')}", "correct that row")
    extents = dict(zip(("nx", "ny", "nz", "px", "py", "pz"), (*sides, *grid), strict=True))
    return AppRecord.model_validate(
        {
            "operation": "jacobi",
            "ranks": ranks,
            "parameters": {**extents, "iterations": 1, "halo": "", "faces": ""},
            "time_s": sweep_s,
            "samples_s": [sweep_s],
            "answer": stated,
            **facts,
        }
    )


def _with_rate(run: AppRecord) -> AppRecord:
    cells = math.prod(int(run.parameters[name]) for name in ("nx", "ny", "nz"))
    answer = run.answer.model_copy(update={"mlups": cells / run.time_s / 1e6})
    return run.model_copy(update={"answer": answer})


def _extents(row: Mapping[str, str], name: str, where: str) -> tuple[int, ...]:
    """`4x3x2` → (4, 3, 2); of one number a cube, of two z is 1."""
    words = row[name].split("x")
    if not 1 <= len(words) <= 3 or not all(re.fullmatch("0*[1-9][0-9]{0,8}", word) for word in words):
        raise RequestError(f"{where}: {name} {row[name]!r} is no size of three directions", "write 4x3x2")
    sides = tuple(map(int, words))
    return sides * 3 if len(sides) == 1 else (*sides, 1)[:3]


importers.register("jacobi")(Importer("runs of a Jacobi solver (table as .csv or printed)", recognises, read))

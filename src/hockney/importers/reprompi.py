"""ReproMPI (github.com/hunsa/reprompi): each repetition of a collective, or a summary of them.

Read in its sources (results_output.c, runtimes_computation.c): a time is that of the slowest rank, or with
`runtime_type=global` from the first start to the last end on a common clock. `count` elements are one rank's
block, or the vector, as in the tidy table; `msize_bytes` says the same in bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from hockney.importers._lines import Prefix, TextLine, is_number, is_size
from hockney.importers._tables import BenchmarkTable, TableReader, has_title
from hockney.importers.base import Given, Imported, Importer, importers
from hockney.records.keys import COLLECTIVES
from hockney.records.record import Record
from hockney.records.statistic import StatisticName

_TITLE = re.compile(
    r"(?P<before>.{0,120}?)(?P<names>(?:process\s+)?test\s+(?:nrep\s+)?(?P<size>count|msize(?:_bytes)?)\s"
    r"(?:.*\s)?\w+_sec)\s*$"
)
_SETTING = re.compile(r"\s*#@(\w+)=(.*?)\s*$")
_QUANTILES = {"min_sec": "0", "median_sec": "0.5", "max_sec": "1"}
_WHOLE = ("nrep", "count", "msize", "msize_bytes", "errorcode", "total_nrep", "valid_nrep")


@dataclass
class _ReproTable(BenchmarkTable):
    element_B: int = 1
    statistic: StatisticName = "max_over_ranks"
    samples: dict[tuple[str, int], list[tuple[str, float, bool]]] = field(default_factory=dict)
    """Of each operation and size: where a time stands, the time in seconds, and whether it missed its window."""
    unknown: set[str] = field(default_factory=set)


def recognises(_path: Path, text: str) -> bool:
    """Whether a line of the text names its columns."""
    return has_title(text, "_sec", _TITLE)


def read(path: Path, text: str, given: Given) -> Imported:
    """Records of every table in the text."""
    reader = _ReproReader(path, given)
    imported = reader.read(text)
    imported.tool = "ReproMPI"
    imported.metadata |= {name: said for name, said in reader.said.items() if name in ("clocksync", "procsync")}
    return imported


class _ReproReader(TableReader[_ReproTable]):
    title = _TITLE

    def __init__(self, path: Path, given: Given) -> None:
        super().__init__(path, given)
        self.said: dict[str, str] = {}
        self._above: _ReproTable | None = None

    def aside(self, line: TextLine, table: _ReproTable | None) -> None:
        if setting := _SETTING.match(line.text):
            # Settings come before their table: those below it are all that the next one has.
            if table is not self._above:
                self.said.clear()
                self._above = table
            self.said[setting[1]] = setting[2]

    def begin(self, line: TextLine) -> _ReproTable | None:
        title = _TITLE.match(line.text)
        if title is None:
            return None
        names = title["names"].split()
        is_timed = "runtime_sec" in names or "median_sec" in names
        clock = self.said.get("runtime_type", self.said.get("clocktype", ""))
        element_B = self.said.get("datatype_size_bytes", "") if title["size"] == "count" else "1"
        why_not = "" if is_timed else "it has no median and no time of all ranks: print without --verbose"
        if is_timed and not is_size(element_B):
            why_not = "no line #@datatype_size_bytes says how large its elements are"
        return _ReproTable(
            "table of ReproMPI",
            f"{self.path}:{line.number}",
            Prefix(title["before"]),
            why_not,
            names,
            element_B=int(element_B) if is_size(element_B) else 0,
            statistic="completion" if clock == "global" else "max_over_ranks",
        )

    def fits(self, column: str, cell: str) -> bool:
        if column == "test":
            return re.fullmatch(r"[A-Za-z]\w*", cell) is not None
        return is_size(cell) if column in _WHOLE else is_number(cell)

    def row(self, table: _ReproTable, cells: Sequence[str], where: str) -> None:
        values = dict(zip(table.columns, cells, strict=True))
        operation = values["test"].removeprefix("MPI_").lower().removesuffix("_block")
        if operation not in COLLECTIVES:
            table.unknown.add(values["test"])
            return
        size = next(values[name] for name in ("count", "msize", "msize_bytes") if name in values)
        size_B = int(size) * table.element_B if COLLECTIVES[operation].has_size else 0
        time_s = float(values.get("runtime_sec", values.get("median_sec", "0")))
        if time_s == 0:
            table.zeros.append(f"{values['test']} at {size_B} B")
        elif "runtime_sec" in values:
            is_late = values.get("errorcode", "0") != "0"
            table.samples.setdefault((operation, size_B), []).append((where, time_s, is_late))
        else:
            total = int(values.get("total_nrep", "0"))
            self._add(
                table,
                (operation, size_B, where),
                time_s,
                quantiles={of: float(values[name]) for name, of in _QUANTILES.items() if name in values},
                late=max(total - int(values.get("valid_nrep", total)), 0),
            )

    def _add(self, table: _ReproTable, of: tuple[str, int, str], time_s: float, **more: object) -> None:
        operation, size_B, where = of
        record = {"operation": operation, "bytes": size_B, "origin": where, "value": time_s, **more}
        record |= {"source": "reprompi", "statistic": table.statistic}
        self.imported.records.append(Record.model_validate(record))

    def finish(self, table: _ReproTable) -> None:
        """A record of each operation and size; repetitions that missed their window are set aside."""
        for (operation, size_B), timed in table.samples.items():
            late = [place for place, (_, _, is_late) in enumerate(timed) if is_late]
            if kept := [time_s for _, time_s, is_late in timed if not is_late]:
                self._add(
                    table,
                    (operation, size_B, timed[0][0]),
                    median(kept),
                    samples=[time_s for _, time_s, _ in timed],
                    disturbed=len(late),
                    disturbed_at=late,
                    late=len(late),
                    batch=1,
                )
            else:
                self.imported.warn(
                    table.where, f"every repetition of {operation} at {size_B} B missed its window, left out"
                )
        for name in sorted(table.unknown):
            self.imported.warn(table.where, f"{name} is not imported: no collective that is modelled")
        super().finish(table)


importers.register("reprompi")(Importer("output of ReproMPI", recognises, read))

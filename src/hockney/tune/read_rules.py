"""Rules of a file in any form that a library reads, for predictions of runs under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hockney import reading
from hockney.errors import RequestError
from hockney.predict.decisions.base import LibraryDecisions, ScheduleChoice, decisions_for
from hockney.tune.rules import Rule, find
from hockney.tune.targets.base import Reader, targets
from hockney.units import version_in


def read_rules(path: Path, mpi: str) -> Callable[[str, int, int], ScheduleChoice | None]:
    """What they say of an operation on so many ranks with so many bytes; None: the library's own choice.

    RequestError where no form that this library reads has such a text.
    """
    library, text, why = Reader(mpi, version_in(mpi)), reading.text(path), ""
    for _, form in targets:
        if form.reads(library):
            try:
                rules = form.read(text, library)
            except RequestError as error:
                why = why or error.message
                continue
            return partial(_chosen, rules, None if form.is_preloaded else decisions_for(mpi))
    raise RequestError(
        f"{path} has no rules that {mpi or 'the library'} reads: {why or 'no form is known'}",
        "`hockney tune` writes such files",
    )


def _chosen(
    rules: Sequence[Rule], library: LibraryDecisions | None, operation: str, ranks: int, size_B: int
) -> ScheduleChoice | None:
    """`library` None: the rules name schedules of ours."""
    method = find(rules, operation, ranks, size_B)
    if method is None:
        return None
    if library is None or library.decisions is None:
        return ScheduleChoice(method.algorithm, method.segment_bytes or None, method.radix or None)
    call = {"ranks": ranks, "size_B": size_B, "segment_B": method.segment_bytes}
    return library.decisions.named(operation, method.algorithm, library.version, **call)

"""What `hockney apply` tells the layer, and what the layer reports at the end."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hockney.records.answers import first_problem
from hockney.records.preload_table import PreloadTable
from hockney.runner.preload import Damaged, PreloadedRun, rules_text


def variables(
    table: PreloadTable, *, bitwise: bool = False, sums: bool = False, compare: bool = False
) -> dict[str, str]:
    """Variables of the environment for the layer (cpp/preload/settings.cpp); RequestError for too many rules."""
    values = {"BITWISE": bitwise, "COMPARE": compare, "SUMMARY": sums or compare}
    chosen = {f"HOCKNEY_PRELOAD_{name}": "1" for name, is_set in values.items() if is_set}
    return {"HOCKNEY_PRELOAD": "apply", "HOCKNEY_PRELOAD_RULES": rules_text(table), **chosen}


class AppliedCalls(BaseModel):
    """Calls of one operation that ran alike: by one rule (its place in the table), or by the library, and why.

    `bytes` adds up what each call names: its whole vector, or one rank's block. `time_s` is 0 where calls were
    not timed. `gain` and its `basis` are the table's; `saved_s` what they come to. Where calls were compared,
    those by the schedule took `compared_s`, and would have taken `library_s`, whose ratio is `measured_gain`;
    `saved_s` is of them alone.
    """

    model_config = ConfigDict(extra="forbid")

    operation: str
    rule: int
    why: str
    calls: int
    bytes: int
    time_s: float
    compared_s: float = 0.0
    library_s: float = 0.0
    measured_gain: float | None = None
    algorithm: str = ""
    gain: float | None = None
    basis: str | None = None
    saved_s: float | None = None


class Dropped(BaseModel):
    """Schedules that made room for others, and are made again when they are needed.

    A process keeps `most` of a communicator, and of all communicators no more than `most_B`.
    """

    model_config = ConfigDict(extra="forbid")

    schedules: int
    most: int
    most_B: int


class LayerReport(BaseModel):
    """The file that rank 0 writes in MPI_Finalize."""

    model_config = ConfigDict(extra="forbid")

    library: str
    ranks: int
    of_all_ranks: bool
    unseen: str
    """Calls of the program that the layer cannot tell from the library's own."""
    dropped: Dropped
    calls: list[AppliedCalls]


class Applied(BaseModel):
    """What came of a launch under the layer; `is_seen` False: the layer was not there, and nothing is known."""

    exit_code: int
    is_seen: bool = False
    warnings: list[str]
    library: str = ""
    ranks: int | None = None
    of_all_ranks: bool = False
    dropped: Dropped | None = None
    calls: list[AppliedCalls] = []
    saved_s: float | None = None
    rules: int = Field(default=0, exclude=True)
    """Of the table."""

    @property
    def unmet(self) -> int:
        """How many rules of the table met no call."""
        return self.rules - len({call.rule for call in self.calls if call.rule >= 0})


def applied(outcome: PreloadedRun, table: PreloadTable, *, compare: bool = False) -> Applied:
    """The report beside the table; a damaged one is as none, with a warning.

    `compare`: the library's own code ran half of the calls that rules are for.
    """
    try:
        report = None if outcome.report is None else _report(outcome.report, len(table.rules))
    except Damaged as damaged:
        outcome.said.append(damaged.message)
        report = None
    if report is None:
        return Applied(exit_code=outcome.code, warnings=[*outcome.said, *filter(None, [outcome.unseen])])
    if report.unseen:
        outcome.said.append(f"not seen are {report.unseen}")
    rows = [_with_gain(row, table, compare) for row in report.calls]
    saved = [row.saved_s for row in rows if row.saved_s is not None]
    return Applied(
        exit_code=outcome.code,
        is_seen=True,
        warnings=outcome.said,
        library=report.library.splitlines()[0] if report.library else "",
        ranks=report.ranks,
        of_all_ranks=report.of_all_ranks,
        dropped=report.dropped,
        calls=rows,
        saved_s=sum(saved) if saved else None,
        rules=len(table.rules),
    )


def _report(text: str, rules: int) -> LayerReport:
    """Damaged where it is not as the layer writes it for so many rules."""
    try:
        report = LayerReport.model_validate_json(text)
    except ValidationError as error:
        raise Damaged(f"the layer's report is damaged: {first_problem(error)}") from error
    if strange := next((row.rule for row in report.calls if row.rule >= rules), None):
        raise Damaged(f"the layer's report is damaged: it names rule {strange} of {rules}")
    return report


def _with_gain(row: AppliedCalls, table: PreloadTable, compare: bool) -> AppliedCalls:
    if row.rule < 0:
        return row
    rule = table.rules[row.rule]
    by_schedule_s = row.compared_s if compare else row.time_s
    saved_s = None if rule.gain is None else by_schedule_s * (rule.gain - 1)
    measured = row.library_s / row.compared_s if row.compared_s > 0 else None
    said = {"algorithm": rule.algorithm, "gain": rule.gain, "basis": rule.basis, "saved_s": saved_s}
    return row.model_copy(update={**said, "measured_gain": measured})

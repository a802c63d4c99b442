"""Performance guidelines that a library violates, and what became slower than it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hockney.campaign.events import Watching
from hockney.campaign.further import measure_into
from hockney.campaign.plan import Plan
from hockney.campaign.trust import doubt
from hockney.check.against import Changes as Changes
from hockney.check.against import QuantityChange as QuantityChange
from hockney.check.against import against, source
from hockney.check.answer import Against as Against
from hockney.check.answer import CheckAnswer as CheckAnswer
from hockney.check.cells import times_of
from hockney.check.confirm import confirm, plan_of
from hockney.check.study import Checked, study
from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.locality import read
from hockney.options.check import CheckOptions
from hockney.records.contents import Contents
from hockney.records.folder import Campaign


def check(options: CheckOptions, watching: Watching, warn: Callable[[str], None]) -> CheckAnswer:
    """Put guidelines to a campaign, a table or a machine file.

    `watching` draws what is measured with `confirm`; `warn` is told what a reader should know of the times.
    RequestError for options that mean nothing together, and where there is nothing to compare.
    """
    if options.trust and options.confirm is None:
        raise RequestError("--trust means nothing without --confirm", "leave it out")
    now = source(options.campaign)
    sure, least = options.family_error, options.least_factor
    answer = CheckAnswer(None, None, str(options.campaign), sure, least)
    checked = None
    if isinstance(now, Machine):
        _refuse_guidelines(options)
    else:
        for warning in now.warnings:
            warn(warning)
        times = times_of(now)
        expected = options.against is None
        checked = study(times, options.guidelines, family_error=sure, least_factor=least, expected=expected)
    if checked is not None and checked.violations and options.confirm is not None:
        again = _second(checked, options, options.confirm, watching, warn)
        checked = replace(checked, findings=confirm(checked.findings, times_of(again), sure))
    if checked is not None:
        answer = _with_guidelines(answer, checked)
    if options.against is not None:
        changes = against(now, source(options.against), family_error=sure, least_factor=least)
        answer = replace(answer, changes=changes, against=_against(str(options.against), changes))
    return answer


def _with_guidelines(answer: CheckAnswer, checked: Checked) -> CheckAnswer:
    return replace(
        answer,
        guidelines_checked=checked,
        launches=checked.launches,
        compared=len(checked.findings),
        violated=len(checked.violations),
        kept=len(checked.of("kept")),
        undecided=len(checked.of("undecided")),
        points_of_another_level=checked.left_out,
        operations_of_other_statistics=checked.of_other_statistics,
        power=checked.power,
        guidelines=checked.counts,
        violations=checked.violations,
    )


def _against(older: str, changes: Changes) -> Against:
    moved = [change for change in changes.yardstick if change.verdict in ("slower", "faster")]
    others = (len(changes.of("not slower")), len(changes.of("undecided")), changes.missing, moved)
    return Against(older, len(changes.changes), changes.of("slower"), changes.of("faster"), *others)


def _refuse_guidelines(options: CheckOptions) -> None:
    """RequestError where a campaign is needed: a machine file holds models, and no launch of a collective."""
    if options.against is None or options.guidelines or options.confirm is not None:
        raise RequestError(
            f"{options.campaign} is a machine file: it holds no collective launch by launch, as guidelines need",
            "give the campaign that it was fitted to; a machine file can be compared: --against OLDER.json",
        )


def _second(
    checked: Checked, options: CheckOptions, folder: Path, watching: Watching, warn: Callable[[str], None]
) -> Contents:
    """The campaign in `folder`; measured first where there is none."""
    if folder.exists():
        return read(folder)
    if not options.campaign.is_dir():
        raise RequestError(
            f"{options.campaign} is a table, with no plan to measure by, and there is no {folder}",
            f"measure the same again with `hockney measure -o {folder} …`, then give the same command",
        )
    plan = Plan.stored(Campaign.open(options.campaign).plan(), options.campaign)
    if not options.trust and (reason := doubt(options.campaign, plan, "--confirm")):
        raise RequestError(reason, "look at its plan.json; --trust runs it all the same")
    second = plan_of(plan, checked.violations, checked.launches)
    for failure in measure_into(second, folder, "the second campaign", watching).failures:
        warn(failure)
    return read(folder)

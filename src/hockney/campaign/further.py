"""A further campaign that is measured for an answer: `hockney check --confirm`, `tune --verify`."""

from __future__ import annotations

from pathlib import Path

from hockney.campaign.events import Watching
from hockney.campaign.measure import run
from hockney.campaign.outcome import Outcome
from hockney.campaign.plan import Plan
from hockney.campaign.prepare import launches as prepare
from hockney.campaign.trust import seal
from hockney.errors import Incomplete, RequestError
from hockney.records import table
from hockney.records.folder import JOURNALS, Campaign
from hockney.records.record import Record
from hockney.records.visits import CHOICES
from hockney.terminal.signals import Interrupted


def measure_into(
    plan: Plan, folder: Path, what: str, watching: Watching, *, goes_on: bool = False, mpi: str = ""
) -> Outcome:
    """Measure the plan into the folder, whose table is written, whatever ends it.

    With `goes_on` a campaign of that very plan that is there is continued; RequestError for one of another plan.
    `mpi`: the library that must be the one here, as tables name it; RequestError for another one. `what` names
    the campaign in messages. Incomplete where it was ended, or nothing could be measured.
    """
    prepared = prepare(plan)
    if mpi and (mpi_here := prepared[0].mpi_name) != mpi:
        raise RequestError(
            f"the times are of {mpi}, and {what} would launch {mpi_here}", "name the library with --mpi"
        )
    if goes_on and any((folder / name).exists() for name in JOURNALS):
        campaign = Campaign.open(folder)
        if Plan.stored(campaign.plan(), folder) != plan:
            raise RequestError(
                f"{folder} holds a campaign that asks for something else",
                "choose another folder, or remove it; nothing in it was changed",
            )
    else:
        campaign = Campaign.create(folder, plan.model_dump())
        seal(folder)
    try:
        with watching() as watcher:
            outcome = run(campaign, plan, prepared, watcher)
    except Interrupted as error:
        write_table(campaign, plan)
        raise Incomplete(
            f"{error.name} ended {what}; what it measured is in {folder}",
            "give the same command again: it continues"
            if goes_on
            else f"`hockney measure -o {folder} --resume` continues; then give the same command",
        ) from error
    if not write_table(campaign, plan):
        raise Incomplete(f"nothing could be measured into {folder}: {outcome.lack}", "run `hockney doctor --run`")
    return outcome


def write_table(campaign: Campaign, plan: Plan) -> list[Record]:
    """Write the table of what there is; the records behind it."""
    if records := campaign.records():
        table.write(table.from_records(records, choice=CHOICES[plan.level]), campaign.table)
    return records

"""What `measure --dry-run` tells of a campaign."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from hockney.campaign.plan import Plan
from hockney.terminal import say
from hockney.terminal.loading import later
from hockney.units import counted

with later():
    from hockney.campaign.estimate import compile_s, estimate
    from hockney.campaign.prepare import has_more_ranks_than_cores, refuse_far_too_many
    from hockney.runner.transports import ALL
    from hockney.studies.crowding import ONLY_CHECKS


def tell_planned(plan: Plan, output: Path, as_json: bool, *, is_for_jobs: bool) -> None:
    """What would be launched, how many points that is, and what it takes."""
    refuse_far_too_many(plan)
    expected, compiling_s = estimate(plan), compile_s(plan.mpi)
    unknown = []
    if is_for_jobs:
        unknown.append("localities and a compiled runner are those of this host: the jobs' nodes may have others")
    if ALL in plan.variants:
        unknown.append(f"{ALL} is counted as one variant: how many of them work, only a launch tells")
    if plan.mpi != "smpi" and has_more_ranks_than_cores(plan):
        unknown.append(f"the ranks share cores, and how long they wait for these is not counted; {ONLY_CHECKS}")
    if as_json:
        say.json(
            {
                "campaign": str(output),
                **asdict(expected),
                "compile_s": compiling_s,
                "warnings": unknown,
                "plan": plan.model_dump(),
            }
        )
        return
    launches = counted(expected.launches, "launch", plural="launches")
    say.line(
        f"{launches} of {plan.ranks} ranks, in each about {counted(expected.points, 'point')} "
        f"in {counted(expected.visits, 'visit')} → {output}"
    )
    say.line(f"takes {expected}" + (f"; compiling comes first, about {compiling_s:.0f} s" if compiling_s else ""))
    for text in unknown:
        say.line(text)

"""The options of `hockney measure`: a plan, what follows from what the user asks for, and what is not stored."""

from __future__ import annotations

from pathlib import Path
from socket import gethostname
from typing import Annotated, Any

from pydantic import Field, model_validator

from hockney.campaign.effects.base import effects
from hockney.campaign.plan import Plan, how, launch, what, with_files
from hockney.campaign.share import WHOLE, Share, parse_share
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.records.keys import COLLECTIVES
from hockney.registry import did_you_mean

QUICK: dict[str, float] = {
    "budget_s": 0.2,
    "tolerance": 0.02,
    "ladder_ratio": 4,
    "most_sizes": 56,
    "most_sizes_of_others": 28,
    "size_tolerance": 0.05,
    "narrowest": 1.3,
}
"""A first model in one to two minutes: wider intervals, wider brackets around breaks."""

SIMULATED: dict[str, float] = {
    "budget_s": 1e-3,
    "least_samples": 6,
    "ladder_ratio": 4,
    "size_tolerance": 0.01,
    "narrowest": 1 + 1e-9,
}
"""A simulation repeats itself: a little simulated time is enough, and a break can be followed to the byte."""

KEPT = ("output", "resume", "trust", "share")
"""Options that may stand beside --resume."""


class MeasureOptions(Plan):
    """The options of `hockney measure`: a plan, and what is not stored with it."""

    output: Annotated[Path, Option("New folder of the campaign.", flags=("--output", "-o")), Field(exclude=True)]
    quick: Annotated[
        bool, how("Measure for a minute or two, with wider intervals.", flags=("--quick",)), Field(exclude=True)
    ] = False
    resume: Annotated[bool, Option(flags=("--resume",)), Field(exclude=True)] = False
    trust: Annotated[bool, Option(flags=("--trust",)), Field(exclude=True)] = False
    dry_run: Annotated[
        bool,
        Option("Print the plan and its time, and launch nothing.", flags=("--dry-run",)),
        Field(exclude=True),
    ] = False
    share: Annotated[
        Share,
        how(
            "Part of the launches that this job does, such as 2/3.",
            read=parse_share,
            metavar="N/JOBS",
            show=None,
        ),
        Field(exclude=True),
    ] = WHOLE
    off_cache: Annotated[
        bool, what("Measure with buffers outside the caches, too.", flags=("--off-cache",)), Field(exclude=True)
    ] = False
    variants: Annotated[
        list[str],
        launch(
            "A launch variant as 'NAME: launcher arguments and NAME=VALUE settings', or `all-transports` "
            "(repeatable).",
            flags=("--variant",),
        ),
    ] = Field(default_factory=list)
    # Both depend on what else is asked for: _completed sets them.
    ranks: Annotated[
        int, launch("Number of ranks. [default: the cores of this host]", show=None), Field(ge=2)
    ] = 0
    system: Annotated[str, launch("System that the ranks are on, by any name. [default: the host's]")] = Field(
        default_factory=gethostname
    )

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The plan with what follows from the options that were given; those of a resumed campaign are stored."""
        # Help, which reads the options alone, waits for none of what it needs.
        from hockney.campaign.prepare import default_ranks

        given = with_files(given)
        if given.get("resume"):
            return {"ranks": 2, **{name: given[name] for name in KEPT if name in given}}
        chosen = {**QUICK} if given.get("quick") else {}
        if given.get("mpi") == "smpi":
            chosen |= SIMULATED
        completed = {"ranks": default_ranks(given.get("hosts", [])), **chosen, **given}
        if given.get("mpi") == "smpi":
            completed["visits"] = 1
        if given.get("off_cache"):
            completed["caches"] = ["warm", "off"]
        return completed | _operations(given.get("operations", []))


def lasting(name: str) -> str:
    """A path that still means the same when what was begun is resumed from elsewhere; other words as they are."""
    return str(Path(name).absolute()) if "/" in name and Path(name).exists() else name


def _operations(words: list[str]) -> dict[str, list[str]]:
    """The plan's `operations` and `effects`."""
    from hockney.runner.build import sources

    # Known before any launch: each kernel has a file of its name.
    pairwise = sorted(path.stem for path in (sources() / "runner" / "kernels").glob("*.cpp"))
    # Of hundreds of questions: last, so that it leaves the others their share of --time.
    one_by_one = sorted(effects.names(), key=lambda name: name == "subsets")
    all_of = {"collectives": list(COLLECTIVES), "effects": one_by_one}
    known = [*pairwise, *all_of, *COLLECTIVES, *effects.names()]
    for word in words:
        if word not in known:
            raise RequestError(
                f"--operation: unknown operation {word!r}",
                f"{did_you_mean(word, known)}known: {', '.join(pairwise)}; "
                f"collectives for all of {', '.join(COLLECTIVES)}; "
                f"effects for all of {', '.join(effects.names())}",
            )
    chosen = dict.fromkeys(name for word in words for name in all_of.get(word, [word]))
    hidden = [name for name in chosen if name in effects.names()]
    return {"operations": [name for name in chosen if name not in hidden], "effects": hidden}

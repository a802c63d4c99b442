"""Which algorithm a library uses by itself: by a setting, by watching, by its version, or from times alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from hockney.campaign.plan import Launching, Plan
from hockney.campaign.prepare import default_ranks
from hockney.campaign.trust import doubt
from hockney.errors import RequestError
from hockney.fields import flags_written
from hockney.machine.build import fitted
from hockney.machine.file import is_machine_file, load
from hockney.machine.locality import load as located
from hockney.machine.locality import read
from hockney.machine.system import System, find_system
from hockney.options.identify import IdentifyOptions
from hockney.predict.estimators.base import known_defaults
from hockney.predict.identified import IdentifiedCell as IdentifiedCell
from hockney.predict.identified import IdentifiedOperation as IdentifiedOperation
from hockney.predict.identified import IdentifyAnswer as IdentifyAnswer
from hockney.predict.identified import answers, of_version
from hockney.predict.identify.told import SETTING, TIMES, VERSION, WATCHING, WAYS
from hockney.predict.machine_costs import MachineCosts, of_machine
from hockney.predict.points import DEFAULT
from hockney.predict.watched import Watched, watch
from hockney.progress import Progress, silent
from hockney.records import defaults, table
from hockney.records.defaults import Defaults
from hockney.records.folder import Campaign
from hockney.records.keys import COLLECTIVES

OF_WATCH = ("mpi", "hosts", "trust")
NOT_OF_WATCH = ("by", "system", "machine", "nodes")
OF_TABLE = ("system", "machine")
OF_MACHINE = ("ranks", "nodes", "sizes_B")
"""Of a table the ranks and sizes are answered that it has."""
USUAL_B = tuple(2**power for power in range(21))
"""Sizes that a machine file is asked for, and that are watched, where none is named."""
LEAST_RANKS = 5
"""On fewer most algorithms send the same; counts do not depend on time, so that cores may be shared."""


def identify(options: IdentifyOptions, progress: Progress = silent) -> IdentifyAnswer:
    """Name the algorithms behind `default`; what was watched of a campaign is kept in its folder.

    RequestError for options that mean nothing together, and where nothing tells. EnvironmentLack where the
    library cannot be watched.
    """
    flags = flags_written(options)
    unfit = [flag for name, flag in flags.items() if name in (NOT_OF_WATCH if options.watch else OF_WATCH)]
    if unfit:
        how, hint = ("with", "leave them out") if options.watch else ("without", "add it, or leave them out")
        raise RequestError(f"{', '.join(unfit)} means nothing {how} --watch", hint)
    if options.watch:
        return _watched(options, progress)
    if options.source is None:
        raise RequestError("nothing to identify was given", "give a campaign, table or machine file, or --watch")
    if is_machine_file(options.source):
        _refuse(flags, OF_TABLE, f"for the machine file {options.source}")
        return _of_machine_file(options, options.source)
    _refuse(flags, OF_MACHINE, f"for {options.source}, which is answered on all ranks and sizes that it has")
    return _of_table(options, options.source, progress)


def _refuse(written: Mapping[str, str], unfit: Sequence[str], why: str) -> None:
    """RequestError where an option was given that would be ignored."""
    if flags := [flag for name, flag in written.items() if name in unfit]:
        raise RequestError(f"{', '.join(flags)} means nothing {why}", "leave it out")


def _ways(by: str) -> Sequence[str]:
    # A setting that is in force goes before the shipped decision, whoever asks for that.
    return {"any": WAYS, "version": (SETTING, VERSION), "watching": (WATCHING,), "times": (TIMES,)}[by]


def _of_machine_file(options: IdentifyOptions, source: Path) -> IdentifyAnswer:
    """By the version alone: a machine file has no times of collectives."""
    machine = load(source)
    if options.by in ("times", "watching"):
        raise RequestError(
            f"{source} is a machine file, which has no times of {DEFAULT}",
            "give the campaign or the table that was measured",
        )
    libraries = {library.name or f"{library.kind} {library.version}" for library in machine.mpi}
    if len(libraries) != 1:
        raise RequestError(
            f"{source} names {len(libraries)} MPI libraries, the question is about one",
            "give the campaign or the table that was measured",
        )
    (mpi,) = libraries
    settings = machine.mpi[0].settings if len(machine.mpi) == 1 else {}
    forced = Defaults(settings={(mpi, ""): settings})
    identified, warnings = [], []
    for operation in known_collectives(options.operations) or list(COLLECTIVES):
        sizes_B = (options.sizes_B or USUAL_B) if COLLECTIVES[operation].has_size else (0,)
        answer = of_version(operation, mpi, options.ranks or [2, 8, 64], sizes_B, options.nodes, forced)
        if answer is None:
            warnings.append(f"{operation}: the version of {mpi} does not decide")
        else:
            identified.append(answer)
    if not identified:
        raise RequestError(
            f"what {mpi} chooses by itself is not known here", "measure it, and identify it in the campaign"
        )
    return IdentifyAnswer(identified, warnings)


def _of_table(options: IdentifyOptions, source: Path, progress: Progress) -> IdentifyAnswer:
    system = find_system(options.system) if options.system else None
    frame = located(source, "", [system] if system else [])
    warnings = list(frame.attrs.get("warnings", []))
    frame = frame[~table.does_nothing(frame)]
    chosen = known_collectives(options.operations) or [
        name for name in COLLECTIVES if ((frame["operation"] == name) & (frame["algorithm"] == DEFAULT)).any()
    ]
    if not chosen:
        raise RequestError(
            f"{source} has no collective with the algorithm {DEFAULT}",
            "measure one: `hockney measure --operation bcast --algorithm default,all`",
        )
    costs = _costs(options, source, frame, [system] if system else [])
    identified = [
        answer
        for operation in chosen
        for answer in answers(
            frame,
            operation,
            ways=_ways(options.by),
            system=system,
            costs=costs,
            progress=progress,
        )
    ]
    return IdentifyAnswer(identified, warnings)


def _costs(
    options: IdentifyOptions, source: Path, frame: pd.DataFrame, systems: Sequence[System]
) -> MachineCosts | str:
    """The costs of messages: of the machine file, or of what else the campaign measured; a text: why without."""
    if options.machine is not None:
        return of_machine(load(options.machine), str(options.machine))
    many = int(frame["operation"].eq("pingpong").sum())
    if TIMES not in _ways(options.by) or not many:
        return ""
    try:
        return of_machine(fitted(read(source, systems)), str(source))
    except RequestError as error:
        return f"its {many} rows of ping-pongs do not say what messages cost: {error.message}"


def _watched(options: IdentifyOptions, progress: Progress) -> IdentifyAnswer:
    campaign = None if options.source is None else _campaign(options.source)
    launch = _alone(options) if campaign is None else _as_campaign(campaign, options)
    done = launch(progress=progress)
    if campaign is not None:
        with campaign.locked():
            defaults.add(campaign.path, done.time, done.cells)
    return IdentifyAnswer(done.answers, [])


def _campaign(path: Path) -> Campaign:
    if path.is_dir():
        return Campaign.open(path)
    raise RequestError(
        f"{path} does not say how its ranks were launched, as --watch must know",
        "give the campaign folder, or leave it out and say --mpi and --ranks",
    )


def _alone(options: IdentifyOptions) -> Callable[..., Watched]:
    hosts = list(options.hosts)
    ranks = sorted(set(_plural(options.ranks))) or [max(LEAST_RANKS, default_ranks(hosts))]
    launching = Launching(mpi=options.mpi or "auto", ranks=max(ranks), hosts=hosts)
    return partial(
        watch,
        launching,
        known_collectives(options.operations) or list(COLLECTIVES),
        ranks,
        options.sizes_B or USUAL_B,
    )


def _as_campaign(campaign: Campaign, options: IdentifyOptions) -> Callable[..., Watched]:
    """As the campaign's plan launches, and at its own defaults where nothing else is asked for."""
    plan = Plan.stored(campaign.plan(), campaign.path)
    if not options.trust and (reason := doubt(campaign.path, plan, "--watch")):
        raise RequestError(reason, "look at its plan.json; --trust runs it all the same")
    if plan.mappings:
        raise RequestError(
            f"{campaign.path} was launched by {' and '.join(plan.mappings)}, whose defaults may differ",
            "leave it out, and say --mpi and --ranks",
        )
    frame = table.load(campaign.path)
    frame = frame[(frame["algorithm"] == DEFAULT) & frame["operation"].isin(list(COLLECTIVES))]
    if options.operations:
        frame = frame[frame["operation"].isin(known_collectives(options.operations))]
    if frame.empty:
        raise RequestError(
            f"{campaign.path} has no times of {DEFAULT} of a collective asked for",
            "leave it out, and say --mpi and --ranks",
        )
    ranks = sorted(set(_plural(options.ranks))) or sorted(
        {int(count) for count in frame["ranks"] if int(count) > 1}
    )
    names = {name: getattr(plan, name) for name in Launching.model_fields}
    changed = {
        "ranks": max([plan.ranks, *ranks]),
        "mpi": options.mpi or plan.mpi,
        "hosts": list(options.hosts) or plan.hosts,
    }
    mpis = sorted(set(frame["mpi"]))
    return partial(
        watch,
        Launching.model_validate(names | changed),
        [name for name in COLLECTIVES if (frame["operation"] == name).any()],
        ranks,
        options.sizes_B or sorted({int(size) for size in frame["bytes"]}),
        mpi=mpis[0] if len(mpis) == 1 else "",
        known=known_defaults(frame),
    )


def known_collectives(operations: Sequence[str]) -> list[str]:
    """The operations; RequestError where one is no collective."""
    for name in operations:
        if name not in COLLECTIVES:
            raise RequestError(f"{name!r} is not a collective", f"known: {', '.join(COLLECTIVES)}")
    return list(operations)


def _plural(ranks: Sequence[int]) -> Sequence[int]:
    for count in ranks:
        if count < 2:
            raise RequestError(f"--ranks {count}: 2 ranks or more can be watched", "ask for 5")
    return ranks

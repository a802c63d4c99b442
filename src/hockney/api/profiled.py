"""A program, watched: what it communicates and where it waits."""

from __future__ import annotations

from dataclasses import dataclass

from hockney import writing
from hockney.options.profile import ProfileOptions
from hockney.records.profile import Call
from hockney.records.profile import Profile as Profile
from hockney.runner.launch_line import understand
from hockney.runner.preload import run
from hockney.runner.profiled import watched
from hockney.runner.traced import Trace, folder_of, found, prepare

ProfiledCall = Call
WATCHING = {"HOCKNEY_PRELOAD": "profile"}


@dataclass(frozen=True)
class ProfiledRun:
    """How a program ended, its profile, its file and its trace; None where nothing was seen, or written."""

    exit_code: int
    warnings: list[str]
    output: str | None
    profile: Profile | None
    trace: Trace | None


def profile_program(options: ProfileOptions, *, quiet: bool = False) -> ProfiledRun:
    """Run a launch line with the library that watches, and write the profile; `quiet` as in `preload.run`.

    NotWritten before it runs where the file cannot be written; RequestError for what is no launch line.
    """
    writing.expect_writable(options.output)
    launch = understand(options.command, options.mpi)
    mpi = launch.mpi.describe() if launch.mpi else ""
    folder = folder_of(options.output)
    told = prepare(folder, options.trace_limit, options.clock, mpi) if folder else {}
    outcome = run(launch, WATCHING | told, quiet=quiet)
    trace = found(folder, options.trace_limit, outcome.said) if folder and told else None
    if trace is not None and not outcome.report:
        outcome.said.append(f"no profile was written: `hockney predict {trace.folder}` replays the trace")
    elif outcome.unseen:
        outcome.said.append(outcome.unseen)
    profile = watched(outcome, mpi)
    try:
        if profile is not None:
            profile.write(options.output)
    except writing.NotWritten as error:
        # The exit code is the program's, which has run.
        outcome.said.append(error.message)
        profile = None
    if trace is not None and profile is None and options.output.exists():
        outcome.said.append(f"{options.output} is of an earlier run: {trace.folder} is not its trace")
    output = None if profile is None else str(options.output)
    return ProfiledRun(outcome.code, outcome.said, output, profile, trace)

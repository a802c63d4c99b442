"""The study of a program: it is recorded, measured for, replayed, tuned and verified, and its page is written."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from hockney import reading, writing
from hockney.api.measuring import MeasureRequest, measure
from hockney.api.profiled import profile_program
from hockney.api.tuning import of_measurements
from hockney.batch.options import Submission
from hockney.campaign.options import MeasureOptions
from hockney.campaign.prepare import default_ranks
from hockney.errors import Incomplete, RequestError
from hockney.fields import flags_written
from hockney.machine.build import fitted
from hockney.machine.file import save
from hockney.machine.locality import read
from hockney.options.profile import ProfileOptions
from hockney.options.study import PROGRAM, StudyOptions
from hockney.options.tune import ChosenBy
from hockney.predict.options import ProfileCase
from hockney.predict.replay.answer import answered, replay_cases
from hockney.predict.replay.gains import gains
from hockney.predict.replay.picture import drawn
from hockney.records.keys import COLLECTIVES, LATE, REDUCTION, WRITTEN
from hockney.records.merge import merge
from hockney.records.preload_table import load as load_rules
from hockney.records.profile import Profile, load
from hockney.report.findings import Finding, weightiest
from hockney.report.make import write_html
from hockney.report.page import Section
from hockney.report.replayed import page
from hockney.report.tables import Table
from hockney.runner.applied import variables
from hockney.runner.launch_line import UserLaunch, understand
from hockney.runner.launchers.base import AS_ROOT
from hockney.runner.preload import with_layer
from hockney.terminal import say
from hockney.tune.read_rules import read_rules
from hockney.units import format_time, percent

COMMAND = "command"
PROFILE, CAMPAIGN, MACHINE, RULES = "profile.json", "campaign", "machine.json", "rules.json"
VERIFIED, PAGE, FINDINGS = "verified.json", "report.html", "findings.json"
HEEDED = ("name", "words", "output", "quick", "resume", "dry_run")
MOST_SIZES = 6
"""Sizes of its collectives that are measured."""
MEASURE_S, QUICK_S, MESSAGES_SHARE = 300.0, 60.0, 0.25
LAUNCHES, QUICK_LAUNCHES = 6, 4
"""Runs with the rules, and as many without; chance alone parts four and four in 2 of 70 cases."""
PAYS = 0.01
"""Share of the run's time that rules must save by the replay, so that they are tried."""


@dataclass(frozen=True)
class ProgramPlanned:
    """What would be done, a line each."""

    study: str
    command: str
    lines: Sequence[str]


@dataclass(frozen=True)
class VerifiedRuns:
    """Seconds of whole launches, in turns, without rules and with them."""

    without_s: Sequence[float]
    with_s: Sequence[float]

    @property
    def gain(self) -> float:
        """Share of the time that is saved, by medians."""
        return 1 - statistics.median(self.with_s) / statistics.median(self.without_s)

    @property
    def is_told(self) -> bool:
        """Whether no launch with the rules took as long as one without, or the other way round."""
        return max(self.with_s) < min(self.without_s) or max(self.without_s) < min(self.with_s)


@dataclass(frozen=True)
class ProgramStudied:
    """The page of a program: seconds as recorded, as replayed, and with the rules that the replay finds faster.

    `tuned_s` is None where no rules pay by the replay, `verified` where none were tried.
    """

    study: str
    folder: str
    report: str
    measured_s: float
    run_s: float
    tuned_s: float | None
    verified: VerifiedRuns | None
    findings: list[Finding]
    warnings: list[str]


@dataclass(frozen=True)
class _Needs:
    """What a program asks of a machine: collectives, their sizes, and ranks that fit here."""

    operations: list[str]
    sizes_B: list[int]
    ranks: int

    @classmethod
    def of(cls, profile: Profile) -> _Needs:
        by_size: Counter[int] = Counter()
        operations = []
        for call in profile.calls:
            if call.operation in COLLECTIVES and profile.communicators[call.communicator].ranks > 1:
                operations.append(call.operation)
                by_size.update({size.bytes: size.calls for size in call.sizes if size.bytes})
        return cls([*dict.fromkeys(operations)], _spread(sorted(by_size)), min(profile.ranks, default_ranks([])))

    def campaigns(self, launch: UserLaunch, *, quick: bool) -> dict[str, MeasureOptions]:
        """Options of the campaigns that answer them, by their folders' names."""
        time_s = QUICK_S if quick else MEASURE_S
        shared = {
            "quick": quick,
            "ranks": max(2, self.ranks),
            "mpi": str(launch.mpi.wrapper) if launch.mpi else "auto",
        }
        reduces = any(COLLECTIVES[name].reduces for name in self.operations)
        operations = ["pingpong", "pingping", WRITTEN, LATE, *([REDUCTION] if reduces else [])]
        messages = {"output": Path(), "operations": operations, "time_s": MESSAGES_SHARE * time_s}
        every = {"messages": MeasureOptions.model_validate(shared | messages)}
        if self.operations and self.ranks > 1:
            collectives = {
                "output": Path(),
                "operations": self.operations,
                "algorithms": ["all"],
                "time_s": (1 - MESSAGES_SHARE) * time_s,
            }
            sizes = {"sizes_B": self.sizes_B} if self.sizes_B else {}
            every["collectives"] = MeasureOptions.model_validate(shared | collectives | sizes)
        return every


def _spread(sizes_B: list[int]) -> list[int]:
    """At most `MOST_SIZES`: the ends, and others evenly between."""
    if len(sizes_B) <= MOST_SIZES:
        return sizes_B
    return [sizes_B[round(place * (len(sizes_B) - 1) / (MOST_SIZES - 1))] for place in range(MOST_SIZES)]


def study_program(
    options: StudyOptions, others: Sequence[BaseModel], *, quiet: bool
) -> ProgramStudied | ProgramPlanned:
    """Each step that its folder does not have yet, and the page.

    RequestError for what is no launch line, for options of `others` and those that mean nothing here, and for a
    folder that is there; Incomplete where the program fails.
    """
    written = [each for model in (options, *others) for each in flags_written(model).items()]
    if unfit := [flag for name, flag in written if name not in HEEDED]:
        raise RequestError(f"the study {PROGRAM} does not take {', '.join(unfit)}", "leave them out")
    launch = understand(options.words)
    folder = options.output or Path(PROGRAM)
    if options.dry_run:
        return _planned(options, folder)
    if folder.exists() and not options.resume:
        raise RequestError(f"{folder} is there", "go on with --resume, or choose another folder with -o")
    writing.make_folder(folder)
    tell: Callable[[str], object] = (lambda _: None) if quiet else say.line
    profile = _recorded(options.words, folder / PROFILE, tell, quiet=quiet)
    needs = _Needs.of(profile)
    warnings = _measured(needs, launch, folder, profile, quick=options.quick, quiet=quiet)
    tell("replaying the run")
    case = ProfileCase(file=folder / PROFILE, machine=[folder / MACHINE])
    replayed, _ = next(replay_cases(case, read_rules))
    answer = answered(replayed)
    tuned_s = _tuned(needs, folder, case)
    verified = None
    if tuned_s is not None and tuned_s < (1 - PAYS) * answer.run_s:
        launches = QUICK_LAUNCHES if options.quick else LAUNCHES
        verified = _verified(launch, folder, launches, tell)
    answer = replace(answer, warnings=[*answer.warnings, *warnings])
    report = page(answer, gains(replayed), *drawn(replayed, answer.run_s))
    if tuned_s is not None:
        section, finding = _rules(answer.run_s, tuned_s, verified, folder)
        report.content.sections.insert(1, section)
        report.findings = weightiest([finding, *report.findings])
    report = replace(report, title=f"{' '.join(options.words)}, studied")
    write_html(report, folder / PAGE)
    found = [asdict(each) for each in report.findings]
    writing.replace(folder / FINDINGS, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    return ProgramStudied(
        study=PROGRAM,
        folder=str(folder),
        report=str(folder / PAGE),
        measured_s=answer.measured_s,
        run_s=answer.run_s,
        tuned_s=tuned_s,
        verified=verified,
        findings=list(report.findings),
        warnings=report.warnings,
    )


def _planned(options: StudyOptions, folder: Path) -> ProgramPlanned:
    time_s, launches = (QUICK_S, QUICK_LAUNCHES) if options.quick else (MEASURE_S, LAUNCHES)
    command = " ".join(options.words)
    return ProgramPlanned(
        PROGRAM,
        command,
        [
            f"records {command} → {folder / PROFILE}",
            f"measures ping-pongs and its collectives for about {format_time(time_s)} → {folder / CAMPAIGN}",
            f"replays it, and chooses faster algorithms → {folder / RULES}",
            f"where they pay, runs it {launches} times with them and {launches} times without",
            f"writes {folder / PAGE}",
        ],
    )


def _recorded(words: list[str], path: Path, tell: Callable[[str], object], *, quiet: bool) -> Profile:
    """RequestError where the folder has the run of another program."""
    command = path.with_name(COMMAND)
    if path.is_file() and command.is_file() and (before := reading.text(command).splitlines()) != words:
        raise RequestError(f"{path.parent} is of `{' '.join(before)}`", "choose another folder with -o")
    if not path.is_file():
        writing.replace(command, "\n".join(words) + "\n")
        tell(f"recording {' '.join(words)}")
        done = profile_program(ProfileOptions(command=words, output=path), quiet=quiet)
        if done.exit_code or done.profile is None or done.trace is None:
            # Going on records it anew.
            path.unlink(missing_ok=True)
            if done.exit_code:
                raise Incomplete(f"the program ended with exit code {done.exit_code}", "see what it said above")
            why = done.warnings[0] if done.warnings else "nothing was recorded"
            raise Incomplete(why, "`hockney profile` says more")
    return load(path)


def _measured(
    needs: _Needs, launch: UserLaunch, folder: Path, profile: Profile, *, quick: bool, quiet: bool
) -> list[str]:
    """The machine file; what the measurement leaves open, in words."""
    if not (folder / MACHINE).is_file():
        measured = []
        for name, options in needs.campaigns(launch, quick=quick).items():
            measured.append(folder / name)
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
            own = options.model_copy(update={"output": folder / name})
            measure(MeasureRequest(own, Submission(), {}, None), lambda: None, quiet=quiet)
        if (folder / CAMPAIGN).is_dir():
            shutil.rmtree(folder / CAMPAIGN)
        merge(measured, folder / CAMPAIGN)
        save(fitted(read(folder / CAMPAIGN), lambda _: None, {}), folder / MACHINE)
    if needs.ranks < profile.ranks:
        return [
            f"collectives were measured on {needs.ranks} of {profile.ranks} ranks: there are no more cores here"
        ]
    return []


def _tuned(needs: _Needs, folder: Path, case: ProfileCase) -> float | None:
    """Seconds of the run with the rules that measurements give; None where they give none."""
    if not needs.operations:
        return None
    try:
        asked = ChosenBy(source=folder / CAMPAIGN, target="hockney", operations=needs.operations)
        tuning = of_measurements(asked, to_be_verified=True)
    except RequestError:
        return None
    if not tuning.tuned.rules:
        return None
    tuning.write(folder / RULES)
    replayed, _ = next(replay_cases(case.model_copy(update={"rules": [folder / RULES]}), read_rules))
    return replayed.run_s()


def _verified(launch: UserLaunch, folder: Path, launches: int, tell: Callable[[str], object]) -> VerifiedRuns:
    """Launches in turns, so that what changes meanwhile is in both."""
    path = folder / VERIFIED
    if path.is_file():
        return TypeAdapter(VerifiedRuns).validate_python(reading.parsed(reading.text(path), str(path), ""))
    with_rules = with_layer(launch, variables(load_rules(folder / RULES)))
    kinds = (list(launch.words), dict(os.environ)), with_rules
    times_s: tuple[list[float], list[float]] = [], []
    tell(f"running it {launches} times with the rules and {launches} times without")
    for turn in range(2 * launches):
        words, environment = kinds[turn % 2]
        allowed = AS_ROOT if os.geteuid() == 0 else {}
        begun_s = time.perf_counter()
        done = subprocess.run(words, env={**allowed, **environment}, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise Incomplete(f"a run to verify the rules ended with exit code {done.returncode}", "")
        times_s[turn % 2].append(time.perf_counter() - begun_s)
    verified = VerifiedRuns(*times_s)
    writing.replace(path, json.dumps(asdict(verified)) + "\n")
    return verified


def _rules(run_s: float, tuned_s: float, verified: VerifiedRuns | None, folder: Path) -> tuple[Section, Finding]:
    saved = percent(max(0.0, 1 - tuned_s / run_s))
    predicted = f"By the replay the rules save {saved} of the run."
    section = Section(
        "rules", "Rules", f"{predicted} `hockney apply --rules {folder / RULES}` runs it with them."
    )
    if verified is None:
        return section, Finding(f"No rules pay: they save {saved} by the replay.", "rules", 0.85)
    rows = [
        [name, str(len(times_s)), *_of_times(times_s)]
        for name, times_s in (("without", verified.without_s), ("with the rules", verified.with_s))
    ]
    section.tables = [Table("Whole launches, in turns", ["launches", "number", "median", "from", "to"], rows)]
    if not verified.is_told:
        text = f"Whether the rules pay is within what runs differ ({percent(verified.gain)} by medians)."
        return section, Finding(text, "rules", 0.98, verdict="look")
    verb = "saves" if verified.gain > 0 else "loses"
    text = f"Running it with the rules {verb} {percent(abs(verified.gain))} of the launch's time, as measured."
    return section, Finding(text, "rules", 0.98, verdict="good" if verified.gain > 0 else "bad")


def _of_times(times_s: Sequence[float]) -> list[str]:
    return [format_time(time_s) for time_s in (statistics.median(times_s), min(times_s), max(times_s))]

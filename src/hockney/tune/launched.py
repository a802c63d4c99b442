"""Launches with the rules and without them in turn, before the file is written: `hockney tune --verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hockney import reading, writing
from hockney.campaign.events import Watching
from hockney.campaign.further import measure_into
from hockney.campaign.launch import utc_now
from hockney.campaign.plan import Plan
from hockney.campaign.trust import doubt
from hockney.errors import Incomplete, NegativeAnswer, RequestError
from hockney.records import verification as stored
from hockney.records.contents import contents_of
from hockney.records.folder import JOURNALS, Campaign
from hockney.records.verification import Verification
from hockney.runner.variants import DEFAULT
from hockney.tune.cells import CallTimes
from hockney.tune.loading import expect_own_choice
from hockney.tune.rules import Rule, in_order
from hockney.tune.source import MeasuredSource
from hockney.tune.trial import (
    BEST,
    LEAST_LAUNCHES,
    PROBE,
    TUNED,
    Trial,
    base_variant,
    best_rules,
    probes,
    trial,
)
from hockney.tune.tuned import TargetRules
from hockney.tune.verify import TrialTimes, gains_of, judged, kept, missing, proof, seen_of
from hockney.units import counted, format_time, listed

START_S = 3.0
"""What a launch takes beside its points, for the estimate."""


@dataclass(frozen=True)
class Verifying:
    """Where the launches are kept, how many of each variant there are, and whether the source is trusted.

    `watching` draws the launches, `tell` and `warn` say what is done. `library`: the one that must be launched.
    """

    folder: Path
    launches: int
    trust: bool
    watching: Watching
    tell: Callable[[str], None]
    warn: Callable[[str], None]
    library: str = ""


def verify(done: TargetRules, source: MeasuredSource, asked: Verifying) -> tuple[TargetRules, Verification]:
    """The rules that stand, and what the launches showed; it is in the folder by then, too.

    NegativeAnswer where the library rejects the rules, or ignores all of them.
    """
    plan, asked = _plan(source, asked), replace(asked, library=done.library.name)
    base = base_variant(plan, source.variant)
    cells = [decision.cell for decision in done.choice.decisions]
    operations = dict.fromkeys(cell.operation for cell in cells)
    expect_own_choice(operations, source.defaults, done.library.name, source.variant)
    probe_of = probes(cells, done.rules, done.target, done.library)

    def timed(
        cells: Sequence[CallTimes], variations: Mapping[str, Sequence[Rule]], folder: Path, launches: int
    ) -> TrialTimes:
        tried = trial(plan, base, cells, variations, done.target, done.library, folder, launches)
        return _timed(tried, cells, [DEFAULT, *variations], replace(asked, folder=folder))

    seen = {}
    if probe_of:
        rules = in_order(probe.rule for probe in probe_of.values())
        of_probes = [probe.cell for probe in probe_of.values()]
        times = timed(of_probes, {PROBE: rules}, asked.folder / "probe", LEAST_LAUNCHES)
        seen = {operation: seen_of(times, probe) for operation, probe in probe_of.items()}
    variations: dict[str, Sequence[Rule]] = {TUNED: done.rules}
    best = best_rules(cells, done.target, done.library)
    best_name = "" if done.target.whole else TUNED
    if not done.target.whole and best != in_order(done.rules):
        best_name = BEST
        variations[BEST] = best
    times = timed(cells, variations, asked.folder, asked.launches)
    ruled = list(dict.fromkeys(rule.operation for rule in done.rules))
    whole = done.target.whole or _takes_over(done)
    proofs = [
        proof(
            *(
                probe_of.get(name),
                name,
                seen.get(name),
                gains_of(times, cells, done.rules, name),
            ),
            is_switched=_takes_over(done),
        )
        for name in ruled
    ]
    void = [one.operation for one in proofs if one.effect == "none"]
    found = judged(times, cells, done.rules, void, best_name, whole=whole, complete=done.target.complete)
    rules = kept(done.rules, cells, found, whole=whole)
    verification = Verification(
        time=times.last or utc_now(),
        target=done.target.title,
        library=done.library.name,
        launches=times.launches,
        proofs=proofs,
        cells=found,
    )
    stored.write(asked.folder, verification)
    if len(void) == len(ruled):
        raise NegativeAnswer(
            f"{done.library.name} ignores the rules for {listed(void)}: {proofs[0].why}",
            done.target.caution or f"what was timed is in {asked.folder}; no file was written",
        )
    is_tried = bool(verification.ruled("proven")) and not verification.ruled("not proven")
    return replace(done, rules=rules, is_tried=is_tried, verified=_header(verification)), verification


def _takes_over(done: TargetRules) -> bool:
    """Whether a rule changes calls without one, too: MPICH takes the operation from its device for it."""
    some, none = (done.target.settings(Path("rules"), rules) for rules in (done.rules, []))
    return not done.target.is_preloaded and some != none


def _plan(source: MeasuredSource, asked: Verifying) -> Plan:
    """How the campaign launched; RequestError where nobody says, or that is somebody else's."""
    plan = source.plan()
    if not asked.trust and (reason := doubt(source.path, plan, "--verify")):
        raise RequestError(reason, "look at its plan.json; --trust runs it all the same")
    return plan.model_copy(
        update={
            "mpi": source.mpi or plan.mpi,
            "map_by": source.mapping or plan.map_by,
            "mappings": [],
            "caches": [source.cache] if source.cache else plan.caches,
        }
    )


def _timed(tried: Trial, cells: Sequence[CallTimes], names: Sequence[str], asked: Verifying) -> TrialTimes:
    """The times of a trial, which is measured as far as it is not there yet."""
    folder, launches = asked.folder, tried.plan.launches
    begun = any((folder / name).exists() for name in JOURNALS)
    for path, text in tried.texts.items():
        writing.make_folder(path.parent)
        if begun and (not reading.is_file(path) or reading.text(path, within=folder) != text):
            raise RequestError(
                f"{folder} holds a verification of other rules",
                "write to another --output, or remove the folder; nothing in it was changed",
            )
        writing.replace(path, text)
    if not (begun and not missing(_there(tried, asked), cells, names, launches)):
        least_s = launches * len(names) * (START_S + len(cells) * tried.plan.budget_s)
        asked.tell(
            f"timing {len(cells)} cells in {launches} launches each of {', '.join(names)} in turn, "
            f"in about {format_time(least_s)} → {folder}"
        )
        measure_into(tried.plan, folder, "the verification", asked.watching, goes_on=True, mpi=asked.library)
    campaign, times = Campaign.open(folder), _there(tried, asked)
    for name in names:
        if name not in times.variants:
            _tell_none(campaign, name, asked.warn)
    return times


def _there(tried: Trial, asked: Verifying) -> TrialTimes:
    """The times in the folder; RequestError where they are of another trial or another library."""
    campaign = Campaign.open(asked.folder)
    plan, wanted = Plan.stored(campaign.plan(), asked.folder), tried.plan
    if unlike := [name for name in Plan.model_fields if getattr(plan, name) != getattr(wanted, name)]:
        raise RequestError(
            f"the verification in {asked.folder} was launched otherwise ({', '.join(unlike)})",
            "write to another --output, or remove the folder; nothing in it was changed",
        )
    times = TrialTimes(contents_of(campaign))
    if others := sorted(times.libraries - {asked.library}):
        raise RequestError(
            f"{asked.folder} holds times of {listed(others)}, not of {asked.library}",
            "write to another --output, or remove the folder",
        )
    return times


def _tell_none(campaign: Campaign, name: str, warn: Callable[[str], None]) -> None:
    """Say why a variant has no time; an error where nothing can be said without it."""
    of_variant = [line for line in campaign.failures() if line.variant == name]
    reasons = [why for line in of_variant if (why := line.reason or line.left_out)]
    why = reasons[-1] if reasons else "nothing was timed"
    if name == DEFAULT:
        raise Incomplete(f"launches without the rules failed: {why}", "run `hockney doctor --run`")
    if name == TUNED:
        raise NegativeAnswer(
            f"launches with the rules ({name}) failed, those without them did not: {why}",
            f"the rules are in {campaign.path / 'rules'}; no file was written",
        )
    lacks = {BEST: "no regret is known", PROBE: "nothing is proven"}[name]
    warn(f"launches with the rules {name!r} failed: {why}; {lacks} without them")


def _header(verification: Verification) -> str:
    """What the file says of it."""
    gains = [cell.gain for cell in verification.cells if cell.is_kept and cell.gain is not None]
    text = f"verified {verification.time} in {counted(verification.launches, 'launch', plural='launches')} each; "
    if proven := verification.ruled("proven"):
        text += f"in effect: {listed(proven)}; "
    if unproven := verification.ruled("not proven"):
        text += f"not proven: {listed(unproven)}; "
    if not gains:
        return text + "no cell gains"
    return (
        text + f"gains of {counted(len(gains), 'cell')} {min(gains):.2f} to {max(gains):.2f}, "
        f"geometric mean {verification.mean_gain:.2f}"
    )

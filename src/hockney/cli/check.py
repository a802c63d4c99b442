"""`hockney check`: performance guidelines that a library violates, and what became slower than it was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from hockney.check.advised import MANY_LAUNCHES
from hockney.cli._further import measure_into
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.registry import unit_files
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.signals import interruptible
from hockney.words import names

with later():
    from hockney import writing
    from hockney.campaign.plan import Plan
    from hockney.campaign.trust import doubt
    from hockney.check.against import Changes, against, source
    from hockney.check.cells import times_of
    from hockney.check.claims import ClaimFinding, claims_text, judge_claims, parse_claim
    from hockney.check.confirm import Confirmation, confirm, plan_of
    from hockney.check.junit import as_junit
    from hockney.check.shown import changes_text, study_text
    from hockney.check.study import Study, study
    from hockney.machine.file import Machine
    from hockney.records.contents import Contents, read
    from hockney.records.folder import Campaign


def _share(text: str) -> float:
    """`2%` or `0.02`."""
    word = text.strip()
    try:
        return float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError as error:
        raise RequestError(f"{text!r} is no share", "for example 2%") from error


class CheckOptions(BaseModel):
    """What is checked, how sure an alarm must be, and where it is written."""

    empty_means_default: ClassVar[bool] = True

    campaign: Annotated[
        Path, Argument("Campaign folder, tidy table (.csv, .csv.gz, .parquet), or, with --against, machine file.")
    ]
    guidelines: Annotated[
        list[str],
        Option(
            "Only these guidelines, comma-separated; default all.",
            read=names,
            known=lambda: unit_files("hockney.check.guidelines"),
        ),
    ] = Field(default_factory=list)
    against: Annotated[
        Path | None,
        Option("Say as well what became slower than in this older campaign, table or machine file."),
    ] = None
    confirm: Annotated[
        Path | None,
        Option(
            "Measure violations again, in fresh launches, into this folder, and say which stand; a campaign that "
            "is there already is judged as it is."
        ),
    ] = None
    claims: Annotated[
        list[str],
        Option(
            "Judge how times grow: 'bcast: S + log P' says Θ(S + log P), from S bytes and P ranks; repeat for "
            "several. Guidelines are then checked only where --guidelines names some.",
            flags=("--claim",),
            repeat=True,
        ),
    ] = Field(default_factory=list)
    family_error: Annotated[
        float,
        Option("Most probability of any false alarm.", read=_share, show="{:.0%}".format),
        Field(gt=0, le=0.5),
    ] = 0.05
    least_factor: Annotated[
        float, Option("A factor up to this one is no violation, and not slower."), Field(ge=1, le=100)
    ] = 1.05
    junit: Annotated[Path | None, Option("Write the result as JUnit XML, too.")] = None
    trust: Annotated[bool, Option("With --confirm.", flags=("--trust",))] = False


@verb(
    "check",
    examples=f"""
hockney measure --operation collectives --algorithm ours,default --launches {MANY_LAUNCHES} -o c
hockney check c
hockney check c --family-error 2% --guidelines split_in_parts,bcast_as_scatter_and_allgather
hockney check c --confirm c-again
hockney check c --claim 'bcast: S + log P' --claim 'allgather ring: S P + P'
hockney check new --against old --junit check.xml
hockney check after.json --against before.json --json
""",
)
@interruptible()
def check(options: CheckOptions, as_json: JsonOption = False) -> None:
    """Check a library against performance guidelines: no call should take longer than others that do the same.

    A broadcast that takes longer than a scatter and an allgather, a size that takes longer than a larger one, a
    default that takes longer than one of our schedules: each violation is a defect of a library's choices, and
    names what mends it. Calls are compared launch by launch, so that five launches are needed, and more of them
    find smaller factors: the result says how small, and from how many launches on each comparison finds a factor
    of 1.3 with a probability of 95 %.

    Where no guideline is violated, the probability that any is reported is at most --family-error, however many
    are compared (Holm's correction); what launches are too few for, or differ too much for, cannot be told, and
    is no alarm. The same holds, for itself, for what --against finds slower.

    A claim of growth, --claim, is judged by itself: constants are fitted to the times on few ranks, and times on
    many that are beyond what these and the claim allow, by more than chance, violate it from there on.

    Exit code 1: something is violated or slower. With --confirm what a second campaign does not show again does
    not count.
    """
    if options.trust and options.confirm is None:
        raise RequestError("--trust means nothing without --confirm", "leave it out")
    if options.junit is not None:
        writing.expect_writable(options.junit)
    claims = list(dict.fromkeys(parse_claim(text) for text in options.claims))
    now = source(options.campaign)
    result, confirmation = None, None
    claimed: list[ClaimFinding] = []
    sure: Any = {"family_error": options.family_error, "least_factor": options.least_factor}
    if isinstance(now, Machine):
        _refuse_guidelines(options)
    else:
        for warning in now.warnings:
            say.warn(warning)
        times = times_of(now)
        claimed = judge_claims(times, claims, **sure)
        if not claims or options.guidelines:
            result = study(times, options.guidelines, expected=options.against is None, **sure)
    if result is not None and options.confirm is not None and result.violations:
        again = _second(result, options, options.confirm, quiet=as_json)
        confirmation = confirm(result.violations, times_of(again), options.family_error)
    changes = None
    if options.against is not None:
        older = source(options.against)
        changes = against(now, older, **sure)
    if options.junit is not None:
        writing.replace(options.junit, as_junit(result, changes, confirmation, claimed))
    if as_json:
        claims_data = {"claims": [finding.as_json() for finding in claimed]} if claims else {}
        say.json(_as_data(options, result, changes, confirmation) | claims_data)
    else:
        _show(result, changes, confirmation)
        for line in claims_text(claimed):
            say.line(line)
    if _is_wrong(result, changes, confirmation) or any(finding.verdict == "violated" for finding in claimed):
        answer_no()


def _refuse_guidelines(options: CheckOptions) -> None:
    """RequestError where a campaign is needed: a machine file holds models, and no launch of a collective."""
    if options.against is None or options.guidelines or options.claims or options.confirm is not None:
        raise RequestError(
            f"{options.campaign} is a machine file: it holds no collective launch by launch, as guidelines need",
            "give the campaign that it was fitted to; a machine file can be compared: --against OLDER.json",
        )


def _second(result: Study, options: CheckOptions, folder: Path, *, quiet: bool) -> Contents:
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
    asked = plan_of(plan, result.violations, result.launches)
    for failure in measure_into(asked, folder, "the second campaign", quiet=quiet).failures:
        say.warn(failure)
    return read(folder)


def _as_data(
    options: CheckOptions, result: Study | None, changes: Changes | None, confirmation: Confirmation | None
) -> dict[str, Any]:
    data: dict[str, Any] = {
        "checked": str(options.campaign),
        "family_error": options.family_error,
        "least_factor": options.least_factor,
        "correction": "Holm",
    }
    if result is not None:
        violations = [
            finding.as_json() | ({"again": _again(confirmation, finding)} if confirmation else {})
            for finding in result.violations
        ]
        data |= {
            "launches": result.launches,
            "compared": len(result.findings),
            "violated": len(violations),
            "kept": len(result.of("kept")),
            "cannot_be_told": len(result.of("cannot be told")),
            "points_of_another_level": result.left_out,
            "operations_of_other_statistics": list(result.of_other_statistics),
            "power": None if result.power is None else result.power.as_json(),
            "guidelines": {name: dict(counts) for name, counts in result.counts.items()},
            "violations": violations,
        }
    if changes is not None:
        data["against"] = {
            "older": str(options.against),
            "compared": len(changes.changes),
            "slower": [change.as_json() for change in changes.of("slower")],
            "not_slower": len(changes.of("not slower")),
            "cannot_be_told": len(changes.of("cannot be told")),
            "missing": changes.missing,
        }
    return data


def _again(confirmation: Confirmation, finding: Any) -> dict[str, Any]:
    found = confirmation.again.get(finding.identity)
    said = {"verdict": confirmation.verdict(finding), "why": confirmation.why(finding)}
    return (
        said
        if found is None
        else said
        | {
            "factor": found.factor,
            "factor_low": found.low,
            "factor_high": found.high,
            "p_corrected": found.p_corrected,
            "launches": found.launches,
        }
    )


def _show(result: Study | None, changes: Changes | None, confirmation: Confirmation | None) -> None:
    if result is not None:
        shown, said = study_text(result, confirmation)
        if shown is not None:
            say.table(shown)
        say.line(said)
        if result.findings and not result.of("violated") and not result.of("kept"):
            say.warn("Nothing can be told of these times: see docs/reference/check.md for what it takes.")
    if changes is not None:
        shown, said = changes_text(changes)
        if shown is not None:
            say.table(shown)
        say.line(said)


def _is_wrong(result: Study | None, changes: Changes | None, confirmation: Confirmation | None) -> bool:
    standing = [] if result is None else result.violations
    if confirmation is not None:
        standing = [one for one in standing if confirmation.verdict(one) != "not confirmed"]
    return bool(standing) or (changes is not None and bool(changes.of("slower")))

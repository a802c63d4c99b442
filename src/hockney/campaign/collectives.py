"""Collectives in a campaign: which algorithms and rank counts, the request, and the records of one point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hockney.campaign.plan import Launching, Plan
from hockney.errors import RequestError
from hockney.records.answers import Candidate, CollectiveMeasurement, RankPlace
from hockney.records.keys import COLLECTIVES, CollectiveKey
from hockney.records.record import Record, Selection
from hockney.registry import did_you_mean
from hockney.runner.library import RULES, rules_first
from hockney.schedule import written
from hockney.schedule.catalogue import by_name_alone
from hockney.schedule.proof import mistake

KINDS = {"default": ("default",), "ours": ("schedule",), "library": ("library", "default")}
"""What the words of --algorithm stand for; `all` is everything."""


def launched_alone(operation: str, algorithm: str) -> Candidate:
    """An algorithm of the library that is selected at launch."""
    return Candidate(operation=operation, algorithm=algorithm, kind="library", segmented=False, radix=0)


def choose(known: Sequence[Candidate], plan: Plan, elsewhere: Iterable[str] = ()) -> list[Candidate]:
    """The candidates the plan asks for, in its order of operations.

    `elsewhere`: names that other launches of the campaign measure. RequestError for a name that none of the
    operations knows, with the known ones and the nearest.
    """
    operations = [name for name in plan.operations if name in COLLECTIVES]
    offered = [candidate for candidate in known if candidate.operation in operations]
    names = sorted({candidate.algorithm for candidate in offered} | set(elsewhere))
    choices = [
        candidate for candidate in offered if (candidate.operation, candidate.algorithm) not in by_name_alone()
    ]
    selected: set[str] = set()
    for word in plan.algorithms if operations else ():
        if word == "all":
            selected |= {candidate.algorithm for candidate in choices}
        elif word in KINDS:
            selected |= {candidate.algorithm for candidate in choices if candidate.kind in KINDS[word]}
        elif word in names:
            selected.add(word)
        else:
            raise RequestError(
                f"unknown algorithm {word!r} of {', '.join(operations)}",
                f"{did_you_mean(word, names)}known: default, all, library, ours, "
                f"{', '.join(n for n in names if n != 'default')}",
            )
    offered.sort(key=lambda candidate: operations.index(candidate.operation))
    return [candidate for candidate in offered if candidate.algorithm in selected]


def programs(plan: Launching) -> list[tuple[str, str, list[int]]]:
    """The schedules of files that a plan measures, for the runner: operation, name and program of each."""
    if not isinstance(plan, Plan):
        return []
    return [
        (operation, name, written.compiled(text, name))
        for name, text in (plan.schedules or {}).items()
        for operation in plan.operations
        if operation in COLLECTIVES
    ]


def expect_proved(plan: Plan) -> None:
    """RequestError where a schedule of a file is wrong on a number of ranks that the plan has: it could hang."""
    for name, text in (plan.schedules or {}).items():
        for operation in (name for name in plan.operations if name in COLLECTIVES):
            if wrong := mistake(written.define(operation, name, text), tuple(rank_counts(plan))):
                verify = f"`hockney schedule verify {operation} --algorithm {name}` tries more numbers of ranks"
                raise RequestError(wrong, verify)


def of_subsets(plan: Plan, default: str) -> Plan:
    """What a plan asks on subsets: `default` where it names no collective, 0 ranks where it names no number."""
    named = [name for name in plan.operations if name in COLLECTIVES]
    return plan.model_copy(update={"operations": named or [default], "rank_counts": plan.rank_counts or [0]})


def expect_heeded(chosen: Iterable[Candidate], mpi: str, settings: Mapping[str, str]) -> None:
    """RequestError where the library would run what a file of rules says under the name of a chosen algorithm."""
    file = rules_first(mpi, settings)
    if file and (
        names := {candidate.algorithm for candidate in chosen if candidate.algorithm.startswith("tuned:")}
    ):
        raise RequestError(
            f"{mpi} goes by the rules of {file} before it heeds {min(names)}",
            f"with {RULES} empty it runs what is asked for; or leave the algorithms of tuned out",
        )


def ignored(chosen: Iterable[Candidate], plan: Plan) -> list[str]:
    """A message for each algorithm requested by name that takes no segments or radix, though they are given."""
    texts = []
    for candidate in chosen:
        if candidate.algorithm not in plan.algorithms or candidate.kind == "default":
            continue
        where = f"{candidate.operation} {candidate.algorithm}"
        if all(plan.segments_B) and not candidate.segmented:
            texts.append(f"{where}: takes no segment size; measured without segments")
        if all(plan.radices) and not candidate.radix:
            texts.append(f"{where}: takes no radix; measured without one")
    return texts


def rank_counts(plan: Plan) -> list[int]:
    """The rank counts of the first pass: those of the plan, or 2, 3, 4, 6, 8, 12, … up to all."""
    if plan.rank_counts:
        return plan.rank_counts
    counts, power = {plan.ranks}, 2
    while power <= plan.ranks:
        counts |= {power, power + power // 2}
        power *= 2
    least = 2 if plan.root is None else max(2, plan.root + 1)
    return sorted(n for n in counts if least <= n <= plan.ranks)


def keys(chosen: Iterable[Candidate], plan: Plan) -> list[CollectiveKey]:
    """The series of these algorithms; segments and radices only where the algorithm takes them."""
    series = []
    for candidate in chosen:
        segments = plan.segments_B if candidate.segmented else [0]
        radices = plan.radices if candidate.radix else [0]
        root = plan.root if COLLECTIVES[candidate.operation].rooted else None
        series += [
            CollectiveKey(
                candidate.operation, candidate.algorithm, ranks, segment, radix, root, cache, plan.start
            )
            for ranks in rank_counts(plan)
            for segment in segments or [0]
            for radix in radices or [0]
            for cache in plan.caches
        ]
    return list(dict.fromkeys(series))


def request(key: CollectiveKey, size_B: int, algorithm: str) -> dict[str, str | int]:
    """The words of the runner's request (cpp/runner/main.cpp). `algorithm`: its name in this launch."""
    return {
        "operation": key.operation,
        "algorithm": algorithm,
        "ranks": key.ranks,
        "root": key.root or 0,
        "rotate": int(key.root is None and COLLECTIVES[key.operation].rooted),
        "bytes": size_B,
        "segment_B": key.segment_B,
        "radix": key.radix,
        "cache": key.cache,
        "start": key.start,
    }


def selection(key: CollectiveKey, name: str, kind: str, answer: CollectiveMeasurement) -> tuple[Selection, str]:
    """Whether a library's algorithm is known to be the one that ran, and why; ("", "") for others.

    `name`: what the runner was asked for, `kind`: the candidate's. Patterns of messages, which would tell, are
    counted only in launches that are too slow to be timed: see docs/reference/library-algorithms.md.
    """
    if answer.proved:
        return "proved", "its first call maps shared memory"
    if name != key.algorithm:
        return "unproved", "asked for at launch; the library does not answer"
    if kind == "library":
        return "unproved", "its variables hold the values written; the library does not say what it ran"
    return "", ""


def records(
    key: CollectiveKey, answer: CollectiveMeasurement, places: Sequence[RankPlace], about: Record
) -> list[Record]:
    """One record for each statistic; the samples are the completion's. `about`: the point, its launch.

    `places`: the runner's description of each rank; those that took part count. Where the ranks of the launch
    share cores, few of them do, too: the others sleep, but wake up to look for work.
    """
    per_host = Counter(place.host for place in places[: key.ranks])
    shared = 2 * answer.same_cpu > len(answer.samples_s)
    common = about.model_copy(
        update={
            "nodes": len(per_host),
            "ppn": max(per_host.values()),
            "ranks": key.ranks,
            "oversubscribed": about.oversubscribed or shared,
            "stop": answer.stop,
            "verified": answer.verified,
            "clock_error_s": answer.clock_error_s,
            "late": answer.late,
            "elapsed_s": answer.elapsed_s,
        }
    )
    completion = common.model_copy(
        update={
            "low": max(0.0, answer.low_s),
            "high": answer.high_s,
            "quantiles": answer.quantiles_s,
            "samples": answer.samples_s,
            "sample_roots": answer.sample_roots,
            "core_seconds": key.ranks * answer.elapsed_s,
            "batch": answer.batch,
            "disturbed": answer.disturbed,
            "disturbed_at": answer.disturbed_at,
        }
    ).between(answer)
    others = answer.over_ranks_s.items()
    statistics = [common.model_copy(update={"statistic": name, "value": time_s}) for name, time_s in others]
    # Copies are not checked, and what no reader would take must fail here.
    return [Record.model_validate(record.model_dump()) for record in (completion, *statistics)]

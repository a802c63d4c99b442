"""`hockney schedule`: list, prove, count, draw and export collective algorithms."""

from __future__ import annotations

from operator import attrgetter

import typer

from hockney import api
from hockney.options.schedule import (
    CountOptions,
    DrawOptions,
    ExportOptions,
    ListOptions,
    ScheduleOptions,
    StepsOptions,
    VerifyOptions,
)
from hockney.terminal import JsonOption, answer_no, group, say, verb
from hockney.terminal.say import Column
from hockney.units import counted

schedule = group(
    "schedule",
    examples="hockney schedule list\nhockney schedule draw bcast --algorithm binomial --ranks 16 -o tree.svg",
)


@verb("list", examples="hockney schedule list\nhockney schedule list allreduce --json", of=schedule)
def list_(options: ListOptions, json: JsonOption = False) -> None:
    """All algorithms, with what they take and for how many ranks they are defined."""
    answer = api.schedule_list(options.collective)
    if json:
        say.json(answer)
        return
    say.rows(
        "",
        answer.algorithms,
        [
            Column("collective", "collective"),
            Column("algorithm", "algorithm"),
            Column("segments", lambda row: "yes" if row.segmented else ""),
            Column("radix", lambda row: f"{row.radix} (≥ {row.least_radix})" if row.radix else ""),
            Column("keeps rank order", lambda row: ("yes" if row.ordered else "no") if row.reduces else ""),
            Column("ranks", "ranks"),
            Column("choice", lambda row: "" if row.offered else "by name alone"),
        ],
    )


@verb(
    "show",
    examples="hockney schedule show bcast --algorithm binomial --ranks 6 --bytes 1KiB\n"
    "hockney schedule show allreduce --algorithm ring --ranks 4 --rank 2 --bytes 64 --json",
    of=schedule,
)
def show(options: StepsOptions, json: JsonOption = False) -> None:
    """Every rank's steps with their dependencies."""
    request = options.request()
    _note_rounding(request)
    if json:
        say.json(api.schedule_steps(options, request))
        return
    for line in api.schedule_steps_in_words(options, request):
        say.line(line)


@verb(
    "verify",
    examples="hockney schedule verify\nhockney schedule verify bcast --algorithm circulant --ranks 1-99",
    of=schedule,
)
def verify(options: VerifyOptions, json: JsonOption = False) -> None:
    """Prove by symbolic execution: no deadlock, the right data everywhere, no race, no bound beaten."""
    with say.status("proving …") as status:
        answer, reasons = api.schedule_verify(options, status)
    wrong = [row for row in answer.algorithms if row.complaints]
    if json:
        say.json(answer)
        if wrong:
            answer_no()
        return
    for row, reason in zip(answer.algorithms, reasons, strict=True):
        refused = f", {row.refused} outside its definition ({reason})" if row.refused else ""
        result = row.complaints[0] if row.complaints else f"{row.proved} cases proved{refused}"
        say.line(f"{row.collective} {row.algorithm}: {result}")
    if wrong:
        answer_no(f"wrong: {len(wrong)} of {counted(len(reasons), 'algorithm')}", "the first complaint is above")
    proved = sum(row.proved > 0 for row in answer.algorithms)
    say.line(f"{counted(answer.proved, 'case')} of {counted(proved, 'algorithm')} proved")


@verb(
    "count",
    examples="hockney schedule count bcast --algorithm halving_tree --ranks 14,28 --bytes 16KiB --json\n"
    "hockney schedule count allreduce --algorithm all --ranks 48 --bytes 1MiB\n"
    "hockney schedule count bcast --algorithm default --mpi 'Open MPI 5.0' --ranks 28 --bytes 16KiB",
    of=schedule,
)
def count(options: CountOptions, json: JsonOption = False) -> None:
    """Rounds, messages and bytes, in all and on the critical path (one-ported)."""
    answer, first = api.schedule_counts(options, say.note)
    if first is not None:
        _note_rounding(first)
    if json:
        say.json(answer)
        return
    say.rows(
        "",
        [
            (name, counts, on.ranks)
            for on in (answer.ranks.values() if isinstance(answer, api.CountOnRanks) else [answer])
            for name, counts in (
                [(on.algorithm, on)] if isinstance(on, api.CountOfOne) else on.algorithms.items()
            )
        ],
        [
            Column("algorithm", lambda row: row[0]),
            *([Column("ranks", lambda row: row[2], is_number=True)] if len(options.ranks) > 1 else []),
            *(_number(name, name) for name in ("rounds", "messages", "bytes")),
            # The messages of the critical path are as many as the rounds.
            _number("critical bytes", "critical_path.bytes"),
            _number("degree", "max_degree"),
            _number("round bytes", "round_bytes"),
        ],
    )


@verb(
    "draw",
    examples="hockney schedule draw bcast --algorithm binomial --ranks 16 -o tree.svg\n"
    "hockney schedule draw allreduce --algorithm ring --ranks 8 --bytes 64KiB -o ring.png",
    of=schedule,
)
def draw(problem: ScheduleOptions, options: DrawOptions, json: JsonOption = False) -> None:
    """The tree or the rounds of a schedule; `hockney simulate … --trace FILE.svg` draws it over time."""
    request = problem.request()
    _note_rounding(request)
    answer = api.draw_schedule(request, options)
    if json:
        say.json(answer)
    else:
        say.line(f"wrote {options.output}")


@verb(
    "export",
    examples="hockney schedule export bcast --algorithm binomial --ranks 64 --bytes 8KiB -o b.goal",
    of=schedule,
)
def export(problem: ScheduleOptions, options: ExportOptions, json: JsonOption = False) -> None:
    """Write the schedule as GOAL text, for LogGOPSim and `hockney simulate --goal`."""
    request = problem.request()
    _note_rounding(request)
    if options.output is None and not json:
        for line in api.export_schedule(request, options):
            typer.echo(line)
        return
    answer = api.write_schedule(request, options)
    if json:
        say.json(answer)
    else:
        say.line(f"wrote {options.output}")


def _number(heading: str, count: str) -> Column:
    value = attrgetter(count)
    return Column(heading, lambda row: value(row[1]), "{:,}".format, is_number=True)


def _note_rounding(request: api.ScheduleRequest) -> None:
    """Say on standard error that a picture or count has other sizes than were asked for."""
    if request.is_rounded:
        pieces = f", segments of {request.problem.segment_B} B" if request.problem.segment_B else ""
        say.note(f"rounded to whole elements: {request.problem.bytes} B{pieces}")

"""A conversation with the C++ runner: hello, one request and one answer at a time, an explicit end."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Self

from hockney.errors import EnvironmentLack, HockneyError, RequestError
from hockney.records.answers import (
    Answer,
    AnswerType,
    CallCount,
    Candidate,
    CollectiveMeasurement,
    Defined,
    Hello,
    Kernel,
    Measurement,
    Mistake,
    Refusal,
    SaidType,
    parse,
)
from hockney.records.effect_answers import answer_type
from hockney.runner.process import LaunchEnded, Process
from hockney.units import counted

MARK = "@hockney "
PROTOCOL = 1
GRACE_S = 10.0
"""Time for a regular end: MPI_Finalize and the launcher's own clean-up."""
LOOK_S = 0.02
"""Least time between looks at what a launch that starts has mapped: once it is killed nothing else tells."""
LOOK_SHARE = 0.2
"""Of the time, at most: with thousands of processes a look takes long."""


class LaunchFailed(HockneyError):
    """The runner died, hung or spoke nonsense; the campaign goes on without this launch."""

    kind = "environment"
    exit_code = 3


class NoAnswer(LaunchFailed):
    """The runner hung: it was ended when its time was over."""


class Refused(HockneyError):
    """The runner declined a point and is ready for the next."""

    kind = "environment"
    exit_code = 3


class Limitation(HockneyError):
    """An algorithm refuses a request by its own rules or the library's; this is no failure."""

    kind = "limitation"
    exit_code = 3


def _line(word: str, **request: object) -> str:
    """A request as the runner reads it: a word, and KEY=VALUE."""
    return " ".join([word, *(f"{key}={value}" for key, value in request.items())])


class Session:
    """A launched runner that has said hello. Use as a context manager: leaving it ends the launch for certain.

    `environment` is added to the present one; `time_limit_s` is for the start. `hello` is the runner's
    self-description.
    """

    def __init__(self, argv: list[str], environment: Mapping[str, str], time_limit_s: float) -> None:
        try:
            self._process = Process(argv, {**os.environ, **environment})
        except EnvironmentLack as error:
            raise LaunchFailed(error.message, error.hint) from error
        try:
            hello = self._answer("starting the launch", time_limit_s, Hello, is_starting=True)
            if not isinstance(hello, Hello) or hello.protocol != PROTOCOL:
                raise LaunchFailed(f"the runner did not say hello: {hello}", "delete the cache and try again")
            self.hello = hello
            self._process.note_shared_memory()
        except BaseException:
            self._process.kill()
            raise

    def define(self, operation: str, algorithm: str, program: Sequence[int]) -> None:
        """Hand over a schedule that a user wrote, compiled: it is offered like the runner's own from then on."""
        line = _line("define", operation=operation, algorithm=algorithm, program=",".join(map(str, program)))
        self._ask(line, f"the schedule {algorithm}", GRACE_S, "write a shorter one", Defined)
        added = Candidate(operation=operation, algorithm=algorithm, kind="schedule", segmented=False, radix=0)
        self.hello = self.hello.model_copy(update={"algorithms": [*self.hello.algorithms, added]})

    def measure(self, time_limit_s: float, **request: object) -> Measurement:
        """Measure one point between two ranks; keys as in cpp/runner/main.cpp.

        The limit is for what comes beyond twice its budget. LaunchFailed: the launch is over. Refused: this point
        cannot be measured, the next may. RequestError: the runner does not understand the request.
        """
        return self._ask_point("measure", time_limit_s, Measurement, **request)

    def collective(self, time_limit_s: float, **request: object) -> CollectiveMeasurement:
        """Measure one point of a collective; keys as in cpp/runner/main.cpp, failures as for `measure`.

        Limitation: the algorithm does not do this; the next point may be measured.
        """
        return self._ask_point("collective", time_limit_s, CollectiveMeasurement, **request)

    def count(self, time_limit_s: float, **request: object) -> CallCount:
        """Count what one call of a collective sends; keys as in cpp/runner/main.cpp, failures as above."""
        what = f"counting {request['operation']} {request['algorithm']} of {request['bytes']} B"
        return self._ask(_line("count", **request), what, time_limit_s, "choose smaller sizes", CallCount)

    def app(self, time_limit_s: float, kind: type[AnswerType], **request: object) -> AnswerType:
        """Run an application; keys as in cpp/runner/apps/<operation>.cpp, failures as for `collective`.

        `kind`: of its answer.
        """
        what = f"{request['operation']} on {request['ranks']} ranks"
        return self._ask(_line("app", **request), what, time_limit_s, "choose a smaller problem", kind)

    def effect(self, time_limit_s: float, members: Sequence[int], *, operation: str, **request: object) -> Answer:
        """Measure an effect among `members`; keys as in cpp/runner/effects/<operation>.cpp, failures as above."""
        what = f"{operation} among {counted(len(members), 'rank')}"
        line = _line("effect", operation=operation, **request, members=",".join(map(str, members)))
        return self._ask(line, what, time_limit_s, "choose a smaller --largest", answer_type(operation))

    def _ask_point(self, word: str, time_limit_s: float, kind: type[SaidType], **request: object) -> SaidType:
        what = " ".join(
            str(part)
            for part in (request["operation"], request.get("algorithm", ""), "of", request["bytes"], "B")
        ).replace("  ", " ")
        # The time a point was given is its own; the limit is for what goes wrong beyond it.
        limit_s = 2 * float(str(request["budget_s"])) + time_limit_s
        return self._ask(_line(word, **request), what, limit_s, "choose a smaller --largest", kind)

    def _ask(self, line: str, what: str, limit_s: float, smaller: str, kind: type[SaidType]) -> SaidType:
        self._process.send(line)
        word = line.partition(" ")[0]
        answer = self._answer(what, limit_s, kind)
        if isinstance(answer, Mistake):
            raise RequestError(
                f"the runner refused {what}: {answer.message}",
                f"see `hockney {'run' if word == 'app' else 'measure'} --help`",
            )
        if not isinstance(answer, Refusal):
            return answer
        if answer.reason == "memory":
            need, have = answer.needed_B / 2**30, answer.available_B / 2**30
            raise Refused(
                f"{what} needs {need:.3g} GiB for its buffers, {have:.3g} GiB of memory is free",
                smaller,
            )
        raise Limitation(answer.message, "see `hockney schedule list`" if word in ("collective", "count") else "")

    def _answer(
        self, what: str, limit_s: float, kind: type[SaidType], *, is_starting: bool = False
    ) -> SaidType | Refusal | Mistake:
        deadline = time.monotonic() + limit_s
        try:
            while True:
                line = self._line_of_start(deadline) if is_starting else self._process.lines(deadline)
                # Launchers may put a prefix before a rank's output.
                _, mark, text = line.partition(MARK)
                if mark:
                    return parse(text, kind)
        except TimeoutError:
            self._process.kill()
            raise NoAnswer(
                f"no answer within {limit_s:.3g} s while {what}; the launch was ended",
                "leave out what hangs, or raise --time",
            ) from None
        except ValueError:
            self._process.kill()
            raise LaunchFailed(f"the runner's answer for {what} is damaged", "run again") from None
        except LaunchEnded as ended:
            last = _telling_line(ended.stderr_tail)
            how = "its supervisor was killed"
            if ended.returncode is not None:
                how = f"exit code {ended.returncode}"
            raise LaunchFailed(
                f"the launch ended ({how}) while {what}" + (f": {last}" if last else ""),
                "run `hockney doctor --run` to see whether this MPI works at all",
            ) from None

    def _line_of_start(self, deadline: float) -> str:
        """`Process.lines`, with looks at the shared memory until there is one."""
        pause_s = LOOK_S
        while True:
            soon = min(deadline, time.monotonic() + pause_s)
            try:
                return self._process.lines(soon)
            except TimeoutError:
                if soon == deadline:
                    raise
            began_s = time.monotonic()
            self._process.note_shared_memory()
            pause_s = max(LOOK_S, (time.monotonic() - began_s) / LOOK_SHARE)

    def close(self) -> None:
        """End the conversation by request; by force where that does not help."""
        self._process.send("quit")
        self._process.close(GRACE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._process.kill()


def operations(hello: Hello, names: Sequence[str]) -> dict[str, Kernel]:
    """The named operations between two ranks; RequestError for one the runner lacks."""
    known = {kernel.name: kernel for kernel in hello.operations}
    for name in names:
        if name not in known:
            raise RequestError(f"unknown operation {name!r}", f"known: {', '.join(sorted(known))}")
    return {name: known[name] for name in names}


_TELLING = ("error", "not enough slots", "no components", "fatal", "abort", "killed", "signal")

_HEADING = "*** Process received signal ***"
"""Of Open MPI, above the line that says which."""
_BROKEN_AT = 50
"""Columns from which on a line of text may go on in the next; messages are broken at 65 to 80."""
_SENTENCE_END = re.compile(r"(?<=[.!])\s+(?=[A-Z])")


def _telling_line(stderr: str) -> str:
    """The most informative line of a launcher's messages: the first that names an error, else the last.

    Of text that is broken into lines, the whole sentence.
    """
    lines: list[str] = []
    is_broken = False
    for line in map(str.strip, stderr.splitlines()):
        if not line.strip(" \t-=*|") or _HEADING in line:
            is_broken = False
            continue
        is_text = not line.startswith("[")
        if is_broken and is_text:
            lines[-1] += f" {line}"
        else:
            lines.append(line)
        is_broken = is_text and len(line) >= _BROKEN_AT and line[-1] not in ".:!"
    for line in lines:
        if any(word in line.lower() for word in _TELLING):
            sentences = _SENTENCE_END.split(line)
            return next((part for part in sentences if any(word in part.lower() for word in _TELLING)), line)
    return lines[-1] if lines else ""

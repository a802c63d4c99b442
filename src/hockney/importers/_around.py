"""What a text says around its tables: launch lines, job headers, banners, headings, variables, names of files.

Each table gets the facts that hold where it begins. A launch line holds for the tables that follow it. Of a list
of them (a script that was printed, an echo that overtook the output) the n-th holds for the n-th table if
there are as many, and else only that on which all agree: so, too, of the lines before and after a table, in a
text that begins with a table and ends with a launch line. What is not certain is unknown, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from hockney.importers import _texts
from hockney.importers._launch import COUNTS, MAPPINGS, PROGRAM, UNSAID, LaunchText, launch_of
from hockney.importers._lines import TextLine
from hockney.importers.base import AroundTable, Fact
from hockney.records.keys import COLLECTIVES
from hockney.records.library_algorithms import forces

_SAID, _JOB, _BANNERS = (
    [(name, re.compile(before + pattern, flags)) for name, patterns in kind.items() for pattern in patterns]
    for kind, before, flags in (
        (_texts.SAID, r"(?<![a-z\d.$])", re.IGNORECASE),
        (_texts.JOB, "", 0),
        (_texts.BANNER, "", re.IGNORECASE),
    )
)
_LINE = {name: re.compile(pattern) for name, pattern in _texts.LINE.items()}
_ASSIGNMENTS = re.compile(rf"(?:(?:export|setenv|declare -x) )?(?:{_LINE['assignment'].pattern}(?:[;\s]+|$))+")
_Facts = dict[str, Fact]
_INTEL_RANK = re.compile(r"MPI startup\(\): +(\d+) +\d+ +(\S+)")
_MOST_LETTERS = 2000
_RULED, _MARKED, _COMMENT, _ABOVE = 7, 8, 9, 10
"""Levels below those of a page: text above a rule, `=== text ===`, a comment, which states no facts, and the text
above a table."""
WORDS_ALONE = ("", "line", "buffers")
"""Settings without a name: the headings, the place of a table whose launch line is not certain, `D D`."""


def said_by(text: str, where: str) -> tuple[_Facts, str]:
    """What a heading, a variable or a name says, and what is left of it."""
    facts: _Facts = {}
    for name, pattern in _SAID:
        if match := pattern.search(text):
            value = next(filter(None, match.groups()))
            facts.setdefault(name, Fact(int(value) if name in COUNTS else value, where, match[0]))
            text = text[: match.start()] + " " + text[match.end() :]
    return {name: fact for name, fact in facts.items() if fact.value}, text.strip(" -_.")


def said_by_name(part: str) -> tuple[_Facts, str]:
    """The same of the name of a folder, or of a file without its ending: `core`, `bcast1`, `np12`."""
    folder = re.fullmatch(rf"(?:map|by|[-_])*({'|'.join(MAPPINGS)})|([a-z_]+?)[-_]?(\d{{1,2}})", part)
    if folder and folder[1]:
        return {"mapping": Fact(folder[1], part, part)}, ""
    if folder and folder[2] in COLLECTIVES:
        return {"algorithm": Fact(f"{folder[2]} {folder[3]}", part, part)}, ""
    return said_by(part, part)


def _library(text: str, where: str) -> _Facts:
    """The last library that a line names with its version."""
    banners = [(library, match) for library, pattern in _BANNERS for match in pattern.finditer(text)]
    if not banners or _LINE["fetching"].match(text):
        return {}
    library, match = max(banners, key=lambda banner: banner[1].start())
    version = next(filter(None, match.groups()))
    return {"mpi": Fact(f"{library} {version}", where, match[0])}


def around_tables(path: Path, lines: Sequence[TextLine], title: re.Pattern[str]) -> dict[int, AroundTable]:
    """What is said of each table, by the place of its title line in `lines`."""
    surroundings = _Surroundings(path)
    for place, line in enumerate(lines):
        if title.match(line.text):
            surroundings.title(place, line)
        else:
            surroundings.line(line)
    return surroundings.tables()


@dataclass
class _Stretch:
    """Launch lines, and the tables below them: place, title, what is said, settings, the job's header.

    `at_once`: the launches ran side by side, so that their tables may stand in any order.
    """

    launches: list[LaunchText] = field(default_factory=list)
    titles: list[tuple[int, TextLine, _Facts, _Facts, _Facts]] = field(default_factory=list)
    at_once: bool = False
    _running: int = 0
    _in_background: int = 0

    def begin(self, launch: LaunchText, *, in_background: bool) -> None:
        """A launch, beside those that were not waited for."""
        self.launches.append(launch)
        self.at_once |= self._in_background > 0
        self._running += 1
        self._in_background += in_background

    def wait(self, *, is_traced: bool) -> None:
        """What was launched has ended; a trace shows no `&`."""
        self.at_once |= is_traced and self._running > 1
        self._running = self._in_background = 0


class _Surroundings:
    """What holds at a line of a text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._said: dict[str, tuple[int, Fact]] = {}
        """The facts, each with the level of the heading that says it: 0 of what is none."""
        for part in Path(*path.parts[-3:]).with_suffix("").parts:
            self._said |= {name: (0, fact) for name, fact in said_by_name(part)[0].items()}
        self._job: _Facts = {}
        self._headings: dict[int, Fact] = {}
        self._variables: _Facts = {}
        self._hosts: dict[int, str] = {}
        self._last: tuple[str, str] = ("", "")
        self._begins = self._second = self._is_code = self._is_own = False
        self._parts = [_Stretch()]
        self._is_list = False
        self._half = ""

    def line(self, line: TextLine) -> None:
        """Take what a line says that begins no table."""
        text = (self._half + _LINE["tag"].sub("", line.text)).strip()
        self._half = text[:-1] if text.endswith("\\") else ""
        begins, self._begins = self._begins or line.after_blank, not re.search(r"\w", text)
        self._is_code ^= text.startswith("```")
        if is_row := _LINE["row"].match(text):
            self._is_own = False
        if (rule := _LINE["rule"].fullmatch(text)) and self._last[0] and not begins:
            self._heading(_RULED - (rule[1] is not None), *self._last)
            self._last = ("", "")
        if self._half or is_row or not re.search(r"[^\W\d_]|[#=*-].*\d", text) or len(text) > _MOST_LETTERS:
            return
        where = f"{self.path}:{line.number}"
        if whole := launch_of(text, where, self._variables):
            commands = _LINE["joint"].sub(lambda joint: joint[0] + "\n" * bool(joint[1]), text).split("\n")
            each = (launch_of(command, where, self._variables) for command in commands)
            ends = [end for end, launch in enumerate(each, 1) if launch and launch.program]
            parts = ["".join(commands[start:end]) for start, end in pairwise([0, *ends])]
            for part in parts if len(parts) > 1 else [text]:
                launch = launch_of(part, where, self._variables) or whole
                # Behind the # of a line all of it is a comment.
                certainty = whole.certainty if launch.certainty else 0
                facts = {**_library(part, where), **launch.facts}
                if self._parts[-1].titles or not self._is_list:
                    self._parts.append(_Stretch())
                in_background = re.search("(?<!&)&$", part) is not None
                self._parts[-1].begin(
                    replace(launch, facts=facts, certainty=certainty), in_background=in_background
                )
                self._is_list, self._hosts = True, {}
            return
        is_traced = text[0] == "+"
        text = _LINE["prompt"].sub("", text)
        self._is_list &= _LINE["script"].match(text) is not None
        if text == "wait":
            self._parts[-1].wait(is_traced=is_traced)
        if entry := line.text[:1] in (" ", "\t", "-") and _LINE["entry"].fullmatch(text):
            text = f"{entry[1]}={entry[2]}"
        self._facts(text, where)
        self._is_own |= _LINE["preamble"].match(text) is not None
        is_page = self.path.suffix == ".md" and not self._is_code
        first = "#" if (is_page or not self._is_own) and _LINE["comment"].match(text) else ""
        if entry or _LINE["noise"].match(text):
            return
        if (heading := _LINE["heading"].fullmatch(first + text)) and re.search(r"[^\W_]", heading[2]):
            marks = len(heading[1]) - len(first)
            level = _MARKED if text[0] != "#" else marks if is_page or not first else _COMMENT
            self._heading(level, heading[2], where)
            self._last = self._last if level == _COMMENT else ("", "")
        elif text[0] != "#" and not _LINE["script"].match(text):
            first = self._last[0] if self._second and not begins else ""
            self._last, self._second = (", ".join(filter(None, (first, text))), where), begins
            if _LINE["announced"].fullmatch(text):
                self._said |= {name: (0, fact) for name, fact in said_by(text, where)[0].items()}

    def _facts(self, text: str, where: str) -> None:
        for name, pattern in _JOB:
            if match := pattern.match(text):
                self._job[name] = Fact(int(next(filter(None, match.groups()))), where, match[0])
        self._said |= {name: (0, fact) for name, fact in _library(text, where).items()}
        if match := _INTEL_RANK.search(text):
            self._hosts = self._hosts if match[1] != "0" else {}
            self._hosts[int(match[1])] = match[2]
            ranks, nodes = max(self._hosts) + 1, len({*self._hosts.values()})
            self._said["ranks"] = (0, Fact(ranks, where, f"rank {ranks - 1} of Intel MPI's list"))
            self._said["nodes"] = (0, Fact(nodes if ranks == len(self._hosts) else None, where, match[0]))
        if loop := re.match(r"(?:for|read|unset)\s+(\w+)", text):
            self._variables.pop(loop[1], None)
        if _ASSIGNMENTS.fullmatch(text := _LINE["startup"].sub("", text)):
            for name, value in _LINE["assignment"].findall(text):
                self._variables.pop(name, None)
                if re.search("[$`]", value):
                    continue
                self._variables[name] = Fact(value.strip("\"'"), where, f"{name}={value}")
                if not forces(name)[0] and not name.startswith(("SLURM_", "PBS_")):
                    facts, _ = said_by(f"{name}={value}", where)
                    self._said |= {field: (0, fact) for field, fact in facts.items()}

    def _heading(self, level: int, text: str, where: str) -> None:
        """A heading ends those of its level and below; names of tests alone and numbers of runs say nothing."""
        plain = _LINE["passes"].sub(" ", text)
        is_comment = level == _COMMENT
        facts, left = ({}, _LINE["hosts"].sub(" ", plain)) if is_comment else said_by(plain, where)
        label = PROGRAM.sub(" ", left)
        label = left if _LINE["fillers"].sub("", label) else ""
        if level < _MARKED or label or facts:
            self._headings = {at: fact for at, fact in self._headings.items() if at < level}
            self._said = {name: said for name, said in self._said.items() if said[0] < level}
        if label:
            self._headings[level] = Fact(" ".join(label.split()).rstrip(" :"), where, text)
        self._said |= {name: (level, fact) for name, fact in facts.items()}

    def title(self, place: int, line: TextLine) -> None:
        """Keep what holds for the table that begins."""
        if self._last[0]:
            self._heading(_ABOVE, *self._last)
            self._last = ("", "")
        settings = {
            name: fact
            for name, fact in self._variables.items()
            if forces(name)[0] or not (_LINE["passing"].fullmatch(name) or said_by(fact.words, "")[0])
        }
        if self._headings:
            words = ", ".join(str(fact.value) for fact in self._headings.values())
            settings[""] = Fact(words, max(self._headings.items())[1].where, words)
        self._is_own = True
        said = {name: fact for name, (_, fact) in self._said.items()}
        self._parts[-1].titles.append((place, line, said, settings, {**self._job}))

    def tables(self) -> dict[int, AroundTable]:
        """What is said of each table, by its place."""
        found = {}
        parts = [part for part in self._parts if part.launches or part.titles]
        may_follow = bool(parts) and not parts[0].launches and not parts[-1].titles
        for number, part in enumerate(parts):
            launches, lines = _surest(part.launches), [line for _, line, *_ in part.titles]
            is_in_order = len(launches) == len(lines) and all(map(_fits, launches, lines))
            if may_follow and lines:
                launches = [*(launches or [UNSAID]), *_surest(parts[number + 1].launches)]
            for at, (place, line, said, settings, job) in enumerate(part.titles):
                own = [launch for launch in launches if _fits(launch, line)]
                if is_in_order and not may_follow and not part.at_once:
                    own = [launches[at]]
                if not own and any(before.launches for before in parts[: number + 1]):
                    job = {}
                found[place] = _told(f"{self.path}:{line.number}", said, settings, own, job)
        return found


def _told(where: str, said: _Facts, settings: _Facts, launches: Sequence[LaunchText], job: _Facts) -> AroundTable:
    """What a table is told by the text and by the launch line that may be its own, or by all that may be."""
    own = _agreed([launch.facts for launch in launches])
    settings = settings | _agreed([launch.settings for launch in launches])
    every = [{**launch.facts, **launch.settings} for launch in launches]
    is_open = any(fact.value is None or "$" in str(fact.value) for each in every for fact in each.values())
    if is_open or any(each.keys() - (own.keys() | settings.keys()) for each in every):
        table = f"table of line {where.rpartition(':')[2]}"
        settings["line"] = Fact(table, where, "several launch lines may be this table's own")
    against = tuple(
        f"{name} {fact.value} ({fact.words}, {fact.where}) is taken, "
        f"against {said[name].words} ({said[name].where})"
        for name, fact in own.items()
        if fact.value and name in said and said[name].value not in (None, fact.value)
    )
    ranks, whole = own.get("ranks"), _completed(said).get("ranks")
    if ranks and ranks.value and whole and whole.value != ranks.value:
        # Nodes of other ranks are not these.
        said = {name: fact for name, fact in said.items() if name not in COUNTS}
    facts = said | {name: fact for name, fact in own.items() if fact.value or name not in said}
    total = _completed(job).get("ranks")
    is_of_job = not any(each.keys() & set(COUNTS) for each in every)
    # A job's nodes are those of its runs on all of its ranks, and of runs that no line counts.
    if total and (facts["ranks"].value == total.value if "ranks" in facts else is_of_job):
        facts = {"ranks": total, **job, **facts}
    return AroundTable(_completed(facts), settings, against)


def _surest(launches: Sequence[LaunchText]) -> list[LaunchText]:
    """Those of the most certain kind."""
    most = max((launch.certainty for launch in launches), default=0)
    return [launch for launch in launches if launch.certainty == most]


def _agreed(each: Sequence[Mapping[str, Fact]]) -> _Facts:
    """What all say alike."""
    first, *others = each or [{}]
    return {
        name: fact
        for name, fact in first.items()
        if all(name in other and other[name].value == fact.value for other in others)
    }


def _completed(facts: Mapping[str, Fact]) -> _Facts:
    """The third of ranks, nodes and ranks a node from the two others; a launcher fills its nodes.

    More nodes than ranks are those of a job, not of the launch.
    """
    found = {**facts}
    numbers = {name: int(facts[name].value or 0) for name in COUNTS if name in facts and facts[name].value}
    ranks, nodes, ppn = (numbers.get(name, 0) for name in COUNTS)
    if nodes and ppn > ranks > 0:
        # So many may be on a node, and fewer are.
        return _completed({name: fact for name, fact in facts.items() if name != "ppn"})
    if ranks and nodes > ranks:
        del found["nodes"]
    elif numbers.keys() == {"ranks", "ppn"}:
        found["nodes"] = _both(facts["ranks"], facts["ppn"], -(-ranks // ppn))
        found["ppn"] = replace(facts["ppn"], value=min(ranks, ppn))
    elif numbers.keys() == {"ranks", "nodes"} and ranks % nodes == 0:
        found["ppn"] = _both(facts["ranks"], facts["nodes"], ranks // nodes)
    elif numbers.keys() == {"nodes", "ppn"} and "ranks" not in facts:
        found["ranks"] = _both(facts["nodes"], facts["ppn"], nodes * ppn)
    return found


def _both(first: Fact, second: Fact, value: int) -> Fact:
    return Fact(value, first.where, f"{first.words}, {second.words}")


def _fits(launch: LaunchText, line: TextLine) -> bool:
    """Whether the launch may have printed a table with this title."""
    title = re.sub("[^a-z]", "", line.text.lower())
    if launch.program.startswith("imb-"):
        return "benchmarking" in title
    if launch.program not in COLLECTIVES and launch.program not in _texts.TITLES:
        return True
    name = re.sub("[^a-z]", "", _texts.TITLES.get(launch.program, launch.program))
    is_suite = re.search("(?:osu|omb)[a-z]*test", title)
    own = rf"mpi(?:cuda|rocm|openacc|managed)*{name}(?:latency)?test"
    return not is_suite or re.search(own, title) is not None

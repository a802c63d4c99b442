"""A launch line in a text: the launcher's words for ranks, nodes and ranks a node, and every other setting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from hockney.importers import _texts
from hockney.importers.base import Fact

COUNTS = ("ranks", "nodes", "ppn")
MAPPINGS = ("core", "socket", "package", "numa", "l3cache", "node", "hwthread", "slot")
"""Words of launchers for where consecutive ranks go."""
PROGRAM = re.compile(_texts.PROGRAM)
_QUOTES = "\"'"
_SIZES = re.compile(_texts.SIZES)
_LAUNCHERS = [
    (re.compile(names), [(count, re.compile(option)) for count, option in counts.items()])
    for names, counts in _texts.LAUNCHERS
]
_NAMES = "|".join(names for names, _ in _texts.LAUNCHERS)
_LAUNCH = {name: re.compile(pattern.replace("{}", _NAMES)) for name, pattern in _texts.LAUNCH.items()}


@dataclass(frozen=True)
class LaunchText:
    """`program`: the benchmark's, without its suite, "" where unknown.

    `certainty`: 2 where a shell traced what it ran, 1 for other lines, 0 behind a #.
    """

    facts: Mapping[str, Fact]
    settings: Mapping[str, Fact]
    program: str
    certainty: int


UNSAID = LaunchText({}, {}, "", 0)
"""A launch line that may be missing."""


def launch_of(text: str, where: str, variables: Mapping[str, Fact]) -> LaunchText | None:
    """The launch of a line, variables in it replaced by their values; None where the line launches nothing."""
    if not any(part in text for part in ("run", "exec", "flux", "osu_", "omb_", "IMB-", "_perf")):
        return None
    text = re.sub(
        r"\$\{?(\w+)\}?", lambda name: str(variables[name[1]].value) if name[1] in variables else name[0], text
    )
    # Programs print a launch as a list of its words, too.
    text = re.sub(r"""["'], *["']""", " ", text)
    allocation = _LAUNCH["allocation"].match(text)
    if allocation and not PROGRAM.search(options := allocation["options"]):
        split = _started(options, where, {})
        inner = launch_of(allocation["before"] + options[split:] + allocation["inner"], where, variables)
        if inner is None or any(count in inner.facts for count in COUNTS):
            return inner
        return replace(inner, facts={**inner.facts, **_read(options[:split], _of("srun"), where, {})})
    launch = _LAUNCH["launcher"].match(text) or _LAUNCH["alone"].match(text)
    if launch is None or _LAUNCH["aside"].search(launch["after"]):
        return None
    program = PROGRAM.search(launch["after"])
    counting, parts, settings = _of(launch["name"]), [], dict[str, Fact]()
    before = launch["before"][: _started(launch["before"], where, settings, "container")]
    settings = _variables(before, where) | settings
    if program is None and not (
        launch["after"].startswith("-") and all(map(_LAUNCH["before"].fullmatch, before.split()))
    ):
        return None
    for number, words in enumerate(re.split(r"\s:\s", launch["after"])):
        found = PROGRAM.search(words)
        if number and not found:
            continue
        start, end = found.span() if found else (len(words), len(words))
        behind = re.split(r"[|;&>`]", words[end:])[0]
        counts = _read(words[: _started(words[:start], where, settings)], counting, where, settings)
        parts.append(_with_devices(counts, behind) if program and program[3] else counts)
        for match in _LAUNCH["option"].finditer(behind):
            if match[2] and not _SIZES.fullmatch(match[2]):
                settings[match[2]] = Fact(match[3], where, match[0])
        if buffers := " ".join(re.findall(r"(?<!\S)[DHM]{1,2}(?!\S)", behind)):
            settings["buffers"] = Fact(buffers, where, buffers)
    for name, folder in (("launcher", launch["folder"]), ("program", program and program[0].rpartition("/")[0])):
        if folder and "$" not in folder:
            settings[name] = Fact(_LAUNCH["of_job"].sub("*", folder.rstrip("/")), where, folder)
    facts = {name: fact for name in (*COUNTS, "mapping") if (fact := _joined(name, parts))}
    name = next(filter(None, program.groups())) if program else ""
    return LaunchText(facts, settings, name.lower(), {"#": 0, "+": 2}.get(text.lstrip()[:1], 1))


def _variables(words: str, where: str) -> dict[str, Fact]:
    return {
        name: Fact(value.strip(_QUOTES), where, f"{name}={value}")
        for name, value in _LAUNCH["variable"].findall(words)
    }


def _started(words: str, where: str, settings: dict[str, Fact], kind: str = "starter") -> int:
    """Where a program begins that starts another; its options are a setting, variables among them their own."""
    starter = _LAUNCH[kind].search(words)
    if starter is None:
        return len(words)
    idle = "of_container" if _LAUNCH["container"].match(starter[0]) else "of_starter"
    options = _LAUNCH[idle].sub(" ", starter[2])
    settings |= _variables(options, where)
    plain = _LAUNCH["end"].split(_LAUNCH["variable"].sub(" ", options))[0]
    # Lists of variables leave their commas.
    if how := " ".join(word for word in plain.split() if word != ","):
        settings[starter[1]] = Fact(how, where, starter[0].strip())
    return starter.start()


def _of(launcher: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """The options of a launcher that count."""
    return next((options for name, options in _LAUNCHERS if name.fullmatch(launcher)), [])


def _read(
    words: str, options: Sequence[tuple[str, re.Pattern[str]]], where: str, settings: dict[str, Fact]
) -> dict[str, Fact]:
    """Counts and mapping of a launcher's options; all other settings go into `settings`."""
    said: dict[str, Fact] = {}
    hosts: Fact | None = None
    for pattern in (_LAUNCH["name_and_value"], _LAUNCH["variable"]):
        settings |= {
            match[1]: Fact(match[2].strip(_QUOTES), where, match[0]) for match in pattern.finditer(words)
        }
        words = pattern.sub(" ", words)
    for match in _LAUNCH["option"].finditer(words):
        option, value = match[1] or match[2], match[3]
        count = next((count for count, pattern in options if pattern.fullmatch(option)), "")
        if per_node := re.match(r"ppr:(\d+):node", value):
            said["ppn"] = Fact(int(per_node[1]), where, match[0])
        elif count:
            said[count] = Fact(int(value) if value.isdecimal() else None, where, match[0])
        elif _LAUNCH["hosts"].fullmatch(option):
            hosts = Fact(value, where, match[0])
        elif (
            option.lstrip("-") in ("map-by", "bynode")
            and (place := value.partition(":")[0] or "node") in MAPPINGS
        ):
            said["mapping"] = Fact(place, where, match[0])
        elif not _LAUNCH["not_of_measuring"].fullmatch(option):
            settings[option] = Fact(value, where, match[0])
    each = said["of_set"].value if "of_set" in said else 1
    for count, sets in (("ranks", "sets"), ("ppn", "of_host")):
        if sets in said:
            said[count] = _times(said[sets], each)
    if hosts and "nodes" not in said and not {"ranks", "ppn"} <= said.keys():
        said["nodes"] = replace(hosts, value=_nodes(str(hosts.value), said))
    return said


def _nodes(hosts: str, said: Mapping[str, Fact]) -> int | None:
    """Nodes that a launch on these hosts uses: each takes one rank, or as many as it says; the last the rest."""
    if re.search(r"[^\w.:,-]", hosts):
        return None
    slots = Counter[str]()
    for host in hosts.split(","):
        name, _, number = host.partition(":")
        slots[name] += int(number) if number.isdecimal() else 1
    is_dealt = "mapping" in said and said["mapping"].value == "node"
    ranks = said["ranks"].value if "ranks" in said else None
    filled = accumulate(1 if is_dealt else number for number in slots.values())
    return min(len(slots), 1 + sum(total < ranks for total in filled)) if isinstance(ranks, int) else len(slots)


def _times(fact: Fact, factor: str | int | None) -> Fact:
    both = isinstance(fact.value, int) and isinstance(factor, int)
    return replace(fact, value=int(fact.value or 0) * int(factor or 0) if both else None)


def _joined(name: str, parts: list[dict[str, Fact]]) -> Fact | None:
    """A fact of a launch of several programs: their ranks are summed, and unknown where one does not say."""
    facts = [part[name] for part in parts if name in part]
    if len(parts) == 1 or not facts:
        return facts[0] if facts else None
    values = [fact.value for fact in facts if isinstance(fact.value, int)]
    total = sum(values) if name == "ranks" and len(values) == len(parts) else None
    return Fact(total, facts[0].where, " : ".join(fact.words for fact in facts))


def _with_devices(facts: dict[str, Fact], options: str) -> dict[str, Fact]:
    """Ranks of nccl-tests: each process has `-t` threads with `-g` devices."""
    for count in re.findall(r"(?<!\S)-[gt]\s*(\S+)", options):
        each = int(count) if count.isdecimal() else None
        facts = {name: _times(fact, each) if name in ("ranks", "ppn") else fact for name, fact in facts.items()}
    return facts

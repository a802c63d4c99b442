"""Open MPI's rules as numbers, versions 1 and 2 of the file: the writer and the reader.

A rule holds from its size, or its number of ranks, up to the next one; without a rule for 0 bytes the library
drops the whole file without a word, and below the smallest number of ranks the first entry holds. So that rules
hold where they are meant to and nowhere else, each entry begins with 0 bytes, the first one is for 0 ranks, and
algorithm 0, the library's own choice, stands wherever there is no rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from hockney.errors import RequestError
from hockney.records.library_algorithms import ALGORITHMS
from hockney.tune.rules import Rule, by_operation, by_ranks, joined
from hockney.tune.targets import _openmpi as openmpi
from hockney.tune.targets.base import PROOF, Malformed, Reader, RuleForm, Unread

MARK = "rule-file-version-2"
FIRST_LINE = "the first line is"
"""How a fault begins where a text is of another version of the form."""
MOST_RANKS = 2**31 - 1
_FREE = (0, 0, 0)
"""Algorithm, fan-out and segment of the library's own choice."""


def target(version: int, versions: tuple[tuple[int, ...], tuple[int, ...]]) -> RuleForm:
    """The target of this version of the form, which these versions of the library read."""
    return openmpi.form(
        title=f"rules of Open MPI's tuned, version {version}",
        versions=versions,
        write=lambda rules, _, comment: write(rules, comment, version=version),
        read=partial(read, version=version),
        trap=partial(_trap, version=version),
        proof=PROOF,
    )


def write(rules: Sequence[Rule], comment: str, *, version: int) -> str:
    """The text of a file; `comment` stands at its top."""
    requests = " 0" if version == 2 else ""
    lines = [MARK] if version == 2 else []
    lines += [f"# {line}" for line in comment.splitlines()]
    operations = list(by_operation(rules))
    lines.append(f"{len(operations)} # collectives")
    for operation, of_it in operations:
        entries = list(_entries(of_it))
        lines += [f"{openmpi.COLLECTIVE_IDS[operation]} # {operation}", f"{len(entries)} # numbers of ranks"]
        for ranks, sizes in entries:
            lines += [f"{ranks} # ranks and more", f"{len(sizes)} # sizes: bytes, algorithm, fan-out, segment"]
            for size_B, (algorithm, fanout, segment_B) in sizes:
                name = ALGORITHMS[operation][algorithm - 1] if algorithm else "the library's own choice"
                lines.append(f"{size_B} {algorithm} {fanout} {segment_B}{requests} # {name}")
    return "\n".join(lines) + "\n"


Sizes = list[tuple[int, tuple[int, int, int]]]


def _entries(rules: Sequence[Rule]) -> Iterator[tuple[int, Sizes]]:
    """For each number of ranks from which something else holds: the sizes from which, and what."""
    for ranks, _, here in by_ranks(rules, 0, openmpi.counts_blocks):
        yield ranks, _sizes(here, ranks)


def _sizes(rules: Sequence[Rule], ranks: int) -> Sizes:
    sizes: Sizes = [(0, _FREE)]
    for rule in rules:
        unit = openmpi.unit(rule.operation, ranks)
        sizes = [entry for entry in sizes if entry[0] < rule.least_bytes * unit]
        sizes.append((rule.least_bytes * unit, (openmpi.number(rule), rule.radix, rule.segment_bytes)))
        if rule.most_bytes is not None:
            sizes.append((rule.most_bytes * unit + 1, _FREE))
    return sizes


class _Numbers:
    """The numbers of a text, one after another, with what each is for the message where it is not there."""

    def __init__(self, text: str) -> None:
        lines = (line.partition("#")[0] for line in text.splitlines())
        self._words = [word for line in lines for word in line.split()]
        self._at = 0

    def take(self, what: str, least: int = 0, most: int = 2**63 - 1) -> int:
        if self._at == len(self._words):
            raise Malformed(f"the rules end before {what}")
        word = self._words[self._at]
        self._at += 1
        if not word.isdigit() or not least <= int(word) <= most:
            raise Malformed(f"{word!r} (number {self._at}) is not {what} from {least} to {most}")
        return int(word)

    def end(self) -> None:
        if self._at != len(self._words):
            raise Malformed(f"{self._words[self._at]!r} follows the last rule")


def read(text: str, library: Reader, *, version: int) -> list[Rule]:
    """The rules of a text; RequestError where the library would drop it or take it for something else."""
    first, _, rest = text.partition("\n")
    if (first.strip() == MARK) != (version == 2):
        raise RequestError(f"{FIRST_LINE} {first[:40]!r}", f"version 2 begins with {MARK}, version 1 does not")
    numbers = _Numbers(rest if version == 2 else text)
    by_id = {number: name for name, number in openmpi.COLLECTIVE_IDS.items()}
    rules: list[Rule] = []
    for _ in range(numbers.take("the number of collectives", 0, openmpi.IDS)):
        identity = numbers.take("the number of a collective", 0, openmpi.IDS - 1)
        if identity not in by_id:
            raise Unread(f"collective {identity} is none that is tuned here")
        rules += _read_collective(by_id[identity], numbers, library, version)
    numbers.end()
    return joined(rules)


def _trap(text: str, library: Reader, *, version: int) -> str:
    try:
        read(text, library, version=version)
    except Unread:
        return ""
    except RequestError as error:
        return error.message
    return ""


def _read_collective(operation: str, numbers: _Numbers, library: Reader, version: int) -> list[Rule]:
    rules: list[Rule] = []
    waiting: list[Rule] = []
    before = -1
    for _ in range(numbers.take("how many numbers of ranks follow", 1)):
        ranks = numbers.take("a number of ranks above the one before", before + 1, MOST_RANKS)
        rules += [rule for old in waiting for rule in _for_each(old, ranks - 1)]
        waiting = _read_sizes(operation, ranks, numbers, library, version)
        if before < 0 and ranks > 0 and waiting:
            raise Malformed(f"the first entry of {operation} is for {ranks} ranks and holds below them")
        before = ranks
    return rules + waiting


def _for_each(rule: Rule, most_ranks: int) -> list[Rule]:
    if openmpi.unit(rule.operation, 2) > 1 and most_ranks > rule.least_ranks:
        raise Unread(
            f"an entry of {rule.operation} is for {rule.least_ranks} to {most_ranks} ranks: bytes differ"
        )
    return [replace(rule, most_ranks=most_ranks)]


def _read_sizes(operation: str, ranks: int, numbers: _Numbers, library: Reader, version: int) -> list[Rule]:
    known = ALGORITHMS[operation]
    unit = openmpi.unit(operation, ranks)
    rules: list[Rule] = []
    before, open_ = -1, False
    for place in range(numbers.take("how many sizes follow", 1)):
        total_B = numbers.take("a size above the one before", before + 1)
        if place == 0 and total_B != 0:
            raise Malformed(f"{operation} on {ranks} ranks has no rule for 0 bytes: Open MPI drops the file")
        number = numbers.take("an algorithm", 0, len(known))
        fanout, segment_B = numbers.take("a fan-out"), numbers.take("a segment size", 0, openmpi.MOST_SEGMENT_B)
        if version == 2:
            numbers.take("a number of requests")
        if open_:
            rules[-1] = replace(rules[-1], most_bytes=(total_B - 1) // max(unit, 1))
        open_ = number > 0
        if open_:
            name = openmpi.COMPONENT + known[number - 1]
            rule = Rule(operation, ranks, None, -(-total_B // max(unit, 1)), None, name, segment_B, fanout)
            if why := openmpi.refuses(replace(rule, most_ranks=ranks), library):
                raise Malformed(why)
            rules.append(rule)
        before = total_B
    return rules

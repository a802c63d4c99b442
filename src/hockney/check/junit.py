"""The result of a check in JUnit's XML, for continuous integration: a test case for each guideline and call.

A case fails where the guideline is violated at any size and no second campaign refutes it, as the exit code does,
and is skipped where nothing could be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple
from xml.etree import ElementTree

from hockney.check.against import Changes
from hockney.check.study import GuidelineFinding
from hockney.units import format_bytes

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, even escaped; names of systems come from elsewhere."""
UNTOLD = "undecided: launches are too few or differ too much"


class _Case(NamedTuple):
    unit: str
    name: str
    failures: Sequence[str]
    """A line for each."""
    is_told: bool


def as_junit(findings: Iterable[GuidelineFinding] | None, changes: Changes | None) -> bytes:
    """The document, in UTF-8; None where something was not asked for."""
    root = ElementTree.Element("testsuites", name="hockney check")
    suites = {
        "guidelines": None if findings is None else _of_guidelines(findings),
        "regressions": None if changes is None else _of_changes(changes),
    }
    for name, cases in suites.items():
        if cases is not None:
            _suite(root, name, list(cases))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(root: ElementTree.Element, name: str, cases: Sequence[_Case]) -> None:
    failed = sum(bool(case.failures) for case in cases)
    skipped = sum(not case.failures and not case.is_told for case in cases)
    counts = {"tests": len(cases), "failures": failed, "errors": 0, "skipped": skipped}
    suite = ElementTree.SubElement(root, "testsuite", {"name": name} | {k: str(v) for k, v in counts.items()})
    for unit, called, failures, is_told in cases:
        case = ElementTree.SubElement(
            suite, "testcase", classname=f"hockney.check.{_text(unit)}", name=_text(called)
        )
        if failures:
            failure_ = ElementTree.SubElement(case, "failure", message=_text(failures[0]))
            failure_.text = _text("\n".join(failures))
        elif not is_told:
            ElementTree.SubElement(case, "skipped", message=UNTOLD)


def _of_guidelines(findings: Iterable[GuidelineFinding]) -> Iterator[_Case]:
    def called(finding: GuidelineFinding) -> tuple[str, str]:
        # The name of the case holds the guideline's other side, so that one case is of one pair of calls.
        others = " + ".join(part.call.named() for part in finding.bound.fast)
        same = finding.call.named()
        beside = f" beside {others}" if others != same else ""
        return finding.guideline, f"{same}{beside}, {finding.call.where()}"

    for (guideline, name), group in groupby(sorted(findings, key=called), key=called):
        cases = list(group)
        is_told = any(finding.verdict != "undecided" for finding in cases)
        yield _Case(guideline, name, [_failure(finding) for finding in cases if finding.stands], is_told)


def _failure(finding: GuidelineFinding) -> str:
    low, high = finding.factor_low, finding.factor_high
    interval = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    text = f"{format_bytes(finding.bytes)}: {finding.factor:.2f} times{interval} as long as {finding.replacement}"
    if finding.again is None:
        return text
    return f"{text}; {': '.join(filter(None, (finding.again.verdict, finding.again.why)))}"


def _of_changes(changes: Changes) -> Iterator[_Case]:
    for change in changes.changes:
        is_slower = change.verdict == "slower" and change.factor is not None
        failures = [f"{change.factor:.2f} times as slow as before"] if is_slower else []
        yield _Case("against", f"{change.where}: {change.quantity}", failures, change.verdict != "undecided")


def _text(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)

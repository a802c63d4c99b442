"""The result of a check in JUnit's XML, for continuous integration: a test case for each guideline and call.

A case fails where the guideline is violated at any size and no second campaign refutes it, as the exit code does,
and is skipped where nothing could be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree

from hockney.check.against import Changes
from hockney.check.claims import ClaimFinding, failure_text
from hockney.check.confirm import Confirmation
from hockney.check.study import Finding, Study
from hockney.units import format_bytes

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, even escaped; names of systems come from elsewhere."""


def as_junit(
    study: Study | None,
    changes: Changes | None,
    confirmation: Confirmation | None = None,
    claims: Sequence[ClaimFinding] = (),
) -> bytes:
    """The document, in UTF-8."""
    root = ElementTree.Element("testsuites", name="hockney check")
    if study is not None:
        _suite(root, "guidelines", _of_guidelines(study, confirmation))
    if changes is not None:
        _suite(root, "regressions", _of_changes(changes))
    if claims:
        _suite(root, "claims", _of_claims(claims))
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


_Case = tuple[str, str, list[str], bool]
"""Its class, its name, a line for each failure, and whether anything could be told."""


def _suite(root: ElementTree.Element, name: str, cases: Iterator[_Case]) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=name)
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for unit, called, failures, is_told in cases:
        counts["tests"] += 1
        case = ElementTree.SubElement(suite, "testcase", classname=_text(unit), name=_text(called))
        if failures:
            counts["failures"] += 1
            failure = ElementTree.SubElement(case, "failure", message=_text(failures[0]))
            failure.text = _text("\n".join(failures))
        elif not is_told:
            counts["skipped"] += 1
            ElementTree.SubElement(
                case, "skipped", message="cannot be told: launches are too few or differ too much"
            )
    for word, count in counts.items():
        suite.set(word, str(count))


def _of_guidelines(study: Study, confirmation: Confirmation | None) -> Iterator[_Case]:
    def called(finding: Finding) -> tuple[str, str]:
        # The name of the case holds the guideline's other side, so that one case is of one pair of calls.
        others = " + ".join(part.call.named() for part in finding.bound.fast)
        same = finding.call.named()
        beside = f" beside {others}" if others != same else ""
        return finding.guideline, f"{same}{beside}, {finding.call.where()}"

    for (guideline, name), group in groupby(sorted(study.findings, key=called), key=called):
        found = list(group)
        violations = [
            finding
            for finding in found
            if finding.verdict == "violated"
            and (confirmation is None or confirmation.verdict(finding) != "not confirmed")
        ]
        is_told = any(finding.verdict != "cannot be told" for finding in found)
        yield (
            f"hockney.check.{guideline}",
            name,
            [_said(finding, confirmation) for finding in violations],
            is_told,
        )


def _said(finding: Finding, confirmation: Confirmation | None) -> str:
    size = format_bytes(finding.bound.slow.size_B)
    factor = "" if finding.factor is None else f"{finding.factor:.2f}"
    interval = (
        "" if finding.low is None or finding.high is None else f" ({finding.low:.2f} to {finding.high:.2f})"
    )
    again = "" if confirmation is None else f"; {confirmation.verdict(finding)}"
    if confirmation is not None and (why := confirmation.why(finding)):
        again += f": {why}"
    return f"{size}: {factor} times{interval} as long as {finding.replacement()}{again}"


def _of_claims(claims: Sequence[ClaimFinding]) -> Iterator[_Case]:
    for finding in claims:
        failures = [failure_text(finding)] if finding.verdict == "violated" else []
        name = ", ".join(filter(None, [finding.claim.text, format_bytes(finding.size_B), finding.call.where()]))
        yield "hockney.check.claim", name, failures, finding.verdict != "cannot be told"


def _of_changes(changes: Changes) -> Iterator[_Case]:
    for change in changes.changes:
        said: Iterable[str] = ()
        if change.verdict == "slower" and change.factor is not None:
            said = [f"{change.factor:.2f} times as slow as before"]
        told = change.verdict != "cannot be told"
        yield "hockney.check.against", f"{change.where}: {change.quantity}", list(said), told


def _text(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)

"""What the verbs on applications are asked, by application."""

from __future__ import annotations

from hockney.report.application import Question, apps


def questions(kind: str) -> dict[str, Question]:
    """Of `run` or `predict`; an application without predictions has none."""
    return {name: question for name, app in apps if (question := getattr(app, kind)) is not None}

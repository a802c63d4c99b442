"""The answer of `hockney diff`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.report.views.difference_text import Difference

answer("diff")(Difference)

"""The command line: one thin file per verb, which takes options, asks `api` once and shows the answer."""

from __future__ import annotations

from hockney.terminal.main import main as main

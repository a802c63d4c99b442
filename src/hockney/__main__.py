"""`python -m hockney`."""

from __future__ import annotations

from hockney.cli import main

main()

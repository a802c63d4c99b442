"""How far a long calculation is: a bar on the terminal that is gone when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from hockney.cli import err

if TYPE_CHECKING:
    from hockney.predict.estimators.base import Progress


@contextmanager
def shown(*, quiet: bool) -> Iterator[Progress]:
    """Draws on standard error what it is told, with the time that is left at that pace.

    Nothing where standard error is no terminal, or with `quiet`.
    """
    if quiet or not err.is_terminal:
        from hockney.predict.estimators.base import silent

        yield silent
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=err, transient=True) as bar:
        task = bar.add_task("starting", total=1.0)

        def tell(share: float, what: str) -> None:
            # The pace of one piece of work says nothing about the next.
            if share < bar.tasks[0].completed:
                bar.reset(task)
            bar.update(task, completed=share, description=what)

        yield tell

"""What was measured: a campaign folder or a tidy table, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from hockney.api.alone import runs_alone
from hockney.api.shown import as_html
from hockney.fields import of_keywords
from hockney.machine.build import fitted as machine_of
from hockney.machine.congestion import known_network
from hockney.machine.file import Machine as MachineFile
from hockney.machine.file import expect_measurements
from hockney.machine.hops import hops_effects
from hockney.machine.locality import read
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.measured import hosts_of
from hockney.records.contents import Contents

if TYPE_CHECKING:
    from hockney.api.evaluation import Evaluation
    from hockney.api.machine import Machine
    from hockney.api.pages import Page
    from hockney.api.tuning import Tuning

Doing = Callable[[str], None]
"""Takes what is being done, in words."""


def unsaid(_: str) -> None:
    """What is being done, not shown."""


@dataclass(frozen=True)
class Campaign:
    """A campaign folder, or a tidy table (`.csv`, `.csv.gz`, `.parquet`); it is read once, when it is needed."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> Campaign:
        """RequestError for a machine file: that holds fits, and no measurements."""
        return cls(expect_measurements(Path(path)))

    @cached_property
    def contents(self) -> Contents:
        """All that it holds; RequestError where there is nothing, or it is damaged."""
        return read(self.path)

    @property
    def table(self) -> pd.DataFrame:
        """The tidy table, a row for each statistic of each point; times in seconds (docs/reference/table.md)."""
        return self.contents.frame

    @property
    def warnings(self) -> list[str]:
        """What was damaged."""
        return self.contents.warnings

    def fit(self, topology: str = "", *, progress: Doing = unsaid) -> Machine:
        """Every model fitted to every configuration, as `fitted`."""
        from hockney.api.machine import Machine

        return Machine(self.fitted(topology, progress=progress), self.path)

    def fitted(self, topology: str = "", *, progress: Doing = unsaid) -> MachineFile:
        """The content of the machine file, with every model fitted to every configuration.

        `topology` is the network between nodes, such as `"torus:8x8x4"`. RequestError where there is nothing that
        a model is of.
        """
        contents = self.contents
        network = parse_spec(topology) if topology else None
        if network is None and (own := contents.topology and known_network(contents.topology)):
            network = own if len(hosts_of(contents.launches)) == own.nodes else None
        if contents.apps and contents.frame.empty and not contents.effects:
            raise runs_alone(self.path, contents.apps)
        machine = machine_of(contents, progress, network=network)
        if network is not None:
            machine.topology = network.spec
            machine.effects += hops_effects(contents, network)
        return machine

    def evaluate(self, operation: str = "pingpong", **options: Any) -> Evaluation:
        """Errors of each model on what it has not seen; `options` are those of `hockney evaluate`.

        RequestError as `hockney.api.evaluation.evaluate_options`.
        """
        from hockney.api.evaluation import evaluate_options
        from hockney.options.evaluate import EvaluateOptions

        given = {"operation": operation, **options}
        return evaluate_options(of_keywords(EvaluateOptions, given, "evaluate", {"campaign": self.path}))

    def tune(self, target: str, **options: Any) -> Tuning:
        """Rules by which a library takes faster algorithms; `options` are those of `hockney tune`.

        RequestError as `hockney.api.tuning.of_measurements`.
        """
        from hockney.api.tuning import chosen_by, of_measurements

        return of_measurements(chosen_by(self.path, target, options))

    def report(self, output: str | Path | None = None, **options: Any) -> Page:
        """The report, written to `output` where one is named; `options` are those of `hockney report`.

        RequestError as `hockney.api.pages.page_of`.
        """
        from hockney.api.pages import page_by

        return page_by([self.path], output, options)

    def _repr_html_(self) -> str:
        """How many points of what there are, on how many ranks and of which sizes."""
        shown = self.table.groupby(["operation", "statistic"], sort=False).agg(
            rows=("time_s", "size"),
            algorithms=("algorithm", lambda names: ", ".join(sorted(set(names) - {""})[:6])),
            least_ranks=("ranks", "min"),
            most_ranks=("ranks", "max"),
            least_bytes=("bytes", "min"),
            most_bytes=("bytes", "max"),
        )
        counts = ", ".join(
            f"{len(part)} {name}"
            for name, part in (("runs of applications", self.contents.apps), ("effects", self.contents.effects))
            if part
        )
        return as_html(str(self.path), shown.reset_index(), [counts, *self.warnings])

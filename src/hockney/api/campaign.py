"""A campaign as notebooks and `hockney fit` take it: its table, its fits, and the machine file that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from hockney.api.alone import runs_alone
from hockney.api.shown import as_html
from hockney.errors import RequestError
from hockney.fields import of_keywords
from hockney.machine.build import fitted as machine_of
from hockney.machine.congestion import known_network
from hockney.machine.file import Machine as MachineFile
from hockney.machine.file import check_writable, expect_measurements, load, save
from hockney.machine.hops import hops_effects
from hockney.machine.locality import read
from hockney.machine.measured import MeasuredPair, beside_pairs, measured_pairs
from hockney.machine.provenance import warnings_of
from hockney.machine.shipped import MACHINE
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.measured import hosts_of
from hockney.records.contents import Contents
from hockney.records.folder import beside

if TYPE_CHECKING:
    from hockney.api.evaluation import Evaluation
    from hockney.api.machine import Machine
    from hockney.api.pages import Page
    from hockney.api.tuning import Tuning
    from hockney.api.views import ShowAnswer

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
            if 0 < (hosts := len(hosts_of(contents.launches))) < network.nodes:
                machine.provenance.warnings.append(
                    f"{hosts} hosts are taken to be the first of the {network.nodes} nodes, "
                    "in the order of their names"
                )
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


@dataclass(frozen=True)
class FittedFile:
    """The machine and the file that holds it."""

    path: Path
    machine: MachineFile

    @property
    def warnings(self) -> list[str]:
        """What should be known before the models are trusted."""
        return warnings_of(self.machine)

    @property
    def noise(self) -> str:
        """The kind of run: quiet, disturbed or unusable; "" where it is not known."""
        return self.machine.provenance.noise

    @property
    def data(self) -> ShowAnswer:
        """The answer for `--json`."""
        from hockney.api.views import ShownMachine
        from hockney.report.views.sections import of_collectives, of_effects

        more = [*of_effects(self.machine), *of_collectives(self.machine, None)]
        return ShownMachine(self.path, self.machine, more=more).data

    @property
    def pairs(self) -> list[MeasuredPair]:
        """The numbers of each kind of pair."""
        return measured_pairs(self.machine.point_to_point)

    @property
    def lines(self) -> list[str]:
        """A line for each effect and each model of a collective, the library's own choices first."""
        return beside_pairs(self.machine)


def fit_to_file(
    measured: Path, output: Path | None = None, topology: str = "", *, progress: Doing = unsaid
) -> FittedFile:
    """Fit every model to a campaign or table and write the machine file; errors as `Campaign.fit` and `save`.

    Without `output` the file lies beside what was read. RequestError where it would replace another campaign's.
    """
    output = output or beside(measured, MACHINE.name)
    check_writable(output)
    machine = Campaign.open(measured).fitted(topology, progress=lambda name: progress(f"fitting {name}"))
    _expect_own(output, machine)
    progress(f"writing {output}")
    save(machine, output)
    return FittedFile(output, machine)


def _expect_own(path: Path, machine: MachineFile) -> None:
    """RequestError where `path` holds a machine that was fitted to none of this one's measurements."""
    there, here = (
        {launch.id for launch in of.provenance.launches}
        or {entry.measurements.campaign for entry in of.point_to_point}
        for of in (load(path) if path.exists() else machine, machine)
    )
    if here and not there & here:
        raise RequestError(
            f"{path} was fitted to another campaign; it was not changed", "choose another name with -o"
        )

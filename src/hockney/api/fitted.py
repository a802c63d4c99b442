"""What `hockney fit` makes of a campaign: the machine file, and what it says of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hockney.api.campaign import Campaign, Doing, unsaid
from hockney.errors import RequestError
from hockney.machine.file import Machine, check_writable, load, save
from hockney.machine.measured import MeasuredPair, measured_pairs
from hockney.machine.reservations import warnings_of
from hockney.machine.shipped import MACHINE
from hockney.records.folder import beside


@dataclass(frozen=True)
class FittedFile:
    """The machine and the file that holds it."""

    path: Path
    machine: Machine

    @property
    def warnings(self) -> list[str]:
        """What should be known before the models are trusted."""
        return warnings_of(self.machine)

    @property
    def noise(self) -> str:
        """The kind of run: quiet, disturbed or unusable; "" where it is not known."""
        return self.machine.provenance.noise

    @property
    def data(self) -> dict[str, Any]:
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
        from hockney.report.views.in_short import beside_pairs

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


def _expect_own(path: Path, machine: Machine) -> None:
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

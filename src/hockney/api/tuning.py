"""Rules by which a library takes faster algorithms, from measurements or from a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from hockney import writing
from hockney.api.shown import as_html
from hockney.campaign.events import Watching
from hockney.errors import RequestError
from hockney.fields import Value, flags_written, of_keywords
from hockney.machine.file import Machine, is_machine_file, load
from hockney.options.tune import ChosenBy, TuneOptions
from hockney.records.verification import Verification as Verification
from hockney.tune.launched import Verifying, verify
from hockney.tune.source import MachineSource, MeasuredSource
from hockney.tune.targets.base import targets
from hockney.tune.tuned import TargetRules, TunedRule, answer
from hockney.tune.tuned import TuneAnswer as TuneAnswer
from hockney.tune.tuned import TunedCell as TunedCell
from hockney.units import counted

OF_VERIFY = ("launches", "trust")
"""Options that --verify alone heeds."""


@dataclass(frozen=True, repr=False)
class Tuning:
    """Rules for a target, as they were chosen; `verification`: what launches with them showed.

    `source`: the measurements that they are from; None where they are by the model. `assumed`: what the model
    took for granted that another command may know better.
    """

    tuned: TargetRules
    verification: Verification | None = None
    source: MeasuredSource | None = None
    assumed: str = ""

    @property
    def text(self) -> str:
        """The file for the library, after it was read back."""
        return self.tuned.checked()

    def write(self, path: str | Path) -> Path:
        """Write the file for the library and return its path."""
        writing.replace(Path(path), self.text)
        return Path(path)

    @property
    def rules(self) -> pd.DataFrame:
        """A row for each rule with its gain; bytes are those of the tidy table, empty is no bound."""
        return pd.DataFrame([TunedRule.of(rule, self.tuned.choice) for rule in self.tuned.rules])

    @property
    def cells(self) -> pd.DataFrame:
        """A row for each operation, number of ranks and size: what is taken, times (s) and the gain."""
        return pd.DataFrame(list(map(TunedCell.of, self.tuned.choice.decisions)))

    def answer(self, path: Path) -> TuneAnswer:
        """What `hockney tune --json` prints of the rules in this file."""
        return answer(self.tuned, path, self.verification)

    @property
    def is_ignored(self) -> bool:
        """Whether launches showed that the library ignores rules of an operation."""
        return self.verification is not None and any(proof.effect == "none" for proof in self.verification.proofs)

    def __repr__(self) -> str:
        return f"{counted(len(self.tuned.rules), 'rule')} for {self.tuned.target.title}; {self.tuned.tried}"

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.rules, self.tuned.refused)


def chosen_by(source: Path, target: str, given: Mapping[str, Value]) -> ChosenBy:
    """What `given`, options of `hockney tune` as keywords, asks of a source; RequestError for others."""
    return of_keywords(ChosenBy, {"for": target, **given}, "tune", {"source": source})


def of_measurements(asked: ChosenBy, *, to_be_verified: bool = False) -> Tuning:
    """Rules from a campaign folder or a tidy table, where an algorithm is faster than the default beyond doubt.

    On numbers of ranks that were not measured the model chooses. Rules `to_be_verified` may be for gains within
    their intervals. RequestError where nothing can be compared.
    """
    source = MeasuredSource.read(asked.source, asked.where, asked.mpi)
    form = targets.get(asked.target)
    done = source.tuned(form, asked.operations, asked.ranks, to_be_verified=to_be_verified)
    done.checked()
    return Tuning(done, source=source)


def of_machine(machine: Machine, asked: ChosenBy) -> Tuning:
    """Rules by the model alone, on the ranks that are named.

    RequestError where the machine has no messages, or no number of ranks is named.
    """
    source = MachineSource.of(machine, asked.source, asked.where, asked.mpi)
    done = source.tuned(targets.get(asked.target), asked.operations, asked.ranks, asked.sizes_B)
    done.checked()
    return Tuning(done, assumed=source.placed(asked.ranks))


def tune_file(
    options: TuneOptions, watching: Watching, tell: Callable[[str], None], warn: Callable[[str], None]
) -> Tuning:
    """Choose rules, try them where that is asked for, and write their file once all is known that it says.

    `watching` draws the launches, `tell` and `warn` say what is done meanwhile.
    RequestError for options that mean nothing together, NegativeAnswer where the library ignores all rules.
    """
    if not options.verify and (
        unfit := [flag for name, flag in flags_written(options).items() if name in OF_VERIFY]
    ):
        raise RequestError(f"{', '.join(unfit)} means nothing without --verify", "add it, or leave them out")
    writing.expect_writable(options.output)
    if is_machine_file(options.source):
        if options.verify:
            raise RequestError(
                f"{options.source} is a machine file, and --verify launches what a campaign launched",
                "give a campaign, or leave --verify out",
            )
        done = of_machine(load(options.source), options)
        if done.assumed:
            warn(done.assumed)
    else:
        done = of_measurements(options, to_be_verified=options.verify)
        if done.source is not None and options.verify and done.tuned.rules:
            folder = options.output.with_name(f"{options.output.name}.verified")
            trying = Verifying(folder, options.launches, options.trust, watching, tell, warn)
            done = Tuning(*verify(done.tuned, done.source, trying))
    done.write(options.output)
    return done

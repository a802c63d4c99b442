"""What a user's own launch line is: which launcher it begins with, of which MPI, and which programs it starts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner.find import banner_of, find, inspect, search_order, wrappers_beside
from hockney.runner.launchers.base import Launcher, launchers
from hockney.runner.mpi import Mpi

APART = ":"
"""The word between programs that are launched together, in every launcher's language."""
_EXAMPLE = "the launch line stands after `--`, for example `-- mpirun -n 4 ./app`"


@dataclass(frozen=True)
class UserLaunch:
    """A launch line of the user's, with what the layer needs to know of it."""

    words: tuple[str, ...]
    mpi: Mpi | None
    """With the launcher of the line, whichever a search would have found."""
    programs: tuple[Path, ...]
    """The first word of each part of the line that names a program; none of a part where no word does."""
    lack: str = ""
    """Why no layer can be compiled for the line, or put under its programs."""


def understand(words: Sequence[str], mpi: str | None = None) -> UserLaunch:
    """The launch line `words`, of the MPI that the launcher belongs to, or of the one that `mpi` asks for.

    RequestError where there is no known launcher, `mpi` names nothing, or the launcher does not start that MPI.
    """
    if not words:
        raise RequestError("no command was given", _EXAMPLE)
    launcher = shutil.which(words[0])
    if launcher is None:
        raise RequestError(f"{words[0]!r} is no program here", _EXAMPLE)
    try:
        name, banner = _unit(Path(launcher))
        unit = launchers.get(name)
        found = _of_launcher(Path(launcher), name, banner) if mpi is None else _asked(mpi, Path(launcher), name)
    except EnvironmentLack as lack:
        return UserLaunch(tuple(words), None, (), f"{lack.message} ({lack.hint})")
    parts = [list(part) for is_apart, part in groupby(words[1:], APART.__eq__) if not is_apart]
    programs: list[Path] = []
    for part in parts:
        program, listing = _program(part, unit)
        if listing:
            why = f"which programs {listing} names is not known (name them on the line, with {APART!r} between)"
            return UserLaunch(tuple(words), found, (), why)
        programs += [program] if program else []
    return UserLaunch(tuple(words), found, tuple(programs))


def _unit(launcher: Path) -> tuple[str, str]:
    """The unit that the line's own launcher is, by its name, or by its banner where several have that name.

    With the banner, empty where the name was enough.
    """
    stem = launcher.name.partition(".")[0]
    named = {n: unit for n, unit in launchers if stem in {program.partition(".")[0] for program in unit.programs}}
    if not named:
        known = ", ".join(sorted({program for _, unit in launchers for program in unit.programs}))
        raise RequestError(f"{launcher.name} is no launcher that Hockney knows ({known})", _EXAMPLE)
    if len(named) == 1:
        return next(iter(named)), ""
    banner = banner_of(launcher, {})
    for name, unit in named.items():
        if unit.banner.search(banner):
            return name, banner
    raise EnvironmentLack(
        f"which launcher {launcher} is, its --version does not say", f"known: {', '.join(named)}"
    )


def _asked(request: str, launcher: Path, name: str) -> Mpi:
    mpi = find(request)
    if mpi.kind not in launchers.get(name).kinds:
        raise RequestError(
            f"{launcher} does not start programs of {mpi.describe()}, which --mpi {request} asks for",
            "begin the line with that library's own launcher, or leave --mpi out",
        )
    return replace(mpi, launcher=launcher, launcher_kind=name)


def _of_launcher(launcher: Path, name: str, banner: str) -> Mpi:
    """The MPI whose wrapper lies beside the launcher, else the first of the search that it starts."""
    suffix = "".join(s for s in launcher.suffixes if s not in (".hydra", ".gforker"))
    for place in dict.fromkeys((launcher, launcher.resolve())):
        for wrapper in wrappers_beside(place, suffix):
            with suppress(EnvironmentLack):
                return inspect(wrapper, "launcher", (launcher, name))
    number = re.search(r"\d+(?:\.\d+)+", banner)
    for step in search_order():
        for wrapper in step.wrappers:
            with suppress(EnvironmentLack):
                mpi = inspect(wrapper, step.where.partition(" (")[0], (launcher, name))
                # Two of a kind may be installed; srun starts whatever there is.
                if number is None or mpi.version.startswith(number[0]):
                    return mpi
    raise EnvironmentLack(
        f"no compiler wrapper (mpicc) belongs to the launcher {launcher}",
        "name the wrapper of the program's MPI: --mpi WRAPPER",
    )


def _program(words: Sequence[str], unit: Launcher) -> tuple[Path | None, str]:
    """The first word of a part that names an executable file and is neither an option nor an option's value.

    The values of options that the launcher's unit does not know are passed over where they name no such file.
    Beside it the option, if there is one, whose file names the programs.
    """
    of_option = 0
    for word in words:
        option, _, value = word.lstrip("-").partition("=")
        if of_option:
            of_option -= 1
        elif word.startswith("-"):
            if option in unit.listings:
                return None, word
            of_option = 0 if value else unit.values.get(option, 0)
        elif (found := shutil.which(word)) is not None:
            return Path(found), ""
    return None, ""

"""Settings by which somebody has taken the choice of algorithms from the library, as MPI_T states them.

The runner asks when it starts and campaigns keep the answer (`settings` of a launch): what it holds is not what
the library ships with. Open MPI heeds them with `coll_tuned_use_dynamic_rules` only; of a forced algorithm and
a file of rules Open MPI 4 goes by the file, later ones by the algorithm, and without a version nobody knows;
where its component han goes first, what they force in tuned serves at most parts of the call. In MPICH the
device goes first where ranks share nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hockney.predict.decisions.base import decisions_for
from hockney.predict.decisions.mpich import BY_NODE
from hockney.predict.decisions.openmpi import FANOUT, is_of_han
from hockney.runner.library import SELECTION, rules_first
from hockney.units import in_pieces

_TUNED = "coll_tuned_use_dynamic_rules"
_RADIX = {"chain": "chain_fanout", "knomial": "knomial_radix"}
"""The variable with the radix of an algorithm, after the algorithm's own."""
_TUNED_FILE = "coll_tuned_dynamic_rules_filename"


@dataclass(frozen=True)
class Forced:
    """The setting `name=value`, and the algorithm that it forces by the library's name.

    `algorithm` is empty where the setting only says that the shipped decision does not hold: a file of rules, or
    an algorithm that the library may pass over. `segment_B` and `radix` 0: not segmented, none.
    """

    setting: str
    algorithm: str = ""
    segment_B: int = 0
    radix: int = 0

    @property
    def words(self) -> str:
        """The setting, with segments and radix."""
        return in_pieces(self.setting, self.segment_B, self.radix)


def forced(
    operation: str, settings: Mapping[str, str], *, mpi: str = "", ranks: int, nodes: int | None
) -> Forced | None:
    """What forces an operation of the library in a table's `mpi` column on so many ranks of so many nodes.

    None where the library chooses; `nodes` None: nobody says.
    """
    version = decisions_for(mpi).version
    by_han = is_of_han(operation, version, ranks, nodes or 1)
    is_flat = nodes is not None and nodes >= ranks
    return _tuned(operation, settings, mpi, by_han=by_han) or _mpich(operation, settings, is_flat=is_flat)


def in_doubt(operation: str, settings: Mapping[str, str], differing: Collection[str], mpi: str = "") -> str:
    """The name in `differing` that forces an operation in some launches and not in others; "" without one.

    `settings` are those that all the launches had, of the library in a table's `mpi` column.
    """
    possible = dict.fromkeys(differing, "?") | dict(settings)
    if forced(operation, possible, mpi=mpi, ranks=1, nodes=1) is None:
        return ""
    algorithm = f"coll_tuned_{operation}_algorithm"
    goes_first = algorithm in settings and decisions_for(mpi).version and not rules_first(mpi, possible)
    # An algorithm that goes first in all launches leaves the file without a say.
    tuned = (algorithm,) if goes_first else (algorithm, _TUNED_FILE)
    stems = (_TUNED, *tuned, SELECTION, *_mpich_names(operation))
    return min((name for name in differing if name.startswith(stems)), default="")


def _tuned(operation: str, settings: Mapping[str, str], mpi: str, *, by_han: bool) -> Forced | None:
    if _TUNED not in settings:
        return None
    name, file = f"coll_tuned_{operation}_algorithm", settings.get(_TUNED_FILE)
    value = settings.get(name)
    if file and (not value or rules_first(mpi, settings) or not decisions_for(mpi).version):
        return Forced(f"{_TUNED_FILE}={file}")
    if not value:
        return None
    if by_han:
        return Forced(f"{name}={value}")
    segment = settings.get(f"{name}_segmentsize", "0")
    radix = settings.get(f"{name}_{_RADIX[value]}", str(FANOUT)) if value in _RADIX else "0"
    return Forced(
        f"{name}={value}", f"tuned:{value}", *(int(one) if one.isdigit() else 0 for one in (segment, radix))
    )


def _mpich(operation: str, settings: Mapping[str, str], *, is_flat: bool) -> Forced | None:
    device, algorithm, composition = _mpich_names(operation)
    reaches = settings.get(device) == "0" or is_flat or operation not in BY_NODE
    if value := settings.get(algorithm):
        return Forced(f"{algorithm}={value}", f"mpir:{value}" if reaches else "")
    found = [f"{name}={settings[name]}" for name in (composition, SELECTION) if name in settings]
    return Forced(found[0]) if found else None


def _mpich_names(operation: str) -> tuple[str, str, str]:
    stem = f"MPIR_CVAR_{operation.upper()}"
    return f"{stem}_DEVICE_COLLECTIVE", f"{stem}_INTRA_ALGORITHM", f"{stem}_COMPOSITION"

"""The minimum bisection as an integer programme, which a solver can prove."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hockney.network.bisection.reduced import Reduced

MOST_VERTICES = 2000
MOST_EDGES = 8000
"""The solver of a larger programme does not even begin within its time."""


def split_optimally(graph: Reduced, time_limit_s: float, best: float) -> tuple[float, NDArray[np.bool_] | None]:
    """A proven lower bound of the cut and the best sides (v,) found within the time, None where there are none.

    Variables: a side x of each vertex, binary where it has nodes (those of others come out whole by themselves);
    y ≥ |xᵢ − xⱼ| of each edge; nodes cut off upwards and downwards. `best` is a cut that is known to exist.
    """
    # It takes a fifth of a second to import, and predictions on a network do without.
    from scipy.optimize import Bounds, LinearConstraint, milp

    upper = csr_array(np.triu(graph.weight.toarray()))
    rows, columns = upper.nonzero()
    weight = np.asarray(upper[rows, columns]).ravel()
    size, edges = graph.vertices, len(rows)
    if size > MOST_VERTICES or edges > MOST_EDGES or size < 2:
        return 0.0, None
    x, y, up = np.arange(size), size + np.arange(edges), size + edges + np.arange(size)
    down = up + size
    count = size + edges + 2 * size
    number, ones = np.arange(edges), np.ones(edges)

    def rows_of(*parts: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]) -> csr_array:
        row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        return csr_array((value, (row, column)), shape=(int(row.max()) + 1, count))

    half, each = graph.allocated // 2, np.arange(size)
    unit, zeros = np.ones(size), np.zeros(size, np.int64)
    supply = graph.supply.astype(float)
    constraints = [
        LinearConstraint(
            rows_of((number, y, ones), (number, x[rows], -ones), (number, x[columns], ones)), lb=0.0, ub=np.inf
        ),
        LinearConstraint(
            rows_of((number, y, ones), (number, x[rows], ones), (number, x[columns], -ones)), lb=0.0, ub=np.inf
        ),
        # Nodes cut off upwards hang on a vertex of side 0, downwards on one of side 1.
        LinearConstraint(rows_of((each, up, unit), (each, x, graph.held * unit)), lb=-np.inf, ub=graph.held),
        LinearConstraint(rows_of((each, down, unit), (each, x, -graph.held * unit)), lb=-np.inf, ub=0.0),
        LinearConstraint(
            rows_of((zeros, x, supply), (zeros, up, unit), (zeros, down, -unit)),
            lb=half,
            ub=graph.allocated - half,
        ),
    ]
    highest = np.concatenate([np.ones(size + edges), graph.held, graph.held])
    # The sides can be exchanged: the vertex with most nodes is on side 0.
    highest[int(np.argmax(graph.supply))] = 0.0
    integral = np.zeros(count, np.int64)
    integral[x[graph.supply > 0]] = 1
    solution = milp(
        np.concatenate([np.zeros(size), weight, graph.price, graph.price]),
        integrality=integral,
        bounds=Bounds(0.0, highest),
        constraints=[*constraints],
        options={"time_limit": time_limit_s, "mip_rel_gap": 0.0},
    )
    bound = solution.mip_dual_bound
    proven = float(bound) if bound is not None and math.isfinite(bound) else 0.0
    return min(proven, best), None if solution.x is None else solution.x[:size] > 0.5

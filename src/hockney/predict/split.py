"""Train and test points by expression: pandas' `query`, with samples."""

from __future__ import annotations

import ast
import hashlib

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.registry import did_you_mean
from hockney.units import counted

Mask = NDArray[np.bool_]

HINT = "for example \"ranks <= 64 and mapping in ['core', 'node']\", \"sample(0.05, seed=1)\""
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What pandas raises for expressions that it cannot evaluate."""


def select(frame: pd.DataFrame, expression: str, seed: int = 1) -> Mask:
    """Which rows of `frame` (one for each point) satisfy `expression`, as a mask of shape (n,).

    What pandas' `query` reads, and `sample(fraction, seed=…)`, which takes each point or not by a hash of what
    identifies it and of the seed (`seed` where the call gives none): every point with the given probability,
    whatever it is combined with, so that `not sample(…)` is exactly the rest. An unknown number compares as NaN.
    RequestError says what is wrong.
    """

    def sample(fraction: float, seed: float = seed) -> Mask:
        if np.ndim(fraction) or not 0 < fraction < 1 or seed != int(seed):
            raise RequestError(
                "sample needs a fraction between 0 and 1, and a whole seed", "write sample(0.05, seed=1)"
            )
        return _uniform(frame, int(seed)) < fraction

    sample.__qualname__ = "sample"
    names = {"sample": sample, **{str(name): _values(frame[name]) for name in frame.columns}}
    try:
        for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
            is_call = isinstance(node, ast.Call) and ast.unparse(node.func) != "sample"
            if is_call or isinstance(node, ast.Attribute | ast.Subscript | ast.Pow):
                raise RequestError(
                    f"{expression!r} has attributes, places, powers or calls, which are not allowed here", HINT
                )
        value = pd.eval(expression.strip(), engine="python", local_dict={}, global_dict={}, resolvers=[names])
    except pd.errors.UndefinedVariableError as error:
        name = str(error).split("'")[1]
        raise RequestError(f"unknown column {name!r}, in {expression!r}", _nearest(frame, name)) from error
    except _UNREADABLE as error:
        said = getattr(error, "msg", error)
        raise RequestError(f"{expression!r} cannot be read: {said} (to compare, write ==)", HINT) from error
    satisfied = np.asarray(value)
    if satisfied.dtype.kind != "b":
        raise RequestError(f"{expression!r} is not a condition", HINT)
    return np.broadcast_to(satisfied, len(frame)).copy()


def _values(column: pd.Series) -> pd.Series:
    """Truths, numbers, of which one that is unknown is NaN, or texts."""
    if pd.api.types.is_bool_dtype(column):
        return column.fillna(value=False).astype(bool)
    if pd.api.types.is_numeric_dtype(column):
        return column.astype("Float64").astype(float)
    return column.astype(object).fillna("")


def _nearest(frame: pd.DataFrame, name: str) -> str:
    """What may have been meant by a name that is no column."""
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]) and (frame[column] == name).any():
            return f"a text needs quotes: {column} == {name!r}"
    known = [str(column) for column in frame.columns]
    return f"{did_you_mean(name, known)}known: {', '.join(known)}"


def split(frame: pd.DataFrame, train: str, test: str, seed: int = 1) -> tuple[Mask, Mask]:
    """Masks of training and test points; an empty expression stands for everything the other one leaves.

    RequestError where one of them selects nothing, where they share points, or where both are empty.
    """
    if not train.strip() and not test.strip():
        raise RequestError("neither --train nor --test says which points to learn from", HINT)
    trained = select(frame, train, seed) if train.strip() else ~select(frame, test, seed)
    tested = select(frame, test, seed) if test.strip() else ~trained
    for mask, option, expression in ((trained, "--train", train), (tested, "--test", test)):
        if not mask.any():
            described = expression or f"what {'--test' if option == '--train' else '--train'} leaves"
            raise RequestError(
                f"{option} selects none of the {counted(len(frame), 'point')}: {described}",
                _holdings(frame, f"{train} {test}") or "widen the expression",
            )
    shared = int((trained & tested).sum())
    if shared:
        raise RequestError(
            f"{shared} points are in both --train and --test: accuracy is only quoted on points never seen",
            "leave --test out to test on all other points, or add `and not (…)` with the training expression",
        )
    return trained, tested


def _holdings(frame: pd.DataFrame, text: str) -> str:
    """The values in the columns that a text mentions."""
    contents = []
    for name in frame.columns:
        if str(name) not in text:
            continue
        column = frame[name].dropna()
        if not pd.api.types.is_numeric_dtype(column):
            contents.append(f"{name}: {', '.join(sorted(set(column.astype(str)))[:12])}")
        elif len(column):
            contents.append(f"{name}: {column.min()} to {column.max()}")
    return f"the table holds {'; '.join(contents)}" if contents else ""


def _uniform(frame: pd.DataFrame, seed: int) -> NDArray[np.float64]:
    """A number in [0, 1) for each row that depends on its values and the seed alone, not on the other rows."""
    columns = []
    for name, column in frame.items():
        # Each value becomes text once. What is unknown does not count: a column that lacks changes nothing.
        places, values = pd.factorize(column)
        words = [*(f"{name}={value}" if value != "" else "" for value in pd.Series(values)), ""]
        if any(words):
            columns.append([words[place] for place in places.tolist()])
    texts = ("|".join(filter(None, (str(seed), *row))) for row in zip(*columns, strict=True))
    hashes = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts]
    return np.array(hashes, dtype=np.float64) / 2.0**64

"""Train and test points by expression, in the manner of pandas' `query`, evaluated without `eval`."""

from __future__ import annotations

import ast
import hashlib
import io
import operator
import tokenize
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.registry import did_you_mean
from hockney.units import counted

Mask = NDArray[np.bool_]

HINT = "for example \"ranks <= 64 and mapping in ['core', 'node']\", \"sample(0.05, seed=1)\""
_BOOLEAN = {"&": "and", "|": "or"}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
}


def _kind(value: Any) -> str:
    """Whether a constant, a column or what was computed of them is a number, a text or a condition."""
    return {"b": "condition", "f": "number"}.get(np.asarray(value).dtype.kind, "text")


def select(frame: pd.DataFrame, expression: str, seed: int = 1) -> Mask:
    """Which rows of `frame` (one for each point) satisfy `expression`, as a mask of shape (n,).

    Column names, numbers, text, lists, `+ - * / // % **`, comparisons (also chained, `in`, `not in`), `and or
    not` or `& | ~` with their precedence, and `sample(fraction, seed=…)`. An unknown number compares as NaN.
    `sample` takes each point or not by a hash of what identifies it and of the seed (`seed` where the call gives
    none): every point with the given probability, whatever it is combined with, so that `not sample(…)` is
    exactly the rest. RequestError says what is wrong and where.
    """
    tree = _parse(expression)
    evaluator = _Evaluator(frame, expression, seed)
    try:
        with np.errstate(all="ignore"):
            value = evaluator.value(tree)
    except RecursionError as error:
        raise RequestError("the expression is nested too deeply", HINT) from error
    if _kind(value) != "condition":
        raise RequestError(f"{expression!r} is a {_kind(value)}, not a condition", HINT)
    return np.broadcast_to(value, len(frame)).copy()


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


def _parse(expression: str) -> ast.expr:
    """The tree, `&` and `|` taken with the precedence of `and` and `or`, as pandas does."""
    try:
        ast.parse(expression.strip(), mode="eval")
        return ast.parse(_with_words(expression.strip()), mode="eval").body
    except SyntaxError as error:
        text = expression.strip()
        # An expression that ends too early is reported at offset 0.
        at = error.offset - 1 if error.offset else len(text)
        equal = " (to compare, write ==)" if text[at : at + 1] == "=" else ""
        shown = f"{text[:at]}⟨here⟩{text[at:]}"
        raise RequestError(f"the expression cannot be read: {error.msg}{equal}: {shown}", HINT) from error
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise RequestError(f"the expression cannot be read: {error}", HINT) from error


def _with_words(expression: str) -> str:
    tokens = tokenize.generate_tokens(io.StringIO(expression).readline)
    return tokenize.untokenize(
        (tokenize.NAME, _BOOLEAN[token.string])
        if token.type == tokenize.OP and token.string in _BOOLEAN
        else (token.type, token.string)
        for token in tokens
    ).strip()


class _Evaluator:
    """Follows the tree of one expression; whatever is not listed here is refused."""

    def __init__(self, frame: pd.DataFrame, expression: str, seed: int) -> None:
        self.frame = frame
        self.expression = expression
        self.seed = seed

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._column(node.id)
            case ast.BoolOp(values=operands):
                parts = [self._condition(operand) for operand in operands]
                joined = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                return joined.reduce(np.broadcast_arrays(*parts))
            case ast.UnaryOp(op=ast.Not() | ast.Invert()):
                return ~np.asarray(self._condition(node.operand))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                number = self._number(node.operand)
                return -number if isinstance(node.op, ast.USub) else number
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                operate = _ARITHMETIC[type(node.op)]
                return operate(self._number(node.left), self._number(node.right))
            case ast.Compare():
                return self._comparisons(node)
            case ast.Call():
                return self._sample(node)
        raise self._refuse(node, "is not allowed here")

    def _refuse(self, node: ast.expr, why: str, hint: str = HINT) -> RequestError:
        return RequestError(f"{ast.unparse(node)!r} {why}, in {self.expression!r}", hint)

    def _constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool | str):
            return node.value
        if isinstance(node.value, int | float):
            try:
                return np.float64(node.value)
            except OverflowError as error:
                raise self._refuse(node, "is too large a number") from error
        raise self._refuse(node, "is neither a number nor a text")

    def _column(self, name: str) -> Any:
        if name not in self.frame.columns:
            raise RequestError(f"unknown column {name!r}, in {self.expression!r}", self._nearest(name))
        column = self.frame[name]
        if pd.api.types.is_bool_dtype(column):
            return column.fillna(value=False).to_numpy(dtype=np.bool_)
        if pd.api.types.is_numeric_dtype(column):
            return column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        return column.fillna("").to_numpy(dtype=object)

    def _nearest(self, name: str) -> str:
        """What may have been meant by a name that is no column."""
        for column in self.frame.columns:
            if not pd.api.types.is_numeric_dtype(self.frame[column]) and (self.frame[column] == name).any():
                return f"a text needs quotes: {column} == {name!r}"
        known = [str(column) for column in self.frame.columns]
        return f"{did_you_mean(name, known)}known: {', '.join(known)}"

    def _condition(self, node: ast.expr) -> Any:
        return self._expected(node, "condition", "compare it with something")

    def _number(self, node: ast.expr) -> Any:
        return self._expected(node, "number", HINT)

    def _expected(self, node: ast.expr, kind: str, hint: str) -> Any:
        value = self.value(node)
        if _kind(value) != kind:
            raise self._refuse(node, f"is a {_kind(value)}, not a {kind}", hint)
        return value

    def _comparisons(self, node: ast.Compare) -> Any:
        whole: Any = np.True_
        left = node.left
        for compare, right in zip(node.ops, node.comparators, strict=True):
            whole = whole & np.asarray(self._comparison(left, compare, right), dtype=np.bool_)
            left = right
        return whole

    def _comparison(self, left: ast.expr, compare: ast.cmpop, right: ast.expr) -> Any:
        if isinstance(compare, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple | ast.Set):
                raise self._refuse(right, "is not a list", "write for example mapping in ['core', 'node']")
            same = [self._comparison(left, ast.Eq(), element) for element in right.elts]
            matches = np.logical_or.reduce(np.broadcast_arrays(np.False_, *same))
            return matches if isinstance(compare, ast.In) else ~matches
        if isinstance(right, ast.List | ast.Tuple | ast.Set):
            raise self._refuse(right, "is a list", "write `in` instead of a comparison")
        if type(compare) not in _COMPARE:
            raise self._refuse(left, "is compared with `is`", "write ==")
        first, second = self.value(left), self.value(right)
        if _kind(first) != _kind(second):
            raise RequestError(
                f"{ast.unparse(left)!r} is a {_kind(first)} and {ast.unparse(right)!r} a {_kind(second)}: "
                f"they cannot be compared, in {self.expression!r}",
                "quote texts, write numbers without quotes",
            )
        return _COMPARE[type(compare)](first, second)

    def _sample(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name) or node.func.id != "sample":
            raise self._refuse(node, "is a call of something else than sample(fraction, seed=…)")
        given = dict(zip(("fraction", "seed"), node.args, strict=False))
        named = {keyword.arg or "**": keyword.value for keyword in node.keywords}
        if len(node.args) > 2 or set(named) - {"fraction", "seed"} or set(given) & set(named):
            raise self._refuse(node, "has other arguments than fraction and seed", "write sample(0.05, seed=1)")
        values = {name: self._scalar(argument) for name, argument in (given | named).items()}
        fraction, seed = values.get("fraction", np.nan), values.get("seed", float(self.seed))
        if not 0 < fraction < 1:
            raise self._refuse(node, "needs a fraction between 0 and 1", "write sample(0.05) for five per cent")
        if seed != int(seed):
            raise self._refuse(node, "needs a whole number as its seed", "write sample(0.05, seed=1)")
        return _uniform(self.frame, int(seed)) < fraction

    def _scalar(self, node: ast.expr) -> float:
        number = self._number(node)
        if np.ndim(number) or not np.isfinite(number):
            raise self._refuse(node, "is not one number", "write sample(0.05, seed=1)")
        return float(number)


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

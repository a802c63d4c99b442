"""Schedules that a user wrote: files of a small language, compiled for the machine of cpp/schedule/written.cpp.

    right = (r + 1) % P
    copy(input, output)
    for s in range(P - 1):
        send(output[(r - s) % P], right)

The form is a part of Python's, so Python's own parser reads it; nothing is evaluated here. See
docs/reference/schedule-files.md.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from hockney import _core, reading
from hockney._core import Algorithm
from hockney.errors import RequestError
from hockney.registry import did_you_mean

ENDING = ".schedule"
"""Of a file's name; a name of an algorithm that ends so is a file."""
MOST_B = 2**15
"""Of a text: its lines are numbered with 16 bits, and the parser takes it."""
_NAME = re.compile(r"[\w.+-]+", re.ASCII)
HINT = "docs/reference/schedule-files.md has the form"

OPERATIONS = (
    *("constant", "load", "store", "load_region", "store_region", "jump", "jump_unless"),
    *("send", "receive", "copy", "reduce", "line", "loop"),
    *("add", "subtract", "multiply", "divide", "modulo", "power", "left", "right", "and", "or", "xor"),
    *("negate", "invert", "less", "less_equal", "equal", "unequal", "not", "log2", "min", "max"),
    *("input", "output", "nothing", "block", "blocks", "part", "scratch", "len", "wait", "require", "drop"),
)
"""In the order of cpp/schedule/written.cpp."""
_CODE = {name: number for number, name in enumerate(OPERATIONS)}
OWN_NAMES = ("P", "n", "r", "root", "blocks")
"""Ranks, bytes, this rank, the root, and how many blocks a vector is cut into (P, until it is set)."""
_CALCULATE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
_OPERATORS = (*_CALCULATE, ast.BitAnd, ast.BitOr, ast.BitXor)
_COMPARE = (ast.Lt, ast.LtE, ast.Eq, ast.NotEq)
_BINARY: dict[type[ast.AST], str] = {
    **dict(zip(_OPERATORS, OPERATIONS[_CODE["add"] :], strict=False)),
    **dict(zip(_COMPARE, OPERATIONS[_CODE["less"] :], strict=False)),
}
_MIRRORED: dict[type[ast.AST], str] = {ast.Gt: "less", ast.GtE: "less_equal"}
_UNARY: dict[type[ast.AST], str] = {ast.USub: "negate", ast.Invert: "invert", ast.Not: "not"}
STEPS = {"send": 1, "receive": 1, "copy": 2, "reduce": 2}
"""Steps, with how many regions they take; messages take a rank besides."""
VECTORS = ("input", "output", "nothing")
FUNCTIONS = {"log2": 1, "min": 2, "max": 2, "len": 1}
CALLS = (*STEPS, *FUNCTIONS, "part", "scratch", "range", "wait", "require")


def compiled(text: str, name: str) -> list[int]:
    """The program of a text. RequestError with file and line for what is none."""
    if len(text) > MOST_B:
        raise RequestError(f"{name} is longer than {MOST_B} characters", "loops make it shorter")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return _Compiler(name).program(tree)
    except SyntaxError as error:
        raise RequestError(f"{name}, line {error.lineno or 1}: {error.msg}", HINT) from error
    except (ValueError, RecursionError, MemoryError) as error:
        why = error if isinstance(error, ValueError) else "it is too deeply nested: use more lines"
        raise RequestError(f"{name} cannot be read: {why}", HINT) from error


class _Compiler:
    """One walk through the tree; `_code` grows, jumps are completed once their targets are there."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._code: list[int] = []
        self._numbers = {own: slot for slot, own in enumerate(OWN_NAMES)}
        self._regions: dict[str, int] = {}
        self._slots = len(OWN_NAMES)

    def program(self, tree: ast.Module) -> list[int]:
        self._statements(tree.body)
        return self._code

    def _wrong(self, node: ast.AST, what: str, hint: str = HINT) -> NoReturn:
        raise RequestError(f"{self._name}, line {getattr(node, 'lineno', 1)}: {what}", hint)

    def _emit(self, operation: str, *operands: int) -> int:
        """Where the last operand stands, to be completed."""
        self._code += [_CODE[operation], *operands]
        return len(self._code) - 1

    def _statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._emit("line", statement.lineno)
            handler = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if handler is None:
                self._wrong(statement, "only assignments, for, if and calls stand here")
            handler(statement)

    def _assign(self, statement: ast.Assign) -> None:
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name):
            self._wrong(statement, "one name is set at a time", "write a line for each: right = (r + 1) % P")
        self._set(target, statement.value)

    def _set(self, target: ast.Name, value: ast.expr) -> None:
        name, is_region = target.id, self._is_region(value)
        if name in (*VECTORS, *CALLS, *OWN_NAMES[:-1]):
            self._wrong(target, f"{name} is a name of the form", "choose another name")
        if name in (self._numbers if is_region else self._regions):
            self._wrong(target, f"{name} holds a number here and memory there", "choose another name for one")
        if is_region:
            self._region(value)
            self._emit("store_region", self._regions.setdefault(name, len(self._regions)))
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in STEPS:
            self._step(value)
        else:
            self._number(value)
        self._emit("store", self._name_of_number(name))

    def _name_of_number(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = self._slots
            self._slots += 1
        return self._numbers[name]

    def _augassign(self, statement: ast.AugAssign) -> None:
        if not isinstance(statement.target, ast.Name):
            self._wrong(statement, "one name is set at a time")
        both = ast.BinOp(ast.Name(statement.target.id, ast.Load()), statement.op, statement.value)
        self._set(statement.target, ast.fix_missing_locations(ast.copy_location(both, statement)))

    def _for(self, statement: ast.For) -> None:
        called = statement.iter
        if not (
            isinstance(called, ast.Call)
            and isinstance(called.func, ast.Name)
            and called.func.id == "range"
            and not called.keywords
            and 1 <= len(called.args) <= 3
            and isinstance(statement.target, ast.Name)
            and not statement.orelse
        ):
            self._wrong(statement, "a loop is `for s in range(…):`", "for example: for s in range(P - 1):")
        name = statement.target.id
        if name in (*self._regions, *VECTORS, *CALLS, *OWN_NAMES):
            self._wrong(statement, f"{name} does not count", "choose another name")
        bounds = [*([ast.Constant(0)] if len(called.args) == 1 else []), *called.args, ast.Constant(1)][:3]
        # Behind the counted name in one piece: the next number, the end, the step.
        counts = self._slots
        self._slots += 4
        for place, bound in enumerate(bounds, 1):
            self._number(bound)
            self._emit("store", counts + place)
        again = len(self._code)
        leave = self._emit("loop", counts, 0)
        self._emit("load", counts)
        self._emit("store", self._name_of_number(name))
        self._statements(statement.body)
        self._emit("jump", again)
        self._code[leave] = len(self._code)

    def _if(self, statement: ast.If) -> None:
        body, orelse = statement.body, statement.orelse
        self._choice(statement.test, lambda: self._statements(body), lambda: self._statements(orelse))

    def _choice(self, test: ast.expr, yes: Callable[[], None], no: Callable[[], None]) -> None:
        self._number(test)
        otherwise = self._emit("jump_unless", 0)
        yes()
        end = self._emit("jump", 0)
        self._code[otherwise] = len(self._code)
        no()
        self._code[end] = len(self._code)

    def _pass(self, statement: ast.Pass) -> None:
        pass

    def _expr(self, statement: ast.Expr) -> None:
        call = statement.value
        if isinstance(call, ast.Constant) and isinstance(call.value, str):
            return
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if not isinstance(call, ast.Call) or name not in (*STEPS, "wait", "require"):
            near = did_you_mean(name, [*STEPS, "wait", "require"]) if name else ""
            self._wrong(statement, "a line that does nothing", f"{near}{HINT}")
        if name in STEPS:
            self._step(call)
            self._emit("drop")
            return
        self._expect(call, 0 if name == "wait" else 1)
        self._calculate(name, *call.args)

    def _expect(self, call: ast.Call, count: int, keywords: tuple[str, ...] = ()) -> None:
        name = ast.unparse(call.func)
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            self._wrong(call, f"{name} takes no list of arguments (*)", "write each argument")
        if len(call.args) != count:
            self._wrong(call, f"{name} takes {count} argument{'s'[: count != 1]}, not {len(call.args)}")
        if any(keyword.arg not in keywords for keyword in call.keywords):
            self._wrong(call, f"{name} takes {f'only {keywords[0]}=' if keywords else 'nothing'} by its name")

    def _step(self, call: ast.Call) -> None:
        name = ast.unparse(call.func)
        self._expect(call, 2, ("after",))
        self._region(call.args[0])
        (self._region if STEPS[name] == 2 else self._number)(call.args[1])
        after = call.keywords[0].value if call.keywords else ast.Tuple([], ast.Load())
        steps = after.elts if isinstance(after, ast.Tuple) else [after]
        for step in steps:
            self._number(step)
        self._emit(name, len(steps))

    def _is_region(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._regions or name in VECTORS[:2]
            case ast.Subscript():
                return True
            case ast.IfExp(body=body):
                return self._is_region(body)
            case ast.Call(func=ast.Name(id=name)):
                return name in ("part", "scratch")
        return False

    def _region(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name) if name in VECTORS:
                self._emit(name)
            case ast.Name(id=name) if name in self._regions:
                self._emit("load_region", self._regions[name])
            case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                self._region(value)
                self._calculate("blocks", lower or ast.Constant(0), upper or ast.Name("blocks", ast.Load()))
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                # Once: what stands in it may have indices, too.
                self._region(value)
                self._calculate("block", index)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._choice(test, lambda: self._region(body), lambda: self._region(orelse))
            case ast.Call(func=ast.Name(id="part")):
                self._expect(node, 3)
                self._region(node.args[0])
                self._calculate("part", *node.args[1:])
            case ast.Call(func=ast.Name(id="scratch")):
                self._expect(node, 1)
                self._calculate("scratch", *node.args)
            case ast.Name(id=name):
                self._unknown(node, name, "memory", [*VECTORS, *self._regions])
            case _:
                self._wrong(node, f"{ast.unparse(node)} is no memory", "such as output[r], or part(output, 0, 8)")

    def _number(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=value) if type(value) is int:
                if value >= 2**63:
                    self._wrong(node, "a number beyond 2^63")
                self._emit("constant", value)
            case ast.Name(id="nothing"):
                self._emit("constant", -1)
            case ast.Name(id=name) if name in self._numbers:
                self._emit("load", self._numbers[name])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                self._calculate(_BINARY[type(op)], left, right)
            case ast.BinOp(op=ast.Div()):
                self._wrong(node, "numbers are whole", "divide with //, which rounds down")
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                self._number(operand)
            case ast.UnaryOp(op=op, operand=operand):
                self._calculate(_UNARY[type(op)], operand)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BINARY:
                self._calculate(_BINARY[type(op)], left, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _MIRRORED:
                self._calculate(_MIRRORED[type(op)], right, left)
            case ast.Compare():
                self._wrong(node, "two numbers are compared by <, <=, ==, !=, > or >=", "join several by `and`")
            case ast.BoolOp(op=op, values=values):
                self._joined(isinstance(op, ast.Or), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._choice(test, lambda: self._number(body), lambda: self._number(orelse))
            case ast.Call(func=ast.Name(id="len")):
                self._expect(node, 1)
                self._region(node.args[0])
                self._emit("len")
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                self._expect(node, FUNCTIONS[name])
                self._calculate(name, *node.args)
            case ast.Name(id=name):
                self._unknown(node, name, "number here", [*self._numbers])
            case _:
                self._wrong(node, f"{ast.unparse(node)} is no whole number")

    def _calculate(self, operation: str, *operands: ast.expr) -> None:
        for operand in operands:
            self._number(operand)
        self._emit(operation)

    def _unknown(self, node: ast.expr, name: str, what: str, known: list[str]) -> NoReturn:
        self._wrong(node, f"{name} is no {what}", f"{did_you_mean(name, known)}known: {', '.join(known)}")

    def _joined(self, is_or: bool, values: list[ast.expr]) -> None:
        """`and`, `or`: 0 or 1; what stands behind the one that decides is not looked at."""
        decided = []
        for value in values:
            self._number(value)
            if is_or:
                self._emit("not")
            decided.append(self._emit("jump_unless", 0))
        self._emit("constant", int(not is_or))
        end = self._emit("jump", 0)
        for place in decided:
            self._code[place] = len(self._code)
        self._emit("constant", int(is_or))
        self._code[end] = len(self._code)


_defined: dict[tuple[str, str], tuple[str | None, str, Algorithm]] = {}
"""Of what the core was told, by collective and name: the file, None for a text that was kept, and the text."""


def text_of(path: str) -> str:
    """The text of a file; RequestError where it cannot be read."""
    try:
        return reading.content(Path(path), most_B=MOST_B).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(f"{reading.printable(path)} is no text: {error.reason}", HINT) from error


def define(collective: str, path: str, text: str | None = None) -> Algorithm:
    """The algorithm of a file, or of a `text` that was kept of it, whose name is that of the file.

    RequestError for a file that cannot be read or is no schedule, and for two files of one name.
    """
    file, name = Path(path), Path(path).name
    known_file, known_text, algorithm = _defined.get((collective, name), (None, "", None))
    try:
        new_file, new_text = (None, text) if text is not None else (os.path.realpath(file), text_of(path))
    except reading.Absent:
        if algorithm is None:
            raise
        return algorithm
    if algorithm and (new_file, new_text) == (known_file, known_text):
        return algorithm
    if not _NAME.fullmatch(name):
        raise RequestError(
            f"{name!r} cannot be the name of a schedule", "rename the file to letters, digits and _ . + -"
        )
    if known_file not in (None, new_file) and new_text != known_text:
        raise RequestError(f"{path} and {known_file} are different schedules of one name", "rename one of them")
    algorithm = _core.define(collective, name, compiled(new_text, name))
    _defined[collective, name] = new_file, new_text, algorithm
    return algorithm

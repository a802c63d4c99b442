"""Which branches of hockney's modules were taken: each arm of an `if`, loop, handler, case, function sets a byte.

The modules are compiled anew with those assignments in them, which cost some 30 ns each; a tracer would cost
microseconds a line.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

TAKEN = bytearray(1 << 16)
"""A 1 for each branch that was taken; whoever counts for several parsers exchanges the content."""
NAMES: list[str] = []
"""`hockney.units:42.1` of each branch that was compiled, in the order of `TAKEN`."""
VARIABLE = "_branches_taken"
"""The name of `TAKEN` in the modules."""


def install() -> None:
    """From now on, modules of hockney are compiled with their branches marked; none may be imported yet."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds modules as the others do, and compiles those of hockney that are Python."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "hockney":
            return None
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        # By its file: an editable install has a loader of its own around Python's.
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = _Loader(fullname, spec.origin)
        return spec


class _Loader(SourceFileLoader):
    """Compiles without the cache of bytecode."""

    def get_code(self, fullname: str) -> CodeType:
        return compiled(self.get_data(self.path), self.path, fullname)

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, VARIABLE, TAKEN)
        super().exec_module(module)


def compiled(source: bytes, path: str, module: str) -> CodeType:
    """The code of a module that marks branches in its global variable `VARIABLE`; their names go to `NAMES`."""
    tree = _Marking(module).visit(ast.parse(source, path))
    code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    return code


class _Marking(ast.NodeTransformer):
    """Puts an assignment at the beginning of each branch."""

    def __init__(self, module: str) -> None:
        self.module = module

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        match node:
            case ast.If():
                node.body = self._marked(node.body, node.lineno, 0)
                node.orelse = self._marked(node.orelse, node.lineno, 1)
            case ast.For() | ast.While() | ast.ExceptHandler():
                node.body = self._marked(node.body, node.lineno, 0)
            case ast.match_case():
                node.body = self._marked(node.body, node.body[0].lineno, 0)
            case ast.FunctionDef():
                # The docstring stays first.
                first = 0 if ast.get_docstring(node, clean=False) is None else 1
                node.body = [*node.body[:first], *self._marked(node.body[first:], node.lineno, 0)]
        return node

    def _marked(self, body: list[ast.stmt], line: int, arm: int) -> list[ast.stmt]:
        mark = ast.parse(f"{VARIABLE}[{len(NAMES)}] = 1").body[0]
        NAMES.append(f"{self.module}:{line}.{arm}")
        for part in ast.walk(mark):
            if "lineno" in part._attributes:
                part.lineno = part.end_lineno = line  # type: ignore[attr-defined]
        return [mark, *body]

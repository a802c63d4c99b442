"""Files are opened by `reading.py` and `writing.py` alone, which bound what is read and replace a file whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.counts import SOURCE

OPENING = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "fdopen", "tofile"),
    *("TemporaryFile", "NamedTemporaryFile", "SpooledTemporaryFile", "mkstemp", "symlink_to", "hardlink_to"),
}
"""Functions and methods that open or make files, whatever they belong to."""
OPENING_OF = {
    "numpy": {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "save", "savetxt", "savez"}
    | {"savez_compressed"},
    "os": {"rename", "renames", "replace", "link", "symlink", "truncate", "mkfifo", "mknod"},
    "xml.etree.ElementTree": {"parse", "iterparse"},
    "json": {"load", "loads"},
}
"""The same of these modules."""
MAY_BE_CALLED = {
    "gzip": {"compress"},
    "shutil": {"which", "rmtree"},
    **{name: set() for name in ("zlib", "bz2", "lzma", "tarfile", "zipfile", "pickle", "tomllib")},
}
"""All else of these modules reads without bounds, or copies and moves files."""
_FORMATS = (
    "csv|json|parquet|feather|orc|pickle|hdf|excel|stata|xml|table|fwf|html|svg|png|pdf|ps|eps|jpg|tif|figure"
)
TAKING = re.compile(rf"(read|to|print)_({_FORMATS})|savefig")
"""Methods that take a path, or what is open already."""
MOVING = {"rename", "replace"}
"""Methods of paths; of texts and tables they take more than one argument, or named ones."""
MAY_OPEN = {
    "reading.py": "the reader",
    "writing.py": "the writer",
    "runner/remembered.py": "bytes of the cache, which it has checked",
    "runner/supervisor.py": "a process of its own, which imports nothing of ours",
    "terminal/signals.py": "sends what a closed pipe does not take to /dev/null",
}


def _imported(nodes: list[ast.AST]) -> dict[str, str]:
    """What the names that a module imports stand for: `np` for numpy, `copy` for shutil.copy; its own classes."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            # `import a.b` makes the name a.
            found |= {one.asname or one.name.partition(".")[0]: one.name for one in node.names if one.asname}
        elif isinstance(node, ast.ImportFrom):
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.ClassDef):
            found[node.name] = f"hockney.{node.name}"
    return found


def _written(node: ast.expr) -> str:
    """As `ast.unparse`, which takes long for the names that most calls are of."""
    if isinstance(node, ast.Attribute):
        return f"{_written(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def _called(node: ast.Call, imported: dict[str, str]) -> str:
    """The full name of what is called."""
    first, dot, rest = _written(node.func).partition(".")
    return imported.get(first, first) + dot + rest


def _is_open(node: ast.expr, imported: dict[str, str]) -> bool:
    """Whether an expression makes a buffer in memory, or opens a file by the writer."""
    name = _called(node, imported) if isinstance(node, ast.Call) else ""
    return name in ("io.BytesIO", "io.StringIO", "hockney.writing.replacing", "hockney.writing.replacing_text")


def _open_already(nodes: list[ast.AST], imported: dict[str, str]) -> set[str]:
    """Names of what is open."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_open(node.value, imported):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.withitem) and _is_open(node.context_expr, imported):
            found |= {node.optional_vars.id} if isinstance(node.optional_vars, ast.Name) else set()
    return found


def _opens(text: str) -> Iterator[str]:
    """Calls of a module that open, make or move a file, or unpack or parse one without bounds."""
    nodes = list(ast.walk(ast.parse(text)))
    imported = _imported(nodes)
    open_already = _open_already(nodes, imported)
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        called = _called(node, imported)
        owner, _, name = called.rpartition(".")
        if re.fullmatch(r"hockney\.[\w.]+|pydantic_core\.to_json", called):
            continue
        target = [
            *node.args,
            *(one.value for one in node.keywords if one.arg in ("path", "path_or_buf", "fname")),
        ][:1]
        given = [
            one
            for one in target
            if not _is_open(one, imported) and not (isinstance(one, ast.Name) and one.id in open_already)
        ]
        if (
            name in OPENING
            or name in OPENING_OF.get(owner, ())
            or (owner in MAY_BE_CALLED and name not in MAY_BE_CALLED[owner])
            or (owner and TAKING.fullmatch(name) and given)
            or (owner and name in MOVING and len(node.args) == 1 and not node.keywords)
        ):
            yield f"{node.lineno}: {ast.unparse(node.func)}"


def test_files_are_opened_by_the_reader_and_the_writer_alone() -> None:
    opens = {
        str(path.relative_to(SOURCE)): list(_opens(path.read_text(encoding="utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert opens.keys() >= MAY_OPEN.keys()
    assert {name: calls for name, calls in opens.items() if calls and name not in MAY_OPEN} == {}
    # The rule sees the ones that may.
    assert all(opens[name] for name in MAY_OPEN)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "open(path)",
            "path.read_text()",
            "os.fdopen(1)",
            "tempfile.NamedTemporaryFile()",
            "array.tofile(path)",
        ),
        *(
            "pd.read_csv(path)",
            "pd.read_parquet(path)",
            "pandas.read_json(path)",
            "table.load(path).to_csv(path)",
        ),
        *("frame.to_csv(path, index=False)", "frame.to_json(path_or_buf=path)", "frame.to_parquet(path)"),
        *("np.load(path)", "np.save(path, x)", "np.savez(path, x=x)", "from numpy import loadtxt; loadtxt(path)"),
        *("figure.savefig(path)", "canvas.print_png(path)", "ElementTree.parse(path)", "json.load(file)"),
        *("shutil.copy(path, there)", "from shutil import copytree as c; c(path, there)", "shutil.move(a, b)"),
        *("path.rename(there)", "path.replace(there)", "os.replace(path, there)", "path.hardlink_to(there)"),
        *("gzip.decompress(data)", "from zlib import decompress; decompress(data)", "tarfile.open(path)"),
    ],
)
def test_a_call_that_opens_a_file_is_seen(line: str) -> None:
    imports = (
        "import numpy as np, pandas as pd\nfrom hockney.records import table\nfrom xml.etree import ElementTree\n"
    )
    assert list(_opens(imports + line))


@pytest.mark.parametrize(
    "line",
    [
        *("pd.read_csv(io.BytesIO(data))", "rows.to_csv(index=False)", "frame.rename(columns=names)"),
        *("text.replace('a', 'b')", "array.copy()", "replace(entry, low=1)", "copy(entry)", "shutil.which(name)"),
        "buffer = io.BytesIO()\ncanvas.print_svg(buffer)",
        "from hockney import writing\nwith writing.replacing(path) as file:\n    frame.to_parquet(file)",
        "from hockney.records.folder import Campaign\nCampaign.open(path)",
    ],
)
def test_a_call_that_opens_none_is_not(line: str) -> None:
    assert not list(_opens(line))

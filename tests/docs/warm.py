"""`hockney` from a process that has imported everything, which takes seconds, and a page has a dozen calls.

    python -m tests.docs.warm SOCKET

answers each connection by a child of its own, which has the caller's words, folder, environment and descriptors.
`program` writes the `hockney` that calls it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

PROGRAM = """#!{python} -SI
import json, os, socket, sys
there = socket.socket(socket.AF_UNIX)
there.connect({path!r})
words = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(there, [len(words).to_bytes(8)], [0, 1, 2])
there.sendall(words)
said = there.recv(8)
sys.exit(int.from_bytes(said) if said else 99)
"""
"""99: the child that ran it was killed."""
BROKEN = 70
"""The code of a program with an error of its own, which no page may take for an answer (sysexits.h)."""


def program(path: Path, there: Path) -> None:
    """An executable that has its words run by the process that listens there."""
    path.write_text(PROGRAM.format(python=sys.executable, path=str(there)), encoding="utf-8")
    path.chmod(0o755)


def load_everything() -> None:
    """Import every module, and with them the libraries that verbs load when they work."""
    import hockney

    for module in pkgutil.walk_packages(hockney.__path__, "hockney."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def serve(path: str) -> None:
    """Answer until somebody ends it."""
    load_everything()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork():
                connection.close()
                _reap()
            else:
                listener.close()
                code = _answer(connection)
                connection.sendall(code.to_bytes(8))
                os._exit(0)


def _reap() -> None:
    """Wait for the children that have ended, whose time then counts as this process's."""
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def _answer(connection: socket.socket) -> int:
    size, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    words = b""
    while len(words) < int.from_bytes(size):
        words += connection.recv(1 << 16)
    sys.argv, folder, environment = json.loads(words)
    for to, descriptor in enumerate(descriptors):
        os.dup2(descriptor, to)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    from hockney.cli import main

    return code_of(main)


def code_of(main: Callable[[], None]) -> int:
    """The exit code of a program."""
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except Exception:  # noqa: BLE001 - what no user should see is shown, and ends the page
        traceback.print_exc()
        code = BROKEN
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    serve(sys.argv[1])

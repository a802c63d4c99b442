"""File systems of a test's own, small or read-only: root's alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.capabilities import lacking


@contextmanager
def file_system(folder: Path, options: str) -> Iterator[Path]:
    """Mount an empty one with these options (`size=1m`) on a new folder; skips where that cannot be done."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip(lacking("a root that may mount", "this user is not root, or has no mount"))
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip(lacking("a root that may mount", "mount is refused"))
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def remount(folder: Path, options: str) -> None:
    """Change the options of one that is mounted."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True, capture_output=True)

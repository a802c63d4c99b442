"""The archive of the sources becomes a wheel that works elsewhere, in an environment with nothing else in it."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from scikit_build_core.build import build_sdist

ROOT = Path(__file__).parents[2]


def run(*words: object, cwd: Path) -> str:
    """What a command prints that succeeds."""
    argv = [str(word) for word in words]
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
def test_a_wheel_of_the_archive_works_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    archive = tmp_path / build_sdist(str(tmp_path))
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, archive, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "there", with_pip=True)
    python = tmp_path / "there" / "bin" / "python"
    run(python, *pip, "install", wheel, cwd=tmp_path)
    said = run(python, ROOT / "packaging" / "check_wheel", cwd=tmp_path)
    assert [line.split()[1].rstrip(":") for line in said.splitlines()] == [
        "--version",
        "doctor",
        "import",
        "fit",
        "predict",
        "report",
        "simulate",
    ]

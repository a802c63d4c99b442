"""A terminal without UTF-8 shows what it can; JSON stays what it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MACHINE = Path(__file__).parents[2] / "machines" / "ci_2core.json"


def said(encoding: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "hockney", *words],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_units_stay_readable(encoding: str) -> None:
    text = said(encoding, "show", str(MACHINE), "--operation", "pingpong")
    assert "us" in text if encoding == "ascii" else "µs" in text
    assert "?" not in text


def test_json_is_the_same_in_every_encoding(tmp_path: Path) -> None:
    named = tmp_path / "µ.json"
    named.write_bytes(MACHINE.read_bytes())
    answers = [json.loads(said(encoding, "show", str(named), "--json")) for encoding in ("ascii", "utf-8")]
    assert answers[0] == answers[1]
    assert answers[0]["machine"].endswith("µ.json")


def test_nothing_is_escaped_in_the_c_locale() -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "PYTHONIO"))}
    env |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    seen = []
    for words in (["--operation", "pingpong"], ["--operation", "pingpöng"]):
        command = [sys.executable, "-m", "hockney", "show", str(MACHINE), *words]
        done = subprocess.run(command, env=env, capture_output=True, check=False)
        assert b"\\" not in done.stdout + done.stderr
        seen.append((done.returncode, done.stdout if done.returncode == 0 else done.stderr))
    (shown, text), (refused, said) = seen
    assert (shown, refused) == (0, 2)
    assert b" us" in text
    assert b"pingpo" in said

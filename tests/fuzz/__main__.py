"""`make fuzz`: every parser gets changed inputs for FUZZ_MINUTES (30), on two processes.

The table says how many inputs each parser got, how many passed its first check, to how many of those a command
was put, and how many branches of hockney's modules they took. A failure becomes a file in `corpus/`, which the
tests replay; the exit code is 1 then. FUZZ_SEED repeats a run: each parser gets the same inputs, as far as the
time goes.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.fuzz import branches

PROCESSES = 2


def main() -> int:
    """Start the processes and print the table; arguments are names of parsers, by default all."""
    minutes = float(os.environ.get("FUZZ_MINUTES", "30"))
    seed = os.environ.get("FUZZ_SEED") or secrets.token_hex(4)
    print(f"fuzzing for {minutes:g} minutes; FUZZ_SEED={seed} repeats it", flush=True)
    # Files in memory, where there are such: a disk takes longer than the parsers.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="hockney-fuzz-", dir=memory) as name:
        folders = [Path(name, str(number)) for number in range(PROCESSES)]
        for folder in folders:
            folder.mkdir()
        # The order of sets must not differ between runs of one seed.
        environment = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.fuzz"]
        processes = [
            subprocess.Popen(
                [*command, "--process", f"{seed}-{folder.name}", f"{60 * minutes}", str(folder), *sys.argv[1:]],
                env=environment,
            )
            for folder in folders
        ]
        codes = [process.wait() for process in processes]
        files = [folder / "counts.json" for folder in folders]
        counts = [json.loads(file.read_text()) for file in files if file.is_file()]
        for folder, code in zip(folders, codes, strict=True):
            if code:
                print(f"a process ended with {code}; {_kept(folder / 'present')}")
    failed = table(counts)
    return int(failed or any(codes))


def _kept(present: Path) -> str:
    """What became of the input that a process had when it was killed: a file of the corpus."""
    if not present.is_file() or not (data := present.read_bytes()):
        return "it had no input yet"
    # Not above: the processes mark branches before hockney is imported.
    from tests.fuzz.parser import keep

    name, _, corpus_file = data.partition(b"\n")
    return f"the input that it had is {keep(name.decode(), corpus_file)}"


def table(counts: list[dict[str, Any]]) -> bool:
    """Print what all processes did; whether an input failed."""
    print(
        f"{'parser':12} {'inputs':>9} {'accepted':>15} {'used':>8} {'branches':>9} {'failures':>9} {'ms each':>8}"
    )
    rows = {
        name: [count[name] for count in counts if name in count]
        for name in sorted({n for c in counts for n in c})
    }
    failed = False
    for name, parts in [*rows.items(), ("all", [part for of_parser in rows.values() for part in of_parser])]:
        inputs, accepted, used = (sum(part[key] for part in parts) for key in ("inputs", "accepted", "used"))
        taken = {branch for part in parts for branch in part["branches"]}
        failures = {place: file for part in parts for place, file in part["failures"].items()}
        each_ms = 1e3 * sum(part["cpu_s"] for part in parts) / max(1, inputs)
        share = f"{accepted:,} ({accepted / max(1, inputs):.0%})"
        print(f"{name:12} {inputs:9,} {share:>15} {used:8,} {len(taken):9,} {len(failures):9,} {each_ms:8.2f}")
        if name != "all":
            for place, file in failures.items():
                print(f"    {place}: tests/fuzz/corpus/{name}/{file}")
        failed = failed or bool(failures)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--process"]:
        branches.install()
        from tests.fuzz.work import fuzz

        fuzz(sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]), sys.argv[5:])
    else:
        sys.exit(main())

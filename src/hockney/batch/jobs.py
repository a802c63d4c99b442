"""Jobs of a folder: their scripts in `jobs/`, what was submitted, and what the batch system says of it.

    jobs/NAME.sh           the script of a job
    jobs/submitted.jsonl   one line for each job that was submitted: script, batch system, id, time
    jobs/NAME-ID.out       what a job printed; under PBS, as PBS names it: NAME.oNUMBER

Only whoever submits writes `submitted.jsonl`; a job never does.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from hockney import reading, writing
from hockney.batch.base import COMMAND_LIMIT_S, State, batch_systems, file_name
from hockney.batch.site import Site
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.folder import JOBS
from hockney.runner.probe import last_complaint

SUBMITTED = "submitted.jsonl"


class Job(BaseModel):
    """One job: its script's name, what it is given, and the command that it runs."""

    name: Annotated[str, AfterValidator(file_name)]
    what: str
    nodes: int = Field(ge=1)
    per_node: int = Field(ge=1, description="ranks on each node")
    command: list[str]


class Submitted(BaseModel):
    """A line of `submitted.jsonl`."""

    model_config = ConfigDict(extra="ignore")

    name: str
    script: str
    system: str
    job: str
    time: str


def script(job: Job, system: str, site: Site, folder: Path) -> str:
    """The text of a job's script; `folder` is where its output goes."""
    templates = Environment(
        loader=PackageLoader("hockney.batch", "systems"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,
    )
    templates.filters["quoted"] = shlex.quote
    if not str(folder).isprintable() or any(character in str(folder) for character in " \"'%\\"):
        raise RequestError(
            f"a job's output cannot go to {str(folder)!r}: batch systems read blanks, quotes and % in that path",
            "choose a folder without them",
        )
    return templates.get_template(f"{system}.sh.j2").render(
        **job.model_dump(exclude={"command"}),
        command=shlex.join(job.command),
        time=batch_systems.get(system).time(site.walltime_s),
        site=site,
        folder=str(folder),
        here=str(Path.cwd()),
    )


def write(jobs: Sequence[Job], system: str, site: Site, folder: Path) -> list[Path]:
    """Write the scripts of jobs below the folder of their campaign or study; their paths."""
    place = (folder / JOBS).absolute()
    texts = [script(job, system, site, place) for job in jobs]
    writing.make_folder(place)
    paths = [place / f"{job.name}.sh" for job in jobs]
    for path, text in zip(paths, texts, strict=True):
        writing.replace(path, text)
        path.chmod(0o755)
    return paths


def here() -> list[str]:
    """How this program is called in a job, from wherever it runs."""
    beside = Path(sys.executable).with_name("hockney")
    return [str(beside)] if os.access(beside, os.X_OK) else [sys.executable, "-m", "hockney"]


def command_of(system: str, path: Path, after: str = "") -> str:
    """How a person submits a script."""
    unit = batch_systems.get(system)
    return shlex.join(_words(system, after)) + (" < " if unit.reads_input else " ") + shlex.quote(str(path))


def _words(system: str, after: str) -> list[str]:
    unit = batch_systems.get(system)
    return [*unit.submit, *(word.format(job=after) for word in unit.after if after)]


def submit(path: Path, name: str, system: str, folder: Path, after: str = "") -> Submitted:
    """Submit a script, to run once the job `after` has ended, and write down its id.

    EnvironmentLack where the batch system is not here, RequestError where it refuses the job: in its own words.
    """
    unit = batch_systems.get(system)
    words = [*_words(system, after), *([] if unit.reads_input else [str(path)])]
    try:
        done = subprocess.run(
            words,
            input=reading.text(path) if unit.reads_input else None,
            stdin=None if unit.reads_input else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT_S,
            # Not what this process was told alone.
            env=dict(os.environ),
            check=False,
        )
    except FileNotFoundError:
        raise EnvironmentLack(
            f"there is no {words[0]} here; {path} is written",
            f"on a host of the batch system: `{command_of(system, path)}`",
        ) from None
    except subprocess.TimeoutExpired:
        raise EnvironmentLack(
            f"{words[0]} did not answer in {COMMAND_LIMIT_S:.0f} s; {path} is written",
            f"see whether the job is there, else `{command_of(system, path)}`",
        ) from None
    found = unit.job_id.search(done.stdout)
    if done.returncode != 0 or found is None:
        why = last_complaint(done.stderr) or last_complaint(done.stdout) or f"exit code {done.returncode}"
        raise RequestError(
            f"{words[0]} refused the job {name}: {why}",
            f"{path} is written and nothing else was changed; mend the site file or --site",
        )
    submitted = Submitted(
        name=name,
        script=str(path),
        system=system,
        job=found[1],
        time=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    writing.append(folder / JOBS / SUBMITTED, [json.dumps(submitted.model_dump(), ensure_ascii=False)])
    return submitted


def submitted(folder: Path) -> list[Submitted]:
    """What was submitted for a folder, oldest first; a damaged line is left out."""
    found = []
    with contextlib.suppress(reading.Absent):
        for _, line in reading.lines(folder / JOBS / SUBMITTED, within=folder):
            with contextlib.suppress(ValidationError):
                found.append(Submitted.model_validate_json(line))
    return found


def states(jobs: Sequence[Submitted]) -> Mapping[str, State]:
    """What the batch systems say of jobs, by id; a job that none knows any more has ended."""
    return {job.job: batch_systems.get(job.system).state_of(job.job) for job in jobs}

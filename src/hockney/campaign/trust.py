"""Whether a campaign may be resumed without a question: its plan decides which programs run, where and how.

The plan of a campaign that this user began carries a seal, made with a key that only this user can read. A folder
may be moved; a plan that was changed, or came from somebody else, has no valid seal.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
from pathlib import Path

from hockney import reading, writing
from hockney.campaign.plan import Launching, Plan
from hockney.errors import RequestError
from hockney.records.folder import PARTS, PLAN, Campaign
from hockney.runner.find import is_in_search
from hockney.runner.launchers.base import launchers

KEY_B = 32
_RUN = ("mpi", "launcher", "ranks", "hosts", "hostfile", "platform", "variants")
"""What of a plan decides which programs run, where and with which environment."""


def seal(folder: Path, file: str = PLAN) -> None:
    """Mark the folder's plan as this user's; unmarked it stays where a key cannot be kept (a read-only home)."""
    if key := _key(make=True):
        writing.replace(_seal(folder, file), f"{_seal_of(reading.content(folder / file), key)}\n")


def is_sealed(folder: Path, file: str) -> bool:
    """Whether the seal of that file fits."""
    key = _key(make=False)
    try:
        seal_text, text = reading.content(_seal(folder, file)).strip(), reading.content(folder / file)
    except RequestError:
        return False
    return key is not None and hmac.compare_digest(seal_text, _seal_of(text, key).encode())


def _seal(folder: Path, file: str) -> Path:
    return (folder / file).with_suffix(".seal")


def doubt(folder: Path, plan: Plan, option: str = "--resume") -> str:
    """Why what `option` asks for must be allowed first, and what it would run; "" where it needs no permission.

    A plan without a seal needs none where it runs what any new campaign would: an MPI that the search finds, on
    this host, in this environment. A link in the folder could send what is written there anywhere.
    """
    places = (folder, folder / PARTS, *(folder / PARTS).glob("*"))
    if links := sorted(
        entry.name for place in places if place.is_dir() for entry in place.iterdir() if entry.is_symlink()
    ):
        return f"{folder} holds links, and {option} would write through them: {json.dumps(links)}"
    if _is_sealed(folder, plan) or is_ordinary(plan):
        return ""
    return f"{folder} is no campaign that you began on this machine; {option} would run: {in_words(plan)}"


def in_words(plan: Launching) -> str:
    """What a plan runs, where and how: as JSON, so that no text of it can draw on the terminal."""
    choices = {name: value for name, value in plan.model_dump().items() if name in _RUN and value}
    return "; ".join(f"{name} {json.dumps(value)}" for name, value in choices.items())


def is_ordinary(plan: Launching) -> bool:
    """Whether it runs what any new campaign would: an MPI that the search finds, on this host."""
    elsewhere = plan.hosts or plan.hostfile or plan.platform or plan.variants
    return not elsewhere and plan.launcher in ("", *launchers.names()) and is_in_search(plan.mpi)


def _is_sealed(folder: Path, plan: Plan) -> bool:
    """Whether the seal fits, and the plan under it is the one that would run: the file may have changed since."""
    if not is_sealed(folder, PLAN):
        return False
    return Plan.stored(Campaign(folder).plan(), folder) == plan


def _seal_of(text: bytes, key: bytes) -> str:
    return hmac.digest(key, b"hockney plan\0" + text, "sha256").hex()


def _key(*, make: bool) -> bytes | None:
    """This user's key, made where there is none; None where it cannot be kept, or others may read it."""
    path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "hockney", "seal.key")
    try:
        if make:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                # Of two first campaigns at once one makes the key, and both take it.
                writing.make_private(path, secrets.token_bytes(KEY_B))
        status = path.stat()
        is_private = status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        key = reading.content(path)
    except (OSError, RuntimeError, RequestError):  # no home at all is a RuntimeError
        return None
    return key if is_private and len(key) == KEY_B else None

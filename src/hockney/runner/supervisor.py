"""Run a launcher and leave nothing behind, as a process that outlives the one that starts the launch.

    python -I -S supervisor.py CONTROL_FD STATUS_FD PROGRAM ARGUMENT…

The launcher inherits standard input, output and error. Launchers start ranks in sessions of their own (`prterun`,
`hydra_pmi_proxy`), so a process group does not hold them; this process is a "child subreaper" (prctl(2)), which
makes every orphan of the launch its child: walking /proc by parent finds them all. The launch is ended when
CONTROL_FD reports end-of-file (the asker closed it, or died), or names the seconds between SIGTERM and SIGKILL.
STATUS_FD gets `started`, then the launcher's return code, or `failed REASON`.

Ranks ended by force leave their shared-memory segments in /dev/shm (MPICH 5 even after SIGTERM); those that were
made during the launch, that a rank had mapped and that no process maps afterwards are removed. The asker knows of
further ones, and where this process is killed it ends the launch itself.

The `mpirun` of Open MPI 5.0 keeps a session folder named by its process id. One that was killed leaves it, and
the next launch that is given this id ends with 213, "The PMIx server's listener thread failed to start": what
lies there from this host and user is removed before a launch and after it.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import select
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 2.0
POLL_S = 0.02
GIVE_UP_S = 10.0
SHARED_MEMORY = "/dev/shm/"


def processes() -> set[int]:
    """All process ids, from /proc."""
    return {int(entry) for entry in os.listdir("/proc") if entry.isdigit()}  # noqa: PTH208 - no pathlib: this file starts fast


def descendants(ancestor: int) -> set[int]:
    """Process ids below `ancestor`, from /proc, without zombies."""
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for pid in processes():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - see processes
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(pid)
        if fields[0] in (b"Z", b"X"):
            dead.add(pid)
    pids: set[int] = set()
    todo = [ancestor]
    while todo:
        below = children.get(todo.pop(), [])
        pids.update(below)
        todo += below
    return pids - dead


def segments(pids: set[int]) -> set[str]:
    """Files under /dev/shm that these processes have mapped."""
    paths: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            paths.update(word for line in file for word in line.split()[5:6] if word.startswith(SHARED_MEMORY))
    return paths


def segments_present() -> set[str]:
    """All files under /dev/shm: those of a later launch are not among them."""
    return set(glob.glob(f"{SHARED_MEMORY}*"))  # noqa: PTH207


def remove(paths: set[str]) -> None:
    """Remove what a launch that ended had mapped. What a living process has mapped is another program's, too."""
    left = {path for path in paths if os.path.exists(path)}  # noqa: PTH110
    for path in left - segments(processes()) if left else left:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108


def forget_session(pid: int) -> None:
    """Remove the session folder that an `mpirun` of this id left, which runs no more: PRRTE's place and name,
    with a rendezvous file of PMIx from this host, for another host's may be in use; never another user's."""
    base = next(filter(None, (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))), "/tmp")
    folder = f"{base}/ompi.{pid}"
    here = os.uname().nodename.partition(".")[0]
    if glob.glob(f"{glob.escape(f'{folder}/pmix.{here}')}.*"):  # noqa: PTH207
        import shutil  # seldom needed

        if os.lstat(folder).st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


def signal_all(number: int) -> set[int]:
    """Send a signal to everything below this process; those that were there."""
    alive = descendants(os.getpid())
    for pid in alive:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return alive


def reap() -> None:
    """Wait for adopted orphans; the launcher itself belongs to its Popen object."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def sweep(grace_s: float) -> None:
    """End everything below: SIGTERM, `grace_s` seconds, then SIGKILL until nothing is left."""
    if grace_s > 0 and signal_all(signal.SIGTERM):
        end = time.monotonic() + grace_s
        while descendants(os.getpid()) and time.monotonic() < end:
            time.sleep(POLL_S)
    end = time.monotonic() + GIVE_UP_S
    while signal_all(signal.SIGKILL) and time.monotonic() < end:
        time.sleep(POLL_S)


def stop(launcher: subprocess.Popen[bytes], grace_s: float, present: set[str]) -> None:
    """End a launch under way. The launcher first: it knows its remote ranks and cleans up its files."""
    mapped = segments(descendants(os.getpid())) - present
    with contextlib.suppress(OSError):
        launcher.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        launcher.wait(grace_s)
    sweep(0.0 if launcher.poll() is None else grace_s)
    remove(mapped)


def wait(launcher: subprocess.Popen[bytes], control: int, child_signal: int) -> float | None:
    """None when the launcher ended by itself, else the requested grace in seconds."""
    while launcher.poll() is None:
        ready, _, _ = select.select([control, child_signal], [], [])
        if control in ready:
            text = os.read(control, 64)
            return float(text) if text else GRACE_S
        os.read(child_signal, 4096)
    return None


def main() -> None:
    """Entry point of the process."""
    control, status = int(sys.argv[1]), int(sys.argv[2])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        forget_session(os.getpid())

    # A pipe instead of pidfd_open(2): kernels before 5.3 are still in service on clusters.
    child_signal, wakeup = os.pipe()
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    present = segments_present()
    try:
        launcher = subprocess.Popen(sys.argv[3:], preexec_fn=prepare)
    except OSError as error:
        os.write(status, f"failed {sys.argv[3]}: {error.strerror}\n".encode())
        return
    os.write(status, b"started\n")
    grace_s = wait(launcher, control, child_signal)
    if grace_s is None:
        # Ranks whose launcher was killed go on for a moment.
        mapped = segments(descendants(os.getpid())) - present
        sweep(GRACE_S)
        remove(mapped)
    else:
        stop(launcher, grace_s, present)
    code = launcher.wait()
    # Its id is free since it was waited for, and may be another's by now.
    if launcher.pid not in processes():
        forget_session(launcher.pid)
    reap()
    with contextlib.suppress(OSError):
        os.write(status, f"{code}\n".encode())


if __name__ == "__main__":
    main()

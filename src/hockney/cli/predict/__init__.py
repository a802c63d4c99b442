"""`hockney predict`: predict the time of a message, a collective or an application.

Verbs on applications stand in their folders.
"""

from __future__ import annotations

from hockney.terminal import group

predict = group(
    "predict",
    examples="hockney predict pingpong --machine machine.json --bytes 64KiB\n"
    "hockney predict allreduce --ranks 1048576 --machine bluegene_p\n"
    "hockney predict profile.json --ranks 4096 --machine bluegene_p",
    of_files="profile",
    of_lines="each",
    headings={
        "Messages and collectives": "message collective datatype",
        "Applications": "jacobi cg ring sum3d fft",
        "Profiles": "profile",
        "Many at once": "each",
    },
    words={
        "message": "pingpong pingping bandwidth bidirectional send_overhead receive_overhead pingpong_written "
        "pingping_late reduce_local",
        "collective": "bcast scatter gather reduce allreduce allgather reduce_scatter alltoall barrier",
    },
    places=("hockney.cli.predict",),
    told=("hockney.apps.{}.predict",),
)

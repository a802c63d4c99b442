"""`hockney predict`: the time of a message, a collective or an application that was not measured.

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
    places=("hockney.cli.predict",),
    told=("hockney.apps.{}.predict",),
)

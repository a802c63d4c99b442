"""Rank 0 hands out tasks and takes results, as pickles, with mpi4py."""

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
matrix = np.random.rand(60, 60)
world.Barrier()
if world.rank == 0:
    tasks, active, status = list(range(4000)), world.size - 1, MPI.Status()
    for worker in range(1, world.size):
        world.send((tasks.pop(), list(range(50))), worker)
    while active:
        world.recv(source=MPI.ANY_SOURCE, status=status)
        active -= not tasks
        world.send((tasks.pop(), list(range(50))) if tasks else None, status.Get_source())
else:
    while task := world.recv(source=0):
        world.send({"task": task, "result": (matrix @ matrix)[0]}, 0)

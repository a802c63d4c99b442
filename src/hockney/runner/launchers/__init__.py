"""Launchers: one file each, `mpirun` of Open MPI, Hydra's `mpiexec`, `srun`, …"""

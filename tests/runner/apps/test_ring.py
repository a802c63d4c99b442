"""The program `ring`, on every MPI."""

"""Finds an MPI, builds the C++ runner with its compiler, launches it and talks to it."""

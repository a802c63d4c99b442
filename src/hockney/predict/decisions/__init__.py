"""Decisions of MPI libraries by version: facts read in the libraries' sources."""

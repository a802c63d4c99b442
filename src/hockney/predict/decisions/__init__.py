"""What an MPI library decides by itself, by library and version: facts read in the libraries' sources."""

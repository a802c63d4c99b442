"""Models of a Jacobi solver on a three-dimensional process grid, one file each."""

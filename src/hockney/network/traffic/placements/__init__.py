"""Maps of ranks onto nodes, one file each."""

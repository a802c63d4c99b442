"""Models of collectives: one file for each operation, registered in itself."""

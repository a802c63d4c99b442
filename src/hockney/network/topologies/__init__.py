"""Networks as exact graphs, one file for each topology."""

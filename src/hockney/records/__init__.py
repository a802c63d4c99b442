"""What was measured, as it is stored and read back: every flow's contract."""

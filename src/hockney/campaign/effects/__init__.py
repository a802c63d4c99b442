"""What the runner is asked about each effect: one file for each effect, which registers itself."""

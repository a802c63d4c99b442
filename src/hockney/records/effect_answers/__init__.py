"""What the runner answers about effects, one file each."""

"""What is asked of the runner about each effect: one file each, registered in itself."""

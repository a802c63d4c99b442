"""Models of what a ping-pong hides: one file for each effect, registered in itself."""

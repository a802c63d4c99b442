"""Performance guidelines: what a library would never be slower than if its collectives agreed with each other."""

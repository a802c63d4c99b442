"""Performance guidelines: what a library would never be slower than, and what became slower or faster."""

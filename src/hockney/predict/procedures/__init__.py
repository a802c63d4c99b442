"""How tables were measured, one file for each benchmark: what is simulated to predict what it prints."""

"""Which algorithm a library takes by itself, from times alone."""

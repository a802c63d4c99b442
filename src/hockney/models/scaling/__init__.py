"""Laws of scaling, and fits of them to measured times."""

"""Laws of scaling, one file each."""

"""What lies between a constructor and a solver: the start, the search, the link, progress."""

"""Research on the library: what is measured around it and does not belong in a wheel."""

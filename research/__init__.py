"""Research on the library: what is measured beside it and does not belong into a wheel."""

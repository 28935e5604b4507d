"""One file for each table and figure of the paper, each defining ``EXHIBIT``."""

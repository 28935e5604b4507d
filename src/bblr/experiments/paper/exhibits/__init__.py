"""One file for each table and figure of the paper; each defines ``EXHIBIT``."""

"""``bblr audit``: data, job and report."""

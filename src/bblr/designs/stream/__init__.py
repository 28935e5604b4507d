"""Rows on disk, a block at a time."""

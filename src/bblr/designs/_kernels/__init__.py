"""The hot loops. Each takes a row range, so that threads can share a pass."""

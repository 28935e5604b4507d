"""Rows as torch tensors, mainly on a GPU."""

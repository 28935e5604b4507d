"""Rows as torch tensors, on a GPU above all."""

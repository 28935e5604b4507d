"""Columns of tables turned into features."""

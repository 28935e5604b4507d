"""Experiments: compare classifiers, keep every result as a record, report from the records."""

__all__: list[str] = []

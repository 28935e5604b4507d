"""Rows to fit and rows to test on."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.model_selection import train_test_split

from bblr.comparison.sources import Table

__all__ = ["Parts", "divide"]


class Parts(NamedTuple):
    """Training rows, in random order where they were drawn, and test rows."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any

    def first(self, n: int) -> Parts:
        """Return the same with the first n training rows only."""
        return self._replace(X_train=self.X_train[:n], y_train=self.y_train[:n])

    def scaled(self, scaler: Any) -> Parts:
        """Return the same with features scaled by the training part."""
        scaler.fit(self.X_train)
        X_train, X_test = scaler.transform(self.X_train), scaler.transform(self.X_test)
        return self._replace(X_train=X_train, X_test=X_test)


def divide(table: Table, test_size: float, seed: int) -> Parts:
    """Shuffle a table and hold rows out to test on: a share of them, or a number."""
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=test_size, stratify=table.y, random_state=seed
    )
    return Parts(X, y, X_test, y_test)

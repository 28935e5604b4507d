"""A fitted classifier in a few lines: what was chosen, and the coefficients that count most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.tensors import as_numpy

__all__ = ["Coefficient", "FitSummary", "chosen_settings", "joint_effects", "largest_coefficients"]

Floats = NDArray[np.float64]

# Plateaus of more classes than this are not all shown.
_MOST = 10
_BLOCK = 2**14


class Coefficient(NamedTuple):
    """A weight of a linear classifier.

    Parameters
    ----------
    place : int
        The number of the feature.
    feature : str
        Its name.
    label : object
        The class that a positive weight speaks for.
    value : float
        The weight, in the unit of the feature.
    effect : float
        The same for a standard deviation of the feature, where that is known.
    """

    place: int
    feature: str
    label: Any
    value: float
    effect: float


def largest_coefficients(
    coef: Any, classes: Any, names: Sequence[str], spread: Any = None, most: int = 10
) -> list[Coefficient]:
    """Return the weights that count most, the largest first; those of 0 do not count.

    Parameters
    ----------
    coef : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    classes : ndarray of shape (n_classes,)
        Classes.
    names : sequence of str
        Features.
    spread : ndarray of shape (n_features,), default=None
        Standard deviations of the features; None compares weights as they are.
    most : int, default=10
        How many to return at most.
    """
    coef = as_numpy(coef)
    effects = coef if spread is None else coef * as_numpy(spread)
    labels = as_numpy(classes).tolist()[-len(coef) :]
    order = np.argsort(-np.abs(effects), axis=None, kind="stable")[:most]
    places = zip(*np.unravel_index(order, coef.shape), strict=True)
    return [
        Coefficient(int(j), names[j], labels[k], float(coef[k, j]), float(effects[k, j]))
        for k, j in places
        if effects[k, j] != 0.0
    ]


def joint_effects(effects: Any, counts: Mapping[int, int]) -> Floats:
    """Return effects with those of some features together, which mean nothing one by one.

    Features of a text are nearly uncorrelated, so that their effects add up as squares do.

    Parameters
    ----------
    effects : ndarray of shape (n_rows, n_features)
        Weights for a standard deviation of each feature.
    counts : mapping of int to int
        First features, and how many belong together from there on; the others become 0.
    """
    effects = np.array(as_numpy(effects), dtype=np.float64)
    for start, count in counts.items():
        part = effects[:, start : start + count]
        together = np.sqrt((part**2).sum(axis=1))
        part[:] = 0.0
        part[:, 0] = together
    return effects


def chosen_settings(model: Any) -> dict[str, str]:
    """Return what a fit chose or was given, by name, in words.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    """
    found = {}
    penalty = getattr(model, "l2_", getattr(model, "l2", None))
    if penalty is not None and not isinstance(penalty, str):
        found["l2"] = f"{penalty:g}"
    prior = getattr(model, "prior_", None)
    if prior is not None:
        # Of two classes those of the positive one; of more, from the least to the largest.
        lows = np.array(prior.low[1:] if len(prior.low) == 2 else prior.low)
        found["plateaus"] = f"{_range(lows)} and {_range(lows + prior.b)}"
    for name in ("gamma_", "leverage_", "kernel_gamma_"):
        value = getattr(model, name, None)
        if value is not None:
            found[name.strip("_").replace("_", " ")] = f"{value:.4g}"
    if hasattr(model, "support_"):
        found["support vectors"] = f"{len(model.support_):,}"
    if hasattr(model, "lower_bound_"):
        proof = ", the least there can be" if model.optimal_ else ""
        found["loss"] = f"{model.zero_one_loss_:g}, at least {model.lower_bound_:g}{proof}"
    return found


def _range(values: Floats) -> str:
    """Return the least and the largest value to three digits, or one where these agree."""
    ends = dict.fromkeys(f"{value:.3g}" for value in (values.min(), values.max()))
    return " to ".join(ends)


class FitSummary:
    """What ``summary()`` of a fitted classifier returns: text, and a table in a notebook.

    Parameters
    ----------
    title : str
        The classifier, its features and classes.
    settings : dict of str to str
        What was chosen or given.
    coefficients : list of Coefficient
        The weights that count most; empty where there are none.
    by_spread : bool
        Whether they are compared by the spread of their features.
    """

    def __init__(
        self,
        title: str,
        settings: dict[str, str],
        coefficients: list[Coefficient],
        by_spread: bool,
    ) -> None:
        self.title = title
        self.settings = settings
        self.coefficients = coefficients
        self.by_spread = by_spread

    @classmethod
    def of(cls, model: Any, X: Any = None, most: int = 10) -> FitSummary:
        """Return the summary of a fitted classifier; see its ``summary``."""
        n, classes = model.n_features_in_, as_numpy(model.classes_).tolist()
        shown = ", ".join(map(str, classes[:_MOST])) + (", …" if classes[_MOST:] else "")
        title = f"{type(model).__name__}: {n:,} features, classes {shown}"
        settings = chosen_settings(model)
        if hasattr(model, "n_iter_"):
            settings["iterations"] = f"{int(np.max(model.n_iter_)):,}"
        if not hasattr(model, "coef_"):
            return cls(title, settings, [], False)
        names = getattr(model, "feature_names_in_", None)
        names = [f"x{j}" for j in range(n)] if names is None else list(names)
        spread = None if X is None else spreads(X)
        found = largest_coefficients(model.coef_, model.classes_, names, spread, most)
        return cls(title, settings, found, X is not None)

    def _rows(self) -> list[tuple[str, ...]]:
        head = ("feature", "towards", "coefficient")
        rows: list[tuple[str, ...]] = []
        for each in self.coefficients:
            row: tuple[str, ...] = (each.feature, str(each.label), f"{each.value:+.4g}")
            rows.append((*row, f"{each.effect:+.4g}") if self.by_spread else row)
        return [(*head, "per standard deviation") if self.by_spread else head, *rows]

    def __repr__(self) -> str:
        lines = [self.title]
        lines += [f"  {name}: {value}" for name, value in self.settings.items()]
        if self.coefficients:
            rows = self._rows()
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        settings = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.settings.items()
        )
        head, *rows = self._rows() if self.coefficients else [()]
        cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        weights = f"<table><tr>{cells}</tr>{body}</table>" if rows else ""
        return f"<p>{escape(self.title)}</p><table>{settings}</table>{weights}"


def spreads(X: Any) -> Floats:
    """Return the standard deviation of each column of rows in memory, sparse ones too."""
    if hasattr(X, "toarray"):
        from sklearn.preprocessing import StandardScaler

        return np.sqrt(StandardScaler(with_mean=False).fit(X).var_)
    rows = X.to_numpy() if hasattr(X, "to_numpy") else as_numpy(X)
    mean, total = rows.mean(axis=0), np.zeros(rows.shape[1])
    # In blocks: a second table of the size of the first may not fit.
    for start in range(0, len(rows), _BLOCK):
        total += ((rows[start : start + _BLOCK] - mean) ** 2).sum(axis=0)
    return np.sqrt(total / len(rows))

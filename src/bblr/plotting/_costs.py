"""The loss of an example under a fitted estimator, by class and margin."""

from __future__ import annotations

from typing import Any

import numpy as np

from bblr.losses import BetaBernoulli
from bblr.plotting._arguments import Floats
from bblr.training.link import Link, Step

# Points of a curve, and its half-width in units of 1 / gamma.
POINTS, _REACH = 801, 8.0
# Factor by which examples may widen the curve; those farther out are drawn at its ends.
_STRETCH = 3.0


class Costs:
    """The loss behind a link, by class and margin."""

    def __init__(self, link: Link | Step, classes: Any) -> None:
        self.classes = classes
        self.many = len(classes) > 2
        self.step = isinstance(link, Step)
        gamma = 1.0 if isinstance(link, Step) else link.gamma
        self.loss = BetaBernoulli(link.plateaus, gamma)

    def curves(self, margins: Floats) -> dict[str, Floats]:
        """Return the loss of each class, or one curve if they are equal."""
        if self.loss.plateaus.is_symmetric:
            return {"": self._curve(0, margins)}
        return {f"class {label}": self._curve(k, margins) for k, label in enumerate(self.classes)}

    def _curve(self, k: int, margins: Floats) -> Floats:
        if self.many:
            raw = np.zeros((len(margins), len(self.classes)))
            raw[:, k] = margins
            return np.asarray(self.loss.value(np.full(len(margins), k), raw))
        return self._two(np.full(len(margins), 2 * k - 1), margins)

    def _two(self, t: Floats, margins: Floats) -> Floats:
        if self.step:
            # A score of exactly 0 is an error.
            return np.asarray(self.loss.limit(t, t * np.where(margins > 0, 1.0, -1.0)))
        return np.asarray(self.loss.value(t, t * margins + self.loss.threshold))

    def examples(self, decision: Floats, y: Any) -> tuple[Floats, Floats]:
        """Return the margin and the loss of each example."""
        column = self._columns(y, len(decision))
        if not self.many:
            t = 2.0 * column - 1.0
            return t * decision, self._two(t, t * decision)
        rows = np.arange(len(y))
        others = np.array(decision, dtype=np.float64)
        others[rows, column] = -np.inf
        margins = decision[rows, column] - others.max(axis=1)
        return margins, np.asarray(self.loss.value(column, decision))

    def _columns(self, y: Any, n_rows: int) -> Any:
        said = ", ".join(map(str, self.classes[:10])) + (", ..." if len(self.classes) > 10 else "")
        if np.shape(y) != (n_rows,):
            raise ValueError(
                f"y must hold a class of the estimator for each row of X, {n_rows} of {said}; got "
                f"shape {np.shape(y)}."
            )
        known = {label: k for k, label in enumerate(self.classes.tolist())}
        found = [known.get(label) for label in y.tolist()]
        if None in found:
            raise ValueError(
                f"y must hold a class of the estimator for each row of X; "
                f"{y.tolist()[found.index(None)]!r:.60} is none of {said}."
            )
        return np.array(found, dtype=np.intp)

    def margins(self, examples: Floats | None) -> Floats:
        """Return margins around 0 that show the slope, and the examples where they are near."""
        reach = 1.0
        if not self.step:
            shift = 0.0 if self.many else abs(self.loss.threshold)
            reach = _REACH / self.loss.gamma + shift
        widest = reach
        if examples is not None:
            widest = min(max(reach, float(np.abs(examples).max())), _STRETCH * reach)
        return np.linspace(-widest, widest, POINTS)

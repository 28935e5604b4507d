"""The data and the model that a case stands for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bblr
from tests.fuzz import layouts
from tests.fuzz.cases import Case, make_codes, make_labels, make_table, make_weights
from tests.fuzz.strategies import BASE

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Data:
    """What a case stands for, made anew at each look so that nobody can have changed it."""

    case: Case

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        return make_codes(self.case, np.random.default_rng(self.case.seed))

    @cached_property
    def table(self) -> Floats:
        """The numbers of X, rounded as its layout rounds them."""
        table = make_table(self.case, self.codes, np.random.default_rng(self.case.seed + 1))
        if dict(self.case.params).get("kernel") == "precomputed":
            with np.errstate(all="ignore"):
                table = table @ table.T
        return layouts.rounded(self.case.layout, table)

    def laid_out(self, table: Floats) -> Any:
        rng = np.random.default_rng(self.case.seed + 2)
        return layouts.laid_out(self.case.layout, table, rng)

    @property
    def X(self) -> Any:
        return self.laid_out(self.table)

    @property
    def y(self) -> Any:
        return layouts.beside(self.case.layout, make_labels(self.case, self.codes))

    @property
    def weight(self) -> Any:
        weight = make_weights(self.case, np.random.default_rng(self.case.seed + 3))
        return layouts.beside(self.case.layout, weight)

    @property
    def weights_of_rows(self) -> Floats:
        """The weight of each row, 1 where none are given."""
        weight = self.weight
        return np.broadcast_to(
            np.asarray(1.0 if weight is None else weight, dtype=np.float64), self.case.n
        )


def make_model(case: Case, **more: Any) -> Any:
    """Return the estimator of a case, not yet fitted."""
    known = getattr(bblr, case.estimator.split(" ")[0])
    params = {**BASE[case.estimator], **dict(case.params), **more}
    if "random_state" in known().get_params():
        params.setdefault("random_state", 0)
    return known(**params)

"""The experiment behind the settings of label audits, on data other than those of the claim.

Run ``python -m bblr.experiments.audit_choice``; it flips a tenth of the labels of three sets of
scikit-learn and of five made-up ones and prints the mean precision at the number of flips.
``docs/audit.md`` discusses its output.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.model_selection import RepeatedStratifiedKFold

from bblr.audit import find_label_errors
from bblr.estimators import BBLRClassifier
from bblr.evaluation import add_noise
from bblr.experiments.bars import Unavailable
from bblr.experiments.claims.audit import FLIPS, rival_ranking

__all__ = ["GAMMAS", "SETS", "main", "precisions"]

GAMMAS = (1, 2, 4, 8)
Draw = Callable[[np.random.Generator, tuple[int, int]], Any]


def _made_up(n: int, n_features: int, shares: tuple[float, ...], draw: Draw) -> tuple[Any, Any]:
    """Return classes around centres of their own, with noise as drawn."""
    rng = np.random.default_rng(0)
    y = rng.choice(len(shares), size=n, p=shares)
    return rng.normal(size=(len(shares), n_features))[y] + draw(rng, (n, n_features)), y


def _gaussian(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    return rng.normal(size=shape)


SETS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast_cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "gaussian": lambda: _made_up(600, 8, (0.5, 0.5), _gaussian),
    "heavy-tailed": lambda: _made_up(
        600, 8, (0.5, 0.5), lambda rng, shape: 0.7 * rng.standard_t(2, shape)
    ),
    "log-normal": lambda: _made_up(
        600, 8, (0.5, 0.5), lambda rng, shape: rng.lognormal(size=shape)
    ),
    "unequal": lambda: _made_up(600, 8, (0.8, 0.2), _gaussian),
    "five": lambda: _made_up(1500, 8, (0.2,) * 5, _gaussian),
}


def precisions(name: str, seed: int) -> dict[str, float]:
    """Return the share of flips among as many rows at the top of each ranking."""
    X, y, flipped = add_noise(
        *SETS[name](), protocol="label-flip", fraction=FLIPS, random_state=seed, return_index=True
    )
    thrice = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=seed)
    rankings = {"cleanlab, logistic regression": rival_ranking(X, y, seed, 1).ranking}
    for gamma, (divisions, cv) in product(GAMMAS, (("default", 5), ("three divisions", thrice))):
        found = find_label_errors(BBLRClassifier(gamma_max=gamma), X, y, cv=cv, random_state=seed)
        rankings[f"gamma up to {gamma}, {divisions}"] = found.ranking
    k = len(flipped)
    return {
        label: float(np.isin(rank[:k], flipped).mean()) for label, rank in rankings.items()
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--data", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args(arguments)
    cells = list(product(options.data, range(options.draws)))
    try:
        results = Parallel(n_jobs=options.jobs)(delayed(precisions)(*cell) for cell in cells)
    except Unavailable as error:
        parser.exit(2, f"Error: {error}\n")
    print("mean precision at the number of flips")
    for label in results[0]:
        print(f"{label:32s}{np.mean([found[label] for found in results]):8.3f}")


if __name__ == "__main__":
    main()

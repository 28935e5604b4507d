"""The experiment behind the defaults of BBLRClassifier: no tuning, one setting for all data.

Run ``python -m bblr.experiments.default_choice``; it prints the mean test error of every setting
over repeated five-fold cross-validation of the embedded sets, or of files of yours, clean and with
noise in the training folds. ``docs/defaults.md`` discusses its output.
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bblr
from bblr.evaluation import add_noise
from bblr.experiments.sources import EMBEDDED, load_table

__all__ = ["CONDITIONS", "errors_of_repeat", "main", "settings"]

CONDITIONS = ("clean", "uniform-one-class", "uniform-random", "label-flip")
LOWER_PLATEAUS = (1 / 102, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
SCHEDULES = ((1.0, 1.0), (1.0, 2.0), (1.0, 4.0), (1.0, 8.0), (3.0, 4.0), (3.0, 8.0), (10.0, 8.0))


def settings(leverage: float | None = None) -> dict[str, Any]:
    """Return the classifiers to compare, by label."""
    found: dict[str, Any] = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    }
    for a, (l2, gamma_max) in product(LOWER_PLATEAUS, SCHEDULES):
        label = f"a={a:.3g} l2={l2:g} gamma<={gamma_max:g}"
        prior = bblr.BetaPrior(a, 1 - 2 * a)
        found[label] = bblr.BBLRClassifier(
            prior, l2=l2, gamma_max=gamma_max, leverage=leverage
        )
    return found


def errors_of_repeat(
    name: str, condition: str, repeat: int, leverage: float | None = None, fraction: float = 0.1
) -> dict[str, int]:
    """Return the test errors of every setting, summed over the five folds of one repeat."""
    table = load_table(name)
    X, y = table.X, table.y
    models = settings(leverage)
    errors = dict.fromkeys(models, 0)
    folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        X_train, y_train = X[train], y[train]
        if condition != "clean":
            seed = 1000 * repeat + fold
            X_train, y_train = add_noise(
                X_train, y_train, protocol=condition, fraction=fraction, random_state=seed
            )
        for label, model in models.items():
            model.fit(X_train, y_train)
            errors[label] += int((model.predict(X[test]) != y[test]).sum())
    return errors


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--leverage", type=float, default=None, help="bound on far-off rows")
    parser.add_argument("--data", nargs="+", default=list(EMBEDDED), help="files, class last")
    options = parser.parse_args(arguments)
    cells = list(product(options.data, CONDITIONS, range(options.repeats), [options.leverage]))
    results = Parallel(n_jobs=options.jobs)(delayed(errors_of_repeat)(*cell) for cell in cells)
    sizes = {name: len(load_table(name).y) for name in options.data}
    print(f"sum over the {len(sizes)} sets of the mean test error in per cent")
    print(f"{'setting':30s}" + "".join(f"{condition:>19s}" for condition in CONDITIONS))
    for label in settings():
        sums = dict.fromkeys(CONDITIONS, 0.0)
        for (name, condition, *_), errors in zip(cells, results, strict=True):
            sums[condition] += 100 * errors[label] / sizes[name] / options.repeats
        print(f"{label:30s}" + "".join(f"{np.round(sums[c], 2):19.2f}" for c in CONDITIONS))


if __name__ == "__main__":
    main()

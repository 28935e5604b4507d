"""Columns as our encoder makes features of them, against skrub's TableVectorizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from bblr import BBLRClassifierCV
from bblr.io.columns.table_encoder import TableEncoder
from research.claims import claim
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold
from research.studies.strangers import STRANGERS

# An id, dates, 120 cities and gaps; dates and gaps; an id, dates and free text.
TABLES = ("churn", "xlsx", "id, dates, text")
ROWS, DRAWS, FOLDS = 2_000, 5, 5


def _baseline(seed: int) -> Any:
    try:
        from skrub import TableVectorizer
    except ImportError:
        raise Unavailable("skrub is not installed (pip install skrub)") from None
    # It leaves gaps to what follows; ours marks them, so here they are marked as well.
    fill = SimpleImputer(strategy="median", add_indicator=True)
    return make_pipeline(TableVectorizer(), fill, BBLRClassifierCV(random_state=seed))


def _errors(model: Any, X: pd.DataFrame, y: np.ndarray, seed: int) -> int:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
    return sum(
        int(np.sum(model.fit(X.iloc[train], y[train]).predict(X.iloc[test]) != y[test]))
        for train, test in folds
    )


@claim(
    "encoding",
    "errors of BBLRClassifierCV on three mixed tables by our columns, less those by skrub's "
    "TableVectorizer",
    *(Threshold(f"{name}: errors in 1,000", "<=", 0.0) for name in TABLES),
)
def encoding(run: Run) -> Measured:
    """Cross-validate both encodings, made anew in each fold, on several draws of each table."""
    figures, notes, details = {}, [], {}
    draws = min(DRAWS, run.repeats)
    for name in TABLES:
        stranger, both = STRANGERS[name], []
        for draw in range(draws):
            rng = np.random.default_rng([11, run.seed, draw])
            frame = stranger.make(rng, 200 if run.quick else ROWS)
            y = frame.pop(stranger.target).to_numpy()
            search = BBLRClassifierCV(random_state=run.seed)
            ours = make_pipeline(TableEncoder(unseen="zero"), search)
            models = (ours, _baseline(run.seed))
            both.append([_errors(model, frame, y, run.seed) for model in models])
        own, other = np.sum(both, axis=0).tolist()
        rows = draws * len(y)
        figures[f"{name}: errors in 1,000"] = 1000.0 * (own - other) / rows
        notes.append(run.tell(f"{name}: {own} errors of {rows:,} by ours, {other} by skrub's"))
        details[name] = {"own": own, "skrub": other, "rows": rows}
    return Measured(figures, notes, details)

"""Columns as our encoder makes features of them, against skrub's TableVectorizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from bblr import BBLRClassifierCV
from bblr.evaluation import mcnemar
from bblr.io.columns.table_encoder import TableEncoder
from research.claims import claim
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold
from research.studies.strangers import STRANGERS

# An id, dates, 120 cities and gaps; dates and gaps; an id, dates and free text.
TABLES = ("churn", "xlsx", "id, dates, text")
ROWS, FOLDS = 2_000, 5


def _baseline(seed: int) -> Any:
    try:
        from skrub import TableVectorizer
    except ImportError:
        raise Unavailable("skrub is not installed (pip install skrub)") from None
    # It leaves gaps to what follows; ours marks them, so here they are marked as well.
    fill = SimpleImputer(strategy="median", add_indicator=True)
    return make_pipeline(TableVectorizer(), fill, BBLRClassifierCV(random_state=seed))


def _wrong(model: Any, X: pd.DataFrame, y: np.ndarray, seed: int) -> np.ndarray:
    """Return which rows are errors of a model that was fitted without them."""
    wrong = np.zeros(len(y), dtype=bool)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
        found = model.fit(X.iloc[train], y[train]).predict(X.iloc[test])
        wrong[test] = found != y[test]
    return wrong


@claim(
    "encoding",
    "errors of BBLRClassifierCV on three mixed tables by our columns, less those by skrub's "
    "TableVectorizer",
    *(Threshold(f"{name}: errors in 1,000", "<=", 0.0) for name in TABLES),
)
def encoding(run: Run) -> Measured:
    """Cross-validate both encodings, made anew in each fold, on several draws of each table."""
    figures, notes, details = {}, [], {}
    for name in TABLES:
        stranger, both = STRANGERS[name], []
        for draw in range(run.repeats):
            rng = np.random.default_rng([11, run.seed, draw])
            frame = stranger.make(rng, 200 if run.quick else ROWS)
            y = frame.pop(stranger.target).to_numpy()
            search = BBLRClassifierCV(random_state=run.seed)
            ours = make_pipeline(TableEncoder(unseen="zero"), search)
            models = (ours, _baseline(run.seed))
            both.append([_wrong(model, frame, y, run.seed) for model in models])
        ours_wrong, others_wrong = np.concatenate(both, axis=1)
        own, other, rows = int(ours_wrong.sum()), int(others_wrong.sum()), len(ours_wrong)
        p = mcnemar(np.zeros(rows), ours_wrong, others_wrong).p_value
        figures[f"{name}: errors in 1,000"] = 1000.0 * (own - other) / rows
        said = f"{own} errors of {rows:,} by ours, {other} by skrub's, McNemar p = {p:.2g}"
        notes.append(run.tell(f"{name}: {said}"))
        details[name] = {"own": own, "skrub": other, "rows": rows, "p": p}
    return Measured(figures, notes, details)

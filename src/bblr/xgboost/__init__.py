"""The Beta-Bernoulli loss for XGBoost; install with ``pip install "bblr[xgboost]"``.

`BetaBernoulliXGBClassifier` takes care of everything. With ``xgboost.train``, hand over
`objective` and `metric`, and name XGBoost's own loss and the `base_score` in the parameters: the
model keeps both, and with them the link to probabilities.

>>> import numpy as np
>>> import xgboost as xgb
>>> from bblr.xgboost import base_score, metric, objective
>>> X, y = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
>>> settings = {"objective": "binary:logistic", "base_score": base_score(y)}
>>> booster = xgb.train(settings, xgb.DMatrix(X, y), 20, obj=objective, custom_metric=metric)
>>> booster.predict(xgb.DMatrix([[10.0], [90.0]])).round(1).tolist()
[0.0, 1.0]
"""

from bblr.xgboost.for_xgboost import BetaBernoulliXGBClassifier, base_score, metric, objective

__all__ = ["BetaBernoulliXGBClassifier", "base_score", "metric", "objective"]

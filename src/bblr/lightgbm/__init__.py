"""The Beta-Bernoulli loss for LightGBM; install with ``pip install "bblr[lightgbm]"``.

`BetaBernoulliLGBMClassifier` takes care of everything. With ``lightgbm.train``, hand over
`objective` and `metric`, give every data set its `init_score`, and `complete` the booster: only
then does it hold the base score and the link to probabilities.

>>> import lightgbm as lgb
>>> import numpy as np
>>> from bblr.lightgbm import complete, init_score, metric, objective
>>> X, y = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
>>> start = init_score(y)
>>> rows = lgb.Dataset(X, y, init_score=np.repeat(start, len(y)))
>>> booster = lgb.train({"objective": objective, "verbosity": -1}, rows, feval=metric)
>>> complete(booster, start).predict([[10.0], [90.0]]).round(1)
array([0., 1.])
"""

from bblr.lightgbm.for_lightgbm import (
    BetaBernoulliLGBMClassifier,
    complete,
    init_score,
    metric,
    objective,
)

__all__ = ["BetaBernoulliLGBMClassifier", "complete", "init_score", "metric", "objective"]

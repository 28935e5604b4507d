"""What an audit of labels refuses, and in which words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
)
from sklearn.naive_bayes import GaussianNB

from bblr import (
    BBLRClassifier,
    Shards,
    find_label_errors,
)

OWN = BBLRClassifier()


X0, Y0 = np.arange(20.0).reshape(10, 2), np.arange(10) % 2


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"estimator": LinearRegression()}, TypeError, "estimator must be a classifier"),
        ({"estimator": BBLRClassifier}, TypeError, "estimator must be a classifier"),
        ({"estimator": None}, TypeError, "estimator must be a classifier"),
        ({"X": "rows/"}, TypeError, "X must be rows in memory"),
        ({"X": [[1.0], *X0[1:].tolist()]}, ValueError, "X must have rows of one length"),
        ({"X": X0[:-1]}, ValueError, "inconsistent numbers of samples"),
        ({"y": None}, ValueError, "y must hold the labels"),
        ({"y": np.zeros(10)}, ValueError, "y must hold two or more classes"),
        ({"y": np.linspace(0, 1, 10)}, ValueError, "continuous"),
        ({"y": [*Y0[:-1], np.nan]}, ValueError, "y contains NaN"),
        ({"y": np.array([*"ab" * 4, "a", None], dtype=object)}, ValueError, "y contains NaN"),
        ({"y": pd.Series([*"ab" * 4, "a", pd.NA])}, ValueError, "y contains NaN"),
        ({"y": [*Y0[:-1], 2]}, ValueError, r"y holds 2 once only.*correct that label"),
        ({"cv": 1}, ValueError, "cv must be an integer of at least 2"),
        ({"cv": True}, ValueError, "cv must be an integer of at least 2"),
        ({"cv": ShuffleSplit(1, random_state=0)}, ValueError, "hold out every row"),
        ({"cv": [(np.arange(10), np.arange(10))]}, ValueError, "rows that it holds out"),
        ({"cv": [(np.arange(12), np.arange(0))]}, ValueError, "by their numbers, 0 to 9"),
        ({"cv": [(np.arange(-10, 0), np.arange(10))]}, ValueError, r"0 to 9.*\[-10"),
        ({"cv": [(np.arange(5.0), np.arange(5.0, 10))]}, ValueError, "by their numbers"),
        ({"cv": [(X0[:, 0] > 5, X0[:9, 0] <= 5)]}, ValueError, "masks of 10 rows"),
        ({"cv": [(np.ones(10, bool), np.ones(10, bool))]}, ValueError, "rows that it holds out"),
        ({"cv": [(np.arange(10), [])]}, ValueError, "hold out every row"),
        ({"cv": [([], np.arange(10))]}, ValueError, "leave rows to train on"),
        ({"cv": GroupKFold(5)}, ValueError, r"cv=list\(GroupKFold\(.*\).split\(X, y, groups\)\)"),
        ({"cv": StratifiedGroupKFold(5)}, ValueError, r"cv=list\(StratifiedGroupKFold\("),
        ({"cv": LeaveOneGroupOut()}, ValueError, r"cv=list\(LeaveOneGroupOut\(\).split"),
        ({"sample_weight": Y0}, ValueError, "y holds 0 in no row of positive weight"),
        ({"sample_weight": Y0 + (np.arange(10) == 0)}, ValueError,
         "y holds 0 in one row of positive weight only"),
        ({"cv": [(Y0.nonzero()[0], (1 - Y0).nonzero()[0]),
                 ((1 - Y0).nonzero()[0], Y0.nonzero()[0])],
          "estimator": GaussianNB()}, ValueError, "all classes to train on"),
        ({"sample_weight": -np.ones(10)}, ValueError, "weights must be at least 0"),
        ({"sample_weight": ["a"] * 10}, ValueError, "sample_weight must hold a number for each"),
        ({"sample_weight": np.ones(10) + 1j}, ValueError, "sample_weight must hold a number"),
        ({"X": None}, TypeError, "X must hold rows, got NoneType"),
        ({"X": 5.0}, TypeError, "X must hold rows, got float"),
        ({"random_state": "a"}, ValueError, "'random_state' parameter of find_label_errors"),
        ({"in_sample": "no"}, ValueError, "'in_sample' parameter of find_label_errors"),
        ({"cv": [(1, 2, 3)]}, ValueError, "cv must name two sets of rows for each fold"),
        ({"sample_weight": np.ones(9)}, ValueError, "sample_weight"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"n_jobs": "all"}, ValueError, "'n_jobs' parameter of find_label_errors must be"),
        ({"y": [*Y0[:-1], np.inf]}, ValueError, "Input y contains infinity"),
        ({"y": np.array(["b", *Y0[1:]], dtype=object)}, ValueError, "y must hold labels of one"),
    ],
)  # fmt: skip
def test_what_is_refused(change, error, words):
    arguments = {"estimator": OWN, "X": X0, "y": Y0, "random_state": 0, **change}
    estimator, X, y = (arguments.pop(name) for name in ("estimator", "X", "y"))
    with pytest.raises(error, match=words):
        find_label_errors(estimator, X, y, **arguments)


def test_shards_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", X0)
    with pytest.raises(TypeError, match="X must be rows in memory"):
        find_label_errors(OWN, Shards(tmp_path), Y0)

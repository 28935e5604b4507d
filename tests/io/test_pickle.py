"""pickle, joblib and copies: equal predictions, small files, and versions that are told apart."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bblr
from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
    _saved,
)
from bblr.structured import JointModel
from tests.io.models import MODELS, data, fitted, groups, outputs, rows


def by_joblib(model: Any) -> Any:
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    return joblib.load(io.BytesIO(buffer.getvalue()))


WAYS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "old pickle": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "joblib": by_joblib,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(name, way):
    model = fitted(name, text=True)
    again = WAYS[way](model)
    assert vars(again).keys() == vars(model).keys()
    for before, after in zip(outputs(model, rows(name)), outputs(again, rows(name)), strict=True):
        assert np.array_equal(before, after)


def size(model: Any) -> int:
    return len(pickle.dumps(model))


BIG = np.random.default_rng(0).normal(size=(4_000, 5))
BIG_Y = (BIG[:, 0] + BIG[:, 1] ** 2 > 0.5).astype(int)
# Histories of stages and trials; they grow with neither rows nor features.
HISTORY = 12_000
SMALL: dict[str, Any] = {
    "linear": BBLRClassifier(),
    "linear, cv": BBLRClassifierCV(l2s=(1.0, 3.0), cv=2),
    "sla": SLAClassifier(gamma_min=20.0, spacing=1.0),
    "zero-one": ZeroOneClassifier(time_limit=0.5, random_state=0),
}


@pytest.mark.parametrize("model", SMALL.values(), ids=SMALL)
def test_linear_models_hold_no_rows(model):
    assert size(clone(model).fit(BIG, BIG_Y)) < HISTORY
    sparse = sp.csr_array(BIG * (abs(BIG) > 1.5))
    assert size(clone(model).fit(sparse, BIG_Y)) < HISTORY


@pytest.mark.parametrize("sparse", [False, True])
def test_kernel_models_hold_their_vectors_alone(sparse):
    X = sp.csr_array(BIG * (abs(BIG) > 0.5)) if sparse else BIG
    few = KernelBBLRClassifier(max_centers=50, random_state=0).fit(X, BIG_Y)
    # A vector is its entries and their columns, a weight and a number.
    assert size(few) < HISTORY + 50 * (5 * 16 + 8 + 8)
    sparser = KernelBBLRClassifier(
        sparsity="backward", max_vectors=10, max_centers=50, random_state=0
    ).fit(X, BIG_Y)
    assert size(sparser) < HISTORY + 10 * (5 * 16 + 8 + 8) + 50 * 8


class Shapes(pickle.Pickler):
    """Notes the shape of every array that is pickled, and the length of every list."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())
        self.seen: set[int] = set()

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, np.ndarray):
            self.seen |= set(obj.shape)
        return NotImplemented

    def persistent_id(self, obj: Any) -> None:
        if isinstance(obj, list | tuple | dict | str | bytes):
            self.seen.add(len(obj))


def test_nothing_in_a_model_is_as_long_as_the_data():
    X, y = BIG[:317], BIG_Y[:317]
    tuned = KernelBBLRClassifierCV(
        max_centers=50, l2s=(1.0,), kernel_gammas=(0.2,), cv=2, random_state=0
    )
    for model in (*SMALL.values(), tuned, KernelBBLRClassifier(max_centers=50)):
        shapes = Shapes()
        shapes.dump(clone(model).fit(X, y))
        assert 317 not in shapes.seen and 5 in shapes.seen
    held = Shapes()
    held.dump(KernelBBLRClassifier(max_centers=None).fit(X, y))
    assert 317 in held.seen  # where every row is a vector


def test_joint_models_hold_no_groups():
    few, many = (JointModel(random_state=0).fit(groups(n)) for n in (100, 1000))
    assert abs(size(many) - size(few)) < 200


def test_the_version_stands_in_the_state_and_not_in_the_model():
    for model in (BBLRClassifier(), JointModel(), fitted("linear")):
        assert model.__getstate__()["_bblr_version"] == bblr.__version__
        again = pickle.loads(pickle.dumps(model))
        assert not hasattr(again, "_bblr_version") and not hasattr(model, "_bblr_version")


def saved_by(version: Any, monkeypatch: Any, model: Any) -> bytes:
    with monkeypatch.context() as patch:
        patch.setattr(_saved, "__version__", version)
        return pickle.dumps(model)


@pytest.mark.parametrize("version", ["0.2.0", "0.2.7", "0.2.0rc1", "0.2.0.dev3+local"])
def test_other_patches_of_a_version_load(monkeypatch, version):
    again = pickle.loads(saved_by(version, monkeypatch, fitted("linear")))
    assert np.array_equal(again.coef_, fitted("linear").coef_)


@pytest.mark.parametrize("version", ["0.3.0", "0.1.0", "0.20.0", "1.2.0", "", "old", 3, b"0.2.0"])
@pytest.mark.parametrize("model", [BBLRClassifier(), JointModel()])
def test_another_minor_version_is_refused_with_both_names(monkeypatch, version, model):
    told = rf"saved by bblr {version}, which bblr {bblr.__version__} here cannot read; install "
    with pytest.raises(ValueError, match=told):
        pickle.loads(saved_by(version, monkeypatch, model))


def test_a_state_without_a_version_is_refused():
    state = {k: v for k, v in fitted("linear").__getstate__().items() if k != "_bblr_version"}
    with pytest.raises(ValueError, match="saved by a bblr without a version"):
        BBLRClassifier().__setstate__(state)


def test_another_scikit_learn_is_no_hindrance(monkeypatch):
    X, y = data(2)
    model = make_pipeline(StandardScaler(), BBLRClassifier()).fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.base.__version__", "1.6.0")
        saved, ours = pickle.dumps(model), pickle.dumps(model[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(pickle.loads(ours).coef_, model[-1].coef_)
    # scikit-learn warns of its own parts, and of nothing else.
    with pytest.warns(InconsistentVersionWarning) as told:
        again = pickle.loads(saved)
    assert {each.message.estimator_name for each in told} == {"StandardScaler", "Pipeline"}
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_subclass_elsewhere_comes_back():
    model = Own().fit(*data(2))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)


class Own(BBLRClassifier):
    """A user's own classifier."""


def test_pickles_and_skops_files_check_sparse_vectors_too():
    model = KernelBBLRClassifier().fit(sp.csr_array([[0.0, 1, 0], [2.0, 0, 0]]), [0, 1])
    model.support_vectors_.indices[0] = 7
    with pytest.raises(ValueError, match="lead out"):
        copy.deepcopy(model)
    sio = pytest.importorskip("skops.io")
    from bblr.skops import TRUSTED_TYPES

    with pytest.raises(ValueError, match="lead out"):
        sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)
    model.support_vectors_.indices = np.zeros((2, 2), dtype=np.int32)
    with pytest.raises(ValueError, match="lead out"):
        copy.deepcopy(model)
    model.support_vectors_ = sp.coo_array(np.eye(2, 3))
    with pytest.raises(ValueError, match="lead out"):
        copy.deepcopy(model)

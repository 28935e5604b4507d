"""skops: every estimator comes back with the published types trusted, and each is needed."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    GeneralizedLinearClassifier,
    KernelBBLRClassifier,
    Plateaus,
    RobustClassifier,
)
from bblr.dask import (
    DaskBBLRClassifier,
    DaskBBLRClassifierCV,
    DaskGeneralizedLinearClassifier,
)
from bblr.losses import LOSSES
from bblr.penalties import Gaussian, GaussLaplace
from bblr.skops import TRUSTED_TYPES
from bblr.solvers import (
    LBFGS,
    FisherScoring,
    GradientDescent,
    RangeSearch,
    ZeroOneSearch,
)
from bblr.structured import JointModel
from tests.io.models import MODELS, data, fitted, groups, on_cluster, outputs, rows

sio = pytest.importorskip("skops.io")


SOLVERS = (
    LBFGS(), FisherScoring(), GradientDescent(), RangeSearch(),
    ZeroOneSearch(),
)  # fmt: skip

PENALTIES = Gaussian(2.0), GaussLaplace()


@cache
def models() -> dict[str, tuple[Any, Any]]:
    """Every kind of model, and rows for it."""
    X, y = data(3)
    found = {name: (fitted(name), rows(name)) for name in MODELS}
    for name in ("linear", "many, cv", "kernel, rbf", "many, backward"):
        some = sp.csr_array(rows(name))
        found[f"{name}, sparse"] = fitted(name, text=True, sparse=True), some
    old = sp.csr_matrix(X)
    found["old sparse"] = KernelBBLRClassifier().fit(old, y), old
    for solver in SOLVERS:
        model = BBLRClassifier(solver=solver, gamma_max=2.0).fit(*data(2))
        found[type(solver).__name__] = model, data(2)[0]
    for name, loss in LOSSES.items():
        general = GeneralizedLinearClassifier(loss, penalty=PENALTIES[len(name) % 2], max_iter=2)
        found[f"{name} loss"] = general.fit(*data(2)), data(2)[0]
    scaled = make_pipeline(StandardScaler(), KernelBBLRClassifier(random_state=0))
    found["pipeline"] = scaled.fit(X, y), X
    found["cluster"] = on_cluster(DaskBBLRClassifier, fitted("linear")), data(2)[0]
    found["cluster, general"] = on_cluster(DaskGeneralizedLinearClassifier, general), data(2)[0]
    found["cluster, cv"] = on_cluster(DaskBBLRClassifierCV, fitted("linear, cv")), data(2)[0]
    return found


NAMES = (
    *MODELS, "linear, sparse", "many, cv, sparse", "kernel, rbf, sparse", "many, backward, sparse",
    "old sparse", *(type(solver).__name__ for solver in SOLVERS), "pipeline", "cluster",
    "cluster, cv", *(f"{name} loss" for name in LOSSES),
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_models_come_back(name):
    model, X = models()[name]
    again = sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)
    for before, after in zip(outputs(model, X), outputs(again, X), strict=True):
        assert np.array_equal(before, after)
    assert type(again) is type(model)
    assert str(again.get_params()) == str(model.get_params())
    assert clone(again).get_params().keys() == model.get_params().keys()


def test_models_that_are_not_fitted_come_back():
    for kind in {type(model) for model in MODELS.values()}:
        again = sio.loads(sio.dumps(kind()), trusted=TRUSTED_TYPES)
        assert again.get_params() == kind().get_params()


def test_grid_searches_come_back():
    # Beside ours they hold what any grid search holds and skops does not trust by itself.
    X, y = data(3)
    baseline = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2).fit(X, y)
    theirs = sio.get_untrusted_types(data=sio.dumps(baseline))
    assert not any(name.startswith("bblr") for name in theirs)
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), BBLRClassifier()),
        {"bblrclassifier__prior": ["weak", Plateaus((0.1, 0.1, 0.1))]},
        cv=2,
    ).fit(X, y)
    again = sio.loads(sio.dumps(grid), trusted=[*TRUSTED_TYPES, *theirs])
    assert np.array_equal(again.predict_proba(X), grid.predict_proba(X))
    assert again.best_params_ == grid.best_params_


def test_pipelines_of_encoders_and_imputers_need_a_type_of_numpy():
    X, y = data(2)
    encoded = make_column_transformer(
        (StandardScaler(), [0]),
        (SimpleImputer(), [1]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), [2]),
    )
    model = make_pipeline(encoded, BBLRClassifier()).fit(X, y)
    saved = sio.dumps(model)
    with pytest.raises(Exception, match=r"Untrusted types .*numpy\.dtype"):
        sio.loads(saved, trusted=TRUSTED_TYPES)
    again = sio.loads(saved, trusted=[*TRUSTED_TYPES, "numpy.dtype"])
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("similarity", ["gaussian", "beta", "kde", None])
def test_joint_models_come_back(similarity):
    made = groups()
    model = JointModel(BBLRClassifier(), similarity=similarity, random_state=0).fit(made)
    again = sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)
    for before, after in zip(model.predict_proba(made), again.predict_proba(made), strict=True):
        assert np.array_equal(before, after)


def test_each_type_is_needed_and_none_is_missing():
    needed = set()
    for model, _ in models().values():
        needed |= set(sio.get_untrusted_types(data=sio.dumps(model)))
    joint = JointModel(BBLRClassifierCV(cv=2, l2s=(1.0,)), random_state=0).fit(groups())
    needed |= set(sio.get_untrusted_types(data=sio.dumps(joint)))
    needed |= set(sio.get_untrusted_types(data=sio.dumps(RobustClassifier(BBLRClassifier()))))
    assert needed == set(TRUSTED_TYPES)
    assert list(TRUSTED_TYPES) == sorted(TRUSTED_TYPES)


def test_nothing_loads_without_trust():
    saved = sio.dumps(fitted("linear"))
    with pytest.raises(Exception, match="Untrusted types"):
        sio.loads(saved, trusted=[])
    with pytest.raises(Exception, match=r"Untrusted types .*link\.Link"):
        sio.loads(saved, trusted=[kind for kind in TRUSTED_TYPES if "Link" not in kind])


SPOILED = {
    "an index": lambda V: V.indices.__setitem__(0, 10**6),
    "a negative index": lambda V: V.indices.__setitem__(0, -5),
    "pointers that go down": lambda V: V.indptr.__setitem__(slice(1, 3), V.indptr[2:0:-1].copy()),
    "pointers from another place": lambda V: V.indptr.__setitem__(0, 1),
    "pointers beyond the end": lambda V: V.indptr.__setitem__(-1, 10**6),
    "a short end": lambda V: V.indptr.__setitem__(-1, -1),
}


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.parametrize("name", [name for name in MODELS if "kernel" in name or "back" in name])
def test_sparse_vectors_that_lead_out_are_refused(name, how):
    model = deepcopy(fitted(name, text=True, sparse=True))
    SPOILED[how](model.support_vectors_)
    with pytest.raises(ValueError) as told:
        sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", [sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array])
def test_vectors_are_rows(kind):
    model = deepcopy(fitted("kernel, rbf", text=True, sparse=True))
    model.support_vectors_ = kind(model.support_vectors_)
    with pytest.raises(Exception, match="Untrusted types"):
        sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)


@pytest.mark.parametrize(
    ("name", "attribute", "change"),
    [
        ("linear", "coef_", lambda coef: coef[:, :1].copy()),
        ("linear", "n_features_in_", lambda n: 10_000),
        ("linear", "intercept_", lambda one: one[:0]),
        ("linear", "classes_", lambda two: two[:1]),
        ("many", "coef_", lambda coef: coef[:2].copy()),
        ("many", "coef_", lambda coef: coef.ravel()),
        ("many, cv", "n_features_in_", lambda n: n + 1),
        ("many", "classes_", lambda three: three[:2]),
        ("sla", "coef_", lambda coef: coef[:, :0]),
        ("zero-one", "n_features_in_", lambda n: 500),
        ("kernel, laplacian", "dual_coef_", lambda coef: coef[:, :3].copy()),
        ("many, kernel, rbf", "dual_coef_", lambda coef: coef[:2].copy()),
        ("kernel, poly", "support_vectors_", lambda rows: rows[:, :2].copy()),
        ("kernel, cosine", "support_vectors_", lambda rows: rows[:2].copy()),
        ("many, backward", "support_", lambda rows: rows[:2].copy()),
    ],
)
def test_weights_of_other_shapes_are_refused(name, attribute, change):
    """Compiled code does not look at lengths: it would read what lies behind the weights."""
    model = deepcopy(fitted(name))
    setattr(model, attribute, change(getattr(model, attribute)))
    with pytest.raises(ValueError, match="which does not fit"):
        sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)
    with pytest.raises(ValueError, match="which does not fit"):
        deepcopy(model)

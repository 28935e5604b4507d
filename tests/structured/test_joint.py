"""The joint model from end to end."""

from __future__ import annotations

import pickle
import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bblr import BBLRClassifier
from bblr.structured import ApproximationWarning, Group, JointModel
from tests.structured.networks import draw


def normal_forms():
    return [
        JointModel(at_most_one=constraint, similarity=similarity, random_state=0)
        for constraint in ("soft", None)
        for similarity in ("gaussian", "beta", "kde", None)
    ]


@pytest.mark.parametrize("model", normal_forms(), ids=str)
def test_decisions_are_the_best_of_all_labels(model, train, test):
    """`predict`, `predict_proba` and `log_joint` tell one story."""
    model.fit(train)
    for group, labels, proba in zip(
        test[:12], model.predict(test[:12]), model.predict_proba(test[:12]), strict=True
    ):
        every = [np.array(y) for y in product((0, 1), repeat=len(group))]
        logs = np.array([model.log_joint(group, y, normalize=True) for y in every])
        assert np.exp(logs).sum() == pytest.approx(1)
        raw = np.array([model.log_joint(group, y) for y in every])
        assert_allclose(raw - raw[0], logs - logs[0], atol=1e-9)
        assert model.log_joint(group, labels) == pytest.approx(raw.max())
        assert_allclose(np.exp(logs) @ np.array(every), proba, atol=1e-9)


def test_together_beats_alone_where_one_is_right(rng):
    train, test = draw(rng, 300, size=6), draw(rng, 300, size=6)
    model = JointModel(at_most_one="hard", similarity=None, random_state=0).fit(train)
    alone = [
        (labels == group.labels).all()
        for labels, group in zip(model.predict_independent(test), test, strict=True)
    ]
    assert model.score(test, per="group") > np.mean(alone) + 0.08
    assert all(labels.sum() <= 1 for labels in model.predict(test))


@pytest.mark.parametrize("local", [BBLRClassifier(), GaussianNB(), LogisticRegression(C=0.1)])
def test_any_probabilistic_classifier_serves(train, test, local):
    model = JointModel(local, random_state=0).fit(train)
    assert model.score(test) > 0.6
    assert not hasattr(local, "classes_")


def test_the_same_seed_gives_the_same_bits_and_pickles(train, test):
    models = [JointModel(random_state=3).fit(train) for _ in range(2)]
    first, second = (np.concatenate(m.predict_proba(test)) for m in models)
    assert_array_equal(first, second)
    copy = pickle.loads(pickle.dumps(models[0]))
    assert_array_equal(np.concatenate(copy.predict_proba(test)), first)
    assert clone(models[0]).get_params() == models[0].get_params()


def test_order_of_groups_and_members_does_not_matter(train, test, rng):
    model = JointModel(random_state=0).fit(train)
    proba = model.predict_proba(test)
    shuffled, orders = [], []
    for group in test:
        order = rng.permutation(len(group))
        place = np.argsort(order)
        shuffled.append(
            Group(group.X[order], None, place[group.pairs][:, ::-1], group.similarities)
        )
        orders.append(order)
    again = model.predict_proba(shuffled[::-1])[::-1]
    for one, other, order in zip(proba, again, orders, strict=True):
        assert_allclose(one[order], other, atol=1e-10)


def test_sparse_features_agree_with_dense(train, test):
    def sparse(groups):
        return [
            Group(sp.csr_matrix(g.X), None, g.pairs, g.similarities, g.labels, g.candidates)
            for g in groups
        ]

    one = JointModel(random_state=0).fit(train).predict_proba(test)
    other = JointModel(random_state=0).fit(sparse(train)).predict_proba(sparse(test))
    assert_allclose(np.concatenate(one), np.concatenate(other), atol=1e-4)


def test_empty_groups_have_no_decisions(train):
    model = JointModel(random_state=0).fit([*train, Group([], labels=[])])
    labels = model.predict([Group([]), train[0], Group([])])
    assert [len(part) for part in labels] == [0, len(train[0]), 0]
    assert model.log_joint(Group([]), []) == 0
    assert model.predict([]) == [] and model.predict_proba([Group([])])[0].shape == (0,)
    assert JointModel(one_to_one=True, random_state=0).fit(train).predict([Group([])])[0].size == 0


def test_one_to_one_uses_nobody_twice(rng):
    groups = draw(rng, 200)
    crowded = [Group(g.X, candidates=g.candidates % 40) for g in groups]
    model = JointModel(one_to_one=True, random_state=0).fit(groups)
    labels = model.predict(crowded)
    taken = np.concatenate([g.candidates[y == 1] for g, y in zip(crowded, labels, strict=True)])
    assert len(taken) == len(set(taken.tolist())) > 10
    assert all(y.sum() <= 1 for y in labels)
    with pytest.warns(ApproximationWarning, match="belief propagation"):
        proba = model.predict_proba(crowded)
    total = np.bincount(
        np.concatenate([g.candidates for g in crowded]), weights=np.concatenate(proba)
    )
    assert total.max() <= 1 + 1e-6
    with pytest.raises(ValueError, match="candidates are missing in group 0"):
        model.predict([Group([[0.0, 0.0]])])


def test_large_groups_are_decided_exactly_and_announced(train, rng):
    model = JointModel(random_state=0, max_states=2**14).fit(train)
    few = clone(model).set_params(max_states=8)
    few.__dict__.update({k: v for k, v in vars(model).items() if k.endswith("_")})
    big = draw(rng, 30, size=8)
    for one, other in zip(model.predict(big), few.predict(big), strict=True):
        assert_array_equal(one, other)
    with pytest.warns(ApproximationWarning, match="max_states=8 feasible states.*Gibbs sampling"):
        approximate = few.predict_proba(big)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = model.predict_proba(big)
    gap = np.abs(np.concatenate(exact) - np.concatenate(approximate))
    assert gap.max() < 0.05
    longest = max(big, key=len)
    with pytest.raises(ValueError, match="normalize=True needs all states"):
        few.log_joint(longest, np.zeros(len(longest)), normalize=True)


def test_unknown_similarities_have_no_influence(train):
    model = JointModel(random_state=0).fit(train)
    group = next(g for g in train if len(g) == 4)
    unknown = Group(group.X, None, group.pairs, np.full(len(group.pairs), np.nan))
    bare = Group(group.X)
    assert_allclose(model.predict_proba([unknown])[0], model.predict_proba([bare])[0])


def test_hard_constraint_makes_labels_impossible(rng, train):
    with pytest.raises(ValueError, match=r"at_most_one='hard' makes impossible.*'soft'"):
        JointModel(at_most_one="hard").fit(train)
    model = JointModel(at_most_one="hard", random_state=0).fit(draw(rng))
    assert model.log_joint(Group([[0, 0], [0, 0]]), [1, 1]) == -np.inf
    apart = Group([[0, 0], [0, 0]], containers=[0, 1])
    assert model.log_joint(apart, [1, 1]) > -np.inf


BAD = {
    "penalty beyond certainty": ({"penalty": 1e10}, "'penalty' parameter .* 100"),
    "no truth value": ({"recalibrate": "no"}, "'recalibrate' parameter"),
    "at_most_one": (dict(at_most_one="maybe"), "'at_most_one' parameter"),
    "similarity": (dict(similarity="cosine"), "'similarity' parameter"),
    "penalty": (dict(penalty=-1), "'penalty' parameter"),
    "weight": (dict(weight="none"), "'weight' parameter"),
    "cv": (dict(cv=1), "'cv' parameter"),
    "max_states": (dict(max_states=1.5), "'max_states' parameter"),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_bad_parameters_are_named_by_fit(train, options, message):
    with pytest.raises(ValueError, match=message):
        JointModel(**options).fit(train)


def test_failing_fit_leaves_the_model_as_it_was(train, test):
    model = JointModel(random_state=0).fit(train)
    before = np.concatenate(model.predict_proba(test))
    with pytest.raises(ValueError, match="labels are missing in group 0"):
        model.fit([Group([[0.0, 1.0]])])
    assert_array_equal(np.concatenate(model.predict_proba(test)), before)
    fresh = JointModel(DummyClassifier(), at_most_one="odd")
    with pytest.raises(ValueError):
        fresh.fit(train)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_misuse_is_named(train):
    with pytest.raises(NotFittedError):
        JointModel().predict(train)
    with pytest.raises(TypeError, match="wrap a single one in a list"):
        JointModel().fit(train[0])
    with pytest.raises(TypeError, match=r"groups\[0\] must be a Group, got ndarray"):
        JointModel().fit([np.zeros((2, 2))])
    with pytest.raises(TypeError, match="groups must be a list of Group, got int"):
        JointModel().fit(3)
    with pytest.raises(TypeError, match="local must have predict_proba, LinearSVC has none"):
        JointModel(LinearSVC()).fit(train)
    with pytest.raises(ValueError, match="hold a target in 0 of 1 groups"):
        JointModel().fit([Group([[1.0]], labels=[0])])
    model = JointModel(random_state=0).fit(train)
    with pytest.raises(ValueError, match="X has 1 features, but JointModel was fitted on 2"):
        model.predict([Group([[1.0]])])
    with pytest.raises(ValueError, match="labels are missing; the group has none"):
        model.log_joint(Group([[1.0, 1.0]]))
    with pytest.raises(ValueError, match="nothing can be scored"):
        model.score([Group([])])
    with pytest.raises(ValueError, match="per must be 'member'"):
        model.score(train, per="page")


def test_scikit_learn_can_cross_validate_and_search(train):
    from sklearn.model_selection import GridSearchCV, cross_val_score

    scores = cross_val_score(JointModel(random_state=0), train, cv=3)
    assert scores.shape == (3,) and scores.min() > 0.6
    grid = {"similarity": ["gaussian", None], "local__C": [0.1, 1.0]}
    search = GridSearchCV(JointModel(LogisticRegression(), random_state=0), grid, cv=2)
    assert search.fit(train).best_score_ > 0.6


def test_scores_count_members_and_groups(train):
    model = JointModel(random_state=0).fit(train)
    labels = model.predict(train)
    right = [y == g.labels for y, g in zip(labels, train, strict=True)]
    assert model.score(train) == pytest.approx(np.concatenate(right).mean())
    assert model.score(train, per="group") == pytest.approx(np.mean([r.all() for r in right]))

"""Odd arguments end in errors that name the parameter, and leave no figure behind."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from bblr import BBLRClassifier
from bblr.losses import BetaBernoulli, Plateaus
from bblr.plotting import (
    CertificateDisplay,
    LossDisplay,
    PathDisplay,
    ReliabilityDisplay,
    SparsityDisplay,
)

DISPLAYS = {
    "loss": LossDisplay([-1, 0, 1], {"hinge": [2, 1, 0]}),
    "path": PathDisplay([1, 2], [5, 4], [9, 8]),
    "reliability": ReliabilityDisplay([0.2, 0.7], [0.1, 0.8], [30, 10]),
    "sparsity": SparsityDisplay([8, 4], [0.1, 0.2], [0.3, 0.4], chosen=4),
    "certificate": CertificateDisplay([0.1, 1.0], [9, 7], [3, 7]),
}


@pytest.fixture(params=DISPLAYS)
def display(request):
    return DISPLAYS[request.param]


def refused(error, words, call, *args, **options):
    plt.close("all")
    with pytest.raises(error, match=words) as caught:
        call(*args, **options)
    assert type(caught.value).__module__ != "numpy.exceptions"
    assert plt.get_fignums() == [], "no figure is left behind"


@pytest.mark.parametrize(
    ("ax", "words"),
    [
        (np.array([1, 2]), r"got ndarray; plt.subplots returns several.*ax=axes\[0\]"),
        ([1], "got list; plt.subplots returns several"),
        (Figure(), r"got Figure; pass ax=figure.add_subplot\(\)"),
        ("left", "got str; take one from plt.subplots"),
        (0, "got int; take one"),
    ],
    ids=["array", "list", "figure", "text", "number"],
)
def test_axes_are_axes(display, ax, words):
    refused(TypeError, f"ax must be a Matplotlib Axes or None, {words}", display.plot, ax)


def test_names_are_text(display):
    refused(TypeError, "name must be a string or None, got 5", display.plot, name=5)


def test_unknown_styles_are_named(display):
    refused(AttributeError, "unexpected keyword argument 'colour'", display.plot, colour="red")
    refused(ValueError, "'reddish' is not a valid", display.plot, color="reddish")
    refused(AttributeError, "unexpected keyword argument 'where'", display.plot, where="pre")


def test_unknown_styles_of_bounds_are_named():
    draw = DISPLAYS["certificate"].plot
    refused(AttributeError, "unexpected keyword argument 'hue'", draw, bound_kwargs={"hue": 3})


def test_every_property_of_a_line_is_a_style(display):
    display.plot(lw=2, dashes=(3, 1), scalex=False, zorder=7, markevery=1, alpha=0.5)


@pytest.mark.parametrize(
    "draw",
    [
        LossDisplay.from_estimator,
        PathDisplay.from_estimator,
        lambda estimator, **_: ReliabilityDisplay.from_estimator(estimator, [[0.0]], [0]),
        SparsityDisplay.from_estimator,
        CertificateDisplay.from_estimator,
    ],
    ids=DISPLAYS,
)
@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (None, "estimator must be a fitted classifier, got None of type NoneType; fit a"),
        ("BBLRClassifier", "of type str; fit a"),
        (np.zeros((2, 2)), "of type ndarray; fit a"),
        (BBLRClassifier, r"estimator must be an instance; write BBLRClassifier\(...\).fit"),
        (Pipeline, r"estimator must be an instance; write Pipeline"),
        (Pipeline([("last", "passthrough")]), "of type str; fit a"),
    ],
    ids=["none", "text", "array", "class", "pipeline class", "passthrough"],
)
def test_estimators_are_fitted_classifiers(draw, thing, words):
    refused(TypeError, words, draw, thing)


def test_a_search_keeps_its_best(heart):
    search = GridSearchCV(BBLRClassifier(), {"l2": [3.0]}, cv=2, refit=False).fit(*heart)
    refused(TypeError, "keeps no classifier; set refit=True", PathDisplay.from_estimator, search)


ARRAYS = [
    (lambda bad: LossDisplay(bad, {"a": [1, 2]}), "margins"),
    (lambda bad: LossDisplay([1, 2], {"a": bad}), "curves['a']"),
    (lambda bad: LossDisplay([1, 2], {"a": [1, 2]}, examples=(bad, [1, 2])), "examples"),
    (lambda bad: LossDisplay.from_losses(margins=bad), "margins"),
    (lambda bad: PathDisplay(bad, [1, 2]), "gammas"),
    (lambda bad: PathDisplay([1, 2], bad), "errors"),
    (lambda bad: PathDisplay([1, 2], [1, 2], bad), "values"),
    (lambda bad: ReliabilityDisplay(bad, [0.1, 0.2], [3, 4]), "prob_true"),
    (lambda bad: ReliabilityDisplay([0.1, 0.2], bad, [3, 4]), "prob_pred"),
    (lambda bad: ReliabilityDisplay([0.1, 0.2], [0.1, 0.2], bad), "counts"),
    (lambda bad: SparsityDisplay(bad, [1, 2]), "n_vectors"),
    (lambda bad: SparsityDisplay([1, 2], bad), "errors"),
    (lambda bad: SparsityDisplay([1, 2], [1, 2], bad), "losses"),
    (lambda bad: CertificateDisplay(bad, [1, 2], [1, 2]), "seconds"),
    (lambda bad: CertificateDisplay([1, 2], bad, [1, 2]), "losses"),
    (lambda bad: CertificateDisplay([1, 2], [1, 2], bad), "bounds"),
]


@pytest.mark.parametrize(("make", "name"), ARRAYS, ids=[name for _, name in ARRAYS])
@pytest.mark.parametrize("bad", ["ab", [[1], [2]], [1, np.nan], 3, [None, 1], {"a": 1}])
def test_curves_are_flat_numbers_without_gaps(make, name, bad):
    refused(ValueError, f"^{re.escape(name)} must ", make, bad)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PathDisplay([0, 1], [1, 2]), "gammas must be above 0, got 0"),
        (lambda: PathDisplay([1, 2], [1, np.inf]), "errors must be finite"),
        (lambda: PathDisplay([1], [1], subset="test"), "subset must be 'training', 'held-out'"),
        (lambda: SparsityDisplay([-3, 1], [1, 2]), "n_vectors must be above 0, got -3"),
        (lambda: SparsityDisplay([1], [1], subset="dev"), "subset must be 'training'"),
        (lambda: SparsityDisplay([1], [1], chosen=-1), "chosen must be an integer of at least 1"),
        (lambda: SparsityDisplay([1], [1], chosen="all"), "chosen must be an integer"),
        (lambda: ReliabilityDisplay([1.5], [0.1], [3]), "prob_true must lie between 0 and 1"),
        (lambda: ReliabilityDisplay([0.5], [-0.1], [3]), "prob_pred must lie between 0 and 1"),
        (lambda: ReliabilityDisplay([0.5], [0.1], [0]), "counts must be above 0"),
        (lambda: CertificateDisplay([2, 1], [3, 2], [0, 1]), "seconds must rise"),
        (lambda: LossDisplay([1, 2], {"margins": [1]}), "margins has 2, curves.'margins'. has 1"),
    ],
)
def test_numbers_are_in_their_range(make, words):
    refused(ValueError, words, make)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LossDisplay([1], [[1]]), "curves must map labels to curves"),
        (lambda: LossDisplay([1], {3: [1]}), "curves must map labels to curves"),
        (lambda: LossDisplay([1], {"a": [1]}, examples=3), "examples must be a pair"),
        (
            lambda: LossDisplay([1], {"a": [1]}, estimator_name=3),
            "estimator_name must be a string",
        ),
        (lambda: PathDisplay([1], [1], estimator_name=3), "estimator_name must be a string"),
        (lambda: ReliabilityDisplay([1], [1], [1], event=3), "event must be a string"),
        (lambda: DISPLAYS["certificate"].plot(bound_kwargs=3), "bound_kwargs must be a dict"),
        (lambda: LossDisplay.from_losses(3), "losses must be names, losses or a mapping, got 3"),
        (lambda: LossDisplay.from_losses([3]), "losses of two classes, got 3"),
        (lambda: LossDisplay.from_losses({"a": None}), "losses of two classes, got None"),
        (
            lambda: LossDisplay.from_losses([BetaBernoulli(Plateaus((0.1, 0.1, 0.1)), 1.0)]),
            "losses of two classes, got BetaBernoulli",
        ),
    ],
)
def test_types_are_named(make, words):
    refused(TypeError, words, make)


def test_losses_are_some_and_told_apart():
    refused(ValueError, "losses must hold at least one", LossDisplay.from_losses, [])
    two = [BetaBernoulli.binary(0.1, 0.8, 4.0), BetaBernoulli.binary(0.2, 0.6, 4.0)]
    refused(ValueError, "twice; give a mapping of labels", LossDisplay.from_losses, two)
    assert len(LossDisplay.from_losses(dict(zip("ab", two, strict=True))).curves) == 2


def test_examples_are_rows_and_classes(linear, many, heart, iris):
    X, y = heart
    for model, rows, labels, words in (
        (linear, X[0], y[:1], "Expected 2D array"),
        (linear, X[:0], y[:0], "0 sample"),
        (linear, X[:, :2], y, "2 features"),
        (linear, X, y[:-1], r"y must hold a class .* each row of X, 270 of 0, 1; got shape \(269"),
        (linear, X, np.c_[y, y], r"got shape \(270, 2\)"),
        (linear, X, y.astype(str), "'0' is none of 0, 1|'1' is none of 0, 1"),
        (linear, X, [None] * len(y), "None is none of 0, 1"),
        (many, iris[0], iris[1] + 1, "; 3 is none of 0, 1, 2"),
    ):
        refused(ValueError, words, LossDisplay.from_estimator, model, rows, labels)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([0, 1], ["a", "b"]), {}, "y_prob must hold numbers"),
        (([0, 1], [0.2, 1.2]), {}, "y_prob holds values outside"),
        (([0, 1], [0.2]), {}, r"y_prob has shape \(1,\) for 2 labels in y_true"),
        (([0, 1, 2], [0.2, 0.3, 0.4]), {}, r"are 3 in y_true or labels; give it shape \(n, 3\)"),
        (([0, 1], [[0.2, 0.3, 0.5]] * 2), {}, "name all classes with labels="),
        (([0, 1], [[0.2, 0.3]] * 2), {}, "rows of y_prob do not sum to 1"),
        (([[0, 1], [1, 0]], [0.2, 0.3]), {}, r"y_true must have shape \(n,\), got \(2, 2\)"),
        ((None, [0.2, 0.3]), {}, r"y_true must have shape \(n,\), got \(\)"),
        (([], []), {}, "y_true is empty"),
        (([0, 1], [0.2, 0.3]), {"labels": []}, "labels is empty"),
        (([0, 1], [0.2, 0.3]), {"labels": 3}, r"labels must have shape \(n,\)"),
        (([0, 1], [0.2, 0.3]), {"labels": ["a", "b"]}, "not among labels; add it there"),
        (([0, 1], [0.2, 0.3]), {"n_bins": -4}, "n_bins=-4"),
        (([0, 1], [0.2, 0.3]), {"n_bins": "many"}, "n_bins='many'"),
        (([0, 1], [0.2, 0.3]), {"pos_label": [0, 1]}, r"pos_label=\[0, 1\] is none of the"),
        (([0, 1], [0.2, 0.3]), {"strategy": 3}, "strategy must be 'uniform' or 'quantile', got 3"),
        (([0, 1], [0.2, 0.3]), {"kind": None}, "kind must be"),
    ],
)
def test_predictions_are_probabilities_of_classes(arguments, options, words):
    refused(ValueError, words, ReliabilityDisplay.from_predictions, *arguments, **options)


def test_labels_of_two_kinds_are_refused():
    draw = ReliabilityDisplay.from_predictions
    mixed = np.array([0, "a"], dtype=object)
    refused(ValueError, "labels of one kind", draw, mixed, [0.2, 0.3])
    with pytest.raises(ValueError, match=r"labels of one kind|not among labels"):
        draw(np.array(["a", "b"], dtype=object), [0.2, 0.3], labels=[0, 1])


def test_reliability_of_an_estimator_without_probabilities(heart):
    from sklearn.svm import LinearSVC

    model = LinearSVC().fit(*heart)
    refused(TypeError, "CalibratedClassifierCV", ReliabilityDisplay.from_estimator, model, *heart)
    fitted = LogisticRegression(max_iter=5000).fit(*heart)
    refused(
        ValueError,
        "not among labels",
        ReliabilityDisplay.from_estimator,
        fitted,
        heart[0],
        heart[1] + 5,
    )

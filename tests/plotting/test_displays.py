"""What all Displays keep to."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, KernelBBLRClassifier, ZeroOneClassifier
from bblr.plotting import (
    CertificateDisplay,
    CoefficientDisplay,
    LossDisplay,
    PathDisplay,
    ReliabilityDisplay,
    SparsityDisplay,
    WeightDisplay,
)

KINDS = ["loss", "path", "reliability", "sparsity", "certificate", "coefficients", "weights"]


@pytest.fixture(params=KINDS)
def make(request, linear, heart, sparse, proved):
    """Draws one of the Displays, with whatever options."""
    return {
        "loss": lambda **options: LossDisplay.from_estimator(linear, *heart, **options),
        "path": lambda **options: PathDisplay.from_estimator(linear, **options),
        "reliability": lambda **options: ReliabilityDisplay.from_estimator(
            linear, *heart, **options
        ),
        "sparsity": lambda **options: SparsityDisplay.from_estimator(sparse, **options),
        "certificate": lambda **options: CertificateDisplay.from_estimator(proved, **options),
        "coefficients": lambda **options: CoefficientDisplay.from_estimator(linear, **options),
        "weights": lambda **options: WeightDisplay.from_estimator(linear, *heart, **options),
    }[request.param]


def first_line(display):
    return display.line_ if hasattr(display, "line_") else display.lines_[0]


def test_draws_on_new_axes_and_on_given_ones(make):
    display = make()
    assert display.figure_ is display.ax_.figure
    given = plt.subplots()[1]
    again = make(ax=given)
    assert again.ax_ is given and again.figure_ is given.figure is not display.figure_
    np.testing.assert_array_equal(first_line(again).get_xydata(), first_line(display).get_xydata())


def test_is_redrawn_elsewhere_from_what_it_holds(make):
    display = make()
    old = first_line(display)
    other = plt.subplots()[1]
    assert display.plot(other) is display
    assert display.ax_ is other and first_line(display) is not old
    np.testing.assert_array_equal(first_line(display).get_xydata(), old.get_xydata())


def test_two_on_the_same_axes_keep_their_names_and_colours(make):
    display = make(name="one")
    make(name="two", ax=display.ax_, c="red")
    axes = [ax for ax in display.figure_.axes if ax.get_legend() is not None]
    assert len(axes) == 1, "one legend for both"
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert any(text.startswith("one") for text in texts)
    assert any(text.startswith("two") for text in texts)
    colours = [line.get_color() for line in display.ax_.get_lines()]
    assert "red" in colours and colours.count("red") < len(colours)
    assert len(display.figure_.axes) <= 2, "a second scale is shared"


def test_axes_say_what_they_show(make):
    display = make()
    for ax in display.figure_.axes:
        assert ax.get_ylabel()
    assert display.ax_.get_xlabel()


def test_name_of_plot_goes_before_that_of_the_display(make):
    display = make(name="first")
    label = first_line(display.plot(name="second")).get_label()
    assert label.startswith("second")


def test_can_be_saved(make, tmp_path):
    make().figure_.savefig(tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


UNFITTED = [
    (LossDisplay.from_estimator, BBLRClassifier(), ()),
    (PathDisplay.from_estimator, BBLRClassifier(), ()),
    (ReliabilityDisplay.from_estimator, BBLRClassifier(), ([[0.0]], [0])),
    (SparsityDisplay.from_estimator, KernelBBLRClassifier(sparsity="backward"), ()),
    (CertificateDisplay.from_estimator, ZeroOneClassifier(), ()),
]


@pytest.mark.parametrize(("draw", "model", "data"), UNFITTED)
@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline], ids=["bare", "pipeline"])
def test_unfitted_estimators_are_to_be_fitted(draw, model, data, wrap):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        draw(wrap(model), *data)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("draw", "attribute", "remedy"),
    [
        (LossDisplay.from_estimator, "link_", "LossDisplay.from_losses"),
        (PathDisplay.from_estimator, "path_", "fit a BBLRClassifier"),
        (SparsityDisplay.from_estimator, "sparsity_path_", "sparsity='backward'"),
        (CertificateDisplay.from_estimator, "trace_", "fit a ZeroOneClassifier"),
    ],
)
def test_estimators_of_others_are_refused_with_a_remedy(draw, attribute, remedy, heart):
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(*heart)
    with pytest.raises(TypeError, match=f"with {attribute}, and this LogisticRegression") as error:
        draw(other)
    assert remedy in str(error.value)


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match="must be an instance"):
        PathDisplay.from_estimator(BBLRClassifier)


def test_sla_has_no_probabilities(sla, heart):
    with pytest.raises(TypeError, match="CalibratedClassifierCV"):
        ReliabilityDisplay.from_estimator(sla, *heart)
    with pytest.raises(TypeError, match="from_losses"):
        LossDisplay.from_estimator(sla)


def test_pipelines_and_searches_are_looked_into(heart, linear):
    pipeline = make_pipeline(StandardScaler(), BBLRClassifier("robust", l2=3.0)).fit(*heart)
    search = GridSearchCV(pipeline, {"bblrclassifier__l2": [3.0]}, cv=2).fit(*heart)
    paths = [PathDisplay.from_estimator(each) for each in (linear, pipeline, search)]
    for path in paths:
        np.testing.assert_allclose(path.values, paths[0].values, rtol=1e-6)
        assert path.estimator_name == "BBLRClassifier"
    display = LossDisplay.from_estimator(search, *heart)
    np.testing.assert_allclose(
        display.examples[0], LossDisplay.from_estimator(linear, *heart).examples[0], atol=1e-6
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: PathDisplay([1, 2], [3]),
        lambda: PathDisplay([], []),
        lambda: SparsityDisplay([4, 2], [0.1, 0.2], [0.5]),
        lambda: CertificateDisplay([0.1], [3, 2], [0]),
        lambda: ReliabilityDisplay([0.1], [0.2], [3, 4]),
        lambda: LossDisplay([0, 1], {"curve": [1]}),
    ],
)
def test_columns_of_different_length_are_named(make):
    with pytest.raises(ValueError, match=r"as many points each.* has "):
        make()


def test_columns_are_flat():
    with pytest.raises(ValueError, match=r"errors must be one-dimensional, got shape \(2, 1\)"):
        PathDisplay([1, 2], [[3], [4]])


def run(statement: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True)


def test_matplotlib_is_loaded_to_draw_and_not_before():
    code = "import sys, bblr, bblr.plotting; sys.exit('matplotlib' in sys.modules)"
    assert run(code).returncode == 0


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from bblr.plotting import PathDisplay\n"
        "display = PathDisplay([1, 2], [3, 2])\n"
        "try:\n    display.plot()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert "PathDisplay.plot needs Matplotlib" in done.stdout
    assert "pip install 'bblr[plot]'" in done.stdout


def test_every_display_is_public():
    import bblr.plotting

    displays = {name for name in vars(bblr.plotting) if name.endswith("Display")}
    assert displays == set(bblr.plotting.__all__)

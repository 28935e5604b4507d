"""The figures of the start page and of the theory, computed by the library they explain.

``python docs/figures.py`` writes them into docs/figures, and so does every build of the site.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from drawing import BLUE, GREEN, GREY, ORANGE, PINK, Plot
from sklearn.linear_model import LogisticRegression

from bblr import BBLRClassifier, Plateaus
from bblr.datasets import load_uci
from bblr.losses import BetaBernoulli, Hinge, Logistic, Loss, ZeroOne
from bblr.penalties import Gaussian, GaussLaplace

SCORES = np.linspace(-4.0, 4.0, 241)
ONES = np.ones_like(SCORES)


def outliers() -> Plot:
    """Two classes, fifteen wrong rows far out, and what they do to two classifiers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + 0.25 * rng.normal(size=300) > 0
    clean = 100 * LogisticRegression().fit(X, y).score(X, y)
    far = rng.normal((-6.5, 3.0), 0.5, size=(15, 2))
    rows, labels = np.vstack([X, far]), np.append(y, np.ones(15, dtype=bool))
    plot = Plot(
        (-8.2, 4.2),
        (-3.6, 4.6),
        f"without the 15 wrong rows logistic regression gets {clean:.1f} % right, too",
        "Two clouds of points and a cluster of wrong ones far out: the boundary of logistic "
        "regression is tilted by the cluster, that of BBLRClassifier is not.",
        height=310,
    )
    plot.points(*X[~y].T, GREY, "class 0")
    plot.points(*X[y].T, GREEN, "class 1")
    plot.points(*far.T, GREEN, ring=True, name="class 1, but wrong")
    models = ((LogisticRegression(), ORANGE, "7 4"), (BBLRClassifier(), BLUE, ""))
    for model, colour, dash in models:
        model.fit(rows, labels)
        right = 100 * model.score(X, y)
        line = _boundary(model, plot.y)
        plot.curve(*line, colour, f"{type(model).__name__}: {right:.1f} % right", dash)
    return plot


def _boundary(model: object, heights: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    (across, up), shift = model.coef_[0], model.intercept_[0]  # type: ignore[attr-defined]
    y = np.array(heights, dtype=float)
    return -(shift + up * y) / across, y


def losses() -> Plot:
    """What one example costs, by its score."""
    plot = Plot(
        (-4, 4),
        (0, 4),
        "score of a positive example",
        "The logistic and the hinge loss rise without bound to the left; the zero-one loss and "
        "the Beta-Bernoulli loss end in a plateau.",
        xticks=(-4, -2, 0, 2, 4),
        yticks=(0, 1, 2, 3, 4),
    )
    shown: list[tuple[Loss, str, str, str]] = [
        (Logistic(), ORANGE, "logistic", ""),
        (Hinge(), PINK, "hinge", "2 3"),
        (BetaBernoulli.binary(0.05, 0.9), GREEN, "Beta-Bernoulli, a = 0.05, γ = 1", ""),
        (BetaBernoulli.binary(0.05, 0.9, 8.0), BLUE, "Beta-Bernoulli, a = 0.05, γ = 8", ""),
    ]
    plot.curve([-4, 0, 0, 4], [1, 1, 0, 0], GREY, "zero-one", "7 4")
    for loss, colour, name, dash in shown:
        plot.curve(SCORES, loss.value(ONES, SCORES), colour, name, dash)
    return plot


def plateaus() -> Plot:
    """The probability of the positive class under four priors."""
    plot = Plot(
        (-4, 4),
        (0, 1),
        "score × γ",
        "S-shaped curves between plateaus: nearly 0 and 1 for the weak prior, 0.05 and 0.95 for "
        "the mild one, 0.2 and 0.8 for the robust one, 0.2 and 0.95 for unequal rates.",
        xticks=(-4, -2, 0, 2, 4),
        yticks=(0, 0.2, 0.5, 0.8, 1),
    )
    shown = [
        (Plateaus.weak(), ORANGE, "weak: α = β = 1, n = 100, so a = 0.0098", "2 3"),
        (Plateaus.binary(0.05, 0.9), GREEN, "mild: a = 0.05, b = 0.9", "7 4"),
        (Plateaus.binary(0.2, 0.6), BLUE, "robust: a = 0.2, b = 0.6", ""),
        (Plateaus.from_rates([0.8, 0.95]), PINK, "rates 0.95 and 0.8: a = 0.2, b = 0.75", ""),
    ]
    for prior, colour, name, dash in shown:
        loss = BetaBernoulli(prior, gamma=2.0)
        plot.curve(SCORES, loss.probability(SCORES / 2.0), colour, name, dash)
    return plot


def sharpening() -> Plot:
    """The loss, brought to the scale of the zero-one loss, as gamma grows."""
    plot = Plot(
        (-3, 3),
        (-0.05, 1.1),
        "score of a positive example",
        "Scaled Beta-Bernoulli losses for gamma 1, 2, 4, 8 and 64 close in on the zero-one loss.",
        xticks=(-3, -2, -1, 0, 1, 2, 3),
        yticks=(0, 0.5, 1),
    )
    x = np.linspace(-3, 3, 481)
    for gamma, opacity in ((1, 0.3), (2, 0.45), (4, 0.6), (8, 0.8), (64, 1)):
        loss = BetaBernoulli.binary(0.2, 0.6, float(gamma))
        scale, shift = loss.zero_one_scale()
        value = scale * (loss.value(np.ones_like(x), x) - shift)
        plot.curve(x, value, BLUE, f"γ = {gamma}", opacity=opacity)
    return plot


def landscape() -> Plot:
    """Mean loss along a line through parameter space, sharper and sharper."""
    X, y = load_uci("liver", return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = np.where(y == np.unique(y)[1], 1.0, -1.0)
    start = LogisticRegression().fit(Z, labels)
    steps = np.linspace(-2.5, 2.5, 401)
    base = start.decision_function(Z)
    plot = Plot(
        (-2.5, 2.5),
        (0.24, 0.5),
        "change of one weight (Liver, gamma-GT)",
        "The share of errors along a line is jagged; the smooth loss at gamma 1 is a wide bowl, "
        "and follows the jags more closely as gamma grows.",
        xticks=(-2, -1, 0, 1, 2),
        yticks=(0.3, 0.4, 0.5),
    )
    raw = base[:, None] + np.outer(Z[:, 4], steps)
    # A row for each step; losses take a score for each label.
    given = np.repeat(labels, raw.shape[1])
    wrong = ZeroOne().value(given, raw.ravel()).reshape(raw.shape).mean(axis=0)
    plot.curve(steps, wrong, GREY, "share of training errors")
    for gamma, colour in ((1.0, ORANGE), (4.0, GREEN), (32.0, BLUE)):
        loss = BetaBernoulli.binary(0.2, 0.6, gamma)
        scale, shift = loss.zero_one_scale()
        value = scale * (loss.value(given, raw.ravel()).reshape(raw.shape) - shift)
        plot.curve(steps, value.mean(axis=0), colour, f"Beta-Bernoulli, γ = {gamma:g}, scaled")
    return plot


def dirichlet() -> Plot:
    """Three classes: probabilities as the score of one of them grows."""
    plot = Plot(
        (-4, 4),
        (0, 1),
        "score of class A; B has 1, C has 0",
        "The probabilities of three classes as the score of one grows: none falls below 0.1 or "
        "rises above 0.8.",
        xticks=(-4, -2, 0, 2, 4),
        yticks=(0, 0.1, 0.5, 0.8, 1),
    )
    raw = np.column_stack([SCORES, ONES, 0 * ONES])
    found = BetaBernoulli(Plateaus((0.1, 0.1, 0.1)), gamma=2.0).probability(raw)
    plain = BetaBernoulli(Plateaus((0.0, 0.0, 0.0)), gamma=2.0).probability(raw)
    for k, (name, colour) in enumerate((("A", BLUE), ("B", ORANGE), ("C", GREEN))):
        plot.curve(SCORES, found[:, k], colour, f"class {name}, w = 0.3, γ = 2")
        plot.curve(SCORES, plain[:, k], colour, dash="2 4", opacity=0.7)
    return plot


def mixture() -> Plot:
    """What a weight costs under the two halves of the mixture, and under both."""
    plot = Plot(
        (-2, 2),
        (0, 7),
        "weight",
        "A narrow funnel around zero inside a wide bowl: the mixture follows the Laplacian near "
        "zero and the Gaussian farther out.",
        xticks=(-2, -1, 0, 1, 2),
        yticks=(0, 2, 4, 6),
    )
    weights = np.linspace(-2, 2, 401)
    prior = GaussLaplace(share=0.2, sigma=1.0, scale=0.05)
    each = np.array([prior.value(np.array([weight])) for weight in weights])
    ridge = np.array([Gaussian(1.0).value(np.array([weight])) for weight in weights])
    plot.curve(weights, ridge, ORANGE, "Gaussian (ridge), l2 = 1", "7 4")
    plot.curve(weights, each - each.min(), BLUE, "Gauss-Laplace mixture, π = 0.2, σ = 1, b = 0.05")
    plot.curve(weights, 6 * prior.posterior(weights), GREY, "6 × P(Laplacian | weight)", "2 3")
    return plot


FIGURES: dict[str, Callable[[], Plot]] = {
    f"{draw.__name__}.svg": draw
    for draw in (outliers, losses, plateaus, sharpening, landscape, dirichlet, mixture)
}


def write(folder: Path) -> None:
    """Draw every figure into a folder; files that are as they should be are left alone."""
    folder.mkdir(exist_ok=True)
    for name, draw in FIGURES.items():
        text = draw().svg()
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(__file__).resolve().parent / "figures")

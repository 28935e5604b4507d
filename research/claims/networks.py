"""The claims about the losses for PyTorch: derivatives, halves, and a net on wrong labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

from bblr.comparison.cells import Condition
from bblr.comparison.records import Record
from bblr.comparison.tasks import Task
from research.claims import claim
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold
from research.panorama.cells import spoilt

_GAP = "largest relative gap of a derivative from finite differences, in double"
_INFINITE = "losses and derivatives that are not finite, of 16 of each"
_RATIO = "{} % flips: mean error after the last epoch over GCE's"
# Plateaus of all kinds: none, next to none, strong, and one for each class.
RATIOS: tuple[Any, ...] = (0.0, 1e-6, 1.0, "each")
CLASSES, ROWS = 5, 40
FLIPS = (0.0, 0.2, 0.4)
NETS, HIDDEN, BATCH, EPOCHS, RATE = 10, 128, 64, 100, 1e-3
GCE_POWER = 0.7
LOSSES = ("CE", "GCE", "ours", "ours, no warm-up", "ours, learned", "ours, w = 0.4")


def _torch() -> Any:
    if find_spec("torch") is None:
        raise Unavailable("PyTorch is not installed; run: pip install 'bblr[torch]'")
    import torch

    return torch


def _cases(seed: int, dtype: Any, size: float) -> list[tuple[Any, Any]]:
    """Return each loss as a function of scores alone, with scores."""
    torch = _torch()
    from bblr.torch import BetaBernoulliLoss, DirichletLoss

    rng = torch.Generator().manual_seed(seed)
    found = []
    for shape, top, loss in (
        ((ROWS,), 2, BetaBernoulliLoss),
        ((ROWS, CLASSES), CLASSES, DirichletLoss),
    ):
        for rho in RATIOS:
            ratio = torch.rand(top, generator=rng).tolist() if rho == "each" else rho
            scores = size * torch.randn(shape, generator=rng, dtype=torch.float64)
            labels = torch.randint(top, (ROWS,), generator=rng)
            target = labels.to(dtype) if len(shape) == 1 else labels
            found.append((partial(_of_scores, loss(ratio, gamma=1.5), target), scores.to(dtype)))
    return found


def _of_scores(loss: Any, target: Any, scores: Any) -> Any:
    return loss(scores, target)


@claim(
    "torch-derivatives",
    "derivatives of BetaBernoulliLoss and DirichletLoss against finite differences in double",
    Threshold(_GAP, "<=", 1e-7),
)
def derivatives(run: Run) -> Measured:
    torch = _torch()
    step, gaps = 1e-6, []
    for loss, scores in _cases(run.seed, torch.float64, 3.0):
        slope = torch.func.grad(loss)(scores)
        change = torch.zeros_like(scores)
        for place in range(scores.numel()):
            change.view(-1)[place] = step
            found = (loss(scores + change) - loss(scores - change)) / (2.0 * step)
            change.view(-1)[place] = 0.0
            gaps.append(float(abs(found - slope.view(-1)[place]) / slope.abs().max()))
    return Measured({_GAP: max(gaps)}, [f"{len(gaps)} derivatives; ratios {RATIOS}"])


@claim(
    "torch-halves",
    "BetaBernoulliLoss and DirichletLoss of float16 and bfloat16 scores of ±10,000",
    Threshold(_INFINITE, "<=", 0),
)
def halves(run: Run) -> Measured:
    torch = _torch()
    wrong = 0
    for dtype in (torch.float16, torch.bfloat16):
        for loss, scores in _cases(run.seed, dtype, 1.0):
            far = (1e4 * scores.sign()).requires_grad_()
            value = loss(far)
            value.backward()
            wrong += int(not value.isfinite()) + int(not far.grad.isfinite().all())
    return Measured({_INFINITE: wrong})


def make_loss(name: str, n_steps: int) -> Callable[[Any, Any], Any]:
    """Return a loss of scores and class numbers, by the name that tables show."""
    torch = _torch()
    from bblr.torch import DirichletLoss

    if name == "GCE":
        return generalized_cross_entropy
    weak = 0.4 / 0.6 / 10
    made = {
        "CE": torch.nn.CrossEntropyLoss,
        "ours": partial(DirichletLoss, n_steps=n_steps),
        "ours, no warm-up": DirichletLoss,
        "ours, learned": partial(DirichletLoss, learn=True, n_steps=n_steps),
        "ours, w = 0.4": partial(DirichletLoss, weak, n_steps=n_steps),
    }
    return made[name]()


def generalized_cross_entropy(scores: Any, target: Any) -> Any:
    """Return the mean of (1 - p^q) / q, where p is the softmax of the own class."""
    own = scores.log_softmax(1).gather(1, target[:, None])[:, 0]
    return ((1.0 - (GCE_POWER * own).exp()) / GCE_POWER).mean()


@dataclass(frozen=True, kw_only=True)
class Nets(Task):
    """Nets of two hidden layers on digits, side by side on folds and flips of their own."""

    flips: float = 0.0
    count: int
    epochs: int

    def work(self) -> Record:
        """Train, and count the errors after the last epoch."""
        torch = _torch()
        torch.set_num_threads(1)
        X, y = load_digits(return_X_y=True)
        parts = [_part(X / 16.0, y, self.flips, self.seed + k) for k in range(self.count)]
        rows, labels, tests, truth = (torch.tensor(np.stack(p)) for p in zip(*parts, strict=True))
        rng = torch.Generator().manual_seed(self.seed)
        layers = [_layer(torch, self.count, *sizes, rng) for sizes in _sizes(X.shape[1])]
        n_rows = rows.shape[1]
        loss = make_loss(self.method, self.epochs * -(-n_rows // BATCH))
        learned = list(getattr(loss, "parameters", list)())
        optimizer = torch.optim.Adam([*(p for layer in layers for p in layer), *learned], lr=RATE)
        each = torch.arange(self.count)[:, None]
        for _ in range(self.epochs):
            orders = torch.rand((self.count, n_rows), generator=rng).argsort(1)
            for chosen in orders.split(BATCH, 1):
                optimizer.zero_grad()
                scores = _scores(layers, rows[each, chosen])
                # Adam does not mind that the mean over all nets divides by their number.
                loss(scores.flatten(0, 1), labels[each, chosen].flatten()).backward()
                optimizer.step()
        with torch.no_grad():
            wrong = _scores(layers, tests).argmax(2) != truth
        return {"errors": (100.0 * wrong.double().mean(1)).tolist()}


def _part(X: Any, y: Any, flips: float, seed: int) -> tuple[Any, Any, Any, Any]:
    """Return training rows with flipped labels and test rows, as many for any seed."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
    train, test = next(iter(folds))
    train, test = train[: 4 * len(y) // 5], test[: len(y) // 5]
    given = spoilt(Condition(flips, "label-flip", "training"), X[train], y[train], seed)[1]
    return X[train].astype(np.float32), given, X[test].astype(np.float32), y[test]


def _sizes(n_features: int) -> list[tuple[int, int]]:
    return [(n_features, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 10)]


def _layer(torch: Any, count: int, n_in: int, n_out: int, rng: Any) -> tuple[Any, Any]:
    """Return weights and offsets of one layer of each net, drawn as torch draws them."""
    draw = (2.0 * torch.rand((count, n_in + 1, n_out), generator=rng) - 1.0) / n_in**0.5
    return draw[:, :-1].clone().requires_grad_(), draw[:, -1:].clone().requires_grad_()


def _scores(layers: Any, rows: Any) -> Any:
    """Return the scores that each net gives its own rows."""
    *hidden, (weights, offsets) = layers
    for inner, shift in hidden:
        rows = (rows @ inner + shift).relu()
    return rows @ weights + offsets


@claim(
    "torch-digits",
    "a small net on digits with flipped labels, after the last epoch, against generalised "
    "cross-entropy (q = 0.7)",
    *(Threshold(_RATIO.format(round(100 * flips)), "<=", 1.0) for flips in FLIPS[1:]),
)
def digits(run: Run) -> Measured:
    _torch()
    tasks = [
        Nets(data="digits", method=name, seed=run.seed, flips=flips, count=NETS, epochs=EPOCHS)
        for flips in FLIPS
        for name in LOSSES
    ]
    found: Any = run.frame(tasks)
    mean = found["errors"].map(np.mean).groupby([found["flips"], found["method"]]).mean()
    notes = [f"mean error of {NETS} nets, %: " + ", ".join(LOSSES)]
    for flips in FLIPS:
        values = "  ".join(f"{mean[flips, name]:5.2f}" for name in LOSSES)
        notes.append(f"{100 * flips:3.0f} % flips  {values}")
    figures = {
        _RATIO.format(round(100 * flips)): float(mean[flips, "ours"] / mean[flips, "GCE"])
        for flips in FLIPS[1:]
    }
    return Measured(
        figures, notes, {"cells": found[["method", "flips", "errors"]].to_dict("records")}
    )

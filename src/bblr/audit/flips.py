"""Rates at which labels were flipped between classes, from held-out scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from bblr.audit.mixture import Mixture, MixtureFit, symmetric_flips
from bblr.audit.models import Floats

# Shares of blind labels, those drawn uniformly from all classes, over which their likelihood is
# averaged; at the largest every class can still be the most probable.
_BLIND = np.array([0.0, 0.01, 0.03, 0.08, 0.16, 0.26, 0.38, 0.5, 0.62, 0.74, 0.85, 0.95])
_PRECISION = 5e-3
# Enough of them to compare scores.
_FEW_SHARES = _BLIND[::2]
# Blind labels are believed unless the evidence against them is this strong, in log odds. Where the
# labels can hardly be learned they say little about it, and then noise is the likelier reason.
_LEAST_EVIDENCE = -0.2
# Parts that another classifier may have in the scores.
_PARTS = (0.2, 0.4, 0.6, 0.8)
# Pseudo-rows per class that follow the common rate: few, so that a class can deviate from it.
_POOLED = 20.0
# Least share of blind labels, in rows per class, and its maximum.
_LEAST_ROWS, _MOST_FLOOR = 1.0, 0.1
# Beyond this many classes pairs have too few rows, and one rate is used for all.
_MOST_CLASSES = 100
_TINY = 1e-300
# As good as one sharpness for all classes.
_ALIKE = 0.01


class Flips(NamedTuple):
    """Flip rates, and what they say of each row.

    Parameters
    ----------
    rates : ndarray of shape (n_classes, n_classes)
        Share of the rows of each true class (row) that were given each label (column).
    found : bool
        Whether there is evidence of any flips; without it the rates are next to none.
    posterior : ndarray of shape (n_rows, n_classes)
        Probability of each true class, given the scores and the label.
    log_odds : ndarray of shape (n_rows,)
        Log-odds that the label of each row is wrong.
    suggested : ndarray of shape (n_rows,)
        Most probable class of each row other than its label, as a class number.
    """

    rates: Floats
    found: bool
    posterior: Floats
    log_odds: Floats
    suggested: NDArray[np.intp]


def estimate_flips(
    scores: Floats | Sequence[Floats],
    codes: NDArray[np.intp],
    weight: Floats,
    known: Floats | None = None,
) -> Flips:
    """Estimate by likelihood how often each class was given the label of each other.

    Label g of a row has probability sum_k T[k, g] s_k, where s is the softmax of its scores, with
    fitted sharpness and shifts, and T the matrix of flip rates. Far from the boundaries s is 0 or
    1, and the labels depend on T alone; near them noise cannot be told from overlap. So T is no
    richer than the evidence asks for: no flips; one rate for all classes; for some classes a rate
    of their own, over all labels or into one; or a rate for each label.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes), or several
        Scores by models that have not seen the labels; only differences within a row matter. Of
        several, an average with the weights under which the labels are likeliest.
    codes : ndarray of shape (n_rows,)
        Class numbers of the labels.
    weight : ndarray of shape (n_rows,)
        Weights; a row of weight 2 counts as two rows, one of weight 0 is only scored.
    known : ndarray of shape (n_classes, n_classes), default=None
        Flip rates that need no estimate.

    Returns
    -------
    Flips
        Rates, and the posterior probabilities, log-odds and suggestions that follow.

    Examples
    --------
    A quarter of the first class was given the label of the second, and none the other way:

    >>> import numpy as np
    >>> from bblr.audit.flips import estimate_flips
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 500)
    >>> right = rng.normal(4.0, 1.0, size=1000) * (2 * truth - 1)
    >>> codes = np.where((truth == 0) & (rng.random(1000) < 0.25), 1, truth)
    >>> found = estimate_flips(np.column_stack([-right, right]), codes, np.ones(1000))
    >>> float(np.mean(codes[:500])), found.rates.round(2)
    (0.258, array([[0.74, 0.26],
           [0.  , 1.  ]]))
    """
    several = scores if np.ndim(scores) == 3 else [np.asarray(scores)]
    rows, fit = _united([Mixture.of(one, codes, weight) for one in several])
    # One sharpness for all classes gives the scores their unit.
    rows = rows.by_class(fit.free)
    if known is not None:
        return _result(rows, known, rows.calibrated(known, rows.start()), found=True)._replace(
            rates=known
        )
    k, total = rows.n_classes, rows.total
    blind, fit = _blind(rows)
    common = symmetric_flips(max(blind, min(_LEAST_ROWS * k / total, _MOST_FLOOR)), k)
    fit = rows.calibrated(common, fit.free)
    flips, fit, own = common, fit, False
    if k <= _MOST_CLASSES:
        flips, fit, own = _rates_by_class(rows, common, fit)
    return _result(rows, flips, fit, found=own or blind > 0.0)


def _united(pool: Sequence[Mixture]) -> tuple[Mixture, MixtureFit]:
    """Return the likeliest average of the scores, and the likeliest link with one common rate.

    The last two are averaged first, and then each with what has been found.
    """
    best = (pool[-1], *_over_shares(pool[-1]))
    for rows in pool[-2::-1]:
        ends = [(rows, *_over_shares(rows)), best]
        _, fit, at = max(ends, key=lambda found: found[1].value)
        for part in _PARTS:
            scores = (1.0 - part) * rows.scores + part * ends[1][0].scores
            mixed = Mixture.of(scores, rows.codes, rows.weight)
            ends.append((mixed, *_near_share(mixed, fit, at)))
        best = max(ends, key=lambda found: found[1].value)
    return best[:2]


def _over_shares(rows: Mixture) -> tuple[MixtureFit, int]:
    """Return the likeliest link at a few shares of blind labels, and the number of the share."""
    fits = _along(rows, _FEW_SHARES)
    at = max(range(len(fits)), key=lambda i: fits[i].value)
    return fits[at], at


def _near_share(rows: Mixture, fit: MixtureFit, at: int) -> tuple[MixtureFit, int]:
    """Return the same for scores whose likeliest link and share should be near these."""

    def fitted(i: int, free: Floats) -> MixtureFit:
        return rows.calibrated(symmetric_flips(_FEW_SHARES[i], rows.n_classes), free)

    best = fitted(at, fit.free)
    for way in (-1, 1):
        while 0 <= at + way < len(_FEW_SHARES):
            new = fitted(at + way, best.free)
            if new.value <= best.value:
                break
            best, at = new, at + way
    return best, at


def _along(rows: Mixture, shares: Floats) -> list[MixtureFit]:
    """Fit the link at each share of blind labels, each from the one before."""
    fits, free = [], rows.start()
    for share in shares:
        fits.append(rows.calibrated(symmetric_flips(share, rows.n_classes), free))
        free = fits[-1].free
    return fits


def _blind(rows: Mixture) -> tuple[float, MixtureFit]:
    """Return the likeliest share of blind labels, 0 where the evidence is against them.

    The evidence is the likelihood averaged over all shares, against that of none. It resists
    noise that explains the labels no better than overlap does, without asking for more than a weak
    classifier can show.
    """
    fits = _along(rows, _BLIND)
    values = np.array([fit.value for fit in fits])
    top = int(values.argmax())
    near = _BLIND[max(top - 1, 0)], _BLIND[min(top + 1, len(_BLIND) - 1)]

    def loss(share: float) -> float:
        flips = symmetric_flips(share, rows.n_classes)
        return -rows.calibrated(flips, fits[top].free).value

    found = minimize_scalar(loss, bounds=near, method="bounded", options={"xatol": _PRECISION})
    best = float(found.x) if -found.fun > values[top] else float(_BLIND[top])
    shares, gains = np.r_[_BLIND, best], np.r_[values, max(-found.fun, values[top])] - values[0]
    order = np.argsort(shares, kind="stable")
    most = gains.max()
    mean = trapezoid(np.exp(gains[order] - most), shares[order]) / _BLIND[-1]
    if most + np.log(mean) < _LEAST_EVIDENCE:
        return 0.0, fits[0]
    return best, fits[top]


def _rates_by_class(
    rows: Mixture, common: Floats, base: MixtureFit
) -> tuple[Floats, MixtureFit, bool]:
    """Return the flip rates, the link with them, and whether any class has rates of its own.

    From the likeliest matrix classes go back to fewer rates of their own, or to the common rate,
    where the others do not improve the likelihood by more than their number explains.
    """
    k = rows.n_classes
    flips, fit = _likeliest(rows, common, base)
    size = rows.sums(flips, fit.free, inform=False).moved.sum(axis=1)
    price = 0.5 * np.log(np.maximum(size, 2.0))

    def with_row(j: int, row: Floats) -> Floats:
        changed = flips.copy()
        changed[j] = row
        return changed

    # Without a new link, which would recover a part of it.
    losses = [
        fit.value - rows.sums(with_row(j, common[j]), fit.free, inform=False).value
        for j in range(k)
    ]
    own = np.zeros(k, dtype=bool)
    for j in np.argsort(losses, kind="stable"):
        options = [(flips[j], (k - 1.0) * price[j], fit)]
        for row, cost in _simpler_rows(flips[j], common[j], j, price[j]):
            options.append((row, cost, rows.calibrated(with_row(j, row), fit.free)))
        row, cost, fit = max(options, key=lambda option: option[2].value - option[1])
        flips, own[j] = with_row(j, row), cost > 0.0
    return (flips, fit, True) if own.any() else (common, base, False)


def _likeliest(rows: Mixture, common: Floats, base: MixtureFit) -> tuple[Floats, MixtureFit]:
    """Return the likeliest flip rates and the link with them, the best of two searches.

    Started from the link without flips of its own, a class may get stuck, explained away by its
    sharpness, so a second search starts elsewhere: where each class has its own sharpness, at the
    rates that one common sharpness asks for.
    """
    starts = [(common, base.free), (common, rows.start())]
    if rows.deviation > _ALIKE:
        alike = replace(rows, deviation=_ALIKE)
        starts[1] = alike.likeliest_flips(_POOLED * common, common, rows.start())
    found = []
    for flips, free in starts:
        flips, free = rows.likeliest_flips(_POOLED * common, flips, free)
        found.append((flips, rows.calibrated(flips, free)))
    return max(found, key=lambda pair: pair[1].value)


def _simpler_rows(
    row: Floats, common: Floats, j: int, price: float
) -> Iterator[tuple[Floats, float]]:
    """Yield rows of fewer rates for class j, and what each must gain in log likelihood."""
    k = len(row)
    yield common, 0.0
    if k == 2:
        return
    even = np.full(k, (1.0 - row[j]) / (k - 1))
    even[j] = row[j]
    yield even, price
    # One label that is given more often than the others, which may be any of them.
    excess = row - common
    excess[j] = -np.inf
    label = int(excess.argmax())
    one = common.copy()
    one[label] = row[label]
    one[j] = max(one[j] - excess[label], _TINY)
    yield one / one.sum(), price + np.log(k - 1.0)


def _result(rows: Mixture, flips: Floats, fit: MixtureFit, *, found: bool) -> Flips:
    codes = rows.codes
    moved = rows.sums(flips, fit.free, inform=False).moved
    # A class to which no row seems to belong keeps its prior rates.
    moved += flips / rows.total
    joint = np.log(np.maximum(flips, _TINY)).T[codes] + rows.logits(fit.free)
    posterior = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    every = np.arange(len(codes))
    own = joint[every, codes].copy()
    joint[every, codes] = -np.inf
    return Flips(
        moved / moved.sum(axis=1, keepdims=True),
        found,
        np.asarray(posterior),
        np.asarray(logsumexp(joint, axis=1)) - own,
        joint.argmax(axis=1).astype(np.intp),
    )

"""McNemar's test: whether two classifiers have the same error rate on the same examples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom, chi2

from bblr.evaluation.label_column import label_column

_SMALL = 25
"""Discordant examples below which ``exact="auto"`` uses the binomial test."""

Exact = bool | Literal["auto"]


@dataclass(frozen=True)
class McNemarResult:
    """Result of McNemar's test for two classifiers a and b.

    Parameters
    ----------
    n01 : int
        Examples that a gets wrong and b right.
    n10 : int
        Examples that a gets right and b wrong.
    z : float
        (n10 − n01) / √(n01 + n10), without continuity correction; positive when a makes fewer
        errors, zero when the two err equally often (or never differ).
    statistic : float
        max(abs(n01 − n10) − 1, 0)² / (n01 + n10) where `method` is ``"chi2"``; the smaller of
        the two counts where it is ``"exact"``.
    p_value : float
        Two-sided. For the one-sided question "is a better?" compare `z` with a normal quantile
        instead (the paper's 2.32 for p ≤ 0.01).
    method : {"exact", "chi2"}
        The binomial test, or the chi-squared approximation with continuity correction.

    Examples
    --------
    >>> from bblr.evaluation import mcnemar
    >>> result = mcnemar([1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0])
    >>> result.n01, result.n10, result.p_value
    (0, 2, 0.5)
    """

    n01: int
    n10: int
    z: float
    statistic: float
    p_value: float
    method: Literal["exact", "chi2"]


def mcnemar(
    y_true: ArrayLike, pred_a: ArrayLike, pred_b: ArrayLike, *, exact: Exact = "auto"
) -> McNemarResult:
    """Test whether classifiers a and b have the same error rate on the same examples.

    Only discordant examples count, those one classifier gets right and the other wrong. If the
    error rates are equal, each falls to either side with probability ½.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels, numbers or text.
    pred_a, pred_b : array-like of shape (n_samples,)
        The labels the two classifiers predict.
    exact : bool or "auto", default="auto"
        True for the binomial test, False for the chi-squared approximation with continuity
        correction; ``"auto"`` uses the binomial test below 25 discordant examples.

    Returns
    -------
    McNemarResult
        Counts, z (positive when a makes fewer errors), statistic and two-sided p-value.

    See Also
    --------
    pooled_mcnemar : One test over several.

    Examples
    --------
    >>> from bblr.evaluation import mcnemar
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> a = [1, 1, 1, 1, 0, 0, 0, 1]
    >>> b = [0, 0, 0, 1, 0, 0, 1, 0]
    >>> result = mcnemar(y, a, b)
    >>> result.n01, result.n10, result.method
    (1, 4, 'exact')
    >>> round(result.z, 3), round(result.p_value, 3)
    (1.342, 0.375)
    """
    arrays = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    labels = {name: label_column(name, values) for name, values in arrays.items()}
    _check_alike(labels)
    wrong_a = labels["pred_a"] != labels["y_true"]
    wrong_b = labels["pred_b"] != labels["y_true"]
    n01 = int(np.count_nonzero(wrong_a & ~wrong_b))
    n10 = int(np.count_nonzero(~wrong_a & wrong_b))
    return _test_counts(n01, n10, exact)


def pooled_mcnemar(
    results_or_counts: Iterable[McNemarResult | Sequence[int]], *, exact: Exact = "auto"
) -> McNemarResult:
    """Pool McNemar's tests: add up the discordant counts and test the sums.

    This is the paper's pooled test, with one test per fold and repetition:
    z = Σ(n10 − n01) / √Σ(n01 + n10).

    Parameters
    ----------
    results_or_counts : iterable of McNemarResult or of pairs (n01, n10)
        The single tests, all of the same two classifiers in the same order. In a pair `n01`
        counts the examples only a gets wrong and `n10` those only b gets wrong.
    exact : bool or "auto", default="auto"
        As in `mcnemar`, for the sums.

    Returns
    -------
    McNemarResult
        The pooled counts and the test on them.

    Notes
    -----
    The test treats every discordant example as an independent draw. Folds of one cross-validation
    test disjoint examples; *repeated* cross-validation tests the same examples repeatedly with
    similar classifiers, so that z pooled over repetitions is too large and the p-value too small.
    It is meant for comparison with the paper's figures; for a valid p-value pool the folds of one
    repetition only.

    Examples
    --------
    >>> from bblr.evaluation import pooled_mcnemar
    >>> pooled = pooled_mcnemar([(10, 18), (7, 16), (12, 13)])
    >>> pooled.n01, pooled.n10, round(pooled.z, 2), pooled.method
    (29, 47, 2.06, 'chi2')
    """
    n01 = n10 = n_tests = 0
    for item in results_or_counts:
        a, b = _counts(item, n_tests)
        n01, n10, n_tests = n01 + a, n10 + b, n_tests + 1
    if n_tests == 0:
        raise ValueError("results_or_counts is empty; give at least one test")
    return _test_counts(n01, n10, exact)


def _test_counts(n01: int, n10: int, exact: Exact) -> McNemarResult:
    if not isinstance(exact, (bool, np.bool_)) and not (
        isinstance(exact, str) and exact == "auto"
    ):
        raise ValueError(f"exact={exact!r} is not known; choose True, False or 'auto'")
    total = n01 + n10
    z = (n10 - n01) / math.sqrt(total) if total else 0.0
    if total == 0 or (total < _SMALL if exact == "auto" else exact):
        smaller = min(n01, n10)
        p_value = min(1.0, 2.0 * float(binom.cdf(smaller, total, 0.5)))
        return McNemarResult(n01, n10, z, float(smaller), p_value, "exact")
    statistic = max(abs(n01 - n10) - 1, 0) ** 2 / total
    return McNemarResult(n01, n10, z, statistic, float(chi2.sf(statistic, 1)), "chi2")


def _counts(item: McNemarResult | Sequence[int], position: int) -> tuple[int, int]:
    if isinstance(item, McNemarResult):
        return item.n01, item.n10
    where = f"results_or_counts[{position}]={item!r}"
    try:
        pair = tuple(item)
    except TypeError:
        pair = ()
    if len(pair) != 2 or not all(isinstance(n, Integral) for n in pair):
        raise ValueError(f"{where} is neither a McNemarResult nor a pair of counts (n01, n10)")
    if min(pair) < 0:
        raise ValueError(f"{where} holds a negative count; counts start at 0")
    return int(pair[0]), int(pair[1])


def _check_alike(labels: dict[str, np.ndarray]) -> None:
    lengths = {name: len(values) for name, values in labels.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(f"the lengths differ ({shown}); give one label each for each example")
    is_text = {name: isinstance(values.tolist()[0], str) for name, values in labels.items()}
    if len(set(is_text.values())) > 1:
        text = " and ".join(name for name, flag in is_text.items() if flag)
        raise ValueError(
            f"{text} holds text and the other labels are numbers; encode all three in the same way"
        )

"""One pass over rows whose labels may have been flipped: likelihood, slopes and counts."""

from __future__ import annotations

import numpy as np
from numba import njit

from bblr._numeric.elementary import JIT, exp_minus_abs, logarithm

_LEAST = 1e-300


@njit(**JIT)
def flip_pass(
    below, codes, weight, flips, toward, gamma, shift, joint, gradient, information, moved
):
    """Return the log likelihood of labels given at the rates `flips` by true class (rows).

    True classes are drawn from the softmax of gamma * below + shift. Sums are added to

    - `gradient`: derivatives by a step of the rates `toward` another matrix, by log gamma and by
      the shifts;
    - `information`: minus the second derivatives, lower triangle first, unless it is empty;
    - `moved`: the expected weight by true class (rows) and label.

    The probabilities of the true classes, given the labels, are written to `joint`.
    """
    n, classes = below.shape
    _shares(below, gamma, shift, joint)
    pull, turn = np.empty(classes), np.empty(classes)
    value = 0.0
    for i in range(n):
        label, w = codes[i], weight[i]
        p, step = 0.0, 0.0
        for k in range(classes):
            p += flips[k, label] * joint[i, k]
            step += toward[k, label] * joint[i, k]
        p = max(p, _LEAST)
        step /= p
        # Means and squares of the slopes by log gamma, before and after the label is known.
        before, after, squares, along = 0.0, 0.0, 0.0, 0.0
        for k in range(classes):
            share = joint[i, k]
            posterior = flips[k, label] * share / p
            slope = gamma * below[i, k]
            before += share * slope
            after += posterior * slope
            squares += (share - posterior) * slope * slope
            turn[k] = share * toward[k, label] / p - step * posterior
            along += turn[k] * slope
            pull[k] = posterior - share
            joint[i, k] = posterior
            moved[k, label] += w * posterior
            gradient[k + 2] += w * pull[k]
        gradient[0] += w * step
        gradient[1] += w * (after - before)
        if information.size:
            information[0, 0] += w * step * step
            information[1, 0] -= w * along
            information[1, 1] += w * (squares - before * before + after * after)
            information[1, 1] -= w * (after - before)
            for k in range(classes):
                posterior, slope = joint[i, k], gamma * below[i, k]
                share = posterior - pull[k]
                information[k + 2, 0] -= w * turn[k]
                information[k + 2, 1] += w * (
                    share * (slope - before) - posterior * (slope - after)
                )
                information[k + 2, k + 2] -= w * pull[k]
                for m in range(k + 1):
                    other = joint[i, m]
                    information[k + 2, m + 2] += w * (
                        posterior * other - share * (other - pull[m])
                    )
        value += w * logarithm(p)
    for j in range(information.shape[0]):
        for m in range(j):
            information[m, j] = information[j, m]
    return value


@njit(**JIT)
def _shares(below, gamma, shift, out):
    """Write the softmax of gamma * below + shift."""
    n, classes = below.shape
    for i in range(n):
        top = -np.inf
        for k in range(classes):
            out[i, k] = gamma * below[i, k] + shift[k]
            top = max(top, out[i, k])
        for k in range(classes):
            out[i, k] -= top
    # All are at most 0. In one long loop exponentials take a quarter of the time.
    flat = out.reshape(-1)
    for i in range(len(flat)):
        flat[i] = exp_minus_abs(flat[i])
    for i in range(n):
        total = 0.0
        for k in range(classes):
            total += out[i, k]
        for k in range(classes):
            out[i, k] /= total

"""One pass over rows whose labels may have been flipped: likelihood, slopes and counts."""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT, exp_minus_abs, logarithm

_LEAST = 1e-300


@njit(**JIT)
def flip_pass(scores, codes, weight, flips, sharp, shift, joint, gradient, information, moved):
    """Return the log likelihood of labels given at the rates `flips` by true class (rows).

    True classes are drawn from the softmax of sharp * (scores + shift). Sums are added to

    - `gradient`: derivatives by log sharp, then by the shifts;
    - `information`: minus the second derivatives, unless it is empty;
    - `moved`: the expected weight by true class (rows) and label.

    The probabilities of the true classes, given the labels, are written to `joint`.
    """
    n, classes = scores.shape
    _shares(scores, sharp, shift, joint)
    pull, slope, share = np.empty(classes), np.empty(classes), np.empty(classes)
    value = 0.0
    for i in range(n):
        label, w = codes[i], weight[i]
        p = 0.0
        for k in range(classes):
            share[k] = joint[i, k]
            p += flips[k, label] * share[k]
        p = max(p, _LEAST)
        for k in range(classes):
            posterior = flips[k, label] * share[k] / p
            slope[k] = sharp[k] * (scores[i, k] + shift[k])
            pull[k] = posterior - share[k]
            joint[i, k] = posterior
            moved[k, label] += w * posterior
            gradient[k] += w * pull[k] * slope[k]
            gradient[classes + k] += w * pull[k] * sharp[k]
        if information.size:
            for k in range(classes):
                information[k, k] -= w * pull[k] * slope[k]
                information[classes + k, k] -= w * pull[k] * sharp[k]
                for m in range(k + 1):
                    # The curvature of log p by the logits of k and m.
                    bend = joint[i, k] * joint[i, m] - share[k] * share[m]
                    if m == k:
                        bend -= pull[k]
                    bend *= w
                    information[k, m] += bend * slope[k] * slope[m]
                    information[classes + k, m] += bend * sharp[k] * slope[m]
                    information[classes + k, classes + m] += bend * sharp[k] * sharp[m]
                    if m < k:
                        information[classes + m, k] += bend * sharp[m] * slope[k]
        value += w * logarithm(p)
    for j in range(information.shape[0]):
        for m in range(j):
            information[m, j] = information[j, m]
    return value


@njit(**JIT)
def _shares(scores, sharp, shift, out):
    """Write the softmax of sharp * (scores + shift)."""
    n, classes = scores.shape
    for i in range(n):
        top = -np.inf
        for k in range(classes):
            out[i, k] = sharp[k] * (scores[i, k] + shift[k])
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

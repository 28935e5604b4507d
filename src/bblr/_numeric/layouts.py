"""How the scores of a row are laid out: one for two classes, or one for each of more.

What depends on that stands here, once; everything else asks for the :func:`layout` of its scores.
Scores and labels are arrays or tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bblr._numeric.tensors import NUMPY, beside, floats, is_tensor, namespace

# Beyond this a breakpoint plus or minus 1 is the breakpoint itself.
FAR = 2.0**52
_ROUNDING = float(np.finfo(np.float64).eps)
# The least number above 1/2.
_ABOVE = 0.5 + 0.5 * _ROUNDING


def class_numbers(y: Any) -> Any:
    """Return labels or truth values as whole numbers that index an array or a tensor."""
    return y.long() if is_tensor(y) else np.asarray(y, dtype=np.intp)


def log_sigmoid(z: Any) -> Any:
    """Return the logarithm of the sigmoid, linear where the sigmoid itself would underflow."""
    xp, distance = namespace(z), abs(z)
    # The smaller of z and 0, written so that torch derives 1/2 at 0 and not what either side has.
    return 0.5 * (z - distance) - xp.log1p(xp.exp(-distance))


class OneScore:
    """Two classes: one score a row, which has no second axis, and labels -1 and +1."""

    # Beyond the first and the last breakpoint of a line a step goes on by 1.
    far = 0.0
    # How often a penalty counts, so that two scores and one are the same model.
    copies = 1.0
    # What the Brier score of the two classes has of the squares of both.
    brier = 0.5

    def score(self, raw: Any, k: int) -> Any:
        """Return a view of score k of every row."""
        return raw

    def by_row(self, values: Any) -> Any:
        """Return a number for each row, shaped to multiply its scores."""
        return values

    def labels(self, y: Any) -> Any:
        """Return labels as they are computed with."""
        return floats(y)

    def codes(self, y: Any) -> Any:
        """Return the class number of each label."""
        return class_numbers(floats(y) > 0)

    def signs(self, codes: Any) -> Any:
        """Return the labels that class numbers stand for."""
        return codes * 2.0 - 1.0

    def is_wrong(self, y: Any, decision: Any) -> Any:
        """Return which rows are errors, strictly: a tie is one."""
        return ~(y * decision > 0)

    def predicted(self, decision: Any) -> Any:
        """Return the class number that each row is given."""
        return class_numbers(decision > 0)

    def shifted(self, raw: Any, shift: tuple[float, ...]) -> Any:
        """Return the scores that decide."""
        return raw + shift[0]

    def log_share(self, scores: Any, y: Any) -> tuple[Any, Any]:
        """Return the log of the sigmoid of the own class, and its derivative by the scores."""
        return log_sigmoid(y * scores), y * namespace(scores).sigmoid(-y * scores)

    def probability(self, scores: Any, low: tuple[float, ...], b: float) -> Any:
        """Return low + b * sigmoid of the positive class."""
        return low[1] + b * namespace(scores).sigmoid(scores)

    def fisher(self, scores: Any, low: tuple[float, ...], b: float) -> Any:
        """Return the Fisher information of each score."""
        up, down = namespace(scores).sigmoid(scores), namespace(scores).sigmoid(-scores)
        own, other = (
            1.0 if least == 0.0 else b * s / (least + b * s)
            for least, s in ((low[1], up), (low[0], down))
        )
        return up * down * own * other

    def best(self, raw: Any, y: Any) -> Any:
        """Return 1 where the own class has the largest score, 1/2 for a tie, 0 elsewhere."""
        return np.heaviside(y * raw, 0.5)

    def ends(self, raw: Any, change: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
        """Return where the loss changes along a line, by how much, and the loss far to the left.

        A row that changes sign only beyond every float, or never, stands still.
        """
        xp = namespace(raw)
        at = xp.where(change != 0, -raw / change, np.inf)
        moves = (weight > 0) & (abs(at) < FAR)
        # Far to the left exactly the rows that improve with the step are wrong.
        rising = y * change > 0
        left = (weight * xp.where(moves, rising, y * raw <= 0)).sum()
        return at[moves], xp.where(rising, -weight, weight)[moves], left

    def joined(self, columns: Any) -> Any:
        """Return the scores whose columns are those of an array or of a list."""
        return columns[:, 0] if hasattr(columns, "shape") else columns[0]

    def each(self, decision: Any) -> Any:
        """Return a score for each class."""
        return np.column_stack([-0.5 * decision, 0.5 * decision])

    def centred(self, values: Any) -> Any:
        """Return what numbers for each class add to the scores."""
        return np.array([values[1] - values[0]])

    def n_classes(self, decision: Any) -> int:
        """Return the number of classes."""
        return 2

    def table(self, probability: Any) -> Any:
        """Return the probability of each class, a column each."""
        return namespace(probability).stack([1.0 - probability, probability], 1)

    def of_class(self, probability: Any, codes: Any) -> Any:
        """Return the probability of the class of each row."""
        return np.where(codes == 1, probability, 1.0 - probability)

    def own_side(self, decision: Any, probability: Any) -> Any:
        """Return probabilities on the side of 1/2 that the decision is on, whatever is rounded."""
        xp = namespace(decision)
        above, below = xp.clip(probability, _ABOVE, None), xp.clip(probability, None, 0.5)
        return xp.where(decision > 0, above, below)

    def share(self, scores: Any, y: Any) -> Any:
        """Return the sigmoid of the own class."""
        return NUMPY.sigmoid(y * scores)

    def against(self, raw: Any, codes: Any) -> Any:
        """Return the log-odds of all other classes against that of each row."""
        return np.where(codes == 1, -raw, raw)

    def rankings(self, decision: Any) -> dict[int, Any]:
        """Return, for the classes to rank rows by, how far each row is in that class."""
        return {1: decision}


class SeveralScores:
    """A score for each class, a column each; labels are class numbers."""

    # Beyond the first and the last breakpoint of a line a step goes on by as much as it has come.
    far = 1.0
    copies = 2.0
    brier = 1.0

    def score(self, raw: Any, k: int) -> Any:
        """Return a view of score k of every row."""
        return raw[:, k]

    def by_row(self, values: Any) -> Any:
        """Return a number for each row, shaped to multiply its scores."""
        return values[:, None]

    def labels(self, y: Any) -> Any:
        """Return labels as they are computed with."""
        return class_numbers(y)

    codes = labels

    def signs(self, codes: Any) -> Any:
        """Return the labels that class numbers stand for."""
        return codes

    def is_wrong(self, y: Any, decision: Any) -> Any:
        """Return which rows are errors, strictly: a tie is one."""
        xp, place = namespace(decision), y[:, None]
        own = xp.take_along_dim(decision, place, 1)[:, 0]
        return ~(own > xp.amax(xp.scatter(decision, 1, place, -np.inf), 1))

    def predicted(self, decision: Any) -> Any:
        """Return the class number that each row is given."""
        return decision.argmax(1)

    def shifted(self, raw: Any, shift: tuple[float, ...]) -> Any:
        """Return the scores that decide.

        Two classes may have a column each: half of what tells them apart goes to either.
        """
        return raw + beside(shift if len(shift) > 1 else (-0.5 * shift[0], 0.5 * shift[0]), raw)

    def log_share(self, scores: Any, y: Any) -> tuple[Any, Any]:
        """Return the log of the softmax of the own class, and its derivative by the scores."""
        xp, place = namespace(scores), y[:, None]
        logs = xp.log_softmax(scores, 1)
        # 1 - s_y from the others, without loss of digits where s_y is nearly 1.
        others = xp.scatter(xp.exp(logs), 1, place, 0.0)
        slope = xp.scatter(-others, 1, place, others.sum(1, keepdims=True))
        return xp.take_along_dim(logs, place, 1)[:, 0], slope

    def probability(self, scores: Any, low: tuple[float, ...], b: float) -> Any:
        """Return low + b * softmax of each class."""
        return beside(low, scores) + b * namespace(scores).softmax(scores, 1)

    def fisher(self, scores: Any, low: tuple[float, ...], b: float) -> Any:
        """Return the Fisher information of each score: the diagonal alone."""
        xp, p = namespace(scores), self.probability(scores, low, b)
        s = xp.softmax(scores, 1)
        q = xp.where(p > 0, s * s / xp.where(p > 0, p, 1.0), 0.0)
        return b**2 * (q * (1.0 - s) ** 2 + s * s * (q.sum(1, keepdims=True) - q))

    def best(self, raw: Any, y: Any) -> Any:
        """Return 1 where the own class has the largest score, its share of a tie, 0 elsewhere."""
        best = raw == raw.max(axis=1, keepdims=True)
        return np.take_along_axis(best / best.sum(axis=1, keepdims=True), y[:, None], 1)[:, 0]

    def ends(self, raw: Any, change: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
        """Return where the loss changes along a line, by how much, and the loss far to the left.

        A row is right while its own score exceeds every other one: on one open stretch of steps.
        """
        xp, place = namespace(raw), y[:, None]
        lead = xp.scatter(xp.take_along_dim(raw, place, 1) - raw, 1, place, 1.0)
        rise = xp.scatter(xp.take_along_dim(change, place, 1) - change, 1, place, 0.0)
        cross = -lead / rise
        low = xp.amax(xp.where(rise > 0, cross, -np.inf), 1)
        high = xp.amin(xp.where(rise < 0, cross, np.inf), 1)
        never = ((rise == 0) & (lead <= 0)).any(1)
        held = weight * ((low < high) & ~never)
        enters, leaves = (low > -np.inf) & (held > 0), (high < np.inf) & (held > 0)
        at = xp.cat([low[enters], high[leaves]])
        gain = xp.cat([-held[enters], held[leaves]])
        return at, gain, weight.sum() - held[low == -np.inf].sum()

    def joined(self, columns: Any) -> Any:
        """Return the scores whose columns are those of an array or of a list."""
        return columns if hasattr(columns, "shape") else np.column_stack(columns)

    def each(self, decision: Any) -> Any:
        """Return a score for each class."""
        return decision

    def centred(self, values: Any) -> Any:
        """Return what numbers for each class add to the scores."""
        return values - values.mean()

    def n_classes(self, decision: Any) -> int:
        """Return the number of classes."""
        return int(decision.shape[1])

    def table(self, probability: Any) -> Any:
        """Return the probability of each class, a column each."""
        return probability

    def of_class(self, probability: Any, codes: Any) -> Any:
        """Return the probability of the class of each row."""
        return probability[np.arange(len(codes)), codes]

    def own_side(self, decision: Any, probability: Any) -> Any:
        """Return probabilities of which the largest score has the largest, whatever is rounded."""
        xp, best = namespace(probability), decision.argmax(1)
        kept = probability.argmax(1) == best
        if bool(kept.all()):
            return probability
        kept, place = kept[:, None], best[:, None]
        others = xp.amax(xp.scatter(probability, 1, place, -np.inf), 1)[:, None]
        own = xp.take_along_dim(probability, place, 1)
        return xp.scatter(probability, 1, place, xp.where(kept, own, others * (1.0 + _ROUNDING)))

    def share(self, scores: Any, y: Any) -> Any:
        """Return the softmax of the own class."""
        return np.exp(NUMPY.log_softmax(scores, 1)[np.arange(len(y)), y])

    def against(self, raw: Any, codes: Any) -> Any:
        """Return the log-odds of all other classes against that of each row."""
        rows, others = np.arange(len(codes)), raw.copy()
        others[rows, codes] = -np.inf
        return NUMPY.logsumexp(others, 1) - raw[rows, codes]

    def rankings(self, decision: Any) -> dict[int, Any]:
        """Return, for the classes to rank rows by, how far each row is in that class."""
        order = np.sort(decision, axis=1)
        best, next_best = order[:, -1], order[:, -2]
        return {
            k: column - np.where(column == best, next_best, best)
            for k, column in enumerate(decision.T)
        }


_ONE, _SEVERAL = OneScore(), SeveralScores()
Layout = OneScore | SeveralScores


def layout(raw: Any) -> Layout:
    """Return how scores are laid out."""
    return _ONE if raw.ndim < 2 else _SEVERAL


def layout_of(n_scores: int) -> Layout:
    """Return how so many scores of a row are laid out."""
    return _ONE if n_scores == 1 else _SEVERAL


def layout_for(n_classes: int) -> Layout:
    """Return how the scores for so many classes are laid out."""
    return _ONE if n_classes == 2 else _SEVERAL

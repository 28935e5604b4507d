"""Vertices of the arrangement that the rows of a problem cut parameter space into.

A row z is classified correctly by theta where z @ theta > 0, so every row is a hyperplane through
the origin, and all theta of one cell between the hyperplanes make the same errors. Each cell
touches vertices: directions theta that are orthogonal to D - 1 independent rows, the basis. The
rows of the basis cost nothing, since a small push puts each of them on its right side. One vertex
thus stands for the best of the 2^(D-1) cells around it.
"""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, INNER, JIT

# Scores and slopes below this share of a row's length are rounding errors.
_ZERO = 1e-10
# Breakpoints closer than this are one point.
_SAME = 1e-9
# A row of the basis must stick out of the span of the others by this share of its length.
_INDEPENDENT = 1e-6
_PUSHES = 5
# Moves a point that sorting by buckets may take.
_MOVES = 8


@njit(**JIT, **INNER)
def _project_out(frame, size, vector):
    # Twice: once leaves rounding errors behind. Returns the length left and makes it one.
    d = len(vector)
    for _ in range(2):
        for k in range(size):
            dot = 0.0
            for j in range(d):
                dot += frame[k, j] * vector[j]
            for j in range(d):
                vector[j] -= dot * frame[k, j]
    length = 0.0
    for j in range(d):
        length += vector[j] * vector[j]
    length = np.sqrt(length)
    if length > 0.0:
        for j in range(d):
            vector[j] /= length
    return length


# A loop: assignments to slices are compiled with all that their error messages need.
@njit(**INLINE)
def _copy(source, target):
    for j in range(len(source)):
        target[j] = source[j]


@njit(**JIT)
def strict_loss(rows, weight, theta):
    """Return the weight of the rows whose score is not positive."""
    total = 0.0
    for i in range(len(weight)):
        score = 0.0
        for j in range(len(theta)):
            score += rows[i, j] * theta[j]
        if not score > 0.0:
            total += weight[i]
    return total


@njit(**JIT)
def first_basis(rows, order, basis, frame):
    """Fill `basis` with independent rows, the first of `order` first; return how many there are.

    `frame` gets an orthonormal basis of their span.
    """
    size = 0
    vector = np.empty(rows.shape[1])
    for i in order:
        square = 0.0
        for j in range(len(vector)):
            vector[j] = rows[i, j]
            square += vector[j] * vector[j]
        length = np.sqrt(square)
        if length == 0.0:
            continue
        if _project_out(frame, size, vector) > _INDEPENDENT * length:
            _copy(vector, frame[size])
            basis[size] = i
            size += 1
            if size == len(basis):
                break
    return size


@njit(**JIT)
def leave_vertex(rows, weight, basis, theta, rng, out):
    """Push a vertex into a cell beside it; return the strict loss there, and the point in `out`.

    The push gives every row of the basis a positive score and stops half-way to the first other
    row that would become wrong. Where further rows pass through the vertex, some pushes are
    luckier than others, so a few are tried.
    """
    n, d = rows.shape
    size = len(basis)
    frame, lower = np.empty((d, d)), np.empty((size, size))
    for k in range(size):
        for m in range(k):
            lower[k, m] = 0.0
            for j in range(d):
                lower[k, m] += rows[basis[k], j] * frame[m, j]
        _copy(rows[basis[k]], frame[k])
        lower[k, k] = _project_out(frame, k, frame[k])
    best = np.inf
    push, part, moved = np.empty(d), np.empty(size), np.empty(d)
    for attempt in range(_PUSHES):
        for j in range(d):
            push[j] = 0.0
        for k in range(size):
            target = 1.0 if attempt == 0 else 1e-3 + rng.random()
            for m in range(k):
                target -= lower[k, m] * part[m]
            part[k] = target / lower[k, k]
            for j in range(d):
                push[j] += part[k] * frame[k, j]
        room = 1.0
        for i in range(n):
            score = 0.0
            slope = 0.0
            for j in range(d):
                score += rows[i, j] * theta[j]
                slope += rows[i, j] * push[j]
            if slope < 0.0 and score > _SAME and -score / slope < room:
                room = -score / slope
        for j in range(d):
            moved[j] = theta[j] + 0.5 * room * push[j]
        loss = strict_loss(rows, weight, moved)
        if loss < best:
            best = loss
            _copy(moved, out)
    return best


@njit(**INLINE)
def _breakpoints(rows, lengths, weight, free, dropped, theta, v, at, gain, who):
    # Where rows change sides along theta + step * v; returns their number and the loss far left.
    d = len(theta)
    count = 0
    loss = 0.0
    for i in range(len(weight)):
        if free[i]:
            continue
        score = 0.0
        slope = 0.0
        for j in range(d):
            score += rows[i, j] * theta[j]
            slope += rows[i, j] * v[j]
        if i == dropped:
            score = 0.0
        if abs(slope) > _ZERO * lengths[i]:
            at[count] = -score / slope
            who[count] = i
            gain[count] = -weight[i] if slope > 0.0 else weight[i]
            loss += weight[i] if slope > 0.0 else 0.0
            count += 1
        elif score <= _ZERO * lengths[i]:
            loss += weight[i]
    return count, loss


@njit(**JIT)
def sort_points(at, count, ends, order):
    """Fill `order` so that the first `count` entries of `at` ascend.

    Points along a line are ratios, most of them near 1: as many buckets as points and a pass over
    neighbours sort them in a tenth of the time of a sort that compares. Where buckets are crowded,
    that one is taken.
    """
    for b in range(count + 1):
        ends[b] = 0
    for i in range(count):
        bucket = int((0.5 + 0.49 * at[i] / (1.0 + abs(at[i]))) * count)
        order[i] = min(max(bucket, 0), count - 1)  # of what is not finite, too
        ends[order[i] + 1] += 1
    for b in range(count):
        ends[b + 1] += ends[b]
    # Where each point goes, and the other way round.
    for i in range(count):
        bucket = order[i]
        order[i] = ends[bucket]
        ends[bucket] += 1
    for i in range(count):
        ends[order[i]] = i
    moves = 0
    for k in range(count):
        i, m = ends[k], k
        while m > 0 and at[order[m - 1]] > at[i]:
            order[m] = order[m - 1]
            m -= 1
            moves += 1
        order[m] = i
        if moves > _MOVES * count:
            _copy(np.argsort(at[:count]), order)
            break


@njit(**INLINE)
def _draw_vertex(at, gain, count, order, loss, total, limit, heat, rng):
    # One of the vertices along the line or opposite to it, with probability proportional to
    # exp(-loss / heat): the largest of loss plus Gumbel noise. Vertices above `limit` are not
    # worth a logarithm. On the opposite side right is wrong and wrong is right.
    chosen, best, found, side = -1, -np.inf, np.inf, 1.0
    k = 0
    while k < count:
        before, first = loss, k
        here = at[order[k]]
        while k < count and at[order[k]] - here <= _SAME * (1.0 + abs(here)):
            loss += gain[order[k]]
            k += 1
        for opposite in (False, True):
            least = total - max(before, loss) if opposite else min(before, loss)
            if least <= limit or (chosen < 0 and not opposite):
                rank = -least / heat - np.log(-np.log(rng.random()))
                if rank > best:
                    best, found, side = rank, least, -1.0 if opposite else 1.0
                    chosen = order[first + int(rng.random() * (k - first))]
    return chosen, found, side


@njit(**JIT)
def vertex_walk(rows, lengths, weight, theta, best_theta, rng, steps, hot, cold):
    """Walk from vertex to vertex while it cools down; return the least strict loss met.

    A step gives up one row of the basis, which opens an edge of the arrangement, and draws another
    vertex on that edge: all of them are found by one sort.

    Parameters
    ----------
    rows : ndarray of shape (n, D)
        Rows times their labels, of rank D > 1.
    lengths : ndarray of shape (n,)
        The length of each.
    weight : ndarray of shape (n,)
        Weights.
    theta : ndarray of shape (D,)
        Where to start: the walk begins at a vertex near by. Gets the last vertex.
    best_theta : ndarray of shape (D,)
        The best parameters so far, and after the walk.
    rng : numpy.random.Generator
        Decides the walk.
    steps : int
        Steps to take.
    hot, cold : float
        First and last temperature, in units of the loss; it falls geometrically.
    """
    n, d = rows.shape
    near, free, total = np.empty(n), np.empty(n, np.bool_), 0.0
    for i in range(n):
        score = 0.0
        for j in range(d):
            score += rows[i, j] * theta[j]
        near[i] = abs(score) / max(lengths[i], 1e-300)
        free[i] = False
        total += weight[i]
    basis, frame = np.empty(d - 1, np.int64), np.empty((d, d))
    best = strict_loss(rows, weight, best_theta)
    if first_basis(rows, np.argsort(near), basis, frame) < d - 1:
        return best
    for i in basis:
        free[i] = True
    _project_out(frame, d - 1, theta)
    here = np.inf
    v, moved = np.empty(d), np.empty(d)
    at, gain, who = np.empty(n), np.empty(n), np.empty(n, np.int64)
    ends, order = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    for step in range(steps):
        heat = hot * (cold / hot) ** (step / steps)
        place = int(rng.random() * (d - 1))
        size = 0
        for k in range(d - 1):
            if k != place:
                _copy(rows[basis[k]], frame[size])
                _project_out(frame, size, frame[size])
                size += 1
        _project_out(frame, size, theta)
        _copy(theta, frame[size])
        for j in range(d):
            v[j] = rng.standard_normal()
        _project_out(frame, size + 1, v)
        free[basis[place]] = False
        count, loss = _breakpoints(
            rows, lengths, weight, free, basis[place], theta, v, at, gain, who
        )
        charged = total
        for i in basis:
            charged -= weight[i] if free[i] else 0.0
        sort_points(at, count, ends, order)
        chosen, here, side = _draw_vertex(
            at, gain, count, order, loss, charged, here + 10.0 * heat, heat, rng
        )
        if chosen < 0:
            break
        basis[place] = who[chosen]
        free[who[chosen]] = True
        for j in range(d):
            theta[j] = side * (theta[j] + at[chosen] * v[j])
        _project_out(frame, 0, theta)
        if here < best:
            settled = leave_vertex(rows, weight, basis, theta, rng, moved)
            if settled < best:
                best = settled
                _copy(moved, best_theta)
                if best == 0.0:
                    break
    return best

"""Exact zero-one line searches on tensors, as `_numeric/zero_one.py` has them on arrays."""

from __future__ import annotations

import torch

Tensor = torch.Tensor

# Beyond this a breakpoint plus or minus 1 is the breakpoint itself.
_FAR = 2.0**52


def zero_one_line(
    decision: Tensor, change: Tensor, y: Tensor, weight: Tensor
) -> tuple[float, float, float]:
    """Return the step of fewest errors along a change, the errors there and here."""
    line = _line if decision.ndim == 1 else _several_line
    return line(decision, change, y, weight)


def _line(raw: Tensor, change: Tensor, y: Tensor, weight: Tensor) -> tuple[float, float, float]:
    """Do what `exact_line` does: sort the steps at which scores change sign, and sum up."""
    wrong = y * raw <= 0
    here = weight @ wrong.double()
    point = torch.where(change != 0, -raw / change, torch.inf)
    moves = (weight > 0) & (point.abs() < _FAR)
    rising = y * change > 0
    # Far to the left exactly the rows that improve with the step are wrong.
    start = weight @ torch.where(moves, rising, wrong).double()
    at, order = torch.where(moves, point, torch.inf).sort()
    gain = torch.where(rising, -weight, weight)[order]
    finite = torch.isfinite(at)
    running = start + torch.where(finite, gain, 0.0).cumsum(0)
    after = torch.cat([at[1:], at.new_full((1,), torch.inf)])
    middle = torch.where(torch.isfinite(after), 0.5 * (at + after), at + 1.0)
    # Errors hold between two breakpoints; of several at one place only the last counts.
    running = torch.where(finite & (after > at), running, torch.inf)
    running = torch.cat([start[None], running])
    middle = torch.cat([at[:1] - 1.0, middle])
    slack = 1e-12 * weight.sum()
    best = running.min()
    nearest = torch.where(running <= best + slack, middle.abs(), torch.inf).argmin()
    step = torch.where(best < here - slack, middle[nearest], 0.0)
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    there = weight @ (y * (raw + step * change) <= 0).double()
    found = torch.stack([step, there, here, slack]).tolist()
    if found[1] < found[2] - found[3]:
        return found[0], found[1], found[2]
    return 0.0, found[2], found[2]


def _several_line(
    raw: Tensor, change: Tensor, y: Tensor, weight: Tensor
) -> tuple[float, float, float]:
    """Do what `several_line` does: each row is right on one open stretch of steps."""
    place = y[:, None]
    lead = raw.gather(1, place) - raw
    gain = change.gather(1, place) - change
    gain.scatter_(1, place, 0.0)
    lead.scatter_(1, place, 1.0)
    cross = -lead / gain
    low = torch.where(gain > 0, cross, -torch.inf).amax(dim=1)
    high = torch.where(gain < 0, cross, torch.inf).amin(dim=1)
    can = (low < high) & ~((gain == 0) & (lead <= 0)).any(dim=1)
    low, high, held = low[can], high[can], weight[can]
    still = float(weight @ (lead > 0).all(dim=1).double())
    total = float(weight.sum())
    ends = torch.cat([low, high]).unique()
    ends = ends[torch.isfinite(ends)]
    right = raw.new_zeros(len(ends) + 2)
    right.index_add_(0, torch.searchsorted(ends, low, right=True), held)
    leave = torch.searchsorted(ends, high) + 1
    right.index_add_(0, leave, torch.where(torch.isfinite(high), -held, 0.0))
    right = right[:-1].cumsum(0)
    best = float(right.max())
    if not best > still * (1.0 + 1e-12):
        return 0.0, total - still, total - still
    infinite = ends.new_tensor([torch.inf])
    bounds = torch.cat([-infinite, ends, infinite])
    left, after = bounds[:-1], bounds[1:]
    middle = 0.5 * (left + after)
    middle = torch.where(torch.isinf(left), after - after.abs().clamp(min=1.0), middle)
    middle = torch.where(torch.isinf(after), left + left.abs().clamp(min=1.0), middle)
    middle = torch.where(torch.isinf(left) & torch.isinf(after), 0.0, middle)
    at = torch.where(right == right.max(), middle.abs(), torch.inf).argmin()
    return float(middle[at]), total - best, total - still

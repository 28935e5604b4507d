"""The losses as modules of PyTorch, with what changes over the steps of a training."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from bblr._checks import check_choice, check_number, check_numbers
from bblr._numeric.layouts import log_sigmoid
from bblr.losses import Plateaus
from bblr.losses.beta_bernoulli import cost
from bblr.losses.margins import number

try:
    import torch
    from torch import Tensor, nn
except ImportError as missing:
    raise ImportError(
        "bblr.torch needs PyTorch, which is not installed; run: pip install 'bblr[torch]'"
    ) from missing

__all__ = ["BetaBernoulliLoss", "DirichletLoss"]


class _ScheduledLoss(nn.Module):
    """What both losses share: plateaus, the sharpness, and how both go with the steps."""

    # Calls so far whose scores needed a gradient; saved with the state of the module.
    step: Tensor

    def __init__(
        self,
        rho: float | Sequence[float],
        learn: bool,
        gamma: float | tuple[float, float],
        n_steps: int | None,
        warm_up: float,
        reduction: str,
    ) -> None:
        super().__init__()
        check_choice("reduction", reduction, ("mean", "sum", "none"))
        check_number("warm_up", warm_up, low=0.0, high=1.0)
        ends: Any = gamma if np.ndim(gamma) else [number("gamma", gamma)]
        ends = check_numbers("gamma", ends, low=0.0, strict=True)
        if len(ends) > 2:
            raise ValueError(f"gamma must be a number, or the first and the last, got {gamma!r}.")
        first, last = ends[0], ends[-1]
        if n_steps is not None:
            check_number("n_steps", n_steps, low=1, integer=True)
        elif first != last:
            raise ValueError("n_steps must be given where gamma goes from one number to another.")
        ratios = np.atleast_1d(rho)
        Plateaus.from_ratio(rho, max(2, len(ratios)))  # says what is wrong with rho
        if learn and not (ratios > 0).all():
            raise ValueError(f"rho must be above 0 to be learned from, got {rho!r}.")
        self.gamma = (first, last)
        self.n_steps, self.warm_up, self.reduction = n_steps, float(warm_up), reduction
        self._rho = float(ratios[0]) if np.ndim(rho) == 0 else [float(r) for r in ratios]
        self.log_rho = nn.Parameter(torch.tensor(self._rho).log()) if learn else None
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))

    @property
    def rho(self) -> Tensor:
        """Ratio of the plateaus to the height above them, as learned so far."""
        if self.log_rho is None:
            return torch.tensor(self._rho)
        return self.log_rho.detach().exp()

    def _now(self, scores: Tensor, n_classes: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores times gamma in single precision or better, low of each class, and b."""
        # Halves have neither the range for sums of losses nor the digits for small plateaus.
        z = scores if scores.element_size() >= 4 else scores.float()
        rho = z.new_tensor(self._rho) if self.log_rho is None else self.log_rho.exp().to(z)
        first, last = self.gamma
        if self.n_steps is None:
            z = first * z
        else:
            done = self.step.to(z) / self.n_steps
            rho = rho * (done >= self.warm_up)
            if first != last:
                share = (done - self.warm_up).clamp(min=0.0) / max(1.0 - self.warm_up, 1e-9)
                z = z * first * (last / first) ** share.clamp(max=1.0)
            elif first != 1.0:
                z = first * z
            if scores.requires_grad and torch.is_grad_enabled():
                self.step += 1
        if rho.ndim and len(rho) != n_classes:
            raise ValueError(f"scores must be of {len(rho)} classes, as rho is, not {n_classes}.")
        rho = rho.expand(n_classes)
        total = 1.0 + rho.sum()
        return z, rho / total, 1.0 / total

    def _reduced(self, values: Tensor, count: Any) -> Tensor:
        """Return all values, their sum, or their sum over a count."""
        if self.reduction == "none":
            return values
        return values.sum() if self.reduction == "sum" else values.sum() / count


class BetaBernoulliLoss(_ScheduledLoss):
    """Negative log of P(label) = low + b * sigmoid(gamma * score), for two classes.

    It takes what ``torch.nn.BCEWithLogitsLoss`` takes, and is the same with `rho` = 0. A row whose
    label contradicts its score costs at most -log(low) and loses its pull on the network.

    Parameters
    ----------
    rho : float or sequence of float, default=1.0
        Ratio low / b of the plateaus to the height above them, for both classes or for each, the
        positive one last; see ``Plateaus.rho``.
    learn : bool, default=False
        Whether `rho` is a parameter of the module, for an optimizer that is given
        ``loss.parameters()``. A network that can memorise wrong labels drives it to 0.
    gamma : float or tuple of two floats, default=1.0
        Sharpness; of two, it goes from the first to the second once the warm-up is over.
    n_steps : int or None, default=None
        Steps of the whole training, needed for a warm-up and to change gamma. Calls are counted
        whose scores require a gradient.
    warm_up : float, default=0.1
        Share of `n_steps` without plateaus, on plain cross-entropy: a strong `rho` pulls too
        little on a network that knows nothing yet. Without `n_steps` there is no warm-up.
    pos_weight : float or None, default=None
        Factor on what the positive class costs.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean over all scores, the sum, or a value for each.

    See Also
    --------
    DirichletLoss : The loss of more classes.

    Examples
    --------
    >>> import torch
    >>> from bblr.torch import BetaBernoulliLoss
    >>> scores, labels = torch.tensor([4.0, -4.0, -400.0]), torch.tensor([1.0, 1.0, 1.0])
    >>> BetaBernoulliLoss(reduction="none")(scores, labels)
    tensor([0.4145, 1.0808, 1.0986])
    >>> torch.nn.BCEWithLogitsLoss(reduction="none")(scores, labels)
    tensor([1.8150e-02, 4.0181e+00, 4.0000e+02])
    """

    def __init__(
        self,
        rho: float | Sequence[float] = 1.0,
        *,
        learn: bool = False,
        gamma: float | tuple[float, float] = 1.0,
        n_steps: int | None = None,
        warm_up: float = 0.1,
        pos_weight: float | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(rho, learn, gamma, n_steps, warm_up, reduction)
        if np.ndim(rho) and len(np.atleast_1d(rho)) != 2:
            raise ValueError(f"rho must be a number, or one for each of two classes, got {rho!r}.")
        if pos_weight is not None:
            check_number("pos_weight", pos_weight, low=0.0)
        self.pos_weight = pos_weight

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        scores : Tensor of any shape
            Log-odds of the positive class.
        target : Tensor of the same shape
            1 for the positive class and 0 for the other; between them, both by their shares.

        Returns
        -------
        Tensor
            The loss, in single precision where scores are halves.

        Examples
        --------
        >>> import torch
        >>> from bblr.torch import BetaBernoulliLoss
        >>> BetaBernoulliLoss()(torch.zeros(2), torch.tensor([0.0, 1.0]))
        tensor(0.6931)
        """
        _check_tensors(scores, target)
        if target.shape != scores.shape:
            raise ValueError(
                f"target must have the shape of scores, {tuple(scores.shape)}, got "
                f"{tuple(target.shape)}."
            )
        z, low, b = self._now(scores, 2)
        share = target.to(z)
        positive = share if self.pos_weight is None else self.pos_weight * share
        up, down = cost(log_sigmoid(z), low[1], b)[0], cost(log_sigmoid(-z), low[0], b)[0]
        return self._reduced(positive * up + (1.0 - share) * down, scores.numel())


class DirichletLoss(_ScheduledLoss):
    """Negative log of P(k) = low_k + b * softmax_k(gamma * scores), for any number of classes.

    It takes what ``torch.nn.CrossEntropyLoss`` takes with class numbers, and is the same with
    `rho` = 0. A row whose label contradicts its scores costs at most -log(low) and loses its pull
    on the network.

    Parameters
    ----------
    rho : float or sequence of float, default=1.0
        Ratio low / b of the plateaus to the height above them, for all classes or for each; see
        ``Plateaus.rho``. Held, rather than a weight w, it means the same for any number of
        classes.
    learn : bool, default=False
        Whether `rho` is a parameter of the module, for an optimizer that is given
        ``loss.parameters()``. A network that can memorise wrong labels drives it to 0.
    gamma : float or tuple of two floats, default=1.0
        Sharpness; of two, it goes from the first to the second once the warm-up is over.
    n_steps : int or None, default=None
        Steps of the whole training, needed for a warm-up and to change gamma. Calls are counted
        whose scores require a gradient.
    warm_up : float, default=0.1
        Share of `n_steps` without plateaus, on plain cross-entropy: a strong `rho` pulls too
        little on a network that knows nothing yet. Without `n_steps` there is no warm-up.
    weight : Tensor of shape (n_classes,) or None, default=None
        Factor on what each class costs; a mean is over the sum of the factors.
    ignore_index : int, default=-100
        Labels that cost nothing and do not count.
    reduction : {"mean", "sum", "none"}, default="mean"
        What is returned: the mean over all labels, the sum, or a value for each.

    See Also
    --------
    BetaBernoulliLoss : The loss of two classes with one score.

    Examples
    --------
    >>> import torch
    >>> from bblr.torch import DirichletLoss
    >>> scores = torch.tensor([[9.0, 0.0, 0.0], [0.0, 900.0, 0.0]])
    >>> DirichletLoss(reduction="none")(scores, torch.tensor([0, 0]))
    tensor([0.6933, 1.3863])
    """

    weight: Tensor | None
    ignore_index: int

    def __init__(
        self,
        rho: float | Sequence[float] = 1.0,
        *,
        learn: bool = False,
        gamma: float | tuple[float, float] = 1.0,
        n_steps: int | None = None,
        warm_up: float = 0.1,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
    ) -> None:
        super().__init__(rho, learn, gamma, n_steps, warm_up, reduction)
        if not isinstance(ignore_index, Integral):
            raise ValueError(f"ignore_index must be an integer, got {ignore_index!r}.")
        if weight is not None:
            _check_weight(weight)
        self.register_buffer("weight", weight)
        self.ignore_index = int(ignore_index)

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        scores : Tensor of shape (n_classes,), (n, n_classes) or (n, n_classes, ...)
            Scores.
        target : Tensor of shape (), (n,) or (n, ...)
            Class numbers.

        Returns
        -------
        Tensor
            The loss, in single precision where scores are halves.

        Examples
        --------
        >>> import torch
        >>> from bblr.torch import DirichletLoss
        >>> DirichletLoss()(torch.zeros(2, 5), torch.tensor([3, -100]))     # log 5
        tensor(1.6094)
        """
        _check_tensors(scores, target)
        if target.is_floating_point():
            raise TypeError("target must hold class numbers; shares of classes are not taken.")
        expected = scores.shape[:1] + scores.shape[2:] if scores.ndim > 1 else ()
        if target.shape != torch.Size(expected):
            raise ValueError(
                f"target must have the shape {tuple(expected)} where scores have "
                f"{tuple(scores.shape)}, got {tuple(target.shape)}."
            )
        if not scores.ndim or scores.shape[:2][-1] < 2:
            raise ValueError(
                "scores must have the shape (n_classes,), (n, n_classes) or (n, n_classes, ...) "
                f"for two or more classes, got {tuple(scores.shape)}."
            )
        n_classes = scores.shape[:2][-1]
        if self.weight is not None and len(self.weight) != n_classes:
            raise ValueError(
                f"weight must hold a number for each of the {n_classes} classes of scores, got "
                f"{len(self.weight)}."
            )
        z, low, b = self._now(scores, n_classes)
        z = z.movedim(1, -1).reshape(-1, n_classes) if z.ndim > 1 else z[None]
        codes = target.reshape(-1).long()
        counts = codes != self.ignore_index
        codes = torch.where(counts, codes, 0)
        try:
            own = torch.log_softmax(z, 1).gather(1, codes[:, None])[:, 0]
        except (RuntimeError, IndexError) as error:
            if "out of bounds" not in str(error):
                raise
            raise ValueError(
                f"target must hold class numbers from 0 to {n_classes - 1}, or ignore_index="
                f"{self.ignore_index}: {error}."
            ) from None
        factor = counts.to(z) if self.weight is None else self.weight.to(z)[codes] * counts
        values = torch.where(counts, factor * cost(own, low[codes], b)[0], 0.0)
        return self._reduced(values.reshape(target.shape), factor.sum())


def _check_weight(weight: Any) -> None:
    """Raise an error unless it is a tensor of factors."""
    if not torch.is_tensor(weight):
        raise TypeError(
            f"weight must be a tensor, got {type(weight).__name__}; use torch.as_tensor."
        )
    if weight.ndim != 1 or weight.is_complex() or not bool((weight >= 0).all()):
        raise ValueError(
            f"weight must hold a number of at least 0 for each class, got {weight!r}."
        )


def _check_tensors(scores: Any, target: Any) -> None:
    """Raise a TypeError for anything but tensors."""
    for name, given in (("scores", scores), ("target", target)):
        if not torch.is_tensor(given):
            raise TypeError(
                f"{name} must be a tensor, got {type(given).__name__}; use torch.as_tensor."
            )

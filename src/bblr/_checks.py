"""What every estimator checks, whichever room it lives in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import isfinite
from numbers import Real
from typing import Any, TypeVar, cast

__all__ = ["all_or_nothing", "check_choice", "check_number", "check_numbers"]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Make a ``fit`` that fails leave the estimator as it was."""

    @wraps(fit)
    def careful(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, careful)


def check_number(
    name: str, value: Any, *, low: float, strict: bool = False, integer: bool = False
) -> None:
    """Raise a ValueError that names the parameter unless it is a finite number above `low`."""
    kind = "an integer" if integer else "a finite number"
    bound = f"greater than {low:g}" if strict else f"of at least {low:g}"
    right = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    if right and integer:
        right = float(value) == int(value)
    if not right or (value <= low if strict else value < low):
        raise ValueError(f"{name} must be {kind} {bound}, got {value!r}.")


def check_numbers(
    name: str, values: Any, *, low: float, strict: bool = False
) -> tuple[float, ...]:
    """Return the numbers of a sequence, or raise a ValueError that names the parameter."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}.") from None
    if not numbers:
        raise ValueError(f"{name} must hold at least one number, got none.")
    for number in numbers:
        check_number(name, number, low=low, strict=strict)
    return numbers


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise a ValueError that names the parameter and the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")

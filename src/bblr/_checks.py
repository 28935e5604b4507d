"""What every estimator checks, whichever room it lives in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any, TypeVar, cast

__all__ = [
    "LARGEST",
    "all_or_nothing",
    "check_choice",
    "check_jobs",
    "check_number",
    "check_numbers",
    "check_parameters",
    "interruption_of",
    "keep",
]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Make a ``fit`` that fails leave the estimator as it was.

    One that was interrupted and has kept its best so far (:func:`keep`) leaves that.
    """

    @wraps(fit)
    def careful(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException as error:
            if getattr(error, "kept_by", None) is not self:
                # In one step: Ctrl-C may come again at any moment.
                self.__dict__ = before
            interruption = interruption_of(error)
            if interruption is None or interruption is error:
                raise
            raise interruption from error

    return cast(Fit, careful)


def interruption_of(error: BaseException | None) -> BaseException | None:
    """Return the Ctrl-C behind an error: itself, a new one, or None.

    Compiled code that returns arrays runs a little Python to make them. Where Ctrl-C comes at that
    moment a SystemError is raised because of it.
    """
    if isinstance(error, KeyboardInterrupt):
        return error
    cause = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__ or cause.__context__
    return KeyboardInterrupt() if isinstance(cause, KeyboardInterrupt) else None


def keep(error: BaseException, estimator: Any, what: str) -> None:
    """Say that the estimator is fitted although this error ends its ``fit``."""
    error.add_note(f"{type(estimator).__name__} keeps {what}.")
    error.kept_by = estimator  # type: ignore[attr-defined]


# Beyond this, and below its inverse, squares and ratios of parameters leave the range of floats.
LARGEST = 1e100


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    strict: bool = False,
    integer: bool = False,
    high: float = inf,
    words: tuple[str, ...] = (),
    none: bool = False,
) -> None:
    """Raise a ValueError that names the parameter unless it is a finite number in its range.

    One of some `words` may stand for a number, or `none` for the lack of one.
    """
    if value in words if isinstance(value, str) else none and value is None:
        return
    if words and isinstance(value, str):
        said = ", ".join(map(repr, words)) + (", a number or None" if none else " or a number")
        raise ValueError(f"{name} must be {said}; got {value!r}.")
    kind = "an integer" if integer else "a finite number"
    bound = f"greater than {low:g}" if strict else f"of at least {low:g}"
    if high < inf:
        bound += f" and at most {high:g}"
    right = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    if right and integer:
        right = float(value) == int(value)
    if not right or (value <= low if strict else value < low) or value > high:
        raise ValueError(f"{name} must be {kind} {bound}, got {value!r}.")


def check_numbers(
    name: str, values: Any, *, low: float, strict: bool = False, high: float = inf
) -> tuple[float, ...]:
    """Return the numbers of a sequence, or raise a ValueError that names the parameter."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}.") from None
    if not numbers:
        raise ValueError(f"{name} must hold at least one number, got none.")
    for number in numbers:
        check_number(name, number, low=low, strict=strict, high=high)
    return numbers


_SHARPNESS = {"low": 1 / LARGEST, "high": LARGEST}
# Numbers that mean the same in every estimator that has them.
_COMMON: dict[str, dict[str, Any]] = {
    "tol": {"low": 0, "strict": True},
    "max_iter": {"low": 1, "integer": True},
    "gamma_min": _SHARPNESS,
    "gamma_max": _SHARPNESS,
    "gamma_growth": {"low": 1, "strict": True},
    "gamma_limit": {"low": 1, "high": LARGEST},
    "leverage": {"low": 0, "strict": True, "none": True},
    "max_vectors": {"low": 1, "integer": True, "none": True},
    "max_centers": {"low": 1, "integer": True, "none": True, "words": ("auto",)},
    "cache_size": {"low": 0},
}


def check_parameters(estimator: Any, **own: dict[str, Any]) -> None:
    """Raise a ValueError that names the first of the numbers of an estimator that is not valid.

    Parameters
    ----------
    estimator : estimator
        Of the numbers that many have, those it has are checked.
    **own : dict
        What :func:`check_number` is to be told of others, or beside what holds for many.
    """
    for name in dict.fromkeys((*_COMMON, *own)):
        if hasattr(estimator, name):
            rule = {**_COMMON.get(name, {}), **own.get(name, {})}
            check_number(name, getattr(estimator, name), **rule)
    low, high = getattr(estimator, "gamma_min", 0.0), getattr(estimator, "gamma_max", inf)
    if not isinstance(high, str) and low > high:
        raise ValueError(
            f"gamma_min must not exceed gamma_max, got gamma_min={low} and gamma_max={high}."
        )
    check_jobs(getattr(estimator, "n_jobs", None))


def check_jobs(n_jobs: Any) -> None:
    """Raise a ValueError unless ``n_jobs`` says how many to run at a time."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or not n_jobs):
        raise ValueError(
            f"n_jobs must be a number of jobs, or -1 for all cores, or None; got {n_jobs!r}."
        )


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise a ValueError that names the parameter and the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")

"""Parameter checks and interruption of ``fit``, for all estimators."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import repeat
from math import inf, isfinite
from numbers import Integral, Real
from operator import is_
from types import NoneType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from sklearn.utils._param_validation import Interval, StrOptions

__all__ = [
    "AT_LEAST_0",
    "AT_LEAST_1",
    "CONSTRAINTS",
    "LARGEST",
    "POSITIVE",
    "all_or_nothing",
    "check_choice",
    "check_number",
    "check_numbers",
    "check_parameters",
    "interruption_of",
    "keep",
]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Make a ``fit`` that fails leave the estimator as it was.

    After an interruption it leaves the best solution so far, if there is one (:func:`keep`).
    """

    @wraps(fit)
    def careful(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException as error:
            if getattr(error, "kept_by", None) is not self:
                # In one step, since another Ctrl-C may come at any moment.
                self.__dict__ = before
            interruption = interruption_of(error)
            if interruption is None or interruption is error:
                raise
            raise interruption from error

    return cast(Fit, careful)


def interruption_of(error: BaseException | None) -> BaseException | None:
    """Return the Ctrl-C behind an error: itself, a new one, or None.

    Compiled code runs a little Python to create the arrays it returns. A Ctrl-C at that moment
    leads to a SystemError.
    """
    if isinstance(error, KeyboardInterrupt):
        return error
    cause = error
    while isinstance(cause, SystemError):
        cause = cause.__cause__ or cause.__context__
    return KeyboardInterrupt() if isinstance(cause, KeyboardInterrupt) else None


def keep(error: BaseException, estimator: Any, what: str) -> None:
    """Mark the estimator as fitted although this error ends its ``fit``."""
    error.add_note(f"{type(estimator).__name__} keeps {what}.")
    error.kept_by = estimator  # type: ignore[attr-defined]


# Beyond this, and below its inverse, squares and ratios of parameters leave the range of floats.
LARGEST = 1e100

AT_LEAST_0 = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
# At most what compiled code counts in, and then some.
AT_LEAST_1 = Interval(Integral, 1, 10**12, closed="both")
_SHARPNESS = Interval(Real, 1 / LARGEST, LARGEST, closed="both")

# Constraints, checked by scikit-learn, on parameters that several estimators share.
CONSTRAINTS: dict[str, Any] = {
    "tol": [POSITIVE],
    "max_iter": [AT_LEAST_1],
    "gamma_min": [_SHARPNESS],
    "gamma_max": [_SHARPNESS],
    "gamma_growth": [Interval(Real, 1, None, closed="neither")],
    "gamma_limit": [Interval(Real, 1, LARGEST, closed="both")],
    "leverage": [Interval(Real, 1 / LARGEST, None, closed="left"), None],
    "n_jobs": [AT_LEAST_1, Interval(Integral, None, -1, closed="right"), None],
    "degree": [AT_LEAST_1],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "max_vectors": [AT_LEAST_1, None],
    "max_centers": [AT_LEAST_1, StrOptions({"auto"}), None],
    "cache_size": [AT_LEAST_0],
    "fit_intercept": ["boolean"],
    "noise_free_proba": ["boolean"],
    "warm_start": ["boolean"],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


# For each class the names of its parameters, and the values that were last found valid.
_names: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()
_valid: WeakKeyDictionary[type, tuple[Any, ...]] = WeakKeyDictionary()
_IMMUTABLE = frozenset((NoneType, bool, int, float, str))


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter of an estimator that is not valid.

    The very values that were checked last are not checked again, which takes a tenth of a fit.
    """
    kind = type(estimator)
    names = _names.get(kind)
    if names is None:
        names = _names[kind] = tuple(kind._get_param_names())
    values = tuple(map(getattr, repeat(estimator), names))
    known = _valid.get(kind)
    if known is not None and all(map(is_, values, known)):
        return
    estimator._validate_params()
    low, high = getattr(estimator, "gamma_min", 0.0), getattr(estimator, "gamma_max", inf)
    if not isinstance(high, str) and low > high:
        raise ValueError(
            f"gamma_min must not exceed gamma_max, got gamma_min={low} and gamma_max={high}."
        )
    if _IMMUTABLE.issuperset(map(type, values)):
        _valid[kind] = values


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    strict: bool = False,
    integer: bool = False,
    high: float = inf,
) -> None:
    """Raise a ValueError that names an argument unless it is a finite number in its range."""
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
    """Return the numbers of a sequence, or raise a ValueError that names the argument."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}.") from None
    if not numbers:
        raise ValueError(f"{name} must hold at least one number, got none.")
    for number in numbers:
        check_number(name, number, low=low, strict=strict, high=high)
    return numbers


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise a ValueError that names the argument and the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")

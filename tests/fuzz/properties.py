"""What must hold of every fit: a clear refusal, or a finite and right answer."""

from __future__ import annotations

from typing import Any

from tests.fuzz import layouts
from tests.fuzz.answers import check_answer
from tests.fuzz.cases import Case
from tests.fuzz.data import Data, make_model
from tests.fuzz.refusals import FITTED, Wrong, no_warnings, refusal
from tests.fuzz.twists import TWISTS

_WRONG = layouts.WRONG + layouts.WRONG_TENSORS


def run(case: Case) -> str:
    """Fit, check, and return "fitted" or "refused"; raise Wrong where something is wrong."""
    data = Data(case)
    model = make_model(case)
    before = dict(vars(model))
    given = (data.X, data.y, data.weight)
    held = [layouts.contents(part) for part in given]
    try:
        with no_warnings():
            model.fit(given[0], given[1], sample_weight=given[2])
    except Exception as error:
        outcome = refusal(error, model.get_params())
        if must_fit(case):
            raise Wrong(f"plain data were refused: {error}") from error
        if set(vars(model)) != set(before):
            raise Wrong("a refused fit left something behind") from error
        return outcome
    finally:
        if [layouts.contents(part) for part in given] != held:
            raise Wrong("a fit changed what it was given")
    if case.wrong_data or case.layout in _WRONG:
        raise Wrong("data were taken that no fit may take")
    if any(vars(model)[name] is not value for name, value in before.items()):
        raise Wrong("a fit changed a parameter")
    check_answer(model, data)
    compare = TWISTS.get(case.twist)
    if compare is not None:
        with no_warnings():
            compare(model, data)
    return FITTED


def must_fit(case: Case) -> bool:
    """Whether nothing about a case gives a reason to refuse it."""
    two = any(name in case.estimator for name in ("ZeroOne", "SLA", "Generalized"))
    exact = case.estimator.endswith("exact") and len(case.columns) > 2
    known: tuple[Any, ...] = (
        *layouts.SAME, *layouts.TENSORS, "float32", "int64", "bool", "csr_float32"
    )  # fmt: skip
    dense_only = case.estimator.endswith("cpu") and case.layout in (*layouts.SPARSE, "csr_float32")
    return (
        case.plain_data
        and not case.params
        and case.layout in known
        and not dense_only
        and not exact
        and (case.classes == 2 or not two)
        # With few examples a zero weight may take the last one of a class that folds need.
        and not (case.weights == "some_zero" and case.n < 8 * case.classes)
    )


__all__ = ["must_fit", "run"]

"""Cross-validated classifiers of bblr, replaced by ones with the chosen settings."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bblr.audit.held_out import Labelled
from bblr.audit.models import fitted
from bblr.kernel import KernelBBLRClassifier, KernelBBLRClassifierCV
from bblr.linear import BBLRClassifier, BBLRClassifierCV

_SHARED = ("tol", "max_iter", "fit_intercept", "class_weight", "device", "random_state")
_KERNEL = ("kernel", "degree", "coef0", "penalty", "sparsity", "max_centers", "cache_size")


def with_fixed_settings(estimator: Any, data: Labelled) -> Any:
    """Return the estimator, with settings chosen once on all rows if it is a CV class of bblr.

    A few settings chosen with all labels reveal nothing about a single one, and choosing them
    again in each fold would take several times longer.
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if type(last) not in (BBLRClassifierCV, KernelBBLRClassifierCV):
        return estimator
    model = fitted(estimator, data.X, data.y, data.weight)
    if not isinstance(estimator, Pipeline):
        return _without_search(model)
    copy = clone(estimator)
    return copy.set_params(**{estimator.steps[-1][0]: _without_search(model.steps[-1][1])})


def _without_search(model: Any) -> BBLRClassifier | KernelBBLRClassifier:
    gammas = sorted({stage.gamma for stage in model.path_})
    options: dict[str, Any] = {
        "prior": model.prior_,
        "l2": model.l2_,
        "gamma_min": min(gammas[0], model.gamma_),
        "gamma_max": model.gamma_,
        "gamma_growth": gammas[1] / gammas[0] if len(gammas) > 1 else 2.0,
        **{name: getattr(model, name) for name in _SHARED},
    }
    if isinstance(model, BBLRClassifierCV):
        return BBLRClassifier(leverage=model.leverage_, solver=model.solver, **options)
    vectors = None if model.sparsity is None else len(model.support_)
    options |= {name: getattr(model, name) for name in _KERNEL}
    return KernelBBLRClassifier(kernel_gamma=model.kernel_gamma_, max_vectors=vectors, **options)

"""ZeroOneClassifier: the linear classifier with the fewest training errors, or a bound on them."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from bblr._checks import AT_LEAST_1, CONSTRAINTS, POSITIVE, all_or_nothing, check_parameters
from bblr.inputs import adapter_of
from bblr.linear.fitted import Floats, ProbabilisticLinearClassifier
from bblr.linear.sla import GAMMAS
from bblr.losses import ZeroOne
from bblr.solvers.zero_one import Moment, Progress
from bblr.training.callbacks import with_callbacks
from bblr.training.link import Step, asymptotic_plateaus
from bblr.training.monitor import FitMonitor
from bblr.zero_one.run import Run
from bblr.zero_one.starts import unit_normal

SOLVERS = ("search", "sla", "pcs", "csa", "bnb", "mip", "exact")

# Largest number of entries for which the data are gathered into one table of distinct rows.
MAX_TABLE = 5_000_000


def _report(monitor: FitMonitor, moment: Moment) -> None:
    gap = (moment.loss - moment.bound) / moment.loss if moment.loss > 0 else 0.0
    monitor.log(
        f"{moment.seconds:.2f} s: loss {moment.loss:g}, bound {moment.bound:g}, "
        f"gap {100 * gap:.0f} %"
    )


class ZeroOneClassifier(ProbabilisticLinearClassifier):
    """Linear classifier trained on the zero-one loss itself.

    Minimises the number of training errors, with `sample_weight` and `class_weight` as costs, over
    all hyperplanes. A score of exactly 0 is an error. Every solver begins by checking whether the
    data are linearly separable.

    Parameters
    ----------
    solver : {"search", "sla", "pcs", "csa", "bnb", "mip", "exact"}, default="search"
        How to minimise:

        - "search": annealed walks over the vertices of the arrangement, started from an annealed
          Beta-Bernoulli fit; exact line searches where the data are large or sparse;
        - "sla": the sigmoid loss annealed, as in :class:`SLAClassifier`, but keeping the best
          parameters on the path;
        - "pcs", "csa": hyperplanes through subsets of the points, all of them in turn, or a few
          and then swaps of single points;
        - "bnb": branch and bound over the labels of single points;
        - "mip": "search", and then a proof: by branch and cut over contradictions, and up to 12
          parameters by dividing their space into boxes;
        - "exact": enumeration, for one or two features (three without an intercept).
    time_limit : float or None, default=60
        Seconds after which the best solution so far is returned, approximately: the start and the
        final polish are not cut short, nor is compiling, which a first fit ever does for some
        seconds (``bblr warm-up`` does so ahead of time for "search" and "mip"). None for no limit.
    max_steps : int or None, default=None
        Steps after which "pcs", "bnb" and "mip" return the best solution so far: batches of
        subsets, or branches. Unlike a time limit it gives the same classifier on every machine.
        The other solvers stop on their own.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : dict, "balanced" or None, default=None
        Costs of errors by class; 1 for classes missing from a dict. Classes and rows of weight 0
        are left out of the fit.
    device : str or None, default=None
        PyTorch device to compute on: "cuda", "cuda:1", ... or "cpu". By default, tensors are
        processed on their own device if scikit-learn's array-API dispatch is on, and all other
        input with NumPy. Results have the type of X.
    random_state : int, RandomState or None, default=None
        Seed. The same seed gives the same classifier unless the time limit is reached.
    n_jobs : int or None, default=None
        Threads of "search" and "mip"; None or -1 for all cores. The result does not depend on it.
    verbose : int, default=0
        Print loss, bound, gap and seconds whenever one of them improves.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Normal of the hyperplane, of length one.
    intercept_ : ndarray of shape (1,)
        Intercept. The score of a row is its signed distance from the hyperplane.
    classes_ : ndarray of shape (2,)
        Classes, the positive one last.
    zero_one_loss_ : float
        Weighted training errors.
    lower_bound_ : float
        No linear classifier has a smaller loss.
    gap_ : float
        ``(zero_one_loss_ - lower_bound_) / zero_one_loss_``.
    optimal_ : bool
        Whether the classifier is proved optimal.
    trace_ : list of Moment
        Seconds, loss and bound at every improvement, and at the end.
    reason_ : str
        Why the solver stopped.
    prior_ : Plateaus
        The observed error rates, between which the probabilities jump.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are strings.

    Notes
    -----
    ``optimal_`` holds in exact arithmetic: no hyperplane, however thin the gap it passes through,
    has a smaller loss on the training data as given in float64. Bounds rest on weak duality and on
    contradictions checked with a bound of all rounding or in integer arithmetic, never on the
    tolerance of a solver. Where weights are not integers, losses are compared up to a millionth of
    the largest weight.

    Examples
    --------
    >>> from bblr import ZeroOneClassifier
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("breast", return_X_y=True)
    >>> model = ZeroOneClassifier(solver="mip", time_limit=120, random_state=0).fit(X, y)
    >>> model.zero_one_loss_, model.optimal_
    (11.0, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "solver": [StrOptions(set(SOLVERS))],
        "time_limit": [POSITIVE, None],
        "max_steps": [AT_LEAST_1, None],
    }

    def __init__(
        self,
        solver: str = "search",
        *,
        time_limit: float | None = 60.0,
        max_steps: int | None = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        device: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.solver = solver
        self.time_limit = time_limit
        self.max_steps = max_steps
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Cost of an error on each row: 2 is the same as the row twice, 0 as leaving it out.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> from bblr import ZeroOneClassifier
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
        >>> model = ZeroOneClassifier(solver="exact").fit(X, [0, 1, 0, 1, 1])
        >>> model.zero_one_loss_, model.optimal_
        (1.0, True)
        """
        check_parameters(self)
        monitor = FitMonitor(self, X, y, sample_weight)
        report = partial(_report, monitor) if self.verbose else None
        # The clock runs from here on: to validate and read the rows is part of the fit.
        progress = Progress(self.time_limit, report, self.max_steps)
        training = adapter_of(self, X).training(y, sample_weight)
        n, d = training.design.n_rows, training.design.n_features
        small = n * (d + 1) <= MAX_TABLE
        if not small and self.solver not in ("search", "sla"):
            raise ValueError(
                f"solver={self.solver!r} is for at most {MAX_TABLE:,} numbers, and X holds "
                f"{n} x {d}; use solver='search'."
            )
        with monitor.fitting({"search": 5, "mip": 6, "sla": len(GAMMAS) + 4}.get(self.solver, 4)):
            run = Run(
                self.solver, bool(self.fit_intercept), self.n_jobs, training, progress, monitor,
                self.random_state, ZeroOneClassifier._unpack,
            )  # fmt: skip
            self._unpack(*(run.on_table() if small else run.on_rows()), run)
        return self

    def _unpack(self, coef: Floats, intercept: float, slack: float, run: Run) -> None:
        training, progress = run.training, run.progress
        coef, intercept = unit_normal(coef, intercept)
        raw = training.design.scores(coef[None], np.array([intercept]))
        rows = training.design.rows
        loss = rows.errors(ZeroOne(), training.y, raw, training.weight)
        self.classes_ = training.classes
        self.coef_ = training.given.in_kind(coef[None, :])
        self.intercept_ = training.given.in_kind(np.array([intercept]))
        self.zero_one_loss_ = loss
        self.lower_bound_ = min(progress.bound, loss)
        self.gap_ = (loss - self.lower_bound_) / loss if loss > 0 else 0.0
        self.optimal_ = bool(loss - self.lower_bound_ <= slack)
        self.reason_ = progress.reason
        if self.reason_ == "proved optimal" and not self.optimal_:
            self.reason_ = "proved, but rounding or very light rows cost more"
        end = Moment(progress.seconds, progress.loss, progress.bound)
        self.trace_ = [*progress.trace, end]
        raw, y, weight = (rows.local(v) for v in (raw, training.y, training.weight))
        self.prior_ = asymptotic_plateaus(y * raw <= 0, y, weight)
        self.link_ = Step(self.prior_)

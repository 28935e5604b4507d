"""Common methods of fitted classifiers, mainly linear ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bblr._numeric.layouts import layout
from bblr._numeric.tensors import as_numpy, namespace
from bblr._saved import Versioned
from bblr.designs import ScaledDesign
from bblr.inputs import adapter_of
from bblr.linear.evidence import label_codes, log_odds_against, log_odds_wrong
from bblr.linear.fit_digest import FitSummary
from bblr.losses import BetaBernoulli
from bblr.training.callbacks import CallbackSupport

Floats = NDArray[np.float64]


class BinaryClassifier(CallbackSupport, ClassifierMixin, Versioned):
    """A score for two classes: the positive one is predicted where it exceeds 0.

    A subclass that sets `_many` also takes more classes, each with its own score.
    """

    _many = False
    intercept_: Floats
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._many
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, positive where the second is predicted; with more, one
            score per class.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> (model.decision_function([[0.0], [3.0]]) > 0).tolist()
        [False, True]
        """
        raise NotImplementedError(f"{type(self).__name__} must write decision_function")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> model.predict([[0.0], [3.0]]).tolist()
        ['no', 'yes']
        """
        decision = self.decision_function(X)
        return adapter_of(self, X).chosen(self.classes_, layout(decision).predicted(decision))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,) or str
            Their classes; of a directory of Parquet files also the name of their column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        float
            Share of the rows, by weight, whose class is predicted.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> model.score([[0.0], [3.0]], ["no", "no"])
        0.5
        """
        from sklearn.metrics import accuracy_score

        rows = adapter_of(self, X)
        y, weight = rows.labels(y), rows.here(sample_weight)
        return float(accuracy_score(y, rows.here(self.predict(X)), sample_weight=weight))

    def outlier_scores(self, X: Any, y: Any) -> Floats:
        """Return how much speaks against the label of each row.

        The plateaus stand for labels that have nothing to do with the row. A row that the fit
        has given up on lies on the wrong one, and its label is more likely wrong than right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Their labels, among ``classes_``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds that the label is wrong: positive on the wrong plateau, and the larger the
            further beyond the boundary. ``ZeroOneClassifier`` and ``SLAClassifier`` have no
            sharpness to weigh a distance by; there it is the score beyond the boundary itself,
            positive where the label is not predicted.

        See Also
        --------
        bblr.find_label_errors : The same from models that have not seen the label.

        Notes
        -----
        With K classes, s = softmax(gamma * f(x)), b the weight of s in ``predict_proba`` and
        low = (1 - b) / K, label g has a score of
        log((1 - s_g) / s_g) + log(low / (low + b)). Unlike the probability, it does not end
        where the plateau begins.

        On rows that were trained on, a wrong label has pulled the boundary to its side a little.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr import BBLRClassifier
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> y = (X[:, 0] > 0).astype(int)
        >>> y[30] = 0
        >>> scores = BBLRClassifier().fit(X, y).outlier_scores(X, y)
        >>> int(scores.argmax()), int((scores > 0).sum())
        (30, 1)
        """
        check_is_fitted(self)
        rows = adapter_of(self, X)
        decision, y = rows.here(self.decision_function(X)), rows.here(y)
        codes = label_codes(y, as_numpy(self.classes_))
        check_consistent_length(decision, codes)
        link: Any = getattr(self, "link_", None)
        if not hasattr(link, "gamma"):
            return rows.in_kind(log_odds_against(decision, codes, 1.0))
        return rows.in_kind(log_odds_wrong(decision, codes, link.gamma, link.plateaus.b))

    def summary(self, X: Any = None, *, max_coefficients: int = 10) -> FitSummary:
        """Return what was chosen and the coefficients that count most, to be shown.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows such as those of training: coefficients are then compared by what a standard
            deviation of their feature makes, and otherwise in the units of the features.
        max_coefficients : int, default=10
            How many coefficients to show at most; kernel classifiers have none.

        Returns
        -------
        FitSummary
            Text, or a table in a notebook; ``settings`` and ``coefficients`` hold its parts.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> X = [[0.0, 7.0], [1.0, 8.0], [2.0, 7.0], [3.0, 8.0]]
        >>> model = BBLRClassifier(l2=1.0).fit(X, ["no", "no", "yes", "yes"])
        >>> print(str(model.summary(X)).splitlines()[0])
        BBLRClassifier: 2 features, classes no, yes
        >>> model.summary(X).coefficients[0].feature
        'x0'
        """
        check_is_fitted(self)
        return FitSummary.of(self, X, max_coefficients)


class LinearBinaryClassifier(BinaryClassifier):
    """A linear score for two classes."""

    coef_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row, ``X @ coef_.T + intercept_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Shards
            Rows to score. A directory of shards and a large memory map are read block by block.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, positive where the second is predicted; with more, one
            score per class.
        """
        check_is_fitted(self)
        return adapter_of(self, X).scores(as_numpy(self.coef_), as_numpy(self.intercept_))


class ProbabilisticClassifier(BinaryClassifier):
    """A classifier whose scores a link turns into probabilities."""

    link_: Any
    noise_free_proba = False

    @property
    def _shown_link(self) -> Any:
        """The map from scores to what ``predict_proba`` returns."""
        return self.link_.without_plateaus() if self.noise_free_proba else self.link_

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> (model.predict_proba([[-99.0], [99.0]]) > 0.5).tolist()
        [[True, False], [False, True]]
        """
        decision = self.decision_function(X)
        found = self._shown_link.probability(decision)
        table: Floats = layout(found).table(found)
        return table

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.

        Examples
        --------
        >>> from bblr import BBLRClassifier
        >>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> bool(model.predict_log_proba([[-99.0]])[0, 0] > -0.7)
        True
        """
        probability = self.predict_proba(X)
        # A prior of your own may have a plateau at 0.
        with np.errstate(divide="ignore"):
            return namespace(probability).log(probability)

    def training_weights(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Return how much each training row counted at the end of the fit.

        1 is a row that pulls as it would in logistic regression of the same sharpness; 0 is one
        that the fit has given up on, for it lies far on the wrong side.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The training rows. The bound on leverage compares rows with each other, so that of
            some of them alone it is another one.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights in the fit; the result is by unit of weight.

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 0 and 1.

        Notes
        -----
        The derivative of the loss of a row is that of plain softmax times the share of P(y) that
        is not plateau, b * s_y / (low_y + b * s_y). ``leverage_``, where it is set, takes off more
        from rows far from the centre.

        Examples
        --------
        >>> import numpy as np
        >>> from bblr import BBLRClassifier
        >>> X = np.linspace(-1, 1, 40)[:, None]
        >>> y = (X[:, 0] > 0).astype(int)
        >>> y[38] = 0
        >>> weights = BBLRClassifier().fit(X, y).training_weights(X, y)
        >>> int(weights.argmin()), bool(weights[38] < 0.1 < weights[2])
        (38, True)
        """
        check_is_fitted(self)
        prior, gamma = getattr(self, "prior_", None), getattr(self, "gamma_", None)
        if prior is None or gamma is None:
            raise TypeError(
                f"{type(self).__name__} counts errors, not rows by weight; use BBLRClassifier."
            )
        rows = adapter_of(self, X)
        decision, y = rows.here(self.decision_function(X)), rows.here(y)
        codes = label_codes(y, as_numpy(self.classes_))
        check_consistent_length(decision, codes)
        loss = BetaBernoulli(prior, gamma)
        # Intercepts hold the shift that decides; the loss itself is of raw scores.
        own = loss.probability(decision - np.array(loss.shift))
        table = np.column_stack([1.0 - own, own]) if own.ndim == 1 else own
        found = 1.0 - np.array(loss.low)[codes] / table[np.arange(len(codes)), codes]
        limit = getattr(self, "leverage_", None)
        if limit is not None:
            weight = np.ones(len(codes)) if sample_weight is None else rows.here(sample_weight)
            weight = weight * compute_sample_weight(getattr(self, "class_weight", None), y)
            design = ScaledDesign(rows.rows(), weight, bool(getattr(self, "fit_intercept", True)))
            found = found * design.rows.local(design.leverage(limit, weight))
        return rows.in_kind(np.clip(found, 0.0, 1.0))


class ProbabilisticLinearClassifier(ProbabilisticClassifier, LinearBinaryClassifier):
    """A linear classifier whose scores a link turns into probabilities."""

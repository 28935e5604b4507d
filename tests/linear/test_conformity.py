"""scikit-learn's own checks, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    GeneralizedLinearClassifier,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
)


@parametrize_with_checks(
    [
        BBLRClassifier(),
        BBLRClassifier(solver="lbfgs", prior="weak"),
        BBLRClassifier(prior="learned"),
        BBLRClassifier(prior="empirical", class_weight="balanced"),
        BBLRClassifierCV(cv=2, l2s=(0.3, 3.0), gamma_limit=2.0),
        GeneralizedLinearClassifier(),
        GeneralizedLinearClassifier("sigmoid", gammas=(1.0, 4.0)),
        KernelBBLRClassifier(),
        KernelBBLRClassifier(sparsity="backward"),
        KernelBBLRClassifier("poly", coef0=1.0, penalty="ridge", class_weight="balanced"),
        KernelBBLRClassifier(sparsity="gauss-laplace", laplace_share=0.5, max_centers=20),
        KernelBBLRClassifierCV(cv=2, l2s=(0.3,), kernel_gammas=(0.1, 1.0), gamma_limit=1.0),
        SLAClassifier(),
        ZeroOneClassifier(random_state=0),
        ZeroOneClassifier(solver="sla"),
        ZeroOneClassifier(solver="csa", random_state=0),
        ZeroOneClassifier(solver="mip", max_steps=5, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

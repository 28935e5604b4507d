"""Test errors of repeated cross-validation on the four UCI sets, as counts."""

from research.paper.common import CLEAN_UCI, NUMBER, RIVALS, UCI
from research.paper.table import Column, Table

EXHIBIT = Table(
    name="table-sums",
    place=9,
    title="Test errors of 10 × 5-fold cross-validation",
    about="Errors of one whole cross-validation, averaged over ten repetitions.",
    reading="Five stratified folds; every hyper-parameter is chosen by cross-validation inside "
    "the training part.",
    data=UCI,
    columns=tuple(map(Column, ("LR", "SVM", "SLA", "BBLR2", "BBLR3"))),
    readings=CLEAN_UCI,
    metric="errors",
    unit="test errors",
    printed={
        "breast": (22, 21, 23, 22, 21),
        "heart": (45, 45, 48, 50, 43),
        "liver": (109, 110, 114, 105, 105),
        "pima": (172, 172, 184, 176, 171),
        "Total": (348, 348, 368, 354, 340),
    },
    total=True,
    rivals=RIVALS,
    remarks={("breast", "*"): NUMBER},
    minutes=(0.4, 6.0),
)

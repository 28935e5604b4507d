"""Test errors of repeated cross-validation on the four UCI sets, in per cent."""

from research.paper.common import CLEAN_UCI, NUMBER, RIVALS, UCI
from research.paper.table import Column, Table

EXHIBIT = Table(
    name="table-errors",
    place=10,
    title="Test errors of 10 × 5-fold cross-validation, in per cent",
    about="The same experiment as table-sums, with BBLR4, whose prior and sharpness are learned.",
    reading="As in table-sums. BBLR is BBLRClassifierCV() as it comes.",
    data=UCI,
    columns=(
        *map(Column, ("LR", "SVM", "SLA", "BBLR2", "BBLR3", "BBLR4")),
        Column("BBLR"),
    ),
    readings=CLEAN_UCI,
    digits=2,
    printed={
        "breast": (3.2, 3.1, 3.6, 3.2, 3.1, 3.0),
        "heart": (16.8, 16.6, 17.7, 18.6, 15.9, 15.7),
        "liver": (31.5, 31.8, 32.9, 30.6, 30.4, 30.5),
        "pima": (22.3, 22.4, 23.9, 23.0, 22.2, 22.2),
    },
    rivals=RIVALS,
    remarks={("breast", "*"): NUMBER},
    minutes=(0.6, 10.0),
)

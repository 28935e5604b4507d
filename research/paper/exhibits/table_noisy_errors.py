"""Test errors with noise in training, in per cent."""

from research.paper.common import HARDER, NOISY_UCI, NUMBER, RIVALS, SLA_TUNING, UCI
from research.paper.table import Column, Table

EXHIBIT = Table(
    name="table-noisy-errors",
    place=12,
    title="Test errors with 10 % noise, in per cent",
    about="The same experiment as table-noisy-sums, with BBLR4.",
    reading="As in table-noisy-sums. BBLR is BBLRClassifierCV() as it comes.",
    data=UCI,
    columns=(
        *map(Column, ("LR", "SVM", "SLA", "BBLR2", "BBLR3", "BBLR4")),
        Column("BBLR"),
    ),
    readings=NOISY_UCI,
    digits=2,
    printed={
        "breast": (5.2, 5.0, 3.8, 3.9, 3.7, 3.4),
        "heart": (16.4, 16.2, 18.1, 17.3, 15.5, 15.2),
        "liver": (43.5, 43.1, 43.3, 33.8, 34.1, 34.0),
        "pima": (25.0, 25.9, 31.1, 24.0, 22.7, 22.5),
    },
    rivals=RIVALS,
    remarks={
        ("liver", "SLA"): SLA_TUNING,
        ("pima", "SLA"): SLA_TUNING,
        ("heart", "*"): HARDER,
        ("pima", "*"): HARDER,
        ("breast", "*"): NUMBER,
    },
    minutes=(0.7, 14.0),
)

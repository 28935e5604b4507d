"""Product reviews, ten folds."""

from research.paper.common import RIVALS
from research.paper.protocols import CrossValidation
from research.paper.table import Column, Reading, Remark, Table

EXHIBIT = Table(
    name="table-reviews",
    place=17,
    title="Errors on product reviews, in per cent",
    about="Is a review positive? 2,000 reviews in each of four domains, counts of single words.",
    reading="Ten stratified folds. LR chooses C from 2⁻¹⁰ to 2¹⁰ by cross-validation inside the "
    "training part.",
    data=("books", "dvd", "electronics", "kitchen"),
    columns=(
        *map(Column, ("LR", "SVM", "BBLR3", "BBLR4")),
        Column("BBLR"),
    ),
    readings=(Reading(CrossValidation(1, 10), CrossValidation(1, 10, only=1)),),
    digits=2,
    printed={
        "books": (19.75, 20.45, 18.38, 18.15),
        "dvd": (18.05, 21.4, 17.5, 16.8),
        "electronics": (16.4, 17.75, 16.29, 15.21),
        "kitchen": (13.5, 14.6, 13.0, 13.0),
    },
    rivals=RIVALS,
    remarks={
        ("*", "LR"): Remark("The printed LR is less well tuned than the one here.", "lower"),
        ("*", "SVM"): Remark("The printed SVM is less well tuned than the one here.", "lower"),
    },
    minutes=(2.1, 22.0),
)

"""Support vectors and test error as the training rows grow."""

from research.paper.growth import Series, SparsityFigure

QUICK = (
    Series(
        data="pima",
        sizes=(64, 128, 256, 512),
        repeats=1,
        widths=(1 / 4,),
        costs=(1 / 4, 1.0, 4.0),
    ),
    Series(
        data="kitchen",
        sizes=(75, 150, 300),
        repeats=1,
        widths=(1 / 4,),
        costs=(4.0, 16.0, 64.0),
    ),
)
FULL = (
    Series(
        data="pima",
        sizes=(64, 128, 256, 512),
        repeats=10,
        widths=(1 / 16, 1 / 4, 1.0, 4.0),
        costs=(1 / 4, 1.0, 4.0, 16.0, 64.0),
    ),
    Series(
        data="kitchen",
        sizes=(75, 150, 300, 600, 1200),
        repeats=4,
        widths=(1 / 8, 1 / 2),
        costs=(4.0, 16.0, 64.0, 256.0),
    ),
)

EXHIBIT = SparsityFigure(
    name="figure-sparsity",
    place=22,
    title="Support vectors as the data grow",
    about=(
        "In the paper, on product reviews, the vectors of a kernel SVM grow almost in line with "
        "the training rows, and those of sparse kernel BBLR like their logarithm."
    ),
    reading=(
        "The paper does not say which of its four domains of reviews it drew: ours is Kitchen, "
        "with rows of length 1, and Pima beside it, standardised. A third of the rows is the test "
        "part; the classifiers see the first rows of the rest, in random order, and choose width "
        "and penalty from one coarse grid by cross-validation. The mixture prior is the paper's, "
        "backward elimination is ours. Points are means over divisions, bars their range."
    ),
    notes=(
        "For backward elimination cross-validation tries numbers of vectors below four fifths of "
        "the rows and up to 181. A curve along these limits says that more vectors were wanted; "
        "the errors show what going without them costs.",
    ),
    minutes=(0.4, 8.0),
    quick=QUICK,
    full=FULL,
)

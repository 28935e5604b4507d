"""Kernel BBLR, sparse and not, and its vectors as the data grow."""

from research.paper.exhibits import NUMBER, UCI
from research.paper.fits import Protocol
from research.paper.growth import Series, SparsityFigure, WeightsFigure
from research.paper.table import Column, Reading, Table

KERNEL = Table(
    name="table-kernel",
    place=20,
    title="Kernel BBLR without sparsity, error in per cent",
    about="Linear BBLR, an SVM and kernel BBLR on the four UCI sets.",
    reading="The paper says neither which BBLR nor which folds: the default BBLRClassifierCV, a "
    "Gaussian kernel, and repeated five-fold cross-validation.",
    data=UCI,
    columns=(Column("BBLR"), Column("SVC"), Column("KBBLR")),
    readings=(Reading(Protocol(10, 5), Protocol(1, 5, only=1)),),
    digits=2,
    printed={
        "breast": (2.82, 3.26, 2.98),
        "heart": (17.08, 17.76, 16.27),
        "liver": (31.80, 29.61, 26.91),
        "pima": (21.57, 22.44, 22.9),
    },
    baselines=("SVC",),
    remarks={("breast", "*"): NUMBER},
    minutes=(0.3, 18.0),
)

SPARSE_KERNEL = Table(
    name="table-sparse-kernel",
    place=21,
    title="Sparse kernel BBLR against a kernel SVM: error in per cent and support vectors",
    about="Errors and average numbers of support vectors.",
    reading="The Gauss-Laplace mixture prior is the paper's; backward elimination is ours. Folds "
    "as in table-kernel.",
    data=UCI,
    columns=(
        Column("SVC"),
        Column("SVC", "vectors", "SVM (RBF), vectors"),
        Column("KBBLR-GL"),
        Column("KBBLR-GL", "vectors", "Gauss-Laplace, vectors"),
        Column("KBBLR-B", label="Sparse KBBLR (backward)"),
        Column("KBBLR-B", "vectors", "backward, vectors"),
    ),
    readings=(Reading(Protocol(10, 5), Protocol(1, 5, only=1)),),
    unit="error %, or vectors",
    digits=2,
    better=None,
    printed={
        "breast": (3.26, 107, 2.83, 127),
        "heart": (17.76, 148, 16.40, 85),
        "liver": (29.61, 269, 28.74, 111),
        "pima": (22.44, 548, 23.52, 269),
    },
    baselines=("SVC",),
    remarks={("breast", "*"): NUMBER},
    minutes=(0.8, 26.0),
)

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

SPARSITY = SparsityFigure(
    name="figure-sparsity",
    place=22,
    title="Support vectors as the data grow",
    about=(
        "In the paper, on product reviews, the vectors of a kernel SVM grow almost in line with "
        "the training rows, and those of sparse kernel BBLR like their logarithm."
    ),
    reading=(
        "The paper does not say which of its four domains of reviews it drew: ours is Kitchen, "
        "with rows of length 1, and Pima as well, standardised. A third of the rows is the test "
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

WEIGHTS = WeightsFigure(
    name="figure-weights",
    place=23,
    title="Kernel weights before and after",
    about=(
        "The L2 penalty spreads the weights over all training rows; the mixture of a narrow "
        "Laplacian and a wide Gaussian sends many of them to zero."
    ),
    reading=(
        "One fit to the most rows of figure-sparsity, the same as there: the weights of the fit "
        "with an L2 penalty, and those left when it was made sparse and fitted again, by the "
        "paper's mixture prior and by our backward elimination. Under the mixture the penalty is "
        "on the weights, as in the paper; before elimination it is on the function, and the "
        "weights differ."
    ),
    minutes=(0.2, 1.1),
    quick=QUICK,
    full=FULL,
)

EXHIBITS = (KERNEL, SPARSE_KERNEL, SPARSITY, WEIGHTS)

"""How large the data sets of the paper are."""

from research.paper.other_tables import Details

UCI_DATA = Details(
    name="table-uci-data",
    place=7,
    title="UCI data sets",
    about="Rows and features.",
    reading="Breast without the 16 rows that lack a value.",
    data=("breast", "breast-id", "heart", "liver", "pima"),
    columns=("Examples", "Dimensions"),
    printed={
        "breast": (683, 10),
        "breast-id": (683, 10),
        "heart": (270, 13),
        "liver": (345, 6),
        "pima": (768, 8),
    },
    remarks={"breast": "The tenth feature is the patient's number."},
)

LARGE_DATA = Details(
    name="table-large-data",
    place=14,
    title="Larger data sets",
    about="Rows, features, share of numbers that are not zero, and positive over negative rows.",
    reading="web8 is LIBSVM's w8a, training and test part, without the rows that are empty.",
    data=("web8", "web8-leak-free", "webspam", "trec07p-random"),
    columns=("Examples", "Dimensions", "Non-zeros, %", "Positive : negative"),
    printed={"web8": (59_245, 300, 4.24, 0.03), "webspam": (350_000, 254, 33.8, 1.54)},
    remarks={
        "web8-leak-free": "Without the training rows that the test part repeats.",
        "trec07p-random": "Byte counts of mail, in webspam's place.",
    },
    minutes=(0.1, 0.1),
)

REVIEWS_DATA = Details(
    name="table-reviews-data",
    place=16,
    title="Product reviews",
    about="Rows and features.",
    reading="Single words only: keys without an underscore.",
    data=("books", "dvd", "electronics", "kitchen"),
    columns=("Examples", "Dimensions"),
    printed={
        "books": (2000, 28_234),
        "dvd": (2000, 28_310),
        "electronics": (2000, 14_943),
        "kitchen": (2000, 12_130),
    },
    minutes=(0.1, 0.1),
)

EXHIBITS = (UCI_DATA, LARGE_DATA, REVIEWS_DATA)

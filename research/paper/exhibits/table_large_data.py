"""web8, webspam and what stands in for it."""

from research.paper.details import Details

EXHIBIT = Details(
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

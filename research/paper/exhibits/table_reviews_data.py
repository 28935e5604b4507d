"""The four domains of product reviews."""

from research.paper.details import Details

EXHIBIT = Details(
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

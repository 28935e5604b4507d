"""The four UCI sets."""

from research.paper.details import Details

EXHIBIT = Details(
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
    minutes=(0.0, 0.0),
)

"""Joint decisions around LR, BBLR3, BBLR4 and the tuned classifier."""

from research.core import PAGE_OUTLIERS
from research.paper.other_tables import JointTable

STRUCTURED = JointTable(
    name="table-structured",
    place=19,
    title="Structured prediction, accuracy in per cent",
    about="Faces on biography pages: a local classifier of text alone, and inside a joint model "
    "with similarities of faces.",
    reading="The paper's pages are not public. The first row has simulated pages around real "
    "faces where these are available, with far outliers in the features; their strengths were "
    "chosen so that LR comes out near the printed figures, so only gains can be compared. The "
    "other rows have the same model on real data: which records of two sources are the same? "
    "BBLR is BBLRClassifierCV() as it comes.",
    data=("pages", "amazon-google", "dblp-acm"),
    locals_=("LR", "BBLR3", "BBLR4", "BBLR"),
    outliers={"pages": PAGE_OUTLIERS},
    printed={"pages": (63.4, 76.0, 67.8, 78.2, 70.2, 81.5)},
    remarks={"pages": "Simulated pages, not the paper's."},
    notes=("McNemar's test is over groups decided right throughout.",),
    minutes=(3.3, 15.0),
)

EXHIBITS = (STRUCTURED,)

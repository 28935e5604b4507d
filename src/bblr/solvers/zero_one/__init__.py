"""Direct minimisers of the zero-one loss: searches, and searches with a proof."""

from bblr.solvers.zero_one.certificates import widest
from bblr.solvers.zero_one.csa import CombinatorialApproximation
from bblr.solvers.zero_one.lines import LineSearch
from bblr.solvers.zero_one.pcs import CombinatorialSearch
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Moment, Progress, ZeroOneSolution
from bblr.solvers.zero_one.proofs.bnb import BranchAndBound
from bblr.solvers.zero_one.proofs.boxes import Boxes
from bblr.solvers.zero_one.proofs.exact import Enumeration
from bblr.solvers.zero_one.proofs.mip import BranchAndCut
from bblr.solvers.zero_one.separable import separate, separating
from bblr.solvers.zero_one.vertex_walk import VertexSearch, sweep

__all__ = [
    "Boxes",
    "BranchAndBound",
    "BranchAndCut",
    "CombinatorialApproximation",
    "CombinatorialSearch",
    "Enumeration",
    "LineSearch",
    "Moment",
    "Progress",
    "VertexSearch",
    "ZeroOneProblem",
    "ZeroOneSolution",
    "separate",
    "separating",
    "sweep",
    "widest",
]

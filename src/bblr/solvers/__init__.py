"""Solvers: how we move on an objective."""

from bblr.solvers.annealing import Annealing, geometric
from bblr.solvers.backward import eliminate
from bblr.solvers.fisher import FisherScoring
from bblr.solvers.gradient_descent import GradientDescent
from bblr.solvers.hard_em import HardEM
from bblr.solvers.lbfgs import LBFGS
from bblr.solvers.range_search import RangeSearch
from bblr.solvers.solution import Solution, Stage
from bblr.solvers.zero_one_line import ZeroOneSearch

__all__ = [
    "LBFGS",
    "Annealing",
    "FisherScoring",
    "GradientDescent",
    "HardEM",
    "RangeSearch",
    "Solution",
    "Stage",
    "ZeroOneSearch",
    "eliminate",
    "geometric",
]

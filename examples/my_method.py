"""Add a method and data to the paper's tables: ``bblr reproduce NAME --with my_method.py``."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from bblr.comparison.methods import Method
from research.paper.library import own


def forest(random_state, *, sparse=False):
    return RandomForestClassifier(100, random_state=random_state)


METHODS = [Method("forest", "Forest", "A random forest of a hundred trees.", forest)]
DATA = [own("wdbc", "Breast (30 features)", *load_breast_cancer(return_X_y=True))]

"""Times and memory of bblr beside its rivals: ``python -m research.benchmarks [NAME ...]``."""

"""Solvers that show that nothing is better than what they found."""

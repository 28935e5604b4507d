"""Kernels: similarities to centres as features."""

"""The floor under the rooms: elementary functions, fused losses and threads.

Nothing here knows a loss class, a design or a solver; every room may import it.
"""

"""Studies of one question each: solvers of the zero-one loss, support vectors, joint decisions."""

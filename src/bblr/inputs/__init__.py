"""The ways in: validate and encode what was given, and give results back in kind."""

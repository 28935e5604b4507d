"""Tables in files: read, checked and encoded."""

"""Only the Markdown holds tests: what builds the site is run by building it."""

collect_ignore_glob = ["*.py", "api/*", "auto_examples/*", "playground/*"]

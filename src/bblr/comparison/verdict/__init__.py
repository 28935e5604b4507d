"""What a comparison comes to: metrics, paired intervals, one sentence, and the page around it."""

__all__: list[str] = []

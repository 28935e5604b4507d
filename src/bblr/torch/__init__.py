"""The Beta-Bernoulli loss for PyTorch networks; install with ``pip install "bblr[torch]"``.

`BetaBernoulliLoss` stands in for ``torch.nn.BCEWithLogitsLoss``, `DirichletLoss` for
``torch.nn.CrossEntropyLoss``. Predictions are made as with these: the largest score wins, and the
softmax of the scores is about the true class.

>>> import torch
>>> from bblr.torch import DirichletLoss
>>> rows, labels = torch.eye(3), torch.arange(3)
>>> network = torch.nn.Linear(3, 3)
>>> loss = DirichletLoss(n_steps=100)
>>> optimizer = torch.optim.SGD(network.parameters(), lr=1.0)
>>> for _ in range(100):
...     optimizer.zero_grad()
...     loss(network(rows), labels).backward()
...     optimizer.step()
>>> network(rows).argmax(1)
tensor([0, 1, 2])
"""

from bblr.torch.torch_losses import BetaBernoulliLoss, DirichletLoss

__all__ = ["BetaBernoulliLoss", "DirichletLoss"]

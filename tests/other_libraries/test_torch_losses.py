"""BetaBernoulliLoss and DirichletLoss: derivatives, limits, agreement with torch and with ours."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.nn.functional import (  # noqa: E402
    binary_cross_entropy_with_logits,
    cross_entropy,
    log_softmax,
)

from bblr.losses import BetaBernoulli, Plateaus  # noqa: E402
from bblr.torch import BetaBernoulliLoss, DirichletLoss  # noqa: E402

RATIOS = [0.0, 1e-6, 1.0, "each"]
REDUCTIONS = ["mean", "sum", "none"]
EACH = {2: (0.4, 0.1), 4: (0.05, 0.4, 1.5, 0.0)}


def problem(n_classes, rows=30, size=3.0, seed=0):
    """Scores in double that want a gradient, and class numbers."""
    rng = torch.Generator().manual_seed(seed)
    shape = (rows, n_classes) if n_classes > 2 else (rows,)
    scores = size * torch.randn(shape, generator=rng, dtype=torch.float64)
    return scores.requires_grad_(), torch.randint(n_classes, (rows,), generator=rng)


def pair(n_classes, rho, **settings):
    """The loss, and the library's own with the same plateaus."""
    rho = EACH[n_classes] if rho == "each" else rho
    kind = BetaBernoulliLoss if n_classes == 2 else DirichletLoss
    own = BetaBernoulli(Plateaus.from_ratio(rho, n_classes), gamma=settings.get("gamma", 1.0))
    return kind(rho, **settings), own


def targets(labels, n_classes):
    return labels.double() if n_classes == 2 else labels


@pytest.mark.parametrize("rho", RATIOS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_agrees_with_the_library(n_classes, rho):
    scores, labels = problem(n_classes)
    loss, own = pair(n_classes, rho, gamma=1.5, reduction="none")
    values = loss(scores, targets(labels, n_classes))
    (slope,) = torch.autograd.grad(values.sum(), scores)
    signs = 2 * labels.numpy() - 1 if n_classes == 2 else labels.numpy()
    expected = own.value_gradient(signs, scores.detach().numpy())
    np.testing.assert_allclose(values.detach(), expected[0], rtol=1e-12)
    np.testing.assert_allclose(slope, expected[1], atol=1e-13)


@pytest.mark.parametrize("rho", RATIOS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_derivatives_by_finite_differences(n_classes, rho):
    scores, labels = problem(n_classes, rows=6)
    target = targets(labels, n_classes)
    loss, _ = pair(n_classes, rho, gamma=1.5)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), scores)
    assert torch.autograd.gradgradcheck(lambda s: loss(s, target), scores)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("rho", [1.0, "each"])
def test_derivatives_by_learned_ratios(n_classes, rho):
    scores, labels = problem(n_classes, rows=6)
    rho = [0.2 + r for r in EACH[n_classes]] if rho == "each" else rho
    loss, _ = pair(n_classes, rho, learn=True)
    loss, target = loss.double(), targets(labels, n_classes)

    def of_ratios(logs, s):
        return torch.func.functional_call(loss, {"log_rho": logs}, (s, target))

    assert torch.autograd.gradcheck(of_ratios, (loss.log_rho, scores))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("pos_weight", [None, 2.5])
def test_without_plateaus_it_is_torch_s_loss_of_two(reduction, pos_weight):
    scores, labels = problem(2)
    # Labels between 0 and 1 count for both.
    target = 0.1 + 0.8 * labels.double()
    loss = BetaBernoulliLoss(0.0, pos_weight=pos_weight, reduction=reduction)
    factor = None if pos_weight is None else torch.tensor(pos_weight)
    expected = binary_cross_entropy_with_logits(
        scores, target, pos_weight=factor, reduction=reduction
    )
    torch.testing.assert_close(loss(scores, target), expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(), (7,), (7, 3, 2)])
def test_without_plateaus_it_is_torch_s_loss_of_many(reduction, weighted, shape):
    rng = torch.Generator().manual_seed(1)
    scores = torch.randn((*shape[:1], 4, *shape[1:]), generator=rng, dtype=torch.float64)
    labels = torch.randint(4, shape, generator=rng)
    if shape:
        labels[2] = -100
    weight = torch.tensor([0.5, 1.0, 2.0, 3.0], dtype=torch.float64) if weighted else None
    loss = DirichletLoss(0.0, weight=weight, reduction=reduction)
    expected = cross_entropy(scores, labels, weight=weight, reduction=reduction)
    torch.testing.assert_close(loss(scores, labels), expected)


def test_tiny_plateaus_are_nearly_none():
    scores, labels = problem(4)
    near = DirichletLoss(1e-12)(scores, labels)
    torch.testing.assert_close(near, cross_entropy(scores, labels), rtol=1e-8, atol=1e-8)


def test_what_is_ignored_has_no_gradient():
    scores, labels = problem(4)
    labels[::2] = 7
    DirichletLoss(ignore_index=7)(scores, labels).backward()
    assert (scores.grad[::2] == 0).all() and (scores.grad[1::2] != 0).any(1).all()


@pytest.mark.parametrize("rho", [0.0, 1.0, "each"])
def test_two_scores_are_one(rho):
    f, labels = problem(2)
    rho = EACH[2] if rho == "each" else rho
    both = torch.stack([-f / 2, f / 2], 1)
    one = BetaBernoulliLoss(rho)(f, labels.double())
    torch.testing.assert_close(DirichletLoss(rho)(both, labels), one)


def test_a_shift_of_all_scores_changes_nothing():
    scores, labels = problem(4)
    shifted = scores + torch.randn((len(labels), 1), dtype=torch.float64)
    torch.testing.assert_close(DirichletLoss()(scores, labels), DirichletLoss()(shifted, labels))


def test_classes_may_be_named_in_any_order():
    scores, labels = problem(4)
    order = torch.tensor([2, 0, 3, 1])
    moved = DirichletLoss([EACH[4][k] for k in order])(scores[:, order], order.argsort()[labels])
    torch.testing.assert_close(DirichletLoss(EACH[4])(scores, labels), moved)


@pytest.mark.parametrize("rho", RATIOS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_far_scores_are_finite(n_classes, rho, dtype, reduction):
    scores, labels = problem(n_classes)
    far = (1e4 * scores.detach().sign()).to(dtype).requires_grad_()
    loss, own = pair(n_classes, rho, reduction="none")
    values = loss(far, targets(labels, n_classes))
    assert values.dtype == torch.float32
    total = values.sum() if reduction == "sum" else values.mean()
    total.backward()
    assert total.isfinite() and far.grad.isfinite().all() and far.grad.dtype == dtype
    signs = 2 * labels.numpy() - 1 if n_classes == 2 else labels.numpy()
    expected = own.value(signs, far.detach().double().numpy())
    np.testing.assert_allclose(values.detach(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_lose_nothing_but_their_own_rounding(n_classes, dtype):
    scores, labels = problem(n_classes)
    short = scores.detach().to(dtype)
    loss, _ = pair(n_classes, 0.3)
    target = targets(labels, n_classes)
    torch.testing.assert_close(loss(short, target), loss(short.float(), target), rtol=0, atol=0)


def test_scores_of_zero_have_a_gradient():
    # As a last layer that starts at zero gives them.
    zero = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    BetaBernoulliLoss(0.0, reduction="sum")(zero, torch.tensor([0.0, 1.0])).backward()
    torch.testing.assert_close(zero.grad, torch.tensor([0.5, -0.5], dtype=torch.float64))


# The way over the steps.


def train(loss, calls, n_classes=4):
    """What each of some calls returns, with and without plateaus."""
    scores, labels = problem(n_classes)
    return [float(loss(scores, targets(labels, n_classes)).detach()) for _ in range(calls)]


def test_warm_up_is_cross_entropy_for_its_share_of_the_steps():
    scores, labels = problem(4)
    plain, bounded = (
        loss(scores.detach(), labels).item() for loss in (cross_entropy, DirichletLoss())
    )
    found = train(DirichletLoss(n_steps=20, warm_up=0.25), 22)
    np.testing.assert_allclose(found, [plain] * 5 + [bounded] * 17)
    np.testing.assert_allclose(train(DirichletLoss(), 2), bounded)
    np.testing.assert_allclose(train(DirichletLoss(n_steps=20, warm_up=0.0), 2), bounded)


def test_calls_without_a_gradient_do_not_count():
    loss = DirichletLoss(n_steps=10)
    scores, labels = problem(4)
    loss(scores.detach(), labels)
    with torch.no_grad():
        loss(scores, labels)
    assert int(loss.step) == 0
    loss(scores, labels)
    assert int(loss.step) == 1


def test_gamma_goes_from_one_to_the_other():
    scores, labels = problem(4)
    found = train(DirichletLoss(gamma=(1.0, 4.0), n_steps=10, warm_up=0.2), 12)
    scores = scores.detach()
    ends = [float(DirichletLoss(gamma=gamma)(scores, labels)) for gamma in (1.0, 4.0)]
    assert found[0] == found[1] == pytest.approx(float(cross_entropy(scores, labels)))
    assert found[2] == pytest.approx(ends[0])
    np.testing.assert_allclose(found[10:], ends[1])
    middle = DirichletLoss(gamma=2.0)(scores, labels)
    assert found[6] == pytest.approx(float(middle))
    two = train(BetaBernoulliLoss(gamma=(2.0, 2.0), n_steps=10, warm_up=0.0), 1, 2)
    assert two == train(BetaBernoulliLoss(gamma=2.0), 1, 2)


def test_a_checkpoint_goes_on_where_it_was():
    loss = DirichletLoss(n_steps=10, learn=True)
    train(loss, 4)
    other = DirichletLoss(0.3, n_steps=10, learn=True)
    other.load_state_dict(loss.state_dict())
    assert int(other.step) == 4 and float(other.rho) == pytest.approx(1.0)
    for again in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert train(again, 1) == train(copy.deepcopy(loss), 1)


def test_learned_ratios_find_the_rate_of_flips():
    # Scores that know the classes; the labels are flipped at a rate of 0.2.
    rng = torch.Generator().manual_seed(0)
    truth = (torch.rand(5000, generator=rng) < 0.5).double()
    labels = torch.where(torch.rand(5000, generator=rng) < 0.2, 1 - truth, truth)
    loss = BetaBernoulliLoss(learn=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        loss(40 * truth - 20, labels).backward()
        optimizer.step()
    # low = 0.2 and b = 0.6.
    assert float(loss.rho) == pytest.approx(1 / 3, rel=0.1)
    assert list(BetaBernoulliLoss().parameters()) == []


def test_labels_that_contradict_the_scores_lose_their_pull():
    scores = torch.tensor([-20.0, 0.0], dtype=torch.float64, requires_grad=True)
    BetaBernoulliLoss(reduction="sum")(scores, torch.ones(2)).backward()
    # s / (rho + s) (1 - s), which is next to nothing far out.
    torch.testing.assert_close(
        scores.grad, torch.tensor([-2.06e-9, -1 / 6]).double(), rtol=1e-3, atol=1e-12
    )


# Mistakes.


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: DirichletLoss(-1.0), "rho must be"),
        (lambda: DirichletLoss(float("nan")), "rho must be"),
        (lambda: DirichletLoss(0.0, learn=True), "rho must be above 0"),
        (lambda: BetaBernoulliLoss([1.0, 1.0, 1.0]), "rho must be a number, or one for each"),
        (lambda: DirichletLoss(gamma=0.0), "gamma"),
        (lambda: DirichletLoss(gamma=(1.0, 4.0)), "n_steps must be given"),
        (lambda: DirichletLoss("a"), "rho must be a number, got 'a'"),
        (lambda: DirichletLoss(gamma=(1.0, 2.0, 3.0)), "gamma must be a number, or the first"),
        (lambda: DirichletLoss(gamma="a"), "gamma must be a number, got 'a'"),
        (lambda: DirichletLoss(ignore_index=1.5), "ignore_index must be an integer"),
        (lambda: DirichletLoss(ignore_index=None), "ignore_index must be an integer"),
        (lambda: DirichletLoss(weight=torch.tensor([-1.0, 1.0])), "weight must hold a number of"),
        (lambda: DirichletLoss(weight=torch.ones(2, 2)), "weight must hold a number of"),
        (lambda: DirichletLoss(weight=torch.ones(2))(torch.zeros(1, 3), torch.tensor([0])),
         "weight must hold a number for each of the 3 classes"),
        (lambda: DirichletLoss()(torch.zeros(2, 3), torch.tensor([0, 3])),
         "target must hold class numbers from 0 to 2, or ignore_index=-100"),
        (lambda: DirichletLoss()(torch.zeros(2, 3), torch.tensor([0, -1])),
         "target must hold class numbers from 0 to 2, or ignore_index=-100"),
        (lambda: DirichletLoss()(torch.tensor(1.0), torch.tensor(0)), "scores must have the"),
        (lambda: DirichletLoss()(torch.ones(2, 1), torch.zeros(2).long()), "two or more classes"),
        (lambda: DirichletLoss(n_steps=0), "n_steps"),
        (lambda: DirichletLoss(n_steps=2.5), "n_steps"),
        (lambda: DirichletLoss(warm_up=1.5), "warm_up"),
        (lambda: DirichletLoss(reduction="total"), "reduction"),
        (lambda: BetaBernoulliLoss(pos_weight=-1.0), "pos_weight"),
        (lambda: BetaBernoulliLoss()(torch.zeros(3), torch.zeros(3, 1)), "target must have"),
        (lambda: DirichletLoss()(torch.zeros(3, 2), torch.zeros(2).long()), "target must have"),
        (lambda: DirichletLoss([1.0] * 3)(torch.zeros(3, 2), torch.zeros(3).long()), "3 classes"),
    ],
)  # fmt: skip
def test_mistakes_are_named(make, named):
    with pytest.raises(ValueError, match=named):
        make()


def test_weights_that_are_no_tensor_are_named():
    with pytest.raises(TypeError, match="weight must be a tensor, got list"):
        DirichletLoss(weight=[1.0, 2.0])


def test_shares_of_classes_are_refused():
    with pytest.raises(TypeError, match="class numbers"):
        DirichletLoss()(torch.zeros(3, 2), torch.zeros(3, 2))


def test_formula():
    scores, labels = problem(4)
    own = log_softmax(scores, 1).exp()[torch.arange(30), labels]
    expected = -torch.log((1.0 + own) / 5.0)
    torch.testing.assert_close(DirichletLoss(reduction="none")(scores, labels), expected)


@pytest.mark.parametrize("loss", [BetaBernoulliLoss(), DirichletLoss()])
def test_what_is_no_tensor_is_named(loss):
    scores, target = torch.zeros(2, 2), torch.zeros(2, dtype=torch.long)
    with pytest.raises(TypeError, match="scores must be a tensor, got ndarray"):
        loss(scores.numpy(), target)
    with pytest.raises(TypeError, match="target must be a tensor, got list"):
        loss(scores, target.tolist())

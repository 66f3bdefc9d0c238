"""`melmo.torch`: steps that can be captured, and small matrices whose polar factors are found together."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="PYTORCH IS NOT INSTALLED: CAPTURED STEPS OF melmo.torch WERE NOT TESTED")
nn = torch.nn
import melmo.torch as mt  # noqa: E402
from melmo.torch import _small  # noqa: E402
from torch_networks import data, network, seeded, train  # noqa: E402, F401


def small_matrices_of_all_shapes(monkeypatch):
    """As on a GPU: through one stack of Gram matrices."""
    monkeypatch.setattr(_small, "fits", lambda shape, x: x.dtype == torch.float32 and 1 < min(shape) <= _small.LARGEST)


def test_small_matrices_of_all_shapes_have_their_polar_factors():
    shapes = [(64, 9), (30, 200), (128, 64), (2, 7)]
    matrices = [torch.randn(*shape) for shape in shapes] + [torch.zeros(5, 7)]
    short = torch.tensor([float(min(m.shape)) for m in matrices])
    q, failed = _small.polar_factors(matrices, short)
    assert not failed.any()
    for factor, m in zip(q, matrices):
        r = min(m.shape)
        found = m @ factor[:r, :r] if m.shape[0] > m.shape[1] else factor[:r, :r] @ m
        u, s, v = torch.linalg.svd(m, full_matrices=False)
        assert (found - u @ v).norm() <= 0.005 * r**0.5 if s[0] > 0 else not found.any()
    u, v = (torch.linalg.qr(torch.randn(n, 40))[0] for n in (90, 50))
    m = (u * torch.logspace(0, -2.5, 40)) @ v.T  # the least is 0.0009 of ‖M‖_F
    found = m @ _small.polar_factors([m.T.contiguous().T[:, :]], torch.tensor([40.0]))[0][0]
    assert (u.T @ found @ v).diagonal().min() > 0.75 and torch.linalg.matrix_norm(found, 2) < 1.01
    broken = torch.full((4, 6), float("nan"))
    assert _small.polar_factors([broken, torch.randn(4, 6)], torch.tensor([4.0, 4.0]))[1].tolist() == [True, False]


@pytest.mark.parametrize("capturable", [False, True])
def test_a_step_is_the_same_where_it_is_captured_and_through_gram_matrices(monkeypatch, capturable):
    x, y = torch.randn(16, 1, 8, 8), torch.arange(16) % 3
    rule = mt.penalty("mcp", 1e-3, mu=mt.geometric(2e3, 1e3, 2, 12), on="filters", weight=mt.ramp(0.0, 1.0, 0, 10))
    # Without normalisation: a bias before one has rounding for a gradient.
    convolutions = (nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU())
    first, nets = nn.Sequential(*convolutions, nn.Flatten(), nn.Linear(128, 3)), []
    for fast in (False, True):
        net = copy.deepcopy(first).to(memory_format=torch.channels_last) if fast else copy.deepcopy(first)
        options = {"beta": mt.power(1.0, 0.1), "momentum": "nesterov", "alpha": mt.power(0.5, 0.25), "ball": 20.0}
        if fast:
            small_matrices_of_all_shapes(monkeypatch)
        captured = capturable and fast
        optimizer = mt.Melmo(mt.groups(net, rule, **options), lr=torch.tensor(0.02) if captured else 0.02, capturable=captured)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, 12)
        for freeze in ("zeros", True):
            for _ in range(6):
                train(net, optimizer, 1, (x, y))
                schedule.step()
            optimizer.finalize(keep=0.6, freeze=freeze)
        train(net, optimizer, 2, (x, y))
        assert optimizer.check() == 0
        nets.append(net)
    for p, q in zip(*(net.parameters() for net in nets)):
        assert torch.allclose(p, q, atol=2e-4) and ((p == 0) == (q == 0)).all()


def test_a_captured_run_can_be_saved():
    net = network()
    optimizers = [mt.Melmo(mt.groups(net), lr=torch.tensor(0.02), capturable=True) for _ in range(2)]
    train(net, optimizers[0], 3)
    optimizers[1].load_state_dict(copy.deepcopy(optimizers[0].state_dict()))
    train(net, optimizers[1], 1)
    counts = [group["k"] for group in optimizers[1].param_groups]
    assert len({id(k) for k in counts}) == 1 and counts[0].item() == 4.0
    assert copy.deepcopy(optimizers[1]).check() == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: captured graphs were not tested")
def test_a_captured_graph_trains_as_steps_do():
    first, batch = network().cuda(), tuple(part.cuda() for part in data())
    rule, weights = mt.penalty("l1", 1e-3, on="filters"), []
    for captured in (False, True):
        net = copy.deepcopy(first)
        optimizer = mt.Melmo(mt.groups(net, rule), lr=torch.tensor(0.02, device="cuda"), capturable=True)

        def body(net=net, optimizer=optimizer):
            nn.functional.cross_entropy(net(batch[0]), batch[1]).backward()
            optimizer.step()

        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                optimizer.zero_grad()
                body()
        torch.cuda.current_stream().wait_stream(side)
        optimizer.zero_grad()
        if captured:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                body()
        for _ in range(10):
            if captured:
                graph.replay()
            else:
                optimizer.zero_grad()
                body()
        weights.append([p.detach().clone() for p in net.parameters()])
    assert all(torch.allclose(p, q, atol=1e-3) for p, q in zip(*weights))

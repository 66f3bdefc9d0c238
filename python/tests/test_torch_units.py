"""`melmo.torch`: units that end at zero, and the smaller network that is left."""

import numpy as np
import pytest

import melmo

torch = pytest.importorskip("torch", reason="PYTORCH IS NOT INSTALLED: UNITS OF melmo.torch WERE NOT TESTED")
nn = torch.nn
import melmo.torch as mt  # noqa: E402
from torch_networks import convolutional, data, network, seeded, train  # noqa: E402, F401


def test_tied_units_are_one_magnitude():
    weight, bias = nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.randn(5))
    optimizer = mt.Melmo([weight, bias], penalty=mt.penalty("l1", 1.0, on="filters"), tied=True, beta=0.4)
    together = torch.cat([weight.detach(), bias.detach()[:, None]], 1).double().numpy()
    expected = melmo.penalty.L1(1.0, on="rows").prox(together, 2 * 0.4)
    share = optimizer.finalize()
    found = torch.cat([weight.detach(), bias.detach()[:, None]], 1).numpy()
    assert np.abs(found - expected).max() < 1e-6 and share == (np.abs(expected).max(1) > 0).mean()


def test_heads_go_to_zero_whole():
    attention = nn.MultiheadAttention(8, 4)
    with torch.no_grad():
        attention.in_proj_weight.reshape(3, 4, 2, 8)[:, 1].mul_(1e-3)
        attention.out_proj.weight.reshape(8, 4, 2)[:, 1].mul_(1e-3)
    rule = mt.penalty("l1", 0.02, on="heads", heads=4, axes=(0, 1), stacked=(3, 1))
    optimizer = mt.Melmo([{"params": [attention.in_proj_weight, attention.out_proj.weight], "penalty": rule, "tied": True}], beta=1.0)
    assert optimizer.finalize() == 0.75
    assert not attention.in_proj_weight.reshape(3, 4, 2, 8)[:, 1].any() and not attention.out_proj.weight[:, 2:4].any()


@pytest.mark.parametrize("freeze", [True, "zeros"])
def test_finalize_keeps_a_share_and_frozen_zeros_stay(freeze):
    net = network()
    optimizer = mt.Melmo(mt.groups(net, mt.penalty("l1", 1e-3, on="filters")), lr=0.02)
    train(net, optimizer, 10)
    assert optimizer.finalize(keep=0.25, freeze=freeze) == 0.25
    dead = [(layer.weight == 0).all(1) & (layer.bias == 0) for layer in (net[0], net[2])]
    train(net, optimizer, 10)
    again = [(layer.weight == 0).all(1) & (layer.bias == 0) for layer in (net[0], net[2])]
    assert sum(int(d.sum()) for d in dead) == 30 and all((a == b).all() for a, b in zip(dead, again))


def test_finalize_keeps_what_a_function_says():
    net = network()
    optimizer = mt.Melmo(mt.groups(net, mt.penalty("l1", 1e-3, on="filters")), lr=0.02)
    seen = []

    def keep(sizes):
        seen.extend(sizes)
        return [torch.arange(len(s)) % 2 for s in sizes]

    assert optimizer.finalize(keep=keep) == 0.5
    together = torch.cat([net[0].weight, net[0].bias[:, None]], 1)
    assert not together[::2].any() and torch.allclose(together[1::2].norm(dim=1), seen[0][1::2])
    with pytest.raises(ValueError, match="one number for each"):
        optimizer.finalize(keep=lambda sizes: sizes[:1])


@pytest.mark.parametrize("make", [network, convolutional])
def test_shrink_computes_the_same(make):
    net = make()
    x = data()[0] if make is network else torch.randn(16, 1, 8, 8)
    y = torch.arange(len(x)) % (2 if make is network else 3)
    optimizer = mt.Melmo(mt.groups(net, mt.penalty("l1", 1e-3, on="filters")), lr=0.02)
    train(net, optimizer, 5, (x, y))
    optimizer.finalize(keep=0.4)
    small = optimizer.shrink(net)
    for mode in (True, False):
        assert torch.allclose(net.train(mode)(x), small.train(mode)(x), atol=1e-5)
    count = lambda network: sum(p.numel() for p in network.parameters())  # noqa: E731
    assert count(small) < 0.6 * count(net)
    train(small, mt.Melmo(mt.groups(small)), 2, (x, y))


def test_shrink_says_what_it_cannot_do():
    for net, said in [
        (nn.Linear(2, 2), "expected a Sequential"),
        (nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.Linear(4, 2)), "LayerNorm"),
        (nn.Sequential(nn.Conv2d(2, 4, 3, groups=2), nn.Conv2d(4, 2, 3)), "2 groups"),
    ]:
        with pytest.raises(ValueError, match=said):
            mt.shrink(net)

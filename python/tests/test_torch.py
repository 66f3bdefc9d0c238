"""`melmo.torch`: values as the Rust library's, steps as written, networks that end small."""

import copy
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import melmo
from networks import agree_on_oracles, agree_on_penalties


def test_without_pytorch_a_sentence_says_so():
    code = "import sys, melmo\nsys.modules['torch'] = None\nimport melmo.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "melmo.torch needs PyTorch" in done.stderr


torch = pytest.importorskip("torch", reason="PYTORCH IS NOT INSTALLED: melmo.torch WAS NOT TESTED")
nn = torch.nn
import melmo.torch as mt  # noqa: E402
from melmo._networks import norms, polar  # noqa: E402
from melmo._networks.units import Family  # noqa: E402
from melmo.torch._bundle import Bundle  # noqa: E402
from torch_networks import data, network, seeded, train  # noqa: E402, F401


def test_penalties_are_those_of_the_library():
    agree_on_penalties(torch, torch.tensor)


def test_oracles_are_those_of_the_library():
    agree_on_oracles(torch, torch.tensor)


def test_a_step_is_the_formula():
    p = nn.Parameter(torch.randn(6, 4, dtype=torch.float64))
    rule = mt.penalty("mcp", 0.4, mu=3.0, on="rows")
    optimizer = mt.Melmo([p], lr=0.1, alpha=0.25, norm="row", radius=1.0, penalty=rule, beta=0.2)
    g = melmo.penalty.MCP(0.4, 3.0, on="rows")  # a row of four entries weighs 2
    x, m = p.detach().numpy().copy(), None
    for k in range(1, 7):
        grad, a = np.cos(x), max(0.25, 1 / k)
        m = grad if m is None else (1 - a) * m + a * grad
        x = x + 0.1 * melmo.geometry.Row().lmo(m + 2 * g.envelope_gradient(x, 2 * 0.2))
        p.grad = torch.cos(p.detach())
        optimizer.step()
        assert np.abs(p.detach().numpy() - x).max() < 1e-13


def test_a_full_batch_run_is_the_library_s_melmo():
    """α = 1 and the whole data: the same iterates as the catalogue's melmo."""
    A, b = np.random.default_rng(0).normal(size=(20, 6)), np.arange(20.0)
    loss, g = melmo.loss.LeastSquares(A, b), melmo.penalty.L1(0.5)
    done = melmo.minimize(loss, g, geometry="l2", method="melmo", max_iter=30, x0=np.ones(6))
    p = nn.Parameter(torch.ones(6, dtype=torch.float64))
    beta = mt.power(1.0, 1 / 3)
    optimizer = mt.Melmo([p], alpha=1.0, norm="l2", radius=1.0, penalty=mt.penalty("l1", 0.5), beta=beta)
    for k in range(1, 31):
        optimizer.param_groups[0]["lr"] = k ** (-7 / 12)
        optimizer.zero_grad()
        (0.5 * (torch.tensor(A) @ p - torch.tensor(b)).square().sum()).backward()
        optimizer.step()
    assert np.abs(p.detach().numpy() - done.x).max() < 1e-10


def test_equal_shapes_step_together_as_they_would_alone():
    one = [nn.Parameter(torch.randn(6, 4)), nn.Parameter(torch.randn(4, 6)), nn.Parameter(torch.randn(6, 2, 2))]
    alone = copy.deepcopy(one)
    grads = [torch.randn_like(p) for p in one]
    for together, params in ((True, one), (False, alone)):
        optimizers = [mt.Melmo(params)] if together else [mt.Melmo([p]) for p in params]
        for p, grad in zip(params, grads):
            p.grad = grad
        for optimizer in optimizers:
            optimizer.step()
    assert all(torch.allclose(p, q, atol=1e-6) for p, q in zip(one, alone))


@pytest.mark.parametrize("name, shape", [("l1", {}), ("mcp", {"mu": 2.0}), ("scad", {"a": 3.7}), ("log-sum", {"theta": 0.8})])
def test_bundles_of_families_have_the_slopes_of_each(name, shape):
    """Units below, between and above the thresholds, zero ones among them; rows, columns and heads."""
    for where in ({"on": "rows"}, {"on": "columns"}, {"on": "heads", "heads": 2, "axes": (0, 1), "stacked": (3, 1)}):
        rule = mt.penalty(name, 0.6, weight=1.5, **where, **shape)
        size = torch.logspace(-2, 1, 12, dtype=torch.float64)[:, None]
        size[5] = 0.0
        families = [[torch.randn(12, 4, dtype=torch.float64) * size, torch.randn(12, 4, dtype=torch.float64).T * size.T] for _ in range(2)]
        if where["on"] != "heads":
            families = [params[:1] for params in families]
        phis = {p: torch.randn_like(p) for params in families for p in params}
        before = dict(phis)
        Bundle(families, rule).add_slopes(phis, 0.05, 1, False)
        for params in families:
            for p, slope in zip(params, Family(torch, params, rule, 0.05, 1).gradient()):
                assert torch.allclose(phis[p], before[p] + slope, rtol=0, atol=1e-12), (name, where)


@pytest.mark.parametrize("momentum", ["heavy-ball", "nesterov", "storm"])
def test_every_momentum_trains(momentum):
    net, (x, y) = network(), data()
    optimizer = mt.Melmo(mt.groups(net), lr=0.03, alpha=0.2, momentum=momentum)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]


def test_storm_is_its_formula():
    p = nn.Parameter(torch.tensor([1.0, -2.0], dtype=torch.float64))
    optimizer = mt.Melmo([p], lr=0.1, alpha=0.3, momentum="storm", norm="l2", radius=1.0)
    xs, m = [p.detach().clone()], None
    for k, batch in enumerate([1.0, 2.0, 0.5, 1.5, 0.7], 1):

        def closure(batch=batch):
            optimizer.zero_grad()
            loss = (batch * p**3).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        grad = 3 * batch * xs[-1] ** 2
        m = grad if m is None else grad + (1 - max(0.3, 1 / k)) * (m - 3 * batch * xs[-2] ** 2)
        xs.append(xs[-1] - 0.1 * m / m.norm())
        assert torch.allclose(p.detach(), xs[-1], atol=1e-14)
    with pytest.raises(ValueError, match="step.closure"):
        optimizer.step()


@pytest.mark.skipif(not hasattr(torch, "_foreach_lerp_"), reason="the competitors are written for PyTorch 2")
def test_the_competitors_behave_as_published():
    sys.path.insert(0, str(Path(__file__).parents[2] / "training"))
    from compare import rivals

    rivals.check()


def test_the_ball_holds_and_its_gap_falls():
    net, batch = network(), data()
    optimizer = mt.Melmo(net.parameters(), lr=0.2, ball=2.0)
    gaps = []
    for _ in range(3):
        train(net, optimizer, 30, batch)
        optimizer.param_groups[0]["lr"] *= 0.3
        loss = lambda b: nn.functional.cross_entropy(net(b[0]), b[1])  # noqa: E731
        gaps.append(optimizer.certificate([batch], loss).frank_wolfe_gap)
    assert gaps[-1] < 0.5 * gaps[0] and gaps[-1] >= 0
    for p in net.parameters():
        shape = norms.matrix_shape(p.shape)
        norm = norms.chosen("auto", p.shape)
        size = torch.linalg.matrix_norm(p.detach().reshape(shape), 2 if norm == "spectral" else "fro")
        assert size <= 2.0 * norms.radius("muon", norm, p.shape) * 1.01


def test_the_certificate_is_the_library_s():
    A, b = np.random.default_rng(0).normal(size=(20, 6)), np.arange(20.0)
    p = nn.Parameter(torch.linspace(-1, 1, 6, dtype=torch.float64))
    optimizer = mt.Melmo([p], norm="l2", radius=1.0, penalty=mt.penalty("mcp", 0.5, mu=2.0), beta=0.3)
    loader = [(torch.tensor(A[:8]), torch.tensor(b[:8])), (torch.tensor(A[8:]), torch.tensor(b[8:]))]
    found = optimizer.certificate(loader, lambda part: 0.5 * (part[0] @ p - part[1]).square().mean())
    x, g = p.detach().numpy(), melmo.penalty.MCP(0.5, 2.0)
    gradient = lambda at: A.T @ (A @ at - b) / 20  # noqa: E731
    z, slope = g.prox(x, 0.3), g.envelope_gradient(x, 0.3)
    assert np.isclose(found.loss, 0.5 * ((A @ x - b) ** 2).mean()) and found.samples == 20
    assert np.isclose(found.objective, found.loss + g.value(x)) and np.isclose(found.smoothed, found.loss + g.envelope(x, 0.3))
    assert np.isclose(found.dual_norm, np.linalg.norm(gradient(x) + slope)) and np.isclose(found.prox_gap, np.linalg.norm(x - z))
    assert np.isclose(found.stationarity, np.linalg.norm(gradient(z) + slope)) and found.frank_wolfe_gap is None
    assert (p.detach().numpy() == x).all() and not found.holds(1e-9)


def test_a_saved_run_goes_on_as_if_it_had_not_stopped(tmp_path):
    rule = mt.penalty("mcp", 1e-3, mu=mt.geometric(2000.0, 500.0, 2, 12), on="filters", weight=mt.ramp(0.0, 1.0, 0, 10))
    batch = data()

    def make():
        torch.manual_seed(3)
        net = network()
        optimizer = mt.Melmo(mt.groups(net, rule, beta=mt.power(2.0, 0.25)), lr=0.02)
        return net, optimizer, torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, 20)

    net, optimizer, scheduler = make()
    for _ in range(6):
        train(net, optimizer, 1, batch)
        scheduler.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, tmp_path / "state")
    other, resumed, schedule = make()
    safely = {"weights_only": True} if hasattr(torch, "compile") else {}  # PyTorch 1 read no floats that way
    saved = torch.load(tmp_path / "state", **safely)
    for thing, name in ((other, "net"), (resumed, "optimizer"), (schedule, "scheduler")):
        thing.load_state_dict(saved[name])
    for a, b, c in ((net, optimizer, scheduler), (other, resumed, schedule)):
        for _ in range(6):
            train(a, b, 1, batch)
            c.step()
    assert all(torch.equal(p, q) for p, q in zip(net.parameters(), other.parameters()))


def test_accumulated_gradients_are_those_of_the_whole_batch():
    (x, y), nets = data(), [network()]
    nets.append(copy.deepcopy(nets[0]))
    for net, parts in zip(nets, (1, 4)):
        optimizer = mt.Melmo(mt.groups(net))
        for a, b in zip(x.chunk(parts), y.chunk(parts)):
            (nn.functional.cross_entropy(net(a), b) / parts).backward()
        optimizer.step()
    assert all(torch.allclose(p, q, atol=1e-4) for p, q in zip(*(net.parameters() for net in nets)))


def test_low_precision_parameters_have_a_full_precision_average():
    p = nn.Parameter(torch.randn(6, 4).to(torch.float16))
    optimizer = mt.Melmo([p], penalty=mt.penalty("l1", 1e-3), beta=1.0)
    p.grad = torch.randn_like(p)
    optimizer.step()
    assert optimizer.state[p]["m"].dtype == torch.float32 and p.dtype == torch.float16 and p.isfinite().all()


def test_mixed_precision_trains():
    """Products in bfloat16, gradients scaled and unscaled; weights and averages in f32."""
    net, (x, y) = network(), data()
    optimizer = mt.Melmo(mt.groups(net, mt.penalty("l1", 1e-3, on="filters")), lr=0.03, alpha=0.2)
    scale, losses = 1024.0, []
    for _ in range(40):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
        (scale * loss).backward()
        for p in net.parameters():
            p.grad /= scale
        optimizer.step()
        losses.append(loss.item())
    assert out.dtype == torch.bfloat16 and losses[-1] < 0.5 * losses[0]
    assert all(p.dtype == optimizer.state[p]["m"].dtype == torch.float32 for p in net.parameters())


def test_a_compiled_network_and_step_train_as_they_do_otherwise():
    if not hasattr(torch, "compile"):
        pytest.skip("this PyTorch has no torch.compile")
    nets = [network()]
    nets.append(copy.deepcopy(nets[0]))
    batch = data()
    for net, compiled in zip(nets, (False, True)):
        optimizer = mt.Melmo(mt.groups(net, mt.penalty("l1", 1e-3, on="filters")))
        if compiled:  # without a C++ compiler: what is traced is what is tested
            optimizer.step = torch.compile(optimizer.step, backend="eager")
        train(torch.compile(net, backend="eager") if compiled else net, optimizer, 4, batch)
    assert all(torch.allclose(p, q, atol=1e-5) for p, q in zip(*(net.parameters() for net in nets)))


def test_a_polar_factor_that_failed_is_seen_and_replaced(monkeypatch):
    monkeypatch.setattr(polar, "newton_schulz", lambda xp, x, safety: 26815.0 * x)
    p = nn.Parameter(torch.zeros(4, 3))
    optimizer = mt.Melmo([p], lr=1.0, radius=1.0, check_every=2)
    with pytest.warns(RuntimeWarning, match="2 polar factors"):
        for _ in range(2):
            p.grad = torch.ones(4, 3)
            optimizer.step()
    assert torch.isclose(p.detach().norm(), torch.tensor(2.0))


def test_good_polar_factors_pass_their_check():
    matrices = torch.stack([torch.randn(30, 20), torch.randn(30, 1) @ torch.randn(1, 20), torch.zeros(30, 20)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not polar.polar(torch, matrices)[1].any()


@pytest.mark.parametrize(
    "options, said",
    [
        ({"lr": -1.0}, "lr"),
        ({"norm": "best"}, "norm"),
        ({"radius": "wide"}, "radius"),
        ({"momentum": "none"}, "momentum"),
        ({"ball": 0.0}, "ball"),
        ({"alpha": "much"}, "alpha"),
        ({"tied": True}, "tied"),
        ({"penalty": mt.penalty("mcp", 1.0, mu=1.0), "beta": 0.6}, "1/.2ρ. = 0.5"),
    ],
)
def test_bad_options_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        mt.Melmo([nn.Parameter(torch.ones(3, 2))], **options)


def test_bad_penalties_are_refused():
    for arguments, said in [
        ({"name": "l0", "lam": 1.0}, "l0"),
        ({"name": "l1", "lam": 1.0, "on": "pixels"}, "pixels"),
        ({"name": "l1", "lam": 1.0, "on": "heads"}, "number of heads"),
        ({"name": "l1", "lam": float("nan")}, "lam"),
    ]:
        with pytest.raises(ValueError, match=said):
            mt.penalty(**arguments)
    with pytest.raises(TypeError, match="theta"):
        mt.penalty("mcp", 1.0, theta=2.0)


def test_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "networks.md").read_text(encoding="utf-8")
    space = {}
    for snippet in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(snippet, "networks.md", "exec"), space)
    net, small, x = space["net"].eval(), space["small"].eval(), space["x"]
    assert torch.allclose(net(x), small(x), atol=1e-4) and small[0].out_channels + small[4].out_channels == 24
    assert (small(x).argmax(1) == space["y"]).float().mean() > 0.9 and space["numbers"].samples == 512

"""What the tests of `melmo.torch` and `melmo.optax` share: the same checks of an array namespace against the Rust library."""

import numpy as np

import melmo
from melmo._networks import norms, penalties
from melmo._networks.units import Family

PENALTIES = {
    "l1": (melmo.penalty.L1, {}),
    "mcp": (melmo.penalty.MCP, {"mu": 2.0}),
    "scad": (melmo.penalty.SCAD, {"a": 3.7}),
    "log-sum": (melmo.penalty.LogSum, {"theta": 0.8}),
}
GEOMETRIES = {
    "spectral": melmo.geometry.Spectral("newton-schulz"),
    "row": melmo.geometry.Row(),
    "column": melmo.geometry.Column(),
    "linf": melmo.geometry.Linf(),
    "nuclear": melmo.geometry.Nuclear(),
    "l2": melmo.geometry.L2(),
}
SHAPES = [(7, 5), (5, 7), (6, 6), (4, 1)]


def everything(family):
    return family.prox()[0], family.gradient()[0], family.value(family.s), family.envelope()


def agree_on_penalties(xp, made, compiled=lambda f: f):
    """prox, envelope, its gradient and value, for every φ on everything, weights too: as the Rust library's."""
    rng = np.random.default_rng(1)
    for name, (term, shape) in PENALTIES.items():
        for on in ("entries", "rows", "columns", "singular-values"):
            x = rng.normal(size=(7, 5))
            rule = penalties.penalty(name, 0.6, on=on, weight=1.5, **shape)
            found = compiled(lambda x, rule=rule: everything(Family(xp, [x], rule, 0.1, 1)))(made(x))
            z, slope, value, envelope = (np.asarray(part) for part in found)
            omega = 1.5 * {"rows": 5**0.5, "columns": 7**0.5}.get(on, 1.0)  # (ωg)_β = ω·g_{ωβ}
            g, beta = term(0.6, on=on, **shape), 0.1 * omega
            assert np.allclose(z, g.prox(x, beta), rtol=0, atol=1e-13), (name, on)
            assert np.allclose(slope, omega * g.envelope_gradient(x, beta), rtol=0, atol=1e-12), (name, on)
            assert np.isclose(value, omega * g.value(x), rtol=1e-13), (name, on)
            assert np.isclose(envelope, omega * g.envelope(x, beta), rtol=1e-13), (name, on)


def agree_on_oracles(xp, made, compiled=lambda f: f):
    """Directions and dual norms of every norm, for tall, wide and square matrices and for zero."""
    rng = np.random.default_rng(2)
    for name, geometry in GEOMETRIES.items():
        direct = compiled(lambda phi, name=name: norms.direction(xp, name, phi[None])[0][0])
        for shape in SHAPES:
            phi = rng.normal(size=shape)
            d = -np.asarray(direct(made(phi)))
            assert np.isclose((phi * d).sum(), (phi * geometry.lmo(phi)).sum(), rtol=1e-10), (name, shape)
            assert np.abs(d - geometry.lmo(phi)).max() < 1e-9, (name, shape)
            assert np.isclose(float(norms.dual_norm(xp, name, made(phi))), geometry.dual_norm(phi), rtol=1e-13)
            assert not np.asarray(direct(made(0.0 * phi))).any(), name

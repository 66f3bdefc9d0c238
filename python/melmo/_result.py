"""What a run returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np
import numpy.typing as npt

from melmo._arrays import Variable, X

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from melmo._certificate import Certificate

_FIELDS = np.dtype(
    [
        ("epoch", np.int64),
        ("k", np.int64),
        ("F", np.float64),
        ("F_smoothed", np.float64),
        ("dual_norm", np.float64),
        ("prox_gap", np.float64),
        ("beta", np.float64),
        ("gamma", np.float64),
        ("seconds", np.float64),
        ("dual_norm_lower", np.float64),
        ("dual_norm_upper", np.float64),
        ("eta", np.float64),
        ("excess", np.float64),
    ]
)


class Trace(np.ndarray[Any, Any]):
    """The recorded points of a run: a structured array, a row a point.

    The fields are those of the program's ``--trace`` and the oracle's bounds: ``epoch`` (−1 for methods without epochs), ``k``,
    ``F``, ``F_smoothed``, ``dual_norm``, ``prox_gap``, ``beta``, ``gamma``, ``seconds``, ``dual_norm_lower``,
    ``dual_norm_upper``, ``eta``, ``excess``. The oracle's bounds are those that the steps went by: where there are singular values
    they leave room for rounding of its usual size. What is proven is in the certificate.
    """

    @classmethod
    def _of(cls, rows: bytearray) -> Trace:
        """The rows as Rust writes them: the fields one after another, eight bytes each."""
        return np.frombuffer(rows, dtype=_FIELDS).view(cls)

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __getitem__(self, key: Literal["epoch", "k"]) -> npt.NDArray[np.int64]: ...  # type: ignore[overload-overlap]
        @overload
        def __getitem__(self, key: str) -> npt.NDArray[np.float64]: ...
        @overload
        def __getitem__(self, key: int) -> np.void: ...
        @overload
        def __getitem__(self, key: slice | npt.NDArray[Any]) -> Trace: ...
        def __getitem__(self, key: Any) -> Any: ...

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame({name: np.asarray(self[name]) for name in self.dtype.names or ()})


class Result(dict[str, Any], Generic[X]):
    """The end of a run, with its fields as keys and as attributes, like SciPy's ``OptimizeResult``.

    Attributes
    ----------
    x : array or dict of arrays
        The point, in the shape of the start; where T picks entries, with the exact zeros of z, if F is not higher for it. The
        point that the method stood at is ``certificate.x``.
    z : array or dict of arrays
        prox_{βg}(u) of the certificate: the point whose slopes it speaks of, with exact zeros.
    fun : float
        F(x); f(x) + g(z) where Tx keeps a constraint to the tolerance of the run, not to the last bit.
    gap : float or None
        A bound on F(x) − F*, where there is one; ``certificate.no_gap`` says why there is none.
    status : str
        ``certified``, ``settled``, ``target``, ``iterations``, ``time``, ``start`` (the last point lay above the start, which is
        returned), ``stalled`` (no step of the method leads any further), ``stopped`` (by the callback), ``interrupted`` (Ctrl-C),
        ``not-finite``, ``fault`` (the device failed: the last point that was copied from it) or ``raised``.
    success : bool
        Whether the run was certified (what was asked for is proven), settled (nothing is left to do, to `tol`) or reached its target;
        never where a look at terms of your own found that they are not what they say.
    message : str
        The status as a sentence.
    nit : int
        Steps taken.
    method, reason : str
        The method that ran and, where it was chosen automatically, why.
    seconds : float
        The method's time: without rows, callbacks and signals.
    certificate : Certificate or None
        What was reached; ``certificate.passed(tol)`` says what is proven, ``certificate.verify()`` recomputes every number. None where
        a look at terms of your own found that they are not what they say: then nothing is proven.
    trace : Trace
        The recorded points.
    runs : list of Result
        From several starts: the result of each.
    """

    x: X
    z: Variable
    fun: float
    gap: float | None
    status: str
    success: bool
    message: str
    nit: int
    method: str
    reason: str | None
    seconds: float
    certificate: Certificate | None
    trace: Trace
    runs: list[Result[X]]

    if not TYPE_CHECKING:  # the fields above

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
                ) from None

        __setattr__ = dict.__setitem__
        __delattr__ = dict.__delitem__

    @classmethod
    def _of(cls, raw: dict[str, Any], *, x: Any, z: Any, fun: float, gap: float | None, certificate: Certificate | None) -> Result[Any]:
        """What Rust says of a run, with what was made of its arrays."""
        return cls(
            x=x,
            z=z,
            fun=fun,
            gap=gap,
            status=raw["status"],
            success=raw["status"] in ("certified", "settled", "target"),
            message=raw["message"],
            nit=raw["nit"],
            method=raw["method"],
            reason=raw["reason"],
            seconds=raw["seconds"],
            certificate=certificate,
            trace=Trace._of(raw["trace"]),
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {_brief(value, width + 2)}" for name, value in self.items())

    def plot(self, axes: Any = None) -> Figure:
        """Draw the objective and both certificate numbers along the run.

        Parameters
        ----------
        axes : pair of matplotlib axes, optional
            Where; a new figure unless given.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if axes is None:
            import matplotlib.pyplot as plt

            figure: Figure
            figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
        else:
            figure = axes[0].figure
        trace = self.trace
        axes[0].plot(trace["k"], trace["F"], label="F(x)")
        axes[0].plot(trace["k"], trace["F_smoothed"], "--", label="F_β(x)")
        axes[0].set(xlabel="k", ylabel="objective")
        axes[1].plot(trace["k"], trace["dual_norm"], label="‖∇F_β(x)‖_*")
        axes[1].plot(trace["k"], trace["prox_gap"], "--", label="‖Tx − z‖₂")
        axes[1].set(xlabel="k", yscale="log")
        for axis in axes[:2]:
            axis.legend()
        axes[0].set_title(f"{self.method}: {self.status} after {self.nit} steps", fontsize="medium")
        return figure


def _brief(value: Any, indent: int) -> str:
    if isinstance(value, dict) and not isinstance(value, Result):
        return "{" + ", ".join(f"{name!r}: {_brief(part, indent)}" for name, part in value.items()) + "}"
    if isinstance(value, Trace):
        return f"{len(value)} rows"
    if isinstance(value, np.ndarray):
        if value.size > 12:
            return f"<{'×'.join(map(str, value.shape))} {value.dtype}>"
        return str(value).replace("\n", "\n" + " " * indent)
    return f"{value:.6g}" if isinstance(value, float) else str(value)

# Made from the catalogue by `python -m melmo._stubs`.
from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from melmo._operator import Operator as Operator

__all__ = ['Operator', 'Identity', 'Select', 'Difference2D', 'Jet', 'Difference3D', 'Dense', 'Sparse', 'Convolution', 'FilterBank', 'Mask', 'Sample', 'Scale', 'Columns', 'Compose', 'Stack', 'Blur', 'Radon', 'Frequencies', 'Downsample', 'Wavelet']

class Identity(Operator):
    """Tx = x: surjective, σ_min = 1.

    Parameters
    ----------
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...

class Select(Operator):
    """T(W, H) = W: picks blocks by name; surjective, σ_min = 1.

    Parameters
    ----------
    blocks
        The name of a block, or several.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, blocks: str | Sequence[str], shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...
    @property
    def blocks(self) -> str | Sequence[str]: ...

class Difference2D(Operator):
    """X_{i,j+1} − X_{ij} and X_{i+1,j} − X_{ij}, 0 at the end: forward differences of an image; ‖T‖² ≤ 8.

    Parameters
    ----------
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...

class Jet(Operator):
    """[∇X | weight·∇²X], a column for each pixel: first and second differences of an image of several channels; ‖T‖² ≤ 8 + 64·weight².

    Parameters
    ----------
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.
    channels : float, optional
        number of channels, dividing the rows; the first of three axes of x unless given, and 1 where it has fewer.
    weight : float, default 0.5
        what second differences are multiplied by, at least 0.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ..., *, channels: float | None = ..., weight: float = ...) -> None: ...
    @property
    def channels(self) -> float | None: ...
    @property
    def weight(self) -> float: ...

class Difference3D(Operator):
    """forward differences along x, y and z, 0 at the end: a volume stored slice after slice; ‖T‖² ≤ 12.

    Parameters
    ----------
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.
    depth : float, optional
        number of slices, dividing the rows; the first of three axes of x unless given, and 3 where it has fewer.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ..., *, depth: float | None = ...) -> None: ...
    @property
    def depth(self) -> float | None: ...

class Dense(Operator):
    """Tx = Ax: a matrix; surjective when its rows are independent.

    Parameters
    ----------
    A
        The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any) -> None: ...
    @property
    def A(self) -> Any: ...

class Sparse(Operator):
    """Tx = Ax, A in compressed rows: a sparse matrix; ‖A‖² ≤ ‖A‖₁‖A‖_∞.

    Parameters
    ----------
    A
        The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, A: Any) -> None: ...
    @property
    def A(self) -> Any: ...

class Convolution(Operator):
    """Tx = k ∗ x: 2-D, the same size out; ‖T‖ ≤ Σ|k|, reflected where k is symmetric.

    Parameters
    ----------
    kernel
        The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.
    boundary : str, default 'zero'
        what stands outside the image (zero, periodic, reflect).

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, kernel: npt.ArrayLike, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ..., *, boundary: str = ...) -> None: ...
    @property
    def kernel(self) -> npt.ArrayLike: ...
    @property
    def boundary(self) -> str: ...

class FilterBank(Operator):
    """T_c x = w_c ⋆ x, x continued by reflection: correlations with K×K filters, a block for each; ‖T‖² ≤ sup Σ|ŵ_c|² where mirror images of filters are filters.

    Parameters
    ----------
    filters
        The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, filters: npt.ArrayLike, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...
    @property
    def filters(self) -> npt.ArrayLike: ...

class Mask(Operator):
    """Tx = M⊙x: keeps some entries, zeroes the rest.

    Parameters
    ----------
    mask
        1 where an entry is kept, 0 elsewhere.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, mask: npt.ArrayLike | None, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...
    @property
    def mask(self) -> npt.ArrayLike | None: ...

class Sample(Operator):
    """Tx = (x_i) over the observed i: the observed entries as a vector; surjective, σ_min = 1.

    Parameters
    ----------
    mask
        1 where an entry is kept, 0 elsewhere.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, mask: npt.ArrayLike | None, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...
    @property
    def mask(self) -> npt.ArrayLike | None: ...

class Scale(Operator):
    """c·T: another operator times a number.

    Parameters
    ----------
    operator
        An operator: of this module, a matrix, a SciPy sparse matrix or anything with ``matvec`` and ``rmatvec``.
    c : float, default 2.0
        c ≠ 0.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, operator: Any, *, c: float = ...) -> None: ...
    @property
    def operator(self) -> Any: ...
    @property
    def c(self) -> float: ...

class Columns(Operator):
    """(TX)_·j = Ax_·j: another operator on every column of a matrix; surjective when that is.

    Parameters
    ----------
    operator
        An operator: of this module, a matrix, a SciPy sparse matrix or anything with ``matvec`` and ``rmatvec``.
    count : float, optional
        number of columns; the last axis of x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, operator: Any, *, count: float | None = ...) -> None: ...
    @property
    def operator(self) -> Any: ...
    @property
    def count(self) -> float | None: ...

class Compose(Operator):
    """T₁T₂: one operator after another; surjective when both are.

    Parameters
    ----------
    outer
        An operator: of this module, a matrix, a SciPy sparse matrix or anything with ``matvec`` and ``rmatvec``.
    inner
        An operator: of this module, a matrix, a SciPy sparse matrix or anything with ``matvec`` and ``rmatvec``.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, outer: Any, inner: Any) -> None: ...
    @property
    def outer(self) -> Any: ...
    @property
    def inner(self) -> Any: ...

class Stack(Operator):
    """Tx = (T₁x, T₂x, …): several operators of the same variable, one under another.

    Parameters
    ----------
    operators
        Operators of the same variable.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, *operators: Any) -> None: ...
    @property
    def operators(self) -> tuple[Any, ...]: ...

class Blur(Operator):
    """Tx = k ∗ x where the kernel lies inside the image: convolution by Fourier transforms, a smaller image out; ‖T‖ ≤ max|k̂|.

    Parameters
    ----------
    kernel
        The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, kernel: npt.ArrayLike, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...
    @property
    def kernel(self) -> npt.ArrayLike: ...

class Radon(Operator):
    """(Tx)_{θj} = ∫ x along ray j at angle θ: tomography, a row for each angle (degrees, as in scikit-image); ‖T‖² ≤ max T1·max T*1.

    Parameters
    ----------
    theta
        The matrix, or the kernel, or filters of K×K one after another, or angles in degrees; a SciPy sparse matrix where the operator is sparse.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.
    detectors : float, default None
        a pixel apart; as many as the image's diagonal is long unless given.
    distance : float, default None
        of a point source from the centre, in pixels; parallel rays unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, theta: Any, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ..., *, detectors: float = ..., distance: float = ...) -> None: ...
    @property
    def theta(self) -> Any: ...
    @property
    def detectors(self) -> float: ...
    @property
    def distance(self) -> float: ...

class Frequencies(Operator):
    """(Tx)_k = (Re x̂_k, Im x̂_k) at the measured k: samples of the unitary Fourier transform of an image, as pairs; ‖T‖ ≤ 1.

    Parameters
    ----------
    mask
        1 where an entry is kept, 0 elsewhere.
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, mask: npt.ArrayLike | None, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ...) -> None: ...
    @property
    def mask(self) -> npt.ArrayLike | None: ...

class Downsample(Operator):
    """(Tx)ᵢⱼ = the mean of s×s pixels: a smaller picture; surjective, ‖T‖ = σ_min = 1/s.

    Parameters
    ----------
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.
    factor : float, default 2
        s, which divides rows and columns.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ..., *, factor: float = ...) -> None: ...
    @property
    def factor(self) -> float: ...

class Wavelet(Operator):
    """Tx = coefficients in an orthonormal wavelet basis: Daubechies' wavelets, cyclic; T*T = TT* = I.

    Parameters
    ----------
    shape : tuple or dict, optional
        The shape of x, or a dict of the shapes of its blocks; that of the problem's x unless given.
    family : str, default 'haar'
        which wavelets (haar, db2, db4).
    levels : float, default 1
        2^levels divides rows and columns.

    See Also
    --------
    melmo.minimize : solves with it."""
    def __init__(self, shape: int | tuple[int, ...] | Mapping[str, tuple[int, ...]] | None = ..., *, family: str = ..., levels: float = ...) -> None: ...
    @property
    def family(self) -> str: ...
    @property
    def levels(self) -> float: ...

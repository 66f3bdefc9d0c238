//! Arrays of others where they lie, by DLPack: taken without a copy, and given without one.
#![allow(unsafe_code)] // capsules hold pointers: each is checked by its name, taken once, and given back once by its own deleter

use std::any::Any;
use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::{Arc, OnceLock};

use melmo::block::Layout;
use melmo::smooth::Smooth;
use melmo_cuda::{Elsewhere, Owned, settle};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3::{ffi, intern};

use crate::array::Scalar;
use crate::error::raised;
use crate::term::{AnyLoss, Loss, Precise, precisely};

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
/// NVIDIA's GPUs.
const CUDA: i32 = 2;
/// Floating-point numbers.
const FLOAT: u8 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct Place {
    kind: i32,
    number: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Numbers {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    place: Place,
    axes: i32,
    numbers: Numbers,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Somebody's array, until it is dropped.
struct Taken(NonNull<Managed>);

// Nobody writes to it, and its deleter may be called anywhere.
unsafe impl Send for Taken {}
unsafe impl Sync for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        Python::attach(|_| unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        });
    }
}

/// A loss of lent data in one precision or the other.
type AnyElsewhere = Precise<Arc<Elsewhere<f32>>, Arc<Elsewhere<f64>>>;

/// An array of somebody else, as a capsule described it.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Lent {
    taken: Arc<Taken>,
    shape: Vec<i64>,
    address: u64,
    place: Place,
    numbers: Numbers,
    loss: OnceLock<AnyElsewhere>,
}

#[pymethods]
impl Lent {
    /// What an array says of itself. Refuses what is not contiguous, and numbers that the library does not compute with.
    #[new]
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let capsule = array.call_method0(intern!(array.py(), "__dlpack__"))?;
        let capsule = capsule.cast::<PyCapsule>()?.as_ptr();
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()) };
        let Some(managed) = NonNull::new(pointer.cast::<Managed>()) else {
            unsafe { ffi::PyErr_Clear() };
            return Err(PyBufferError::new_err("this array gave no DLPack capsule that can be read"));
        };
        unsafe { ffi::PyCapsule_SetName(capsule, USED.as_ptr()) };
        let taken = Arc::new(Taken(managed));
        let tensor = unsafe { &managed.as_ref().tensor };
        let (axes, numbers) = (tensor.axes as usize, tensor.numbers);
        let list = |pointer: *mut i64| unsafe { std::slice::from_raw_parts(pointer, axes) }.to_vec();
        let shape = if axes == 0 { Vec::new() } else { list(tensor.shape) };
        if numbers.code != FLOAT || !matches!(numbers.bits, 32 | 64) || numbers.lanes != 1 {
            return Err(PyTypeError::new_err("expected an array of float32 or float64"));
        }
        if axes > 0 && !tensor.strides.is_null() && !is_contiguous(&shape, &list(tensor.strides)) {
            return Err(PyValueError::new_err("expected an array in C order: give a contiguous copy of it"));
        }
        let (address, place) = (tensor.data as u64 + tensor.offset, tensor.place);
        Ok(Self { taken, shape, address, place, numbers, loss: OnceLock::new() })
    }

    /// `f32` or `f64`.
    #[getter]
    fn precision(&self) -> &'static str {
        if self.numbers.bits == 32 { "f32" } else { "f64" }
    }

    #[getter]
    fn shape(&self) -> Vec<i64> {
        self.shape.clone()
    }

    /// Where its first number is.
    #[getter]
    fn address(&self) -> u64 {
        self.address
    }

    /// ½‖x − y‖² with this y, where it lies: once everything that was asked of its GPU is done.
    fn loss(&self, rows: usize, cols: usize) -> PyResult<Loss> {
        if self.place.kind != CUDA {
            return Err(PyValueError::new_err("expected an array on a GPU"));
        }
        settle(self.place.number as usize).map_err(PyBufferError::new_err)?;
        let layout = Layout::matrix(rows, cols).map_err(raised)?;
        if layout.size() as i64 != self.shape.iter().product::<i64>() {
            return Err(PyValueError::new_err("rows and columns are not those of the array"));
        }
        let built = match self.precision() {
            "f32" => Precise::Single(self.elsewhere::<f32>(layout)?),
            _ => Precise::Double(self.elsewhere::<f64>(layout)?),
        };
        let loss = match self.loss.get_or_init(|| built) {
            Precise::Single(f) => AnyLoss::Single(f.clone() as Arc<dyn Smooth<f32>>),
            Precise::Double(f) => AnyLoss::Double(f.clone() as Arc<dyn Smooth<f64>>),
        };
        Ok(Loss(loss))
    }

    /// The point that the last run with that loss left on the GPU, in the shape of y; none where it left none.
    fn left(&self) -> Option<Left> {
        let owned = precisely!(self.loss.get()?, f => f.take_left())?;
        let Self { shape, place, numbers, .. } = self;
        Some(Left { owned: Arc::new(owned), shape: shape.clone(), place: *place, numbers: *numbers })
    }

    /// The same array to somebody else.
    #[pyo3(signature = (**_asked))]
    fn __dlpack__(&self, py: Python<'_>, _asked: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let owner = Box::new(self.taken.clone());
        capsule(py, &self.shape, self.address, (self.place, self.numbers), owner)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (self.place.kind, self.place.number)
    }
}

impl Lent {
    fn elsewhere<S: Scalar>(&self, layout: Layout) -> PyResult<Arc<Elsewhere<S>>> {
        let owner = Box::new(self.taken.clone());
        Elsewhere::new(layout, self.place.number as usize, self.address, owner).map(Arc::new).map_err(raised)
    }
}

/// A point that a run left in a GPU's memory, for whoever takes it up.
#[pyclass(frozen, module = "melmo._melmo")]
pub struct Left {
    owned: Arc<Owned>,
    shape: Vec<i64>,
    place: Place,
    numbers: Numbers,
}

#[pymethods]
impl Left {
    #[pyo3(signature = (**_asked))]
    fn __dlpack__(&self, py: Python<'_>, _asked: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        let owner = Box::new(self.owned.clone());
        capsule(py, &self.shape, self.owned.address, (self.place, self.numbers), owner)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (self.place.kind, self.place.number)
    }
}

/// Row after row, without gaps.
fn is_contiguous(shape: &[i64], strides: &[i64]) -> bool {
    strides_of(shape).iter().zip(strides).zip(shape).all(|((expected, found), &n)| n <= 1 || expected == found)
}

fn strides_of(shape: &[i64]) -> Vec<i64> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
}

/// What a capsule points to: the array first, and what keeps it.
#[repr(C)]
struct Given {
    managed: Managed,
    shape: Vec<i64>,
    strides: Vec<i64>,
    _owner: Box<dyn Any + Send>,
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    drop(unsafe { Box::from_raw(managed.cast::<Given>()) });
}

/// A capsule that nobody took gives back what it holds.
unsafe extern "C" fn discard(capsule: *mut ffi::PyObject) {
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

fn capsule(
    py: Python<'_>,
    shape: &[i64],
    address: u64,
    (place, numbers): (Place, Numbers),
    owner: Box<dyn Any + Send>,
) -> PyResult<Py<PyAny>> {
    let (shape, strides) = (shape.to_vec(), strides_of(shape));
    let tensor = Tensor {
        data: address as *mut c_void,
        place,
        axes: shape.len() as i32,
        numbers,
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        offset: 0,
    };
    let managed = Managed { tensor, context: ptr::null_mut(), deleter: Some(delete) };
    let mut given = Box::new(Given { managed, shape, strides, _owner: owner });
    given.managed.tensor.shape = given.shape.as_mut_ptr();
    given.managed.tensor.strides = given.strides.as_mut_ptr();
    let given = Box::into_raw(given);
    unsafe {
        let made = ffi::PyCapsule_New(given.cast(), NAME.as_ptr(), Some(discard));
        if made.is_null() {
            delete(given.cast());
        }
        Bound::from_owned_ptr_or_err(py, made).map(Bound::unbind)
    }
}

//! A loss of data that are on a GPU already, as arrays of CuPy, PyTorch and JAX are. They stay where they are, and so does the solution.

use std::any::Any;
use std::sync::{Mutex, OnceLock, PoisonError};

use melmo::block::Layout;
use melmo::error::Error;
use melmo::real::Real;
use melmo::smooth::{Form, Lent, MaskedLeastSquares, Rounding, Smooth};
use melmo::vector::norm2;

use crate::machine::gpu::{Owned, download};
use crate::machine::{Address, bytes_mut};

/// f(x) = ½‖x − y‖² with y in a GPU's memory. What this machine is asked of it is answered from a copy, made when it is asked first.
pub struct Elsewhere<S> {
    layout: Layout,
    device: usize,
    address: Address,
    here: OnceLock<Option<MaskedLeastSquares<S>>>,
    left: Mutex<Option<Owned>>,
    /// Keeps y where it is.
    _owner: Box<dyn Any + Send + Sync>,
}

impl<S: Real> Elsewhere<S> {
    /// Data at an address on that GPU, which `owner` keeps there. Refuses addresses that kernels cannot read four numbers at a time from.
    pub fn new(
        layout: Layout,
        device: usize,
        address: Address,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        if !address.is_multiple_of(4 * size_of::<S>() as u64) {
            let message = "the array on the GPU begins in the middle of four numbers, as a slice may: give a contiguous copy of it";
            return Err(Error::Unsupported(message.into()));
        }
        Ok(Self { layout, device, address, here: OnceLock::new(), left: Mutex::new(None), _owner: owner })
    }

    /// The point that the last run left there.
    pub fn take_left(&self) -> Option<Owned> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The same loss on this machine; none where the GPU cannot be read.
    fn here(&self) -> Option<&MaskedLeastSquares<S>> {
        let copy = || {
            let mut y = vec![S::ZERO; self.layout.size()];
            download(self.device, bytes_mut(&mut y), self.address).ok()?;
            MaskedLeastSquares::new(self.layout.clone(), y, None).ok()
        };
        self.here.get_or_init(copy).as_ref()
    }
}

impl<S: Real> Smooth<S> for Elsewhere<S> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn value_grad(&self, grad: &mut [S], x: &[S], work: &mut [S]) -> f64 {
        self.here().map_or(f64::NAN, |here| here.value_grad(grad, x, work))
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(1.0)
    }

    fn strong_convexity(&self) -> Option<f64> {
        Some(1.0)
    }

    fn lower_bound(&self) -> Option<f64> {
        Some(0.0)
    }

    fn rounding(&self, _: &[S], value: f64, grad: &[S]) -> Rounding {
        Rounding::of_proximity::<S>(value, norm2(grad), grad.len())
    }

    fn form(&self) -> Form<'_, S> {
        Form::Lent(self)
    }
}

impl<S: Real> Lent for Elsewhere<S> {
    fn device(&self) -> usize {
        self.device
    }

    fn address(&self) -> Address {
        self.address
    }

    fn size(&self) -> usize {
        self.layout.size()
    }

    fn leave(&self, address: Address) {
        let left = Owned::of(self.device, address).ok();
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }
}

//! cuBLAS: products of matrices on a stream. Loaded when it is asked for.
#![allow(unsafe_code)] // calls of a C library, with addresses that the machine allocated

use std::ffi::c_void;
use std::ptr;

use cudarc::cublas::{result, sys};

use crate::machine::{Address, Fault, Format, Product};

const MISSING: &str = "cuBLAS was not found, which multiplies matrices: install CUDA, or `pip install nvidia-cublas-cu12` and put the folder of \
                       libcublas on the loader's path (LD_LIBRARY_PATH)";

/// Its workspace, which is fixed: what is chosen by its size is chosen alike in every run.
pub const WORKSPACE: usize = 64 << 20;

/// A handle, bound to a stream and a workspace.
pub struct Blas(sys::cublasHandle_t);

fn said(what: &str) -> impl Fn(result::CublasError) -> Fault + '_ {
    move |error| format!("cuBLAS failed to {what}: {error}")
}

impl Blas {
    /// The context of the stream is current. Refuses, in words, where there is no library.
    pub fn open(stream: *mut c_void, workspace: Address) -> Result<Self, Fault> {
        if !unsafe { sys::is_culib_present() } {
            return Err(MISSING.into());
        }
        let blas = Self(result::create_handle().map_err(said("start"))?);
        unsafe {
            sys::cublasSetStream_v2(blas.0, stream.cast()).result().map_err(said("take a stream"))?;
            let room = workspace as *mut c_void;
            sys::cublasSetWorkspace_v2(blas.0, room, WORKSPACE).result().map_err(said("take room"))?;
            let atomics = sys::cublasAtomicsMode_t::CUBLAS_ATOMICS_NOT_ALLOWED;
            sys::cublasSetAtomicsMode(blas.0, atomics).result().map_err(said("keep an order"))?;
        }
        Ok(blas)
    }

    /// Row-major C = AB is column-major Cᵀ = BᵀAᵀ.
    pub fn multiply(&self, product: &Product) -> Result<(), Fault> {
        let Product { to, stored, left, right, format, size, alpha, beta } = *product;
        let number = |n: usize| i32::try_from(n).map_err(|_| format!("a product of {size:?} is too large for cuBLAS"));
        let [rows, cols, inner] = size;
        let (double, single) = ([alpha, beta], [alpha as f32, beta as f32]);
        let scalars = [0, 1].map(|at| match format {
            Format::Double => ptr::from_ref(&double[at]).cast::<c_void>(),
            _ => ptr::from_ref(&single[at]).cast(),
        });
        let turned = |turned: bool| match turned {
            true => sys::cublasOperation_t::CUBLAS_OP_T,
            false => sys::cublasOperation_t::CUBLAS_OP_N,
        };
        unsafe {
            sys::cublasGemmEx(
                self.0,
                turned(right.turned),
                turned(left.turned),
                number(cols)?,
                number(rows)?,
                number(inner)?,
                scalars[0],
                right.at as *const c_void,
                kind(format),
                number(right.stride)?,
                left.at as *const c_void,
                kind(format),
                number(left.stride)?,
                scalars[1],
                to.at as *mut c_void,
                kind(stored),
                number(to.stride)?,
                sums(format),
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DFALT,
            )
        }
        .result()
        .map_err(|error| format!("cuBLAS failed to multiply {format:?} matrices of {size:?} into {stored:?}: {error}"))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        let _ = unsafe { result::destroy_handle(self.0) };
    }
}

fn kind(format: Format) -> sys::cudaDataType {
    match format {
        Format::Double => sys::cudaDataType::CUDA_R_64F,
        Format::Single | Format::Tf32 => sys::cudaDataType::CUDA_R_32F,
        Format::Half => sys::cudaDataType::CUDA_R_16F,
        Format::Brain => sys::cudaDataType::CUDA_R_16BF,
    }
}

fn sums(format: Format) -> sys::cublasComputeType_t {
    match format {
        Format::Double => sys::cublasComputeType_t::CUBLAS_COMPUTE_64F,
        Format::Tf32 => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        Format::Single | Format::Half | Format::Brain => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
    }
}

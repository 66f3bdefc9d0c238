//! An NVIDIA GPU, by the CUDA driver.
#![allow(unsafe_code)] // calls of the driver: every address was allocated there, and is freed once, when the machine is dropped

use std::ffi::{CString, c_void};
use std::ptr;

use cudarc::driver::{result, sys};

use crate::machine::cublas::{Blas, WORKSPACE};
use crate::machine::{Address, Args, Fault, Kernel, Machine, Product, RESULTS, compile};
use crate::program::Program;

/// Threads of a block: `THREADS` in `kernels/real.cuh`.
const BLOCK: usize = 256;
/// The most numbers that a block leaves.
const SUMS: usize = 16;

/// What is said of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// Its architecture, as `sm_90`.
    pub arch: String,
    /// All of its memory, in bytes.
    pub memory: usize,
}

/// A GPU with a stream of work, and kernels once a program is loaded.
pub struct Gpu {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    blas: Option<Blas>,
    module: Option<sys::CUmodule>,
    /// Of all kernels, those that the program has.
    kernels: Vec<Option<sys::CUfunction>>,
    allocated: Vec<Address>,
    partial: Address,
    blocks: usize,
    ticket: Address,
    /// Memory of this machine that kernels write to.
    result: *mut f64,
    stamp: f64,
    described: Described,
}

/// A moment in the stream of a GPU's work.
pub struct Mark(sys::CUevent);

// The context is made current before every call: whoever holds the machine may be on any thread.
unsafe impl Send for Gpu {}

fn said(what: &str) -> impl Fn(result::DriverError) -> Fault + '_ {
    move |error| format!("the GPU failed to {what}: {error}")
}

/// The GPUs that are here; the reason where there is none.
pub fn described() -> Result<Vec<Described>, Fault> {
    ready()?;
    let count = result::device::get_count().map_err(said("count devices"))?;
    (0..count).map(|ordinal| describe(result::device::get(ordinal).map_err(said("find a device"))?)).collect()
}

/// The driver is there, and starts.
fn ready() -> Result<(), Fault> {
    if !unsafe { sys::is_culib_present() } {
        return Err("there is no CUDA driver here (libcuda was not found)".into());
    }
    result::init().map_err(|error| format!("the CUDA driver does not start: {error}"))
}

fn describe(device: sys::CUdevice) -> Result<Described, Fault> {
    use sys::CUdevice_attribute as Attribute;
    let number =
        |attribute| unsafe { result::device::get_attribute(device, attribute) }.map_err(said("describe itself"));
    let major = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let name = result::device::get_name(device).map_err(said("tell its name"))?;
    let memory = unsafe { result::device::total_mem(device) }.map_err(said("tell its memory"))?;
    Ok(Described { name, arch: format!("sm_{major}{minor}"), memory })
}

impl Gpu {
    /// GPU number `ordinal`, from 0. Refuses, in words, where there is no driver or no such GPU.
    pub fn open(ordinal: usize) -> Result<Self, Fault> {
        let there = described()?.len();
        if ordinal >= there {
            return Err(format!("there is no GPU {ordinal}: this machine has {there}, counted from 0"));
        }
        let device = result::device::get(ordinal as i32).map_err(said("be found"))?;
        let described = describe(device)?;
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(said("open"))?;
        let mut gpu = Self {
            device,
            context,
            stream: ptr::null_mut(),
            blas: None,
            module: None,
            kernels: Vec::new(),
            allocated: Vec::new(),
            partial: 0,
            blocks: 0,
            ticket: 0,
            result: ptr::null_mut(),
            stamp: 0.0,
            described,
        };
        gpu.current()?;
        gpu.stream = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(said("open"))?;
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let host = unsafe { result::malloc_host(RESULTS * size_of::<f64>(), flags) };
        gpu.result = host.map_err(said("share memory"))?.cast();
        gpu.ticket = gpu.allocate(256)?;
        Ok(gpu)
    }

    /// What is said of it.
    pub fn describe(&self) -> &Described {
        &self.described
    }

    fn current(&self) -> Result<(), Fault> {
        unsafe { result::ctx::set_current(self.context) }.map_err(said("be used"))
    }

    /// Waits until all work is done.
    pub fn synchronize(&mut self) -> Result<(), Fault> {
        self.current()?;
        unsafe { result::stream::synchronize(self.stream) }.map_err(said("finish"))
    }

    /// A place in the stream of work, for [`Gpu::between`].
    pub fn mark(&mut self) -> Result<Mark, Fault> {
        self.current()?;
        let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(said("mark a moment"))?;
        unsafe { result::event::record(event, self.stream) }.map_err(said("mark a moment"))?;
        Ok(Mark(event))
    }

    /// Milliseconds from one place to another, by the GPU's clock. Waits for the work between.
    pub fn between(&mut self, start: Mark, end: Mark) -> Result<f64, Fault> {
        self.synchronize()?;
        let passed = unsafe { result::event::elapsed(start.0, end.0) }.map_err(said("measure time"))?;
        for Mark(event) in [start, end] {
            unsafe { result::event::destroy(event) }.map_err(said("forget a moment"))?;
        }
        Ok(passed.into())
    }

    fn unload(&mut self) {
        if let Some(module) = self.module.take() {
            let _ = unsafe { result::module::unload(module) };
        }
        self.kernels.clear();
    }

    /// Room for the sums of so many blocks.
    fn reserve(&mut self, blocks: usize) -> Result<(), Fault> {
        if blocks <= self.blocks {
            return Ok(());
        }
        self.release(self.partial);
        self.partial = self.allocate(blocks * SUMS * size_of::<f64>())?;
        self.blocks = blocks;
        Ok(())
    }
}

impl Machine for Gpu {
    fn available(&mut self) -> Result<usize, Fault> {
        self.current()?;
        Ok(result::mem_get_info().map_err(said("tell its free memory"))?.0)
    }

    fn load(&mut self, program: &Program) -> Result<(), Fault> {
        self.current()?;
        self.unload();
        let code = compile(program, &self.described.arch)?;
        let module = unsafe { result::module::load_data(code.as_ptr().cast()) }.map_err(said("load kernels"))?;
        self.module = Some(module);
        for (_, name) in Kernel::ALL {
            let name = CString::new(name).map_err(|error| error.to_string())?;
            self.kernels.push(unsafe { result::module::get_function(module, name) }.ok());
        }
        Ok(())
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, Fault> {
        self.current()?;
        let address = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(said("allocate memory"))?;
        self.allocated.push(address);
        unsafe { result::memset_d8_async(address, 0, bytes, self.stream) }.map_err(said("clear memory"))?;
        Ok(address)
    }

    fn release(&mut self, address: Address) {
        if let Some(at) = self.allocated.iter().position(|&known| known == address) {
            self.allocated.swap_remove(at);
            let _ = self.synchronize();
            let _ = unsafe { result::free_sync(address) };
        }
    }

    fn forget(&mut self, address: Address) -> bool {
        let known = self.allocated.iter().position(|&known| known == address);
        // Whoever takes it need not wait for work of this stream.
        known.is_some_and(|at| self.synchronize().is_ok() && self.allocated.swap_remove(at) == address)
    }

    fn upload(&mut self, to: Address, from: &[u8]) -> Result<(), Fault> {
        self.synchronize()?;
        unsafe { result::memcpy_htod_sync(to, from) }.map_err(said("take data"))
    }

    fn download(&mut self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        self.synchronize()?;
        unsafe { result::memcpy_dtoh_sync(to, from) }.map_err(said("give data"))
    }

    fn copy(&mut self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        self.current()?;
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream) }.map_err(said("copy"))
    }

    fn launch(&mut self, kernel: Kernel, threads: usize, args: Args) -> Result<(), Fault> {
        self.current()?;
        let blocks = threads.div_ceil(BLOCK).max(1);
        self.reserve(blocks)?;
        self.stamp += 1.0;
        let (partial, ticket, result) = (self.partial, self.ticket, self.result as Address);
        let mut args = Args { partial, ticket, result, stamp: self.stamp, ..args };
        let function = self.kernels.get(kernel as usize).copied().flatten().ok_or("the program has no such kernel")?;
        let mut parameters = [ptr::from_mut(&mut args).cast::<c_void>()];
        let grid = (u32::try_from(blocks).map_err(|_| "too many blocks")?, 1, 1);
        unsafe { result::launch_kernel(function, grid, (BLOCK as u32, 1, 1), 0, self.stream, &mut parameters) }
            .map_err(said("start a kernel"))
    }

    fn prepare_products(&mut self) -> Result<(), Fault> {
        if self.blas.is_none() {
            let workspace = self.allocate(WORKSPACE)?;
            self.blas = Some(Blas::open(self.stream.cast(), workspace)?);
        }
        Ok(())
    }

    fn multiply(&mut self, product: &Product) -> Result<(), Fault> {
        self.current()?;
        self.blas.as_ref().ok_or("products were not prepared")?.multiply(product)
    }

    /// Looks at the shared memory until the last launch has left its stamp there, and now and then whether the GPU is still well.
    fn results(&mut self) -> Result<[f64; RESULTS], Fault> {
        let arrived = |stamp: f64| unsafe { ptr::read_volatile(self.result.add(RESULTS - 1)) } == stamp;
        let mut looks = 0u32;
        while !arrived(self.stamp) {
            std::hint::spin_loop();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(1 << 14) {
                match unsafe { sys::cuStreamQuery(self.stream) } {
                    sys::CUresult::CUDA_ERROR_NOT_READY => {}
                    sys::CUresult::CUDA_SUCCESS if arrived(self.stamp) => break,
                    sys::CUresult::CUDA_SUCCESS => return Err("the GPU left no result".into()),
                    code => return Err(said("run a kernel")(result::DriverError(code))),
                }
            }
        }
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        Ok(std::array::from_fn(|k| unsafe { ptr::read_volatile(self.result.add(k)) }))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.current().is_err() {
            return;
        }
        let _ = self.synchronize();
        self.blas = None;
        self.unload();
        for address in std::mem::take(&mut self.allocated) {
            let _ = unsafe { result::free_sync(address) };
        }
        if !self.result.is_null() {
            let _ = unsafe { result::free_host(self.result.cast()) };
        }
        if !self.stream.is_null() {
            let _ = unsafe { result::stream::destroy(self.stream) };
        }
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Memory of a GPU that outlives the run that made it.
pub struct Owned {
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// Where.
    pub address: Address,
}

// The context is made current before every call.
unsafe impl Send for Owned {}
unsafe impl Sync for Owned {}

impl Owned {
    /// Takes over what was allocated on that GPU.
    pub fn of(ordinal: usize, address: Address) -> Result<Self, Fault> {
        let device = result::device::get(ordinal as i32).map_err(said("be found"))?;
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(said("open"))?;
        Ok(Self { device, context, address })
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if unsafe { result::ctx::set_current(self.context) }.is_ok() && self.address != 0 {
            let _ = unsafe { result::free_sync(self.address) };
        }
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Bytes here ← memory of that GPU, once all that was asked of it is done.
pub fn download(ordinal: usize, to: &mut [u8], from: Address) -> Result<(), Fault> {
    settle(ordinal)?;
    let held = Owned::of(ordinal, 0)?;
    unsafe { result::ctx::set_current(held.context) }.map_err(said("be used"))?;
    unsafe { result::memcpy_dtoh_sync(to, from) }.map_err(said("give data"))
}

/// Waits for everything that anybody asked of that GPU in this process.
pub fn settle(ordinal: usize) -> Result<(), Fault> {
    ready()?;
    let held = Owned::of(ordinal, 0)?;
    unsafe { result::ctx::set_current(held.context) }.map_err(said("be used"))?;
    unsafe { sys::cuCtxSynchronize().result() }.map_err(said("finish"))
}

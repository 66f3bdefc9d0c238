//! A machine that is a loop: the bodies of the kernels, compiled by this machine's C++ compiler.
#![allow(unsafe_code)] // calls of what was compiled, on memory that is kept in `arrays`

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

use libloading::Library;
use melmo_cuda::machine::{Address, Args, Fault, Kernel, Machine, Product, RESULTS};
use melmo_cuda::{Gpu, Program};

use crate::numbers::multiply;

#[derive(Default)]
pub struct Emulator {
    library: Option<Library>,
    arrays: Vec<Vec<u64>>,
    result: Vec<f64>,
    /// Bytes that it says it has.
    pub memory: usize,
    /// Whether it has no library for products.
    pub no_products: bool,
    /// Launches after which it fails.
    pub lasts: usize,
}

/// The machine that is tested.
pub fn machine() -> Option<Box<dyn Machine>> {
    if std::env::var_os("MELMO_TEST_GPU").is_some() {
        return Some(Box::new(Gpu::open(0).expect("MELMO_TEST_GPU asks for a GPU")));
    }
    Some(Box::new(Emulator::new()?))
}

/// Whether the machine is a GPU.
pub fn is_gpu() -> bool {
    std::env::var_os("MELMO_TEST_GPU").is_some()
}

fn compiler() -> Option<&'static str> {
    ["c++", "g++", "clang++"].into_iter().find(|name| Command::new(name).arg("--version").output().is_ok())
}

impl Emulator {
    /// None, said loudly, where there is no C++ compiler.
    pub fn new() -> Option<Self> {
        if compiler().is_none() {
            eprintln!("!! NOT TESTED: the kernels of the GPU: there is no C++ compiler here");
            return None;
        }
        Some(Self { result: vec![0.0; RESULTS], memory: usize::MAX, lasts: usize::MAX, ..Self::default() })
    }
}

/// Compiles a program once, whoever asks.
fn build(program: &Program) -> Result<PathBuf, Fault> {
    let mut hasher = DefaultHasher::new();
    (&program.source, &program.defines).hash(&mut hasher);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let library = folder.join(format!("kernels-{:016x}.so", hasher.finish()));
    if library.exists() {
        return Ok(library);
    }
    let unique = format!("{}-{:?}", std::process::id(), std::thread::current().id()).replace(['(', ')'], "");
    let (source, made) = (library.with_extension(format!("{unique}.cpp")), library.with_extension(&unique));
    std::fs::write(&source, &program.source).map_err(|e| e.to_string())?;
    let options = ["-std=c++17", "-O0", "-shared", "-fPIC", "-Wno-unknown-pragmas"];
    let done = Command::new(compiler().ok_or("no compiler")?)
        .args(options)
        .args(&program.defines)
        .arg(&source)
        .arg("-o")
        .arg(&made)
        .output()
        .map_err(|e| e.to_string())?;
    let _ = std::fs::remove_file(&source);
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    std::fs::rename(&made, &library).map_err(|e| e.to_string())?;
    Ok(library)
}

impl Machine for Emulator {
    fn available(&mut self) -> Result<usize, Fault> {
        Ok(self.memory)
    }

    fn load(&mut self, program: &Program) -> Result<(), Fault> {
        self.library = Some(unsafe { Library::new(build(program)?) }.map_err(|e| e.to_string())?);
        Ok(())
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address, Fault> {
        self.arrays.push(vec![0; bytes.div_ceil(8).max(1)]);
        Ok(self.arrays.last().unwrap().as_ptr() as Address)
    }

    fn release(&mut self, address: Address) {
        self.arrays.retain(|array| array.as_ptr() as Address != address);
    }

    fn upload(&mut self, to: Address, from: &[u8]) -> Result<(), Fault> {
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to as *mut u8, from.len()) };
        Ok(())
    }

    fn download(&mut self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn copy(&mut self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel, threads: usize, args: Args) -> Result<(), Fault> {
        self.lasts = self.lasts.checked_sub(1).ok_or("the device was lost")?;
        let name = Kernel::ALL[kernel as usize].1;
        let args = Args { result: self.result.as_mut_ptr() as Address, ..args };
        let library = self.library.as_ref().ok_or("no program was loaded")?;
        unsafe {
            let kernel: libloading::Symbol<unsafe extern "C" fn(*const Args, i64)> =
                library.get(name.as_bytes()).map_err(|e| e.to_string())?;
            kernel(&args, threads.div_ceil(256) as i64 * 256);
        }
        Ok(())
    }

    fn prepare_products(&mut self) -> Result<(), Fault> {
        if self.no_products { Err("cuBLAS was not found".into()) } else { Ok(()) }
    }

    fn multiply(&mut self, product: &Product) -> Result<(), Fault> {
        self.lasts = self.lasts.checked_sub(1).ok_or("the device was lost")?;
        unsafe { multiply(product) };
        Ok(())
    }

    fn results(&mut self) -> Result<[f64; RESULTS], Fault> {
        Ok(std::array::from_fn(|k| self.result[k]))
    }
}

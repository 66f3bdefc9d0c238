//! NVRTC: from a program to machine code for one architecture, kept on disk under the digest of all that it was made of.
#![allow(unsafe_code)] // calls of a C library, each with pointers to memory that outlives it

use std::ffi::{CString, c_char};
use std::path::PathBuf;

use cudarc::nvrtc::{result, sys};

use crate::machine::Fault;
use crate::program::Program;

const MISSING: &str = "NVRTC was not found, which compiles the kernels: install CUDA, or `pip install nvidia-cuda-nvrtc-cu12` and put the folder \
                       of libnvrtc on the loader's path (LD_LIBRARY_PATH)";

/// Machine code for an architecture such as `sm_90`.
pub fn compile(program: &Program, arch: &str) -> Result<Vec<u8>, Fault> {
    // Divisions and roots in f32 are off by 2 units of the last place at most: within what penalties allow for their prox.
    let fixed = ["--std=c++17", "--prec-div=false", "--prec-sqrt=false"].map(String::from);
    let mut options = vec![format!("--gpu-architecture={arch}")];
    options.extend(fixed);
    options.extend(program.defines.iter().cloned());
    let kept = place(program, &options);
    if let Some(code) = kept.as_ref().and_then(|place| std::fs::read(place).ok()).filter(|code| !code.is_empty()) {
        return Ok(code);
    }
    if !unsafe { sys::is_culib_present() } {
        return Err(MISSING.into());
    }
    let code = compiled(&program.source, &options)?;
    if let Some(place) = kept {
        keep(place, &code);
    }
    Ok(code)
}

fn compiled(source: &str, options: &[String]) -> Result<Vec<u8>, Fault> {
    let said = |error: result::NvrtcError| format!("NVRTC failed: {error:?}");
    let source = CString::new(source).map_err(|error| error.to_string())?;
    let handle = result::create_program(&source, None).map_err(said)?;
    let made = unsafe { result::compile_program(handle, options) }.map_err(|error| {
        let log = unsafe { result::get_program_log(handle) }.unwrap_or_default();
        let log: String = log.iter().map(|&c| char::from(c as u8)).collect();
        format!("NVRTC could not compile the kernels ({error:?}): {}", log.trim_matches('\0').trim())
    });
    let made = made.and_then(|()| unsafe {
        let mut size = 0;
        sys::nvrtcGetCUBINSize(handle, &mut size).result().map_err(said)?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(handle, code.as_mut_ptr().cast::<c_char>()).result().map_err(said)?;
        Ok(code)
    });
    let _ = unsafe { result::destroy_program(handle) };
    made
}

/// Where the code is kept: in the user's cache folder, where there is one.
fn place(program: &Program, options: &[String]) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache"))).or(folder("LOCALAPPDATA"))?;
    let all = format!("{}\n{}\n{}", env!("CARGO_PKG_VERSION"), options.join(" "), program.source);
    Some(cache.join("melmo").join(format!("kernels-{:032x}.cubin", digest(all.as_bytes()))))
}

/// FNV-1a in 128 bits: for telling sources apart, not for secrets.
fn digest(bytes: &[u8]) -> u128 {
    let (offset, prime) =
        (0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, 0x0000_0000_0100_0000_0000_0000_0000_013b_u128);
    bytes.iter().fold(offset, |digest, &byte| (digest ^ u128::from(byte)).wrapping_mul(prime))
}

/// Written beside its place and put there whole. What cannot be kept is compiled again.
fn keep(place: PathBuf, code: &[u8]) {
    let beside = place.with_extension(format!("{}", std::process::id()));
    let folder = place.parent().map(std::fs::create_dir_all);
    if folder.is_some_and(|made| made.is_ok()) && std::fs::write(&beside, code).is_ok() {
        let _ = std::fs::rename(&beside, &place);
    }
}

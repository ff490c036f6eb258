//! NVRTC, NVIDIA's compiler from CUDA C++ to PTX, opened at run time: the only unsafe code of the tasks.
#![allow(unsafe_code)]

use anyhow::{Context, Result, bail};
use libloading::{Library, Symbol};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// `nvrtcProgram`.
type Program = *mut c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

/// The compiler's library.
pub(crate) struct Nvrtc {
    library: Library,
}

/// What to compile: a file with those that it includes, all in memory, so that no path enters the PTX.
pub(crate) struct Unit<'a> {
    /// The file's name, for messages.
    pub(crate) name: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
    /// Name as in `#include` and text of every file that may be included.
    pub(crate) headers: &'a [(&'a str, &'a str)],
}

impl Nvrtc {
    /// Opens the library at `path`.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        // SAFETY: loading runs the library's initialisers; the caller names NVIDIA's compiler, by a checked wheel or
        // by the user's own NVRTC_LIBRARY_DIR, and it has none but the C++ runtime's.
        let library = unsafe { Library::new(path) }.with_context(|| format!("cannot load {}", path.display()))?;
        Ok(Self { library })
    }

    /// Major and minor version.
    ///
    /// # Errors
    /// When the library cannot tell.
    pub(crate) fn version(&self) -> Result<(i32, i32)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: `Version` is nvrtcVersion's declaration in nvrtc.h.
        let version: Symbol<'_, Version> = unsafe { self.symbol(b"nvrtcVersion\0") }?;
        // SAFETY: both pointers are to live integers of ours.
        self.succeed("nvrtcVersion", unsafe { version(&mut major, &mut minor) })?;
        Ok((major, minor))
    }

    /// The PTX of `unit`. Warnings go to standard error.
    ///
    /// # Errors
    /// With the compiler's messages when it finds a fault.
    pub(crate) fn compile(&self, unit: &Unit<'_>, options: &[&str]) -> Result<String> {
        let program = OpenProgram::create(self, unit)?;
        let options = c_strings(options.iter().copied())?;
        let pointers = pointers(&options);
        // SAFETY: `Compile` is nvrtcCompileProgram's declaration in nvrtc.h.
        let compile: Symbol<'_, Compile> = unsafe { self.symbol(b"nvrtcCompileProgram\0") }?;
        // SAFETY: the program is open, and the strings live until the call returns.
        let code = unsafe { compile(program.handle, count(&pointers)?, pointers.as_ptr()) };
        let log = program.text(b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0")?;
        if code != 0 {
            bail!("NVRTC: {}\n{}", self.message(code), log.trim());
        }
        if !log.trim().is_empty() {
            eprintln!("{}", log.trim());
        }
        program.text(b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")
    }

    /// # Safety
    /// `T` must be the type of the function `name`.
    unsafe fn symbol<T>(&self, name: &[u8]) -> Result<Symbol<'_, T>> {
        // SAFETY: the caller vouches for the type; the symbol cannot outlive the library that it borrows.
        unsafe { self.library.get(name) }.context("this library is not a complete NVRTC")
    }

    fn succeed(&self, what: &str, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { bail!("{what}: {}", self.message(code)) }
    }

    fn message(&self, code: c_int) -> String {
        // SAFETY: `ErrorString` is nvrtcGetErrorString's declaration in nvrtc.h.
        let known: Result<Symbol<'_, ErrorString>> = unsafe { self.symbol(b"nvrtcGetErrorString\0") };
        // SAFETY: the function takes any code and returns a static string.
        let words = known.ok().map(|function| unsafe { function(code) }).filter(|pointer| !pointer.is_null());
        // SAFETY: not null, and as nvrtc.h has it, ended by a zero and never freed.
        let words = words.map(|pointer| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned());
        format!("{} (code {code})", words.unwrap_or_else(|| "no message".into()))
    }
}

/// A program that NVRTC holds until this is dropped.
struct OpenProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl<'a> OpenProgram<'a> {
    fn create(nvrtc: &'a Nvrtc, unit: &Unit<'_>) -> Result<Self> {
        let (name, text) = (CString::new(unit.name)?, CString::new(unit.text)?);
        let names = c_strings(unit.headers.iter().map(|(name, _)| *name))?;
        let texts = c_strings(unit.headers.iter().map(|(_, text)| *text))?;
        let (names, texts) = (pointers(&names), pointers(&texts));
        let mut handle = std::ptr::null_mut();
        // SAFETY: `Create` is nvrtcCreateProgram's declaration in nvrtc.h.
        let create: Symbol<'_, Create> = unsafe { nvrtc.symbol(b"nvrtcCreateProgram\0") }?;
        // SAFETY: both arrays have as many strings as is said, all ended by zero and alive; NVRTC copies them.
        let code = unsafe {
            create(&mut handle, text.as_ptr(), name.as_ptr(), count(&names)?, texts.as_ptr(), names.as_ptr())
        };
        nvrtc.succeed("nvrtcCreateProgram", code)?;
        Ok(Self { nvrtc, handle })
    }

    /// A text of which one function tells the size, the closing zero included, and another the characters.
    fn text(&self, size_name: &[u8], text_name: &[u8]) -> Result<String> {
        let mut size = 0;
        // SAFETY: all functions whose names are passed here for the size are declared as `Size` in nvrtc.h.
        let size_of: Symbol<'_, Size> = unsafe { self.nvrtc.symbol(size_name) }?;
        // SAFETY: the program is open and the size is ours.
        self.nvrtc.succeed("the size of NVRTC's answer", unsafe { size_of(self.handle, &mut size) })?;
        let mut buffer = vec![0u8; size.max(1)];
        // SAFETY: all functions whose names are passed here for the text are declared as `Text` in nvrtc.h.
        let text_of: Symbol<'_, Text> = unsafe { self.nvrtc.symbol(text_name) }?;
        // SAFETY: the buffer has the size that NVRTC asked for.
        self.nvrtc.succeed("NVRTC's answer", unsafe { text_of(self.handle, buffer.as_mut_ptr().cast()) })?;
        let text = CStr::from_bytes_until_nul(&buffer).context("NVRTC's answer has no end")?;
        Ok(text.to_str().context("NVRTC's answer is no text")?.to_owned())
    }
}

impl Drop for OpenProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: `Destroy` is nvrtcDestroyProgram's declaration in nvrtc.h.
        if let Ok(destroy) = unsafe { self.nvrtc.symbol::<Destroy>(b"nvrtcDestroyProgram\0") } {
            // SAFETY: the program is open and nobody uses it after this.
            unsafe { destroy(&mut self.handle) };
        }
    }
}

fn c_strings<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<CString>> {
    texts.map(|text| CString::new(text).context("a zero byte in the text for NVRTC")).collect()
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).collect()
}

fn count(pointers: &[*const c_char]) -> Result<c_int> {
    c_int::try_from(pointers.len()).context("too many files for NVRTC")
}

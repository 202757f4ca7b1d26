//! The CPU: clang and our own HIP runtime for the host.
//!
//! A build rewrites the source (launches and dynamic shared memory become macros of the runtime's header; line numbers
//! stay), puts the rewritten text in the file's place with an overlay of clang's file system, and compiles it in the
//! sandbox. Nothing is written beside the user's files, and what is built is [`Source::text`], saved or not. Builds are
//! kept in the [`Cache`] by the hash of all that went into them.

mod compile;
mod disk;
mod doubt;
mod failure;
mod flags;
mod link;
mod rewritten;
mod runtime;
mod traced;
mod variant;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::clang::Clang;
use super::options::CompileOptions;
use crate::cache::Cache;
use crate::sanitize::Sanitizer;
use crate::{Cancel, Diagnostic, LabError, Source};

pub(crate) use compile::prerequisites;
pub(crate) use runtime::PREFIX;
pub use variant::Target;
pub(crate) use variant::Variant;

/// The device's name.
pub const DEVICE: &str = "cpu";

/// What every figure of this device is shown with.
pub const DEVICE_NOTE: &str = "CPU emulation, not GPU time";

/// The CPU as a device: a compiler, a cache, and the runtime built with the one into the other.
#[derive(Clone, Debug)]
pub struct Cpu {
    clang: Clang,
    cache: Cache,
    runtime: runtime::Runtime,
}

/// A program that can be run.
#[derive(Clone, Debug)]
pub struct BuiltProgram {
    /// The executable, in the cache.
    pub path: PathBuf,
    /// What it was built from.
    pub source: Source,
    /// Warnings in the user's files.
    pub warnings: Vec<Diagnostic>,
    /// Kernels in it were split at their barriers.
    pub split: bool,
}

/// A shared object that the harness can load.
#[derive(Clone, Debug)]
pub struct BuiltObject {
    /// The object, in the cache.
    pub path: PathBuf,
    /// What it was built from.
    pub source: Source,
    /// Warnings in the user's files.
    pub warnings: Vec<Diagnostic>,
    /// Kernels in it were split at their barriers.
    pub split: bool,
}

impl Cpu {
    /// Finds the compiler, and builds the runtime into `cache` unless it is there (seconds the first time, then nothing).
    ///
    /// [`LabError::Unavailable`] says which tool is missing and how to get it.
    pub fn new(cache: &Path) -> Result<Self, LabError> {
        Self::open(cache, &Cancel::new())
    }

    /// As [`Cpu::new`], and stops when asked to.
    pub fn open(cache: &Path, cancel: &Cancel) -> Result<Self, LabError> {
        let clang = Clang::find(cancel)?;
        let cache = Cache::open(cache)?;
        let runtime = runtime::Runtime::open(&clang, &cache, Variant::Plain, cancel)?;
        Ok(Self { clang, cache, runtime })
    }

    /// Whether the runtime is in `cache` already, and the one that records for `target` where one is named; else opening it builds
    /// it. Where there is no compiler nothing is left to build: opening it says why.
    pub(crate) fn is_ready(cache: &Path, target: Option<Target>, cancel: &Cancel) -> bool {
        let (Ok(clang), Ok(cache)) = (Clang::find(cancel), Cache::open(cache)) else { return true };
        let variants = std::iter::once(Variant::Plain).chain(target.map(Variant::Traced));
        variants.into_iter().all(|variant| runtime::Runtime::is_built(&clang, &cache, variant))
    }

    /// The same compiler and cache with a runtime that looks for a kind of fault; it is built when it is first asked for.
    pub fn with_sanitizer(&self, sanitizer: Sanitizer, cancel: &Cancel) -> Result<Self, LabError> {
        let runtime = runtime::Runtime::open(&self.clang, &self.cache, Variant::Sanitized(sanitizer), cancel)?;
        Ok(Self { runtime, ..self.clone() })
    }

    /// The same compiler and cache with a runtime whose programs record what their kernels do.
    pub(crate) fn with_trace(&self, target: Target, cancel: &Cancel) -> Result<Self, LabError> {
        let runtime = runtime::Runtime::open(&self.clang, &self.cache, Variant::Traced(target), cancel)?;
        Ok(Self { runtime, ..self.clone() })
    }

    /// Whether the runtime for a sanitizer is there already.
    pub(crate) fn has_sanitizer(&self, sanitizer: Sanitizer) -> bool {
        runtime::Runtime::is_built(&self.clang, &self.cache, Variant::Sanitized(sanitizer))
    }

    /// The compiler.
    pub(crate) fn clang(&self) -> &Clang {
        &self.clang
    }

    /// The toolchain's name and version, as recorded with every measurement.
    pub fn toolchain(&self) -> String {
        format!("{}, kernel-scientist HIP runtime {}", self.clang.version, env!("CARGO_PKG_VERSION"))
    }

    /// The cache that builds are kept in.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The comparison harness, built when it is first asked for.
    pub fn harness(&self, cancel: &Cancel) -> Result<PathBuf, LabError> {
        self.runtime.harness(&self.clang, &self.cache, cancel)
    }

    /// What a program of this toolchain has to read when it runs.
    pub fn readable(&self) -> Vec<PathBuf> {
        vec![self.runtime.root.clone(), self.runtime.built.clone()]
    }

    /// The environment that a program of this toolchain runs with.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        // Objects that are loaded at run time use the fast form of thread-local storage, for which room has to be kept:
        // three objects, each with the shared memory of all its kernels. What is not used is never touched.
        vec![("GLIBC_TUNABLES".into(), "glibc.rtld.optional_static_tls=2097152".into())]
    }

    /// Builds `source` as a program, or, with [`CompileOptions::main`], the program that it is a header of.
    /// [`crate::Failure::DoesNotCompile`] carries the compiler's messages in the user's lines.
    pub fn build_program(
        &self,
        source: &Source,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<BuiltProgram, LabError> {
        let built = self.compile(compile::Product::Program, source, None, options, cancel)?;
        Ok(BuiltProgram { path: built.path, source: source.clone(), warnings: built.warnings, split: built.split })
    }

    /// The blocks of what was built with [`Cpu::with_trace`].
    pub(crate) fn traced_code(&self, built: &Path) -> Result<forecast::code::Code, LabError> {
        traced::code_of(built)
    }

    /// Builds `source`, with `glue` (C++) after it, as a shared object. Only what the glue exports by
    /// `__attribute__((visibility("default")))` can be found in it, so that two versions of a source can be loaded side by side.
    pub fn build_object(
        &self,
        source: &Source,
        glue: Option<&str>,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<BuiltObject, LabError> {
        let built = self.compile(compile::Product::Object, source, glue, options, cancel)?;
        Ok(BuiltObject { path: built.path, source: source.clone(), warnings: built.warnings, split: built.split })
    }
}

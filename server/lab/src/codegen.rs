//! What each kernel needs of a GPU: registers, LDS, scratch and occupancy, from real code generation.
//!
//! No GPU is needed: the text goes through clang's AMDGPU back end down to assembly, with the device libraries linked
//! in (without them the figures are wrong), and the figures are read from the metadata that the loader of a real device
//! would use and from the compiler's own resource remarks. The text need not be what is on disk: it takes its file's
//! place by an overlay of the compiler's file system, so includes beside the file work and nothing is written there.
//!
//! Figures are per instance: a template has one entry for each set of arguments that the file uses, and is listed as
//! [`NotInstantiated`] when it uses none.

mod errors;
mod kept;
mod names;
mod occupancy;
mod precompiled;
mod remarks;
mod resources;
mod toolchain;
mod work;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hip_syntax::Syntax;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::cancel::Cancel;
use crate::error::LabError;
use crate::sandbox::{self, Command, End, Limits, Policy};
use crate::source::Source;
use crate::toolchain::{CompileOptions, includes};
use crate::verdict::{Diagnostic, Failure};
pub use occupancy::Limit;
pub use toolchain::{DEFAULT_ARCH, Places};
use toolchain::{DeviceLibraries, Toolchain};
use work::WorkFolder;

/// Longest time that one code generation may take. A large template file needs some seconds.
const WALL: Duration = Duration::from_secs(120);
/// Most memory that one code generation may take.
const MEMORY_BYTES: u64 = 4 << 30;

/// What one kernel needs of the device, as the compiler built it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelResources {
    /// Kernel with its namespaces and template arguments: `tiled<float, 16>`.
    pub name: String,
    /// Linker name: `_Z5tiledIfLi16EEvPKT_PS0_i`.
    pub symbol: String,
    /// File that holds the kernel.
    pub file: PathBuf,
    /// Line of the kernel's head in that file, from 1.
    pub line: u32,
    /// Vector registers of each work-item, without accumulation registers.
    pub vgprs: u32,
    /// Accumulation registers of each work-item (matrix instructions, or spills of vector registers).
    pub agprs: u32,
    /// Scalar registers of each wave.
    pub sgprs: u32,
    /// LDS of each block in bytes: what the compiler knows, and [`KernelResources::dynamic_lds_bytes`].
    pub lds_bytes: u32,
    /// Dynamic shared memory of each block in bytes: the most that a launch in the file gives. `None` when that is not a
    /// constant, or when the kernel has some and is not launched in the file.
    pub dynamic_lds_bytes: Option<u32>,
    /// Scratch memory of each work-item in bytes: local arrays and spilled registers that went to memory.
    pub scratch_bytes: u32,
    /// Vector registers spilled.
    pub vgpr_spills: u32,
    /// Scalar registers spilled.
    pub sgpr_spills: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Largest block that the code allows (`__launch_bounds__`, else 1024); LDS bounds are computed for it.
    pub max_block: u32,
    /// Waves that a SIMD can hold at once: by the compiler, or fewer where dynamic shared memory leaves no room for more.
    pub occupancy: u32,
    /// What keeps the occupancy from being higher; `None` for an architecture whose rules are not known here.
    pub limited_by: Option<Limit>,
}

/// A kernel template that nothing in the file instantiates, so that there is no code to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotInstantiated {
    /// Kernel with its namespaces.
    pub name: String,
    /// Line of the kernel's head, from 1.
    pub line: u32,
}

/// What code generation told about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// Architecture that the code was generated for.
    pub arch: String,
    /// The compiler and its version.
    pub compiler: String,
    /// One entry a kernel instance, in the order of lines.
    pub kernels: Vec<KernelResources>,
    /// Templates without an instance.
    pub not_instantiated: Vec<NotInstantiated>,
}

/// A compiler that generates code for AMD GPUs, found and ready.
#[derive(Clone, Debug)]
pub struct Codegen {
    toolchain: Toolchain,
    libraries: DeviceLibraries,
    cache: Cache,
    failed: Arc<precompiled::Failed>,
}

impl Codegen {
    /// Finds clang, the device libraries and the HIP headers in their usual places. `cache` takes a folder of links, and HIP's
    /// headers as they are compiled beforehand.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] says which part is missing and how to get it.
    pub fn new(cache: &Path) -> Result<Self, LabError> {
        Self::open(cache, &Cancel::new())
    }

    /// As [`Codegen::new`], and stops when asked to.
    ///
    /// # Errors
    /// As [`Codegen::new`], and [`LabError::Cancelled`].
    pub fn open(cache: &Path, cancel: &Cancel) -> Result<Self, LabError> {
        Self::from_places(cache, &Places::usual(), cancel)
    }

    /// The same with the places to look in.
    ///
    /// # Errors
    /// As [`Codegen::new`].
    pub fn from_places(cache: &Path, places: &Places, cancel: &Cancel) -> Result<Self, LabError> {
        let toolchain = Toolchain::find(places, cancel)?;
        let libraries = DeviceLibraries::prepare(&toolchain.device_libraries, cache)?;
        let cache = Cache::open(cache)?;
        Ok(Self { toolchain, libraries, cache, failed: Arc::default() })
    }

    /// The compiler and its version: `Debian clang version 19.1.7`.
    pub fn compiler(&self) -> &str {
        &self.toolchain.version
    }

    /// Where the compiler, the device libraries and the HIP headers were found.
    pub fn places(&self) -> [(&'static str, &Path); 3] {
        [
            ("clang", &self.toolchain.clang),
            ("device libraries", &self.toolchain.device_libraries),
            ("HIP headers", &self.toolchain.headers),
        ]
    }

    /// Generates code for `source` and reports what each kernel needs. `arch` is a processor such as `gfx942`. The user's
    /// headers are found as they are when the file is built for the CPU, also without `options` where a project keeps them
    /// in the usual places. Where the options name a main file, that is compiled, with `source` as a header of it.
    ///
    /// # Errors
    /// [`Failure::DoesNotCompile`] with located messages, too much LDS among them; [`LabError::Usage`] for an unknown
    /// architecture; [`LabError::Unavailable`] for one that the installed libraries cannot do.
    pub fn analyze(
        &self,
        source: &Source,
        arch: &str,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<Analysis, LabError> {
        let source = self.prepared(source, arch)?;
        let answer = self.answer(&source, arch, options, cancel)?;
        let remarks = remarks::parse(&answer.messages);
        let syntax = Syntax::without_tree(source.text.clone());
        let (kernels, not_instantiated) = resources::collect(&answer.metadata, &remarks, &source, &syntax, arch);
        Ok(Analysis { arch: arch.to_owned(), compiler: self.toolchain.version.clone(), kernels, not_instantiated })
    }

    /// The source with its whole path, for an architecture that there is.
    fn prepared(&self, source: &Source, arch: &str) -> Result<Source, LabError> {
        toolchain::check_arch(arch)?;
        self.libraries.check_arch(arch)?;
        let path = std::path::absolute(&source.path).map_err(LabError::io("opening", &source.path))?;
        Source::check_path(&path)?;
        Ok(Source::new(crate::paths::without_dots(&path), source.text.clone()))
    }

    /// The assembly that `source` becomes, as [`Codegen::analyze`] reads it.
    ///
    /// # Errors
    /// As [`Codegen::analyze`].
    pub fn assembly(
        &self,
        source: &Source,
        arch: &str,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<String, LabError> {
        let source = self.prepared(source, arch)?;
        let work = WorkFolder::new(&source)?;
        self.compile(&source, &work, arch, options, cancel)?;
        std::fs::read_to_string(work.assembly()).map_err(LabError::io("reading", work.assembly()))
    }

    /// Runs the compiler; what it says when it succeeded, its errors as a failure otherwise.
    fn compile(
        &self,
        source: &Source,
        work: &WorkFolder,
        arch: &str,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<String, LabError> {
        let mut headers = includes::Headers::new(&options.include_folders);
        headers.follow(&source.path, &source.text);
        if let Some(main) = &options.main {
            let text = std::fs::read_to_string(main).map_err(LabError::io("reading", main))?;
            headers.follow(main, &text);
        }
        let mut options = options.clone();
        options.include_folders.extend(headers.found_folders);
        let precompiled = self.precompiled_header(arch, &options, cancel)?;
        let mut command =
            Command::new(&self.toolchain.clang, work.path(), Policy::Compiler, Limits::new(WALL, MEMORY_BYTES));
        command.arguments = self.arguments(source, work, arch, &options, precompiled.as_deref());
        command.environment = environment(work.path());
        command.readable = self.toolchain.readable();
        command.readable.push(self.libraries.folder().to_owned());
        command.readable.extend(precompiled.clone());
        match &options.confined {
            Some(confined) => command.readable.extend(confined.readable()),
            None => command.readable.extend(around(source, &headers.texts, &options)),
        }
        let mut run = sandbox::run(&command, cancel)?;
        if precompiled.is_some() && matches!(run.end, End::Status(1..)) {
            // What was compiled beforehand may clash with the user's names or macros.
            command.arguments = self.arguments(source, work, arch, &options, None);
            run = sandbox::run(&command, cancel)?;
        }
        if run.end == End::Status(0) {
            return Ok(run.stderr);
        }
        let mut diagnostics = errors::diagnostics(&run.stderr, &source.path, &[work.path(), self.libraries.folder()]);
        let has_error = diagnostics.first().is_some_and(|first| first.severity != "warning");
        if !(has_error && matches!(run.end, End::Status(_))) {
            diagnostics.insert(0, compiler_broke(source, &run));
        }
        Err(Failure::DoesNotCompile { diagnostics }.into())
    }

    fn arguments(
        &self,
        source: &Source,
        work: &WorkFolder,
        arch: &str,
        options: &CompileOptions,
        precompiled: Option<&Path>,
    ) -> Vec<OsString> {
        let mut arguments = self.language_arguments(arch, options);
        if let Some(precompiled) = precompiled {
            arguments.extend(["-include-pch".into(), precompiled.into()]);
        }
        let output = ["-Rpass-analysis=kernel-resource-usage", "-fno-caret-diagnostics", "-fno-color-diagnostics"];
        arguments.extend(output.map(OsString::from));
        arguments.extend(["-MMD".into(), "-MF".into(), work.dependencies().into()]);
        arguments.extend(["-ivfsoverlay".into(), work.overlay().into()]);
        let input = options.main.clone().unwrap_or_else(|| work.input(source));
        arguments.extend(["-o".into(), work.assembly().into(), input.into()]);
        arguments
    }

    /// What decides how a text is read and what becomes of it.
    fn language_arguments(&self, arch: &str, options: &CompileOptions) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ["-x", "hip", "--cuda-device-only", "-S", "-O3"].map(OsString::from).into();
        arguments.push(format!("--offload-arch={arch}").into());
        arguments.extend(self.toolchain.header_flag());
        arguments.push(joined("--rocm-device-lib-path=", self.libraries.folder()));
        arguments.extend(options.standard.iter().map(|standard| format!("-std={standard}").into()));
        arguments.extend(options.arguments().into_iter().map(OsString::from));
        arguments
    }
}

/// The folders of a source and its headers, and those that the options name.
fn around(source: &Source, headers: &BTreeMap<PathBuf, includes::Header>, options: &CompileOptions) -> Vec<PathBuf> {
    let mut folders = vec![source.folder().to_owned()];
    folders.extend(headers.keys().chain(&options.main).filter_map(|path| path.parent()).map(Path::to_owned));
    folders.extend(options.include_folders.iter().chain(&options.system_folders).cloned());
    folders.extend(options.forced_includes.iter().cloned());
    folders
}

/// What the compiler gets of an environment, with `folder` for its temporary files.
fn environment(folder: &Path) -> Vec<(OsString, OsString)> {
    vec![("LC_ALL".into(), "C.UTF-8".into()), ("TMPDIR".into(), folder.into())]
}

/// `prefix` and a path as one argument.
fn joined(prefix: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(prefix);
    argument.push(path);
    argument
}

/// The message for a compiler that was stopped, crashed, or failed without a word: the code's fault as far as anybody can
/// tell.
fn compiler_broke(source: &Source, run: &sandbox::Run) -> Diagnostic {
    let message = match &run.end {
        End::TimedOut => format!("the compiler did not end within {} s and was stopped", WALL.as_secs()),
        End::OutOfMemory => format!("the compiler used more than {} GiB of memory and was stopped", MEMORY_BYTES >> 30),
        End::Refused(what) => format!("the compiler {what} and was stopped"),
        End::Status(status) => {
            format!("the compiler ended with status {status} and no error; its last words: {}", run.last_lines(1))
        }
        End::Signal(signal) => format!("the compiler crashed (signal {signal})"),
    };
    let (file, severity) = (source.path.clone(), "fatal error".into());
    Diagnostic { file, line: 0, column: 0, severity, message, notes: Vec::new() }
}

//! What each kernel needs of a GPU: registers, LDS, scratch and occupancy, from real code generation.
//!
//! No GPU is needed: the text goes through clang's AMDGPU back end down to assembly, with the device libraries linked
//! in (without them the figures are wrong), and the figures are read from the metadata that the loader of a real device
//! would use and from the compiler's own resource remarks. The text need not be what is on disk: it takes its file's
//! place by an overlay of the compiler's file system, so includes beside the file work and nothing is written there.
//!
//! Figures are per instance: a template has one entry for each set of arguments that the file uses, and is listed as
//! [`NotInstantiated`] when it uses none.

mod diagnostics;
mod names;
mod occupancy;
mod resources;
mod toolchain;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::cancel::Cancel;
use crate::error::LabError;
use crate::source::Source;
use crate::verdict::{Diagnostic, Failure};
use diagnostics::Messages;
pub use occupancy::Limit;
pub use toolchain::{DEFAULT_ARCH, Places};
use toolchain::{DeviceLibraries, Toolchain};

/// Longest time that one code generation may take. A large template file needs some seconds.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// How often a running compiler is looked at.
const POLL: Duration = Duration::from_millis(5);

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
    /// LDS of each block in bytes, as far as the compiler knows it: dynamic shared memory, whose size the launch
    /// decides, is not in it.
    pub lds_bytes: u32,
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
    /// Waves that a SIMD can hold at once, by the compiler.
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
}

impl Codegen {
    /// Finds clang, the device libraries and the HIP headers in their usual places. `cache` takes a folder of links.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] says which part is missing and how to get it.
    pub fn new(cache: &Path) -> Result<Self, LabError> {
        Self::from_places(cache, &Places::usual())
    }

    /// The same with the places to look in.
    ///
    /// # Errors
    /// As [`Codegen::new`].
    pub fn from_places(cache: &Path, places: &Places) -> Result<Self, LabError> {
        let toolchain = Toolchain::find(places)?;
        let libraries = DeviceLibraries::prepare(&toolchain.device_libraries, cache)?;
        Ok(Self { toolchain, libraries })
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

    /// Generates code for `source` and reports what each kernel needs.
    ///
    /// `arch` is a processor such as `gfx942`; `flags` are clang's own (`-I`, `-D`, `-std=`), paths absolute or relative
    /// to the source's folder.
    ///
    /// # Errors
    /// [`Failure::DoesNotCompile`] with located messages, too much LDS among them; [`LabError::Usage`] for an unknown
    /// architecture; [`LabError::Unavailable`] for one that the installed compiler or libraries cannot do.
    pub fn analyze(
        &self,
        source: &Source,
        arch: &str,
        flags: &[OsString],
        cancel: &Cancel,
    ) -> Result<Analysis, LabError> {
        toolchain::check_arch(arch)?;
        self.libraries.check_arch(arch)?;
        let work = WorkFolder::new(source)?;
        let messages = self.compile(source, &work, arch, flags, cancel)?;
        let assembly = std::fs::read_to_string(work.assembly()).map_err(LabError::io("reading", work.assembly()))?;
        Ok(Analysis {
            arch: arch.to_owned(),
            compiler: self.toolchain.version.clone(),
            ..resources::collect(&assembly, &messages, source, &[], arch)
        })
    }

    /// Runs the compiler; its messages when it succeeded, its errors as a failure otherwise.
    fn compile(
        &self,
        source: &Source,
        work: &WorkFolder,
        arch: &str,
        flags: &[OsString],
        cancel: &Cancel,
    ) -> Result<Messages, LabError> {
        let mut command = Command::new(&self.toolchain.clang);
        command
            .env_clear()
            .current_dir(work.path())
            .arg(joined("-working-directory=", source.folder()))
            .args(["-x", "hip", "--cuda-device-only", "-S", "-O3"])
            .arg(format!("--offload-arch={arch}"))
            .args(self.toolchain.header_flags())
            .arg(self.libraries.flag())
            .args(flags)
            .args(["-Rpass-analysis=kernel-resource-usage", "-fno-caret-diagnostics", "-fno-color-diagnostics"])
            .arg("-ivfsoverlay")
            .arg(work.overlay())
            .arg("-o")
            .arg(work.assembly())
            .arg(work.input(source));
        let (succeeded, stderr) = run_compiler(&mut command, work, cancel)?;
        let messages = Messages::parse(&stderr);
        if succeeded {
            return Ok(messages);
        }
        let mut diagnostics = messages.diagnostics();
        if messages.errors().next().is_none() {
            diagnostics.insert(0, compiler_broke(source, &stderr));
        }
        Err(Failure::DoesNotCompile { diagnostics }.into())
    }
}

/// `prefix` and a path as one argument.
fn joined(prefix: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(prefix);
    argument.push(path);
    argument
}

/// The message for a compiler that failed and gave no error: it crashed, most likely.
fn compiler_broke(source: &Source, stderr: &str) -> Diagnostic {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    Diagnostic {
        file: source.path.clone(),
        line: 0,
        column: 0,
        severity: "fatal error".into(),
        message: format!("the compiler ended without an error message; its last words: {last}"),
    }
}

/// Runs the compiler under the time limit: whether it succeeded, and what it wrote to standard error.
fn run_compiler(command: &mut Command, work: &WorkFolder, cancel: &Cancel) -> Result<(bool, String), LabError> {
    let log = work.path().join("stderr");
    let file = std::fs::File::create(&log).map_err(LabError::io("creating", &log))?;
    let program = PathBuf::from(command.get_program());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .spawn()
        .map_err(LabError::io("starting", program))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(LabError::io("waiting for the compiler of", work.path()))? {
            break status;
        }
        if cancel.is_cancelled() || start.elapsed() > TIME_LIMIT {
            // Both fail only for a child that has ended by itself just now, which is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
            return Err(if cancel.is_cancelled() {
                LabError::Cancelled
            } else {
                Failure::TimedOut { limit: TIME_LIMIT }.into()
            });
        }
        std::thread::sleep(POLL);
    };
    let bytes = std::fs::read(&log).map_err(LabError::io("reading", &log))?;
    Ok((status.success(), String::from_utf8_lossy(&bytes).into_owned()))
}

/// A temporary folder with the text, the overlay that puts it in its file's place, and the assembly.
struct WorkFolder(tempfile::TempDir);

impl WorkFolder {
    fn new(source: &Source) -> Result<Self, LabError> {
        let folder = tempfile::Builder::new()
            .prefix("kernel-scientist-codegen-")
            .tempdir()
            .map_err(LabError::io("creating a folder in", std::env::temp_dir()))?;
        let work = Self(folder);
        work.write("text", &source.text)?;
        // Clang reads YAML here, and JSON is YAML; the serialiser takes care of quoting odd paths.
        let overlay = serde_json::json!({
            "version": 0,
            "case-sensitive": "true",
            "use-external-names": "false",
            "roots": [{
                "type": "file",
                "name": source.path,
                "external-contents": work.path().join("text"),
            }],
        });
        work.write("overlay.yaml", &overlay.to_string())?;
        // The driver insists that its input exists on the disk itself, so a file that was never saved is included.
        work.write("unsaved.hip", &format!("#include \"{}\"\n", source.path.display()))?;
        Ok(work)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn overlay(&self) -> PathBuf {
        self.path().join("overlay.yaml")
    }

    fn assembly(&self) -> PathBuf {
        self.path().join("kernels.s")
    }

    fn input(&self, source: &Source) -> PathBuf {
        if source.path.is_file() { source.path.clone() } else { self.path().join("unsaved.hip") }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), LabError> {
        let path = self.path().join(name);
        std::fs::write(&path, text).map_err(LabError::io("writing", path))
    }
}

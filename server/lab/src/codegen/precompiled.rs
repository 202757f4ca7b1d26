//! HIP's headers for a device, compiled beforehand: to read them takes longer than to generate code for most kernels.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use super::{Codegen, MEMORY_BYTES, WALL};
use crate::cache::{Key, KeyMaker, Room};
use crate::sandbox::{self, Command, End, Limits, Policy};
use crate::toolchain::CompileOptions;
use crate::{Cancel, LabError};

/// What it holds: as the header for the CPU, since programs take the same. Code that does not compile with it is compiled
/// again without.
const PREFIX: &str = crate::toolchain::cpu::PREFIX;
/// The name of the precompiled header.
const NAME: &str = "prefix.pch";

/// Headers that could not be compiled beforehand: none is tried twice.
#[derive(Debug, Default)]
pub(super) struct Failed(Mutex<Vec<Key>>);

impl Failed {
    fn holds(&self, key: &Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    fn note(&self, key: Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(key);
    }
}

impl Codegen {
    /// The precompiled header for an architecture; it is made when it is first asked for. `None` where the options are to
    /// change what is in it, and where it cannot be made.
    pub(super) fn precompiled_header(
        &self,
        arch: &str,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<Option<PathBuf>, LabError> {
        if !options.takes_precompiled_header() {
            return Ok(None);
        }
        let prefix =
            write_once(self.libraries.folder()).map_err(LabError::io("writing in", self.libraries.folder()))?;
        let language = CompileOptions { standard: options.standard.clone(), ..CompileOptions::default() };
        let arguments = self.language_arguments(arch, &language);
        let key = self.key_of_header(&arguments);
        if let Some(entry) = self.cache.find(Room::Builds, &key) {
            return Ok(Some(entry.join(NAME)));
        }
        if self.failed.holds(&key) {
            return Ok(None);
        }
        let work = self.cache.work_folder()?;
        let limits = Limits::new(WALL, MEMORY_BYTES);
        let mut command = Command::new(&self.toolchain.clang, work.path(), Policy::Compiler, limits);
        command.arguments = arguments;
        command.arguments.extend(["-Xclang", "-emit-pch", "-o", NAME].map(OsString::from));
        command.arguments.push(prefix.into());
        command.environment = super::environment(work.path());
        command.readable = self.toolchain.readable();
        command.readable.push(self.libraries.folder().to_owned());
        let run = sandbox::run(&command, cancel)?;
        if run.end != End::Status(0) {
            tracing::info!("HIP's headers are not compiled beforehand: {:?}, {}", run.end, run.last_lines(2));
            self.failed.note(key);
            return Ok(None);
        }
        Ok(Some(self.cache.publish(Room::Builds, &key, work)?.join(NAME)))
    }

    fn key_of_header(&self, arguments: &[OsString]) -> Key {
        let mut maker = KeyMaker::default();
        maker.add("precompiled header of codegen").add(PREFIX).add(&self.toolchain.version);
        for argument in arguments {
            maker.add(argument.as_encoded_bytes());
        }
        self.add_system(&mut maker);
        maker.key()
    }

    /// What is installed. Clang refuses a precompiled header whose headers have changed since; HIP's main one stands for all.
    pub(super) fn add_system(&self, maker: &mut KeyMaker) {
        for path in [&self.toolchain.clang, &self.toolchain.headers.join("include/hip/hip_runtime.h")] {
            maker.add(path.as_os_str().as_encoded_bytes()).add(changed(path).to_le_bytes());
        }
    }
}

/// When a file was last changed, in nanoseconds; 0 where that is not known.
fn changed(path: &Path) -> u128 {
    let at = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos())
}

/// The text, where it stays: a precompiled header remembers its path and its time.
fn write_once(folder: &Path) -> io::Result<PathBuf> {
    let hash = blake3::hash(PREFIX.as_bytes()).to_hex();
    let path = folder.join(format!("prefix-{}.hip", &hash[..12]));
    if !path.exists() {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        io::Write::write_all(&mut file, PREFIX.as_bytes())?;
        match file.persist_noclobber(&path) {
            // Another process was faster.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            result => drop(result?),
        }
    }
    Ok(path)
}

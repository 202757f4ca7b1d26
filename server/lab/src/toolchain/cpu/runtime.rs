//! Unpacks and builds the C++ side: the HIP runtime, the precompiled header, the harness.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use std::{fs, thread};

use super::variant::Variant;
use super::{disk, flags};
use crate::cache::{Cache, Key, KeyMaker, Room};
use crate::runtime_files::{self, RUNTIME_FILES};
use crate::sandbox::{self, Command, End, Limits, Policy};
use crate::toolchain::clang::Clang;
use crate::{Cancel, LabError};

/// What the precompiled header holds: HIP's, and those of the library that programs take most often, which cost more to
/// read than most kernels to compile. A program that does not compile with it is compiled again without.
pub(crate) const PREFIX: &str = "\
#include <hip/hip_runtime.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>
";
/// Where it is written, beside the headers.
const PREFIX_NAME: &str = "prefix.h";
/// Name of the library that programs are linked to.
const LIBRARY: &str = "libks_hip.so";
/// Name of the harness.
const HARNESS: &str = "harness";
/// Longest time for one file of the runtime.
const WALL: Duration = Duration::from_secs(300);
/// Most memory for one file of the runtime.
const MEMORY_BYTES: u64 = 4 << 30;

/// The runtime, built.
#[derive(Clone, Debug)]
pub(super) struct Runtime {
    /// Where its sources lie; headers under `include`.
    pub root: PathBuf,
    /// Where the library lies.
    pub built: PathBuf,
    /// The hash of sources, compiler, flags and processor.
    pub key: Key,
    /// What it makes of the programs that it runs.
    pub variant: Variant,
}

impl Runtime {
    /// Finds the runtime in the cache or builds it.
    pub(super) fn open(clang: &Clang, cache: &Cache, variant: Variant, cancel: &Cancel) -> Result<Self, LabError> {
        let key = key(clang, flags::of_programs(variant));
        // Headers first and at their final place: a precompiled header remembers the paths.
        let root = match cache.find(Room::Runtime, &key) {
            Some(root) => root,
            None => {
                let work = cache.work_folder()?;
                runtime_files::unpack(work.path())?;
                let prefix = work.path().join(PREFIX_NAME);
                fs::write(&prefix, PREFIX).map_err(LabError::io("writing", prefix))?;
                cache.publish(Room::Runtime, &key, work)?
            }
        };
        let builder = Builder { clang, cache, root: &root, variant, cancel };
        // Neither needs the other, and together they are what the first build waits for.
        let built = thread::scope(|scope| {
            let header = scope.spawn(|| builder.precompiled_header(&key, flags::DEFAULT_STANDARD));
            let built = builder.library();
            header.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(built)
        })?;
        Ok(Self { root, built, key, variant })
    }

    /// Whether the library is in the cache, which takes far longer to build than all else that [`Runtime::open`] builds.
    pub(super) fn is_built(clang: &Clang, cache: &Cache, variant: Variant) -> bool {
        let key = key_of(LIBRARY, &key(clang, flags::common(variant)));
        cache.find(Room::Builds, &key).is_some()
    }

    /// The folder with the HIP headers.
    pub(super) fn include_folder(&self) -> PathBuf {
        self.root.join("include")
    }

    /// What a program needs to find the library when linking and when running.
    pub(super) fn link_arguments(&self) -> Vec<OsString> {
        let mut run_path = OsString::from("-Wl,-rpath,");
        run_path.push(&self.built);
        vec![self.built.join(LIBRARY).into(), run_path]
    }

    /// The harness, built when it is first asked for.
    pub(super) fn harness(&self, clang: &Clang, cache: &Cache, cancel: &Cancel) -> Result<PathBuf, LabError> {
        Builder { clang, cache, root: &self.root, variant: self.variant, cancel }.harness(&self.key, self)
    }

    /// The precompiled header for a language standard, built when it is first asked for.
    pub(super) fn precompiled_header(
        &self,
        clang: &Clang,
        cache: &Cache,
        standard: &str,
        cancel: &Cancel,
    ) -> Result<PathBuf, LabError> {
        Builder { clang, cache, root: &self.root, variant: self.variant, cancel }
            .precompiled_header(&self.key, standard)
    }
}

/// All that decides what the built runtime is like.
fn key(clang: &Clang, flags: impl Iterator<Item = &'static str>) -> Key {
    let mut maker = KeyMaker::default();
    maker.add(clang.path.to_string_lossy().as_bytes()).add(&clang.version).add(processor()).add(PREFIX);
    for flag in flags {
        maker.add(flag);
    }
    for (name, bytes) in RUNTIME_FILES {
        maker.add(name).add(bytes);
    }
    maker.key()
}

/// What a binary of the runtime is kept under.
fn key_of(output: &str, runtime: &Key) -> Key {
    KeyMaker::default().add(output).add(runtime.text()).key()
}

/// Model and features of the processor: code built for one need not run on another that shares the cache.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let first = info.split("\n\n").next().unwrap_or_default();
    let describes =
        |line: &&str| line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features");
    first.lines().filter(describes).collect::<Vec<_>>().join("\n")
}

struct Builder<'a> {
    clang: &'a Clang,
    cache: &'a Cache,
    root: &'a Path,
    variant: Variant,
    cancel: &'a Cancel,
}

impl Builder<'_> {
    /// The folder with the runtime library. How programs are compiled for it does not matter to it.
    fn library(&self) -> Result<PathBuf, LabError> {
        let runtime = &key(self.clang, flags::common(self.variant));
        let more = ["-shared", "-Wl,-soname,libks_hip.so", "-ldl"].map(OsString::from);
        let mut sources = runtime_files::sources_in("src");
        match self.variant {
            Variant::Plain => {}
            Variant::Sanitized(_) => sources.extend(runtime_files::sources_in("sanitize")),
            Variant::Traced(_) => sources.extend(runtime_files::sources_in("trace")),
        }
        self.binary(LIBRARY, &sources, runtime, &more)
    }

    /// The harness, linked to the library.
    fn harness(&self, runtime: &Key, built: &Runtime) -> Result<PathBuf, LabError> {
        let mut more = built.link_arguments();
        more.extend(["-rdynamic", "-ldl"].map(OsString::from));
        more.extend(flags::of_linking(self.variant).map(OsString::from));
        Ok(self.binary(HARNESS, &runtime_files::sources_in("harness"), runtime, &more)?.join(HARNESS))
    }

    /// The folder with `output`, made of `sources`: compiled in parallel, then linked with `more`.
    fn binary(&self, output: &str, sources: &[&str], runtime: &Key, more: &[OsString]) -> Result<PathBuf, LabError> {
        let key = key_of(output, runtime);
        if let Some(entry) = self.cache.find(Room::Builds, &key) {
            return Ok(entry);
        }
        let work = self.cache.work_folder()?;
        self.in_parallel(sources, |source| self.compile(source, work.path()))?;

        let mut arguments = ["-O2", "-pthread", "-o", output].map(OsString::from).to_vec();
        arguments.extend(self.clang.linker_argument());
        arguments.extend(sources.iter().map(|source| object_name(source).into()));
        arguments.extend_from_slice(more);
        self.clang(arguments, work.path(), output)?;
        for source in sources {
            let object = work.path().join(object_name(source));
            fs::remove_file(&object).map_err(LabError::io("removing", object))?;
        }
        self.cache.publish(Room::Builds, &key, work)
    }

    fn compile(&self, source: &str, folder: &Path) -> Result<(), LabError> {
        let mut arguments: Vec<OsString> = flags::common(self.variant).map(OsString::from).collect();
        arguments.push(format!("-std={}", flags::DEFAULT_STANDARD).into());
        arguments.extend(["-w", "-c", "-I"].map(OsString::from));
        arguments.extend([self.root.join("include").into(), self.root.join(source).into()]);
        arguments.extend(["-o".into(), object_name(source).into()]);
        self.clang(arguments, folder, source)
    }

    fn precompiled_header(&self, runtime: &Key, standard: &str) -> Result<PathBuf, LabError> {
        const NAME: &str = "prefix.pch";
        let key = KeyMaker::default().add("precompiled header").add(runtime.text()).add(standard).key();
        if let Some(entry) = self.cache.find(Room::Builds, &key) {
            return Ok(entry.join(NAME));
        }
        let work = self.cache.work_folder()?;
        let mut arguments: Vec<OsString> = flags::of_programs(self.variant).map(OsString::from).collect();
        arguments.extend([format!("-std={standard}").into(), "-fpch-instantiate-templates".into()]);
        arguments.extend(["-x".into(), "c++-header".into(), "-I".into(), self.root.join("include").into()]);
        arguments.extend([self.root.join(PREFIX_NAME).into(), "-o".into(), NAME.into()]);
        self.clang(arguments, work.path(), NAME)?;
        Ok(self.cache.publish(Room::Builds, &key, work)?.join(NAME))
    }

    fn clang(&self, arguments: Vec<OsString>, folder: &Path, what: &str) -> Result<(), LabError> {
        let limits = Limits::new(WALL, MEMORY_BYTES);
        let mut command = Command::new(&self.clang.path, folder, Policy::Compiler, limits);
        command.arguments = arguments;
        command.readable = vec![self.cache.root().to_owned()];
        command.environment = super::compile::compiler_environment(folder);
        let run = sandbox::run(&command, self.cancel)?;
        if let Some(error) = disk::full(self.cache, &run) {
            return Err(error);
        }
        match (&run.end, run.failure(&limits)) {
            (End::Status(0), _) => Ok(()),
            (_, failure) => Err(LabError::Unavailable(format!(
                "the HIP runtime for the CPU does not build with {} ({what}): {}; use clang 19, or report this",
                self.clang.version,
                failure.map_or_else(|| run.last_lines(5), |failure| failure.to_string()),
            ))),
        }
    }

    /// Does `job` for each source on as many threads as there are processors; the first error wins.
    fn in_parallel(&self, sources: &[&str], job: impl Fn(&str) -> Result<(), LabError> + Sync) -> Result<(), LabError> {
        let waiting = Mutex::new(sources.iter());
        let next = || waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
        let worker = || {
            while let Some(source) = next() {
                job(source)?;
            }
            Ok(())
        };
        let count = thread::available_parallelism().map_or(1, |n| n.get()).min(sources.len());
        thread::scope(|scope| {
            let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
            let results: Vec<_> = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            results.into_iter().collect()
        })
    }
}

/// `src/memory.cpp` gives `src-memory.o`.
fn object_name(source: &str) -> String {
    format!("{}.o", source.trim_end_matches(".cpp").replace('/', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::Sanitizer;

    #[test]
    fn a_library_that_is_not_in_the_cache_is_known_to_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let (clang, cache) = (Clang::find(&Cancel::new()).unwrap(), Cache::open(folder.path()).unwrap());
        let is_built = |variant| Runtime::is_built(&clang, &cache, variant);
        assert!(!is_built(Variant::Plain));
        let work = cache.work_folder().unwrap();
        fs::write(work.path().join(LIBRARY), "built").unwrap();
        let key = key_of(LIBRARY, &key(&clang, flags::common(Variant::Plain)));
        cache.publish(Room::Builds, &key, work).unwrap();
        assert!(is_built(Variant::Plain) && !is_built(Variant::Sanitized(Sanitizer::Thread)));
    }
}

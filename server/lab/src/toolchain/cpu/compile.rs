//! One build: rewrite, look in the cache, compile, keep.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use hip_syntax::rewrite::Barriers;
use tempfile::TempDir;

use super::rewritten::{Rewritten, Sources};
use super::variant::Variant;
use super::{Cpu, disk, failure, flags};
use crate::cache::{Key, KeyMaker, Room};
use crate::sandbox::{self, Command, End, Limits, Policy, Run};
use crate::toolchain::includes;
use crate::toolchain::options::CompileOptions;
use crate::{Cancel, Diagnostic, Failure, LabError, Source};

/// Longest time for one build.
const WALL: Duration = Duration::from_secs(120);
/// Most memory for one build.
const MEMORY_BYTES: u64 = 4 << 30;
/// What hipcc knows before the first line: `__HIP__`, `__device__` and the like. (The precompiled header has them.)
const QUALIFIERS: [&str; 2] = ["-include", "ks/qualifiers.h"];
/// Tells the runtime's header that units share inline functions.
const SEVERAL_UNITS: &str = "KS_SEVERAL_UNITS";
/// Changed where entries that earlier versions made would be read wrongly.
const FORMAT: &str = "with marks of split kernels";
pub(super) const OUTPUT: &str = "out";
/// What is made of the main file before all units are linked.
pub(super) const MAIN_OBJECT: &str = "main.o";
const DEPENDENCIES: &str = "dependencies";
const WARNINGS: &str = "warnings.json";
/// There in builds whose kernels were split at their barriers, some of them at least.
const SPLIT: &str = "split";

/// What is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    /// An executable.
    Program,
    /// A shared object.
    Object,
}

/// A finished build.
pub(super) struct Built {
    /// The executable or object.
    pub path: PathBuf,
    /// Warnings in the user's files.
    pub warnings: Vec<Diagnostic>,
    /// Kernels in it were split at their barriers.
    pub split: bool,
}

impl Built {
    fn of_entry(entry: &Path, warnings: Vec<Diagnostic>) -> Self {
        Self { path: entry.join(OUTPUT), warnings, split: entry.join(SPLIT).exists() }
    }
}

/// The variables that the compiler gets: no others, and its temporary files where it may write.
pub(super) fn compiler_environment(folder: &Path) -> Vec<(OsString, OsString)> {
    vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("LC_ALL".into(), "C.UTF-8".into()),
        ("TMPDIR".into(), folder.into()),
    ]
}

impl Cpu {
    pub(super) fn compile(
        &self,
        product: Product,
        source: &Source,
        glue: Option<&str>,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<Built, LabError> {
        let (sources, options) = self.sources(source, glue, options)?;
        let build = Build { cpu: self, product, sources: &sources, options: &options, cancel };
        let key = build.key();
        if let Some(built) = build.find(&key) {
            return Ok(built);
        }
        build.make(&key)
    }

    /// The user's files that the compiler reads for `source`, which is built for that where it was not yet.
    ///
    /// # Errors
    /// As [`Cpu::build_object`].
    pub(crate) fn files_read(
        &self,
        source: &Source,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<Vec<PathBuf>, LabError> {
        let (sources, options) = self.sources(source, None, options)?;
        let build = Build { cpu: self, product: Product::Object, sources: &sources, options: &options, cancel };
        let key = build.key();
        if build.find(&key).is_none() {
            build.make(&key)?;
        }
        let note = self.cache.read_note(&key).unwrap_or_default();
        let mut files: Vec<PathBuf> = serde_json::from_str(&note).unwrap_or_default();
        files.extend(sources.texts().map(|(path, _)| path.to_owned()));
        Ok(files)
    }

    /// Whether a build of `source` would have kernels that are split at their barriers, if they compile so.
    pub(crate) fn splits(&self, source: &Source, options: &CompileOptions) -> Result<bool, LabError> {
        Ok(self.sources(source, None, options)?.0.is_split())
    }

    /// What the compiler is to see, and the options with all that follows from it.
    fn sources(
        &self,
        source: &Source,
        glue: Option<&str>,
        options: &CompileOptions,
    ) -> Result<(Sources, CompileOptions), LabError> {
        let path = plain_path(&source.path)?;
        let main = options.main.as_deref().map(plain_path).transpose()?.filter(|main| *main != path);
        let text = match &main {
            Some(main) => fs::read_to_string(main).map_err(LabError::io("reading", main))?,
            None => source.text.to_string(),
        };
        let mut headers = includes::Headers::new(&options.include_folders);
        if main.is_some() {
            headers.put(path.clone(), source.text.to_string());
        }
        let main = main.unwrap_or(path);
        headers.follow(&main, &text);
        let mut others = Vec::new();
        for other in &options.sources {
            let other = plain_path(other)?;
            if other != main && !others.contains(&other) {
                headers.follow_source(&other)?;
                others.push(other);
            }
        }
        if let Some(confined) = &options.confined {
            // What has a place in the overlay could be read past the sandbox.
            headers.texts.retain(|path, header| !header.on_disk || confined.allows(path));
        }
        let mut options = options.clone();
        options.include_folders.extend(headers.found_folders);
        if !others.is_empty() {
            options.defines.push(SEVERAL_UNITS.into());
        }
        let whole = options.fibers || self.runtime.variant.keeps_kernels_whole();
        let barriers = if whole { Barriers::Fibers } else { Barriers::Split };
        let sources = Sources::new(main, Rewritten::new(&text, glue, barriers), others, headers.texts, barriers);
        Ok((sources, options))
    }
}

pub(super) struct Build<'a> {
    pub cpu: &'a Cpu,
    pub product: Product,
    pub sources: &'a Sources,
    options: &'a CompileOptions,
    pub cancel: &'a Cancel,
}

impl Build<'_> {
    /// The key of all that is known before compiling. Headers that are taken as they are come on top ([`with_headers`]).
    fn key(&self) -> Key {
        let mut maker = KeyMaker::default();
        maker.add(FORMAT).add(format!("{:?}", self.product)).add(self.cpu.runtime.key.text());
        maker.add(flags::standard(self.options.standard.as_deref()));
        if let Variant::Traced(target) = self.cpu.runtime.variant {
            super::traced::add_to_key(target, &mut maker);
        }
        for argument in self.options.arguments() {
            maker.add(argument);
        }
        for path in &self.sources.others {
            maker.add("unit").add(path.to_string_lossy().as_bytes());
        }
        for (path, text) in self.sources.texts() {
            maker.add(path.to_string_lossy().as_bytes()).add(text.as_bytes());
        }
        maker.key()
    }

    /// A build with this key whose other headers are as they were then.
    fn find(&self, key: &Key) -> Option<Built> {
        let note = self.cpu.cache.read_note(key)?;
        let headers: Vec<PathBuf> = serde_json::from_str(&note).ok()?;
        // It may have been made of the same text where more could be read.
        if self.options.confined.as_ref().is_some_and(|confined| !headers.iter().all(|path| confined.allows(path))) {
            return None;
        }
        let entry = self.cpu.cache.find(Room::Builds, &with_headers(key, &headers).ok()?)?;
        let warnings = fs::read_to_string(entry.join(WARNINGS)).ok()?;
        Some(Built::of_entry(&entry, serde_json::from_str(&warnings).ok()?))
    }

    fn make(&self, key: &Key) -> Result<Built, LabError> {
        let work = self.cpu.cache.work_folder()?;
        self.sources.write(work.path())?;
        let mut warnings = Vec::new();
        for number in 0..self.sources.others.len() {
            let run = self.run_clang(&work, self.unit_arguments(work.path(), number))?;
            if self.was_split_in_vain(&run) {
                return self.make_whole(key);
            }
            warnings.extend(self.warnings(&run)?);
        }
        let precompiled = self.options.takes_precompiled_header();
        let mut run = self.run_clang(&work, self.arguments(work.path(), precompiled)?)?;
        if self.was_split_in_vain(&run) {
            return self.make_whole(key);
        }
        if precompiled && matches!(run.end, End::Status(1..)) {
            // What the precompiled header holds may clash with the user's names or macros; and without it the messages
            // are those that any compiler would give.
            run = self.run_clang(&work, self.arguments(work.path(), false)?)?;
        }
        warnings.extend(self.warnings(&run)?);
        match self.cpu.runtime.variant {
            Variant::Traced(target) => self.instrument(&work, target)?,
            Variant::Plain | Variant::Sanitized(_) => warnings.extend(self.warnings(&self.link_objects(&work)?)?),
        }
        // An entry of the cache has what is run and what is read, and not what led there.
        for object in (0..self.sources.others.len()).map(unit_object).chain([MAIN_OBJECT.to_owned()]) {
            remove(&work.path().join(object))?;
        }
        self.keep(key, work, warnings)
    }

    /// Variables that cannot be kept between a kernel's regions show only when it is compiled, by their types.
    fn was_split_in_vain(&self, run: &Run) -> bool {
        self.sources.is_split() && matches!(run.end, End::Status(1..))
    }

    /// The same with whole kernels, which are right in any case; the messages are then about the text as the user wrote it.
    fn make_whole(&self, key: &Key) -> Result<Built, LabError> {
        Build { sources: &self.sources.on_fibers(), ..*self }.make(key)
    }

    /// What the compiler warned of, or why it made nothing.
    pub(super) fn warnings(&self, run: &Run) -> Result<Vec<Diagnostic>, LabError> {
        if let Some(error) = disk::full(&self.cpu.cache, run) {
            return Err(error);
        }
        let diagnostics = failure::diagnostics(&run.stderr, self.sources, self.cpu.cache.root());
        match &run.end {
            End::Status(0) => {}
            End::Status(_) => return Err(Failure::DoesNotCompile { diagnostics }.into()),
            _ => return Err(self.did_not_end(run, diagnostics)),
        }
        Ok(diagnostics.into_iter().filter(|message| message.severity == "warning").collect())
    }

    fn keep(&self, key: &Key, work: TempDir, warnings: Vec<Diagnostic>) -> Result<Built, LabError> {
        let headers = self.other_headers(work.path())?;
        let full_key = with_headers(key, &headers).map_err(LabError::io("reading", &self.sources.main))?;
        let write = |name: &str, text: String| {
            let path = work.path().join(name);
            fs::write(&path, text).map_err(LabError::io("writing", path))
        };
        write(
            WARNINGS,
            serde_json::to_string(&warnings).map_err(io::Error::other).map_err(LabError::io("writing", WARNINGS))?,
        )?;
        let note =
            serde_json::to_string(&headers).map_err(io::Error::other).map_err(LabError::io("writing", DEPENDENCIES))?;
        if self.sources.is_split() {
            write(SPLIT, String::new())?;
        }
        let entry = self.cpu.cache.publish(Room::Builds, &full_key, work)?;
        self.cpu.cache.write_note(key, &note)?;
        Ok(Built::of_entry(&entry, warnings))
    }

    /// The user's headers that the compiler read from disk, from the makefile rules that it wrote; sources that it was
    /// given as they are too.
    fn other_headers(&self, work: &Path) -> Result<Vec<PathBuf>, LabError> {
        let is_users = |path: &PathBuf| !path.starts_with(self.cpu.cache.root()) && !self.sources.holds(path);
        let units = (0..self.sources.others.len()).map(unit_dependencies);
        let mut headers = Vec::new();
        for name in units.chain([DEPENDENCIES.to_owned()]) {
            let path = work.join(name);
            let rule = fs::read_to_string(&path).map_err(LabError::io("reading", path))?;
            headers.extend(prerequisites(&rule).into_iter().filter(is_users));
        }
        headers.sort();
        headers.dedup();
        Ok(headers)
    }

    pub(super) fn run_clang(&self, work: &TempDir, arguments: Vec<OsString>) -> Result<Run, LabError> {
        self.run_tool(&self.cpu.clang.path, work, arguments)
    }

    /// Runs the compiler, or another tool that reads what it reads.
    pub(super) fn run_tool(&self, tool: &Path, work: &TempDir, arguments: Vec<OsString>) -> Result<Run, LabError> {
        let mut command = Command::new(tool, work.path(), Policy::Compiler, limits());
        command.arguments = arguments;
        command.environment = compiler_environment(work.path());
        command.readable = self.readable();
        sandbox::run(&command, self.cancel)
    }

    /// The arguments of every unit.
    fn language_arguments(&self, work: &Path) -> Vec<OsString> {
        let cpu = self.cpu;
        let standard = flags::standard(self.options.standard.as_deref());
        let mut arguments: Vec<OsString> = flags::of_programs(cpu.runtime.variant).map(OsString::from).collect();
        arguments.push(format!("-std={standard}").into());
        // Ours before the user's: a folder of ROCm's among theirs has a hip_runtime.h too.
        arguments.extend(["-I".into(), cpu.runtime.include_folder().into()]);
        arguments.extend(self.options.arguments().into_iter().map(OsString::from));
        arguments.extend(["-ivfsoverlay".into(), self.sources.overlay(work).into()]);
        if self.product == Product::Object {
            arguments.push("-fvisibility=hidden".into());
        }
        arguments
    }

    /// Compiles one of the other sources.
    fn unit_arguments(&self, work: &Path, number: usize) -> Vec<OsString> {
        let mut arguments = self.language_arguments(work);
        arguments.extend(QUALIFIERS.map(OsString::from));
        arguments.extend(["-MMD".into(), "-MF".into(), unit_dependencies(number).into()]);
        arguments.extend(["-x".into(), "c++".into(), "-c".into(), self.sources.others[number].clone().into()]);
        if matches!(self.cpu.runtime.variant, Variant::Traced(_)) {
            arguments.push("-emit-llvm".into());
        }
        arguments.extend(["-o".into(), unit_object(number).into()]);
        arguments
    }

    /// Compiles the main file.
    fn arguments(&self, work: &Path, precompiled: bool) -> Result<Vec<OsString>, LabError> {
        let cpu = self.cpu;
        let mut arguments = self.language_arguments(work);
        if precompiled {
            let standard = flags::standard(self.options.standard.as_deref());
            let header = cpu.runtime.precompiled_header(&cpu.clang, &cpu.cache, &standard, self.cancel)?;
            arguments.extend(["-include-pch".into(), header.into()]);
        } else {
            arguments.extend(QUALIFIERS.map(OsString::from));
        }
        arguments.extend(["-MMD", "-MF", DEPENDENCIES, "-MT", OUTPUT].map(OsString::from));
        arguments.extend(["-c".into(), "-x".into(), "c++".into(), self.sources.input(work).into()]);
        let output = if matches!(cpu.runtime.variant, Variant::Traced(_)) {
            arguments.push("-emit-llvm".into());
            super::traced::MAIN
        } else {
            MAIN_OBJECT
        };
        arguments.extend(["-o".into(), output.into()]);
        Ok(arguments)
    }

    /// What clang's driver is told to link all units: the same for all builds of a kind, but for the number of units.
    pub(super) fn link_arguments(&self) -> Vec<OsString> {
        let cpu = self.cpu;
        let mut arguments: Vec<OsString> = flags::of_programs(cpu.runtime.variant).map(OsString::from).collect();
        arguments.extend(self.options.extra.iter().map(OsString::from));
        if self.product == Product::Object {
            arguments.extend(["-shared", "-Wl,-Bsymbolic"].map(OsString::from));
        }
        arguments.push(MAIN_OBJECT.into());
        arguments.extend((0..self.sources.others.len()).map(|number| unit_object(number).into()));
        arguments.extend(cpu.runtime.link_arguments());
        arguments.extend(flags::of_linking(cpu.runtime.variant).map(OsString::from));
        arguments.extend(cpu.clang.linker_argument());
        arguments.extend(["-o".into(), OUTPUT.into()]);
        arguments
    }

    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let mut readable = vec![self.cpu.cache.root().to_owned()];
        if let Some(confined) = &self.options.confined {
            readable.extend(confined.readable());
            return readable;
        }
        readable.extend(self.sources.folders());
        readable.extend(self.sources.others.iter().filter_map(|other| other.parent()).map(Path::to_owned));
        readable.extend(self.options.include_folders.iter().chain(&self.options.system_folders).cloned());
        readable.extend(self.options.forced_includes.iter().cloned());
        readable
    }

    /// The compiler was stopped, or crashed: the code's fault as far as anybody can tell.
    fn did_not_end(&self, run: &Run, mut diagnostics: Vec<Diagnostic>) -> LabError {
        let reason = match &run.end {
            End::TimedOut => format!("the compiler did not end within {} s and was stopped", WALL.as_secs()),
            End::OutOfMemory => {
                format!("the compiler used more than {} GiB of memory and was stopped", MEMORY_BYTES >> 30)
            }
            End::Refused(what) => format!("the compiler {what} and was stopped"),
            End::Status(status) => format!("the compiler ended with status {status}"),
            End::Signal(signal) => format!("the compiler crashed (signal {signal})"),
        };
        let (file, severity) = (self.sources.main.clone(), "fatal error".into());
        let fatal = Diagnostic { file, line: 0, column: 0, severity, message: reason, notes: Vec::new() };
        diagnostics.insert(0, fatal);
        Failure::DoesNotCompile { diagnostics }.into()
    }
}

/// The path as the compiler will spell it.
fn plain_path(path: &Path) -> Result<PathBuf, LabError> {
    Source::check_path(path)?;
    Ok(crate::paths::without_dots(&std::path::absolute(path).map_err(LabError::io("opening", path))?))
}

pub(super) fn remove(path: &Path) -> Result<(), LabError> {
    fs::remove_file(path).map_err(LabError::io("removing", path))
}

pub(super) fn unit_object(number: usize) -> String {
    format!("unit-{number}.o")
}

fn unit_dependencies(number: usize) -> String {
    format!("unit-{number}.dependencies")
}

pub(super) fn limits() -> Limits {
    Limits::new(WALL, MEMORY_BYTES)
}

/// `key` and the contents of `headers`.
fn with_headers(key: &Key, headers: &[PathBuf]) -> io::Result<Key> {
    let mut maker = KeyMaker::default();
    maker.add(key.text());
    for header in headers {
        maker.add(header.to_string_lossy().as_bytes()).add(fs::read(header)?);
    }
    Ok(maker.key())
}

/// What a makefile's rule depends on.
pub(crate) fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let Some((_, list)) = rule.split_once(": ") else { return Vec::new() };
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('\n')) => {
                letters.next();
            }
            ('\\', Some(' ' | '#')) => path.extend(letters.next()),
            ('$', Some('$')) => path.extend(letters.next()),
            (space, _) if space.is_whitespace() => {
                if !path.is_empty() {
                    paths.push(PathBuf::from(std::mem::take(&mut path)));
                }
            }
            _ => path.push(letter),
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_makefiles_are_read() {
        let rule = "out: /w/main.hip /w/with\\ space.h \\\n  /w/a$$b\\#c.h\n";
        let expected = ["/w/main.hip", "/w/with space.h", "/w/a$b#c.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rule), expected);
    }
}

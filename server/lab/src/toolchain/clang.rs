//! Finds the compiler.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::sandbox::{self, End, Limits, Policy};
use crate::{Cancel, LabError};

/// Environment variable that names the compiler to use.
pub const OVERRIDE: &str = "KERNEL_SCIENTIST_CLANG";
/// Names to look for, in this order. 19 is what everything here is tested with.
const NAMES: [&str; 7] =
    ["clang++-19", "clang++-20", "clang++-21", "clang++-18", "clang++-17", "clang++-16", "clang++"];
/// A compiler that takes longer to tell its version hangs.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);
/// The oldest version whose vectoriser and C++20 support the runtime can build on.
const OLDEST: u32 = 16;

/// A compiler on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clang {
    /// Absolute path of `clang++`.
    pub path: PathBuf,
    /// First line of `--version`.
    pub version: String,
    /// The major version.
    pub major: u32,
    /// Absolute path of `ld.lld` of the same version, if it is there; the system's linker serves otherwise.
    pub linker: Option<PathBuf>,
    /// Absolute path of `opt` of the same version, if it is there: LLVM's optimiser, for traces.
    pub optimiser: Option<PathBuf>,
}

impl Clang {
    /// The compiler to use on this machine: the one that `KERNEL_SCIENTIST_CLANG` names, else the best on `PATH`.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] when there is none; [`LabError::Cancelled`].
    pub fn find(cancel: &Cancel) -> Result<Self, LabError> {
        let found = Self::find_any(cancel);
        // A compiler that was stopped while it was asked is not to blame.
        if cancel.is_cancelled() { Err(LabError::Cancelled) } else { found }
    }

    fn find_any(cancel: &Cancel) -> Result<Self, LabError> {
        let chosen = std::env::var_os(OVERRIDE).filter(|chosen| !chosen.is_empty());
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&search_path).collect();
        match chosen {
            Some(chosen) => Self::ask(&PathBuf::from(&chosen), cancel).map_err(|reason| {
                LabError::Unavailable(format!(
                    "{OVERRIDE} names {}, which cannot be used: {reason}; set it to a clang++ of version {OLDEST} or later, \
                     or unset it",
                    chosen.display()
                ))
            }),
            None => Self::find_in(&folders, cancel),
        }
    }

    fn find_in(folders: &[PathBuf], cancel: &Cancel) -> Result<Self, LabError> {
        let mut unusable = Vec::new();
        for name in NAMES {
            let Some(path) = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()) else {
                continue;
            };
            match Self::ask(&path, cancel) {
                Ok(clang) => return Ok(clang),
                Err(reason) => unusable.push(format!("{} ({reason})", path.display())),
            }
        }
        let found = match unusable.as_slice() {
            [] => "none is on PATH".to_owned(),
            some => format!("only {}", some.join(", ")),
        };
        Err(LabError::Unavailable(format!(
            "no usable clang++ ({found}): kernels are compiled for the CPU with clang {OLDEST} or later; on Debian and \
             Ubuntu `apt-get install -y clang-19 lld-19`, elsewhere set {OVERRIDE} to its path"
        )))
    }

    /// The flag that chooses [`Clang::linker`], if there is one.
    pub(crate) fn linker_argument(&self) -> Option<OsString> {
        let mut argument = OsString::from("--ld-path=");
        argument.push(self.linker.as_ref()?);
        Some(argument)
    }

    /// Asks a compiler for its version. The error reads on from "because".
    fn ask(path: &Path, cancel: &Cancel) -> Result<Self, String> {
        let path = path.canonicalize().map_err(|error| error.to_string()).map(|real| keep_name(path, real))?;
        let text = version_text(&path, cancel)?;
        let version = text.lines().next().unwrap_or_default().trim().to_owned();
        let major =
            major_version(&version).ok_or_else(|| format!("it says {version:?}, which is no version of clang"))?;
        if major < OLDEST {
            return Err(format!("it is version {major}; {OLDEST} or later is needed"));
        }
        Ok(Self {
            linker: find_tool(&path, "ld.lld", major),
            optimiser: find_tool(&path, "opt", major),
            path,
            version,
            major,
        })
    }
}

/// What a compiler answers to `--version`. The error reads on from "because".
pub(crate) fn version_text(compiler: &Path, cancel: &Cancel) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder can be made: {error}"))?;
    let limits = Limits::new(LONGEST_ANSWER, 2 << 30);
    let mut command = sandbox::Command::new(compiler, folder.path(), Policy::Compiler, limits);
    command.arguments = vec!["--version".into()];
    let run = sandbox::run(&command, cancel).map_err(|error| format!("it does not start: {error}"))?;
    match run.end {
        End::Status(0) => Ok(run.stdout),
        End::TimedOut => Err(format!("it did not tell its version within {} s", LONGEST_ANSWER.as_secs())),
        End::Status(status) => Err(format!("it ended with status {status} when it was asked for its version")),
        _ => {
            let why = run.failure(&limits).map_or_else(|| "it did not end well".into(), |failure| failure.to_string());
            Err(format!("asked for its version, it {why}"))
        }
    }
}

/// clang decides by its name whether it is a C or a C++ compiler: keep the name when a link led elsewhere.
fn keep_name(asked: &Path, real: PathBuf) -> PathBuf {
    let plus_plus = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("++"));
    if plus_plus(&real) { real } else { std::path::absolute(asked).unwrap_or(real) }
}

/// 19 in `Debian clang version 19.1.7 (3~deb12u1)`.
fn major_version(version: &str) -> Option<u32> {
    let number = version.split_once("clang version ")?.1;
    number[..number.find(|c: char| !c.is_ascii_digit())?].parse().ok()
}

/// `ld.lld` or `opt` beside the compiler or on `PATH`.
fn find_tool(clang: &Path, name: &str, major: u32) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let beside = clang.parent().map(Path::to_owned);
    let folders: Vec<_> = beside.into_iter().chain(std::env::split_paths(&search_path)).collect();
    let versioned = format!("{name}-{major}");
    let candidates = folders.iter().map(|folder| folder.join(&versioned));
    candidates.chain(folders.iter().map(|folder| folder.join(name))).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn versions_are_read() {
        let cases = [
            ("Debian clang version 19.1.7 (3~deb12u1)", Some(19)),
            ("clang version 21.0.0git (https://example.org)", Some(21)),
            ("Apple LLVM version 10.0.0", None),
            ("g++ (Debian 12.2.0-14) 12.2.0", None),
            ("", None),
        ];
        for (version, expected) in cases {
            assert_eq!(major_version(version), expected, "{version}");
        }
    }

    #[test]
    fn a_compiler_that_hangs_can_be_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clang++");
        std::fs::write(&path, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                cancel.cancel();
            });
            // Had it not been given up, it would have been said to hang.
            assert_eq!(Clang::ask(&path, &cancel), Err("it does not start: cancelled".into()));
        });
        assert!(matches!(Clang::find(&cancel), Err(LabError::Cancelled)));
    }

    #[test]
    fn the_best_name_is_taken_and_too_old_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let install = |name: &str, version: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho 'clang version {version}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        let find = || Clang::find_in(&[folder.path().to_owned()], &Cancel::new());
        let nothing = find().unwrap_err().to_string();
        assert!(nothing.contains("none is on PATH") && nothing.contains("apt-get install -y clang-19"), "{nothing}");
        install("clang++", "14.0.6");
        let old = find().unwrap_err().to_string();
        assert!(old.contains("it is version 14; 16 or later is needed"), "{old}");
        install("clang++-18", "18.1.0");
        assert_eq!(find().unwrap().major, 18);
        install("clang++-19", "19.1.0");
        assert_eq!(find().unwrap().major, 19);
    }
}

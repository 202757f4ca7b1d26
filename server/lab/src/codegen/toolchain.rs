//! Where clang, the AMD device libraries and the HIP headers are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::joined;
use crate::cancel::Cancel;
use crate::error::LabError;

/// The architecture that is used unless another is asked for: MI300.
pub const DEFAULT_ARCH: &str = "gfx942";

/// Architectures without device library of their own in older packages, and the one whose library serves them. They
/// differ in the coherence of caches, which the libraries do not touch.
const SAME_LIBRARY: [(&str, &str); 2] = [("942", "940"), ("941", "940")];

/// Clang versions tried, best known first. Older ones know no gfx942.
const CLANG_NAMES: [&str; 6] = ["clang-19", "clang-20", "clang-21", "clang-18", "clang-17", "clang"];

const HOW: &str = "On Debian and Ubuntu: apt-get install clang-19 lld-19 rocm-device-libs libamdhip64-dev. \
                   Elsewhere: install ROCm under /opt/rocm";

/// The folders to look in, in order.
#[derive(Clone, Debug)]
pub struct Places {
    /// Folders with a clang.
    pub programs: Vec<PathBuf>,
    /// Folders with `*.bc` device libraries.
    pub device_libraries: Vec<PathBuf>,
    /// Roots whose `include` folder holds `hip/hip_runtime.h`.
    pub hip_roots: Vec<PathBuf>,
}

impl Places {
    /// ROCm's own places first, then those of the distribution's packages.
    pub fn usual() -> Self {
        let rocm = Path::new("/opt/rocm");
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let absolute = std::env::split_paths(&search_path).filter(|folder| folder.is_absolute());
        Self {
            programs: [rocm.join("llvm/bin")].into_iter().chain(absolute).collect(),
            device_libraries: [
                rocm.join("amdgcn/bitcode"),
                "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode".into(),
                "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode".into(),
                "/usr/lib/amdgcn/bitcode".into(),
                "/usr/amdgcn/bitcode".into(),
            ]
            .into(),
            hip_roots: [rocm.to_owned(), "/usr".into(), "/usr/local".into()].into(),
        }
    }
}

/// A compiler and what it needs.
#[derive(Clone, Debug)]
pub(super) struct Toolchain {
    pub clang: PathBuf,
    /// First line of `clang --version`.
    pub version: String,
    pub device_libraries: PathBuf,
    /// Root whose `include` folder holds the HIP headers.
    pub headers: PathBuf,
}

impl Toolchain {
    pub fn find(places: &Places, cancel: &Cancel) -> Result<Self, LabError> {
        let clang = places
            .programs
            .iter()
            .flat_map(|folder| CLANG_NAMES.iter().map(move |name| folder.join(name)))
            .find(|path| path.is_file())
            .ok_or_else(|| missing("clang", "no clang 17 to 21 on the search path or in /opt/rocm/llvm/bin"))?;
        let device_libraries = places
            .device_libraries
            .iter()
            .find(|folder| folder.join("ocml.bc").is_file() && folder.join("ockl.bc").is_file())
            .ok_or_else(|| missing("the AMD device libraries", &none_in("ocml.bc", &places.device_libraries)))?;
        let headers = places
            .hip_roots
            .iter()
            .find(|root| root.join("include/hip/hip_runtime.h").is_file())
            .ok_or_else(|| missing("the HIP headers", &none_in("include/hip/hip_runtime.h", &places.hip_roots)))?;
        let version = version_of(&clang, cancel)?;
        Ok(Self { clang, version, device_libraries: device_libraries.clone(), headers: headers.clone() })
    }

    /// What tells clang where the headers are, where it would not look by itself.
    pub fn header_flag(&self) -> Option<OsString> {
        (self.headers != Path::new("/usr")).then(|| joined("--rocm-path=", &self.headers))
    }

    /// What the compiler has to read beside the system's folders: itself with its own headers and libraries, wherever it
    /// was installed, and the device libraries.
    pub fn readable(&self) -> Vec<PathBuf> {
        let real = self.clang.canonicalize().unwrap_or_else(|_| self.clang.clone());
        let installation = real.parent().and_then(Path::parent).map(Path::to_owned);
        installation.into_iter().chain([self.device_libraries.clone(), self.headers.join("include")]).collect()
    }
}

/// The device libraries as clang wants them: a folder of links, with one more for each architecture in [`SAME_LIBRARY`].
#[derive(Clone, Debug)]
pub(super) struct DeviceLibraries {
    folder: PathBuf,
}

impl DeviceLibraries {
    /// Makes the links below `cache`; links that are there already are kept, so that two processes may do this at once.
    pub fn prepare(libraries: &Path, cache: &Path) -> Result<Self, LabError> {
        let key = blake3::hash(libraries.as_os_str().as_encoded_bytes()).to_hex();
        let folder = cache.join(format!("device-libraries-{}", &key[..12]));
        std::fs::create_dir_all(&folder).map_err(LabError::io("creating", &folder))?;
        let entries = std::fs::read_dir(libraries).map_err(LabError::io("listing", libraries))?;
        for entry in entries {
            let entry = entry.map_err(LabError::io("listing", libraries))?;
            if entry.path().extension().is_some_and(|extension| extension == "bc") {
                link(&entry.path(), &folder.join(entry.file_name()))?;
            }
        }
        for (arch, same_as) in SAME_LIBRARY {
            let (own, other) = (isa_file(arch), libraries.join(isa_file(same_as)));
            if !libraries.join(&own).exists() && other.exists() {
                link(&other, &folder.join(own))?;
            }
        }
        Ok(Self { folder })
    }

    /// The folder of links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Refuses an architecture that the libraries do not know, which clang would say less clearly.
    pub fn check_arch(&self, arch: &str) -> Result<(), LabError> {
        let number = arch.split(':').next().unwrap_or(arch).trim_start_matches("gfx");
        if self.folder.join(isa_file(number)).exists() {
            return Ok(());
        }
        Err(LabError::Unavailable(format!(
            "the installed AMD device libraries have no code for {arch} (no {}). Install a newer ROCm under /opt/rocm, \
             or choose another --arch",
            isa_file(number)
        )))
    }
}

/// Refuses what is no name of an architecture: it ends in a file's name and in a compiler's flag.
pub(super) fn check_arch(arch: &str) -> Result<(), LabError> {
    let mut parts = arch.split(':');
    let number = parts.next().and_then(|processor| processor.strip_prefix("gfx")).unwrap_or_default();
    let is_feature = |part: &str| {
        part.strip_suffix(['+', '-'])
            .is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
    };
    let known = (3..=5).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
        && parts.all(is_feature);
    if known {
        return Ok(());
    }
    Err(LabError::Usage(format!(
        "'{arch}' is no AMD architecture; name one like {DEFAULT_ARCH} (MI300) or gfx90a (MI200)"
    )))
}

fn isa_file(number: &str) -> String {
    format!("oclc_isa_version_{number}.bc")
}

fn link(target: &Path, link: &Path) -> Result<(), LabError> {
    if link.exists() {
        return Ok(());
    }
    match std::os::unix::fs::symlink(target, link) {
        // Another process was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && link.exists() => Ok(()),
        // A link to a library that has gone: the packages were exchanged below us.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => std::fs::remove_file(link)
            .and_then(|()| std::os::unix::fs::symlink(target, link))
            .map_err(LabError::io("replacing", link)),
        result => result.map_err(LabError::io("linking", link)),
    }
}

fn missing(what: &str, why: &str) -> LabError {
    LabError::Unavailable(format!("GPU code generation needs {what}: {why}. {HOW}"))
}

fn none_in(file: &str, folders: &[PathBuf]) -> String {
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("no {file} in {}", folders.join(", "))
}

fn version_of(clang: &Path, cancel: &Cancel) -> Result<String, LabError> {
    let unusable = |why: String| match cancel.is_cancelled() {
        true => LabError::Cancelled,
        false => missing("clang", &format!("{}: {why}", clang.display())),
    };
    let text = crate::toolchain::clang::version_text(clang, cancel).map_err(unusable)?;
    text.lines().next().map(str::to_owned).ok_or_else(|| unusable("it tells no version".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_architectures_pass() {
        for arch in ["gfx942", "gfx90a", "gfx1100", "gfx90a:xnack-", "gfx908:sramecc+:xnack-"] {
            assert!(check_arch(arch).is_ok(), "{arch}");
        }
        for arch in ["", "gfx", "sm_90", "gfx942 -o x", "gfx../942", "gfx942:", "gfx942:xnack", "GFX942"] {
            assert!(matches!(check_arch(arch), Err(LabError::Usage(_))), "{arch}");
        }
    }

    #[test]
    fn links_are_made_once_and_mended() {
        let (libraries, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for file in ["ocml.bc", "oclc_isa_version_940.bc", "readme.txt"] {
            std::fs::write(libraries.path().join(file), file).unwrap();
        }
        let first = DeviceLibraries::prepare(libraries.path(), cache.path()).unwrap();
        assert_eq!(
            std::fs::read_to_string(first.folder.join("oclc_isa_version_942.bc")).unwrap(),
            "oclc_isa_version_940.bc"
        );
        assert!(!first.folder.join("readme.txt").exists());
        assert!(first.check_arch("gfx942").is_ok());
        assert!(matches!(first.check_arch("gfx1100"), Err(LabError::Unavailable(_))));

        std::fs::remove_file(first.folder.join("ocml.bc")).unwrap();
        std::os::unix::fs::symlink("/nowhere", first.folder.join("ocml.bc")).unwrap();
        DeviceLibraries::prepare(libraries.path(), cache.path()).unwrap();
        assert_eq!(std::fs::read_to_string(first.folder.join("ocml.bc")).unwrap(), "ocml.bc");
    }

    #[test]
    fn what_is_missing_is_named_with_the_way_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        let mut places = Places { programs: vec![], device_libraries: vec![empty.path().into()], hip_roots: vec![] };
        let text = |places: &Places| Toolchain::find(places, &Cancel::new()).unwrap_err().to_string();
        assert!(text(&places).contains("needs clang") && text(&places).contains("apt-get install"));
        places.programs = Places::usual().programs;
        assert!(text(&places).contains(&format!("no ocml.bc in {}", empty.path().display())), "{}", text(&places));
    }
}

//! What `doctor` looks at, one function a thing.

mod models;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use lab::LabError;
use lab::codegen::{Codegen, DEFAULT_ARCH};
use lab::sandbox;
use lab::toolchain::clang::Clang;

pub(super) use super::Check;
use crate::cli::Context;
use crate::cli::provider::ProviderArgs;
use crate::config::{DeviceConfig, Toolchain};

/// Free space below which builds and the notebook may fail, in bytes.
const LITTLE_SPACE: u64 = 512 << 20;

/// Free space below which nothing can be expected to work, in bytes.
const NO_SPACE: u64 = 64 << 20;

const INSTALL: &str = "on Debian and Ubuntu: apt-get install -y clang-19 lld-19";

/// Everything, in the order in which a run needs it.
pub(super) fn all(context: &Context, args: &ProviderArgs) -> Vec<Check> {
    let mut checks = compiler(context);
    checks.extend([runtime(&context.cache), folder("cache", &context.cache), notebook(context), space(&context.cache)]);
    checks.push(processors());
    checks.extend(confinement());
    checks.push(code_generation(context));
    checks.extend(devices(context, args));
    checks
}

/// The compiler that builds for the CPU, and its linker.
fn compiler(context: &Context) -> Vec<Check> {
    let clang = match Clang::find(&context.cancel) {
        Ok(clang) => clang,
        Err(error) => return vec![Check::missing("clang", error.to_string(), INSTALL)],
    };
    let linker = match &clang.linker {
        Some(path) => Check::good("lld", path.display().to_string()),
        None => Check::limited("lld", "not found: the system's linker serves, and builds take longer", INSTALL),
    };
    vec![Check::good("clang", format!("{} ({})", clang.version, clang.path.display())), linker]
}

/// The runtime that HIP programs are linked to on the CPU. It is only looked for: building it is for the first run.
fn runtime(cache: &Path) -> Check {
    let built = std::fs::read_dir(cache.join("runtime")).is_ok_and(|mut entries| entries.next().is_some());
    let found = if built { "built" } else { "not built yet: the first run takes some seconds longer" };
    Check::good("HIP on the CPU", found)
}

/// What holds code under test.
fn confinement() -> Vec<Check> {
    let missing = sandbox::capabilities().missing();
    if missing.is_empty() {
        return vec![Check::good("sandbox", "files, processes, network and system calls are confined")];
    }
    let split = |line: String| match line.split_once("; ") {
        Some((found, remedy)) => Check::limited("sandbox", found, remedy),
        None => Check::limited("sandbox", line, "use a newer kernel"),
    };
    missing.into_iter().map(split).collect()
}

fn processors() -> Check {
    match std::thread::available_parallelism() {
        Ok(count) if count.get() > 1 => Check::good("processors", format!("{count}")),
        Ok(_) => Check::limited(
            "processors",
            "1: builds and runs take turns, and times are noisier",
            "give this machine or container a second one",
        ),
        Err(error) => Check::limited("processors", format!("unknown: {error}"), "nothing needs to be done"),
    }
}

fn notebook(context: &Context) -> Check {
    match context.notebook_path() {
        Ok(path) => folder("notebook", &path),
        Err(error) => Check::missing("notebook", error.to_string(), "set HOME, or pass --notebook FILE"),
    }
}

/// Whether `path`, or the nearest folder above it that exists, can be written.
fn folder(name: &str, path: &Path) -> Check {
    let shown = path.display();
    let Some(nearest) = path.ancestors().find(|above| above.exists()) else {
        return Check::missing(name, format!("{shown}: no folder above it exists"), "name another place");
    };
    if !is_writable(nearest) {
        let found = format!("{shown}: {} cannot be written", nearest.display());
        let remedy = match name {
            "notebook" => "make it writable, or pass --notebook FILE",
            _ => "make it writable, or set XDG_CACHE_HOME to a folder that is",
        };
        return Check::missing(name, found, remedy);
    }
    let state = if nearest == path { "there" } else { "made at first use" };
    Check::good(name, format!("{shown} ({state})"))
}

fn space(cache: &Path) -> Check {
    let nearest = cache.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/"));
    match free_bytes(nearest) {
        Ok(free) if free < NO_SPACE => {
            Check::missing("disk", format!("{} MiB free at {}", free >> 20, nearest.display()), "free some space")
        }
        Ok(free) if free < LITTLE_SPACE => {
            Check::limited("disk", format!("{} MiB free at {}", free >> 20, nearest.display()), "free some space")
        }
        Ok(free) => {
            Check::good("disk", format!("{:.1} GiB free at {}", free as f64 / f64::from(1 << 30), nearest.display()))
        }
        Err(error) => Check::limited("disk", format!("{}: {error}", nearest.display()), "see that it can be read"),
    }
}

/// GPU code generation, which `analyze` needs and the defaults do without.
fn code_generation(context: &Context) -> Check {
    let name = "GPU code";
    match Codegen::open(&context.cache, &context.cancel) {
        Ok(codegen) => {
            let places: Vec<_> =
                codegen.places().iter().map(|(what, place)| format!("{what} {}", place.display())).collect();
            Check::good(name, format!("analyze works for {DEFAULT_ARCH}: {}", places.join(", ")))
        }
        Err(LabError::Unavailable(text)) => match text.split_once(". ") {
            Some((found, remedy)) => Check::limited(name, format!("analyze does not work: {found}"), remedy),
            None => Check::limited(name, format!("analyze does not work: {text}"), INSTALL),
        },
        Err(error) => Check::limited(name, format!("analyze does not work: {error}"), "mend what it names"),
    }
}

/// The devices of the settings that hold in the current folder.
fn devices(context: &Context, args: &ProviderArgs) -> Vec<Check> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let config = match context.config(&here) {
        Ok(config) => config,
        Err(error) => {
            return vec![Check::missing("settings", error.to_string(), "mend the file, or pass --config FILE")];
        }
    };
    let mut checks = Vec::new();
    if let Some(path) = &config.path {
        checks.push(Check::good("settings", path.display().to_string()));
    }
    checks.push(Check::good("device cpu", "built in; its times are CPU emulation, not GPU time"));
    checks.push(forecasts(context));
    checks
        .extend(config.device.iter().filter(|(name, _)| *name != "cpu").map(|(name, device)| of_device(name, device)));
    checks.extend(models::all(context, &config, args));
    checks
}

/// What times are forecast with: the tables that ship, and the optimiser that the traced program goes through.
fn forecasts(context: &Context) -> Check {
    let devices = lab::forecast::devices().join(", ");
    let remedy = "on Debian and Ubuntu: apt-get install -y llvm-19";
    match Clang::find(&context.cancel).map(|clang| clang.optimiser) {
        Ok(Some(path)) => Check::good("forecasts", format!("for {devices} (optimiser {})", path.display())),
        Ok(None) => Check::limited("forecasts", format!("for {devices}: LLVM's optimiser (opt) is missing"), remedy),
        Err(error) => Check::limited("forecasts", error.to_string(), INSTALL),
    }
}

fn of_device(name: &str, device: &DeviceConfig) -> Check {
    let check = format!("device {name}");
    let place = match (&device.ssh, &device.slurm) {
        (Some(host), _) => format!("by ssh on {host}"),
        (None, Some(_)) => "by Slurm".to_owned(),
        (None, None) => "on this machine".to_owned(),
    };
    match device.toolchain {
        Toolchain::Cpu if device.ssh.is_none() && device.slurm.is_none() => {
            Check::good(check, "toolchain cpu, on this machine")
        }
        Toolchain::Forecast if device.ssh.is_none() && device.slurm.is_none() => {
            Check::good(check, "forecast, on this machine")
        }
        toolchain => Check::limited(
            check,
            format!("toolchain {} {place}: not in this version", toolchain_name(toolchain)),
            "use --device cpu",
        ),
    }
}

fn toolchain_name(toolchain: Toolchain) -> &'static str {
    match toolchain {
        Toolchain::Cpu => "cpu",
        Toolchain::Forecast => "forecast",
        Toolchain::Hip => "hip",
        Toolchain::Cuda => "cuda",
    }
}

/// Whether a file can be opened for writing, or one can be made in a folder: tried, since permissions alone do not tell
/// (a read-only file system, a user who may do everything).
fn is_writable(path: &Path) -> bool {
    if path.is_file() {
        return std::fs::OpenOptions::new().append(true).open(path).is_ok();
    }
    let probe = path.join(format!(".kernel-scientist-doctor-{}", std::process::id()));
    match std::fs::File::create_new(&probe) {
        Ok(_) => std::fs::remove_file(&probe).is_ok(),
        Err(error) => error.kind() == std::io::ErrorKind::AlreadyExists,
    }
}

fn free_bytes(path: &Path) -> std::io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: statvfs is plain numbers, for which all zeros is a value; the call fills it on success.
    let (result, about) = unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut about), about)
    };
    if result != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_place_is_good_when_it_can_be_made() {
        let there = tempfile::tempdir().unwrap();
        let check = folder("cache", &there.path().join("not/yet"));
        assert!(check.state == State::Good && check.found.ends_with("(made at first use)"), "{check:?}");
        assert!(folder("cache", there.path()).found.ends_with("(there)"));
        let check = folder("notebook", Path::new("/proc/nowhere/notebook.db"));
        assert!(
            check.state == State::Missing && check.remedy.as_deref().unwrap_or("").contains("--notebook"),
            "{check:?}"
        );
    }

    #[test]
    fn what_is_not_in_this_version_is_said() {
        let device = |toolchain, ssh: Option<&str>| DeviceConfig {
            toolchain,
            arch: None,
            ssh: ssh.map(Into::into),
            slurm: None,
        };
        for (device, expected) in [
            (device(Toolchain::Cpu, None), State::Good),
            (device(Toolchain::Cpu, Some("host")), State::Limited),
            (device(Toolchain::Hip, Some("host")), State::Limited),
            (device(Toolchain::Cuda, None), State::Limited),
        ] {
            assert_eq!(of_device("x", &device).state, expected, "{device:?}");
        }
    }

    #[test]
    fn free_space_is_read() {
        assert!(free_bytes(Path::new("/")).unwrap() > 0);
        assert!(free_bytes(Path::new("/nowhere")).is_err());
    }
}

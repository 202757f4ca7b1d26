//! The file-system, network and signal rules of Landlock.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope, make_bitflags,
};

use super::{Command, Policy};
use crate::LabError;

/// The newest rules that are asked for; an older kernel enforces those it knows.
const NEWEST: ABI = ABI::V6;

/// System paths that a child may read and execute: libraries, tools, and what the C library looks up.
///
/// Of `/proc` only what tells of the machine: the folders of processes hold their command lines, and those hold what people put
/// there. A child's own folder comes in the child ([`super::child`]), since its name is its number. (A `/proc` of its own, with
/// nobody else in it, takes a namespace of processes, which most systems leave to root.)
const SYSTEM: [&str; 20] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/devices",
    "/proc/driver",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/modules",
    "/proc/stat",
    "/proc/sys",
    "/sys/devices/system",
];

/// Devices that are safe to read and write.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The ruleset for `command`, or `None` where the kernel has no Landlock. `folder` is its canonical folder.
pub(super) fn ruleset(command: &Command, folder: &Path) -> Result<Option<OwnedFd>, LabError> {
    build(command, folder)
        .map(Into::into)
        .map_err(|error| LabError::Unavailable(format!("the sandbox could not be set up (landlock): {error}")))
}

fn build(command: &Command, folder: &Path) -> Result<RulesetCreated, RulesetError> {
    let reads = make_bitflags!(AccessFs::{ReadFile | ReadDir | Execute});
    let writes = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate});
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(NEWEST))?;
    ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    if command.policy == Policy::Candidate {
        ruleset = ruleset.scope(Scope::from_all(NEWEST))?;
    }
    let readable = SYSTEM.iter().map(Path::new).chain(command.readable.iter().map(PathBuf::as_path));
    ruleset
        .create()?
        .add_rules(landlock::path_beneath_rules(readable.chain([command.program.as_path()]), reads))?
        .add_rules(landlock::path_beneath_rules(DEVICES, writes))?
        .add_rules(own_folder(folder))
}

/// The child's own folder: everything but making devices.
fn own_folder(folder: &Path) -> impl Iterator<Item = Result<PathBeneath<PathFd>, RulesetError>> {
    let access = AccessFs::from_all(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock});
    landlock::path_beneath_rules([folder], access)
}

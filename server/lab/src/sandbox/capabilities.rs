//! What this kernel offers to hold a program in.

use std::sync::{Once, OnceLock};

/// What the sandbox can do here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Version of the kernel's Landlock interface; 0 where there is none.
    pub landlock_version: u32,
    /// Whether system calls can be stopped (seccomp).
    pub system_call_filter: bool,
    /// Whether what a program tries can be named (seccomp user notification).
    pub names_what_was_tried: bool,
}

impl Capabilities {
    /// One line each for what is missing and what that means; empty when the sandbox is whole.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        match self.landlock_version {
            0 => missing.push(
                "no Landlock: programs under test can read and write your files; use a kernel >= 5.13 with \
                 `landlock` among its `lsm=`"
                    .to_owned(),
            ),
            version @ 1..3 => missing.push(format!(
                "Landlock version {version}: programs under test can truncate files outside their folder; Linux >= 6.2 \
                 closes that"
            )),
            _ => {}
        }
        if !self.system_call_filter {
            missing.push(
                "no seccomp: programs under test can start processes and open sockets; use a kernel with \
                 CONFIG_SECCOMP_FILTER, or a container that allows it"
                    .to_owned(),
            );
        } else if !self.names_what_was_tried {
            missing.push(
                "no seccomp user notification: a program that tries something forbidden is stopped without a word on \
                 what it was; Linux >= 5.5 outside a container that takes it offers that"
                    .to_owned(),
            );
        }
        missing
    }
}

/// What this kernel offers; asked once.
pub fn capabilities() -> Capabilities {
    static CAPABILITIES: OnceLock<Capabilities> = OnceLock::new();
    *CAPABILITIES.get_or_init(|| Capabilities {
        landlock_version: landlock_version(),
        system_call_filter: action_is_available(libc::SECCOMP_RET_TRAP),
        names_what_was_tried: action_is_available(libc::SECCOMP_RET_USER_NOTIF),
    })
}

/// Says in the log what is missing, once in the life of this process.
pub(super) fn warn_once() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        for line in capabilities().missing() {
            tracing::warn!("the sandbox is incomplete: {line}");
        }
    });
}

fn landlock_version() -> u32 {
    const LANDLOCK_CREATE_RULESET_VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes a null pointer and a zero size and only returns a number.
    let version = unsafe {
        let nothing = std::ptr::null::<libc::c_void>();
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, LANDLOCK_CREATE_RULESET_VERSION)
    };
    u32::try_from(version).unwrap_or(0)
}

fn action_is_available(action: u32) -> bool {
    // SAFETY: the call reads four bytes at `action` and changes nothing.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let cases = [
            (7, true, true, vec![]),
            (0, true, true, vec!["no Landlock"]),
            (2, true, true, vec!["Landlock version 2"]),
            (7, true, false, vec!["no seccomp user notification"]),
            (0, false, false, vec!["no Landlock", "no seccomp:"]),
        ];
        for (landlock_version, system_call_filter, names_what_was_tried, expected) in cases {
            let missing = Capabilities { landlock_version, system_call_filter, names_what_was_tried }.missing();
            assert_eq!(missing.len(), expected.len(), "{missing:?}");
            assert!(missing.iter().zip(expected).all(|(line, start)| line.starts_with(start)), "{missing:?}");
        }
    }
}

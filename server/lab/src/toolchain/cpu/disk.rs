//! A full disk, told apart from a compiler that does not work.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::LabError;
use crate::cache::Cache;
use crate::sandbox::{End, Run};

/// With less room than this, a compiler that failed may have failed for want of it: some are killed when they write to a
/// file that the disk has no room for.
const SCARCE_BYTES: u64 = 1 << 20;

/// The error for a compiler that failed because the disk of the cache is full; `None` when it ended well or for another
/// reason.
pub(super) fn full(cache: &Cache, run: &Run) -> Option<LabError> {
    if run.end == End::Status(0) {
        return None;
    }
    let told = run.stderr.contains("No space left on device");
    let is_full = told || free_bytes(cache.root()).is_some_and(|free| free < SCARCE_BYTES);
    is_full.then(|| {
        LabError::Unavailable(format!(
            "the disk that holds {} is full, so that nothing can be built there; make room, or set XDG_CACHE_HOME to a \
             folder on another disk",
            cache.root().display()
        ))
    })
}

/// Room for an unprivileged user on the file system of `folder`.
fn free_bytes(folder: &Path) -> Option<u64> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: statvfs is plain data, valid when zeroed; the path is a C string that outlives the call.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut about) == 0).then(|| about.f_bavail.saturating_mul(about.f_frsize))
    }
}

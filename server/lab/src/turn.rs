//! One measurement at a time on a device, whatever process asks for it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::{Cancel, LabError};

/// How often a waiting process asks again.
const PATIENCE: Duration = Duration::from_millis(20);

/// The right to measure on a device, until it is dropped or its process ends.
#[derive(Debug)]
pub struct Turn {
    _locked: File,
}

impl Turn {
    /// Waits for the turn on `device`, whose lock lies in `folder`. Two measurements that overlap would time each other.
    ///
    /// # Errors
    /// [`LabError::Cancelled`], or [`LabError::Io`] when the lock cannot be made.
    pub fn take(folder: &Path, device: &str, cancel: &Cancel) -> Result<Self, LabError> {
        let path = folder.join(format!("{device}.turn"));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(LabError::io("opening", &path))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _locked: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(LabError::io("locking", &path)(error)),
            }
            if cancel.is_cancelled() {
                return Err(LabError::Cancelled);
            }
            if !told {
                tracing::info!("waiting for another measurement on {device} to end");
                told = true;
            }
            std::thread::sleep(PATIENCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn measurements_on_a_device_never_overlap() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _turn = Turn::take(folder.path(), "cpu", &Cancel::new()).unwrap();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }

    #[test]
    fn waiting_ends_when_it_is_cancelled_and_other_devices_do_not_wait() {
        let folder = tempfile::tempdir().unwrap();
        let _held = Turn::take(folder.path(), "cpu", &Cancel::new()).unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        assert!(matches!(Turn::take(folder.path(), "cpu", &cancel), Err(LabError::Cancelled)));
        assert!(Turn::take(folder.path(), "mi300", &Cancel::new()).is_ok());
    }
}

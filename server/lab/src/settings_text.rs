//! Reads the files that steer the program: benchmark files, settings, compile commands.

use std::io;
use std::path::Path;

/// The largest that is read, in bytes; a compilation database of a large project has a few tens of MiB.
const LARGEST: u64 = 256 << 20;

/// Reads an ordinary file of text. A pipe or a device could keep its reader waiting for ever, or never end.
///
/// # Errors
/// As [`std::fs::read_to_string`], and for what is no ordinary file or larger than 256 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file"));
    }
    if about.len() > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is larger than 256 MiB"));
    }
    std::fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name is a C string that outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
            assert_eq!(read(path).unwrap_err().to_string(), "it is not an ordinary file", "{}", path.display());
        }
        let file = folder.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read(&file).unwrap(), "text");
    }
}

//! The log's file, which does not grow without end: one that is full becomes the old one, and there is one of those.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that lines are put behind. Several servers may share it.
pub struct LogFile {
    path: PathBuf,
    file: File,
    /// Bytes that it may have.
    most: u64,
}

impl LogFile {
    /// The file at `path`, of at most so many bytes, as it is or new.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: PathBuf, most: u64) -> Result<Self> {
        let file = behind(&path)?;
        Ok(Self { path, file, most })
    }

    /// Puts a line behind the others.
    ///
    /// # Errors
    /// Those of the system, such as that of a full disk.
    pub fn write(&mut self, line: &str) -> Result<()> {
        if self.file.metadata()?.len() + line.len() as u64 > self.most {
            self.begin_anew()?;
        }
        self.file.write_all(line.as_bytes())
    }

    fn begin_anew(&mut self) -> Result<()> {
        let ours = self.file.metadata()?;
        // Where another server has begun anew already, what it has written since must stay.
        if self.path.metadata().is_ok_and(|at_path| (at_path.dev(), at_path.ino()) == (ours.dev(), ours.ino())) {
            std::fs::rename(&self.path, old(&self.path))?;
        }
        self.file = behind(&self.path)?;
        Ok(())
    }
}

fn behind(path: &Path) -> Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// `lsp.old.log` beside `lsp.log`.
fn old(path: &Path) -> PathBuf {
    path.with_extension("old.log")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_becomes_the_old_one_and_there_is_one_of_those() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lsp.log");
        let (mut one, mut other) = (LogFile::open(path.clone(), 20).unwrap(), LogFile::open(path.clone(), 20).unwrap());
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        for line in ["first...\n", "second..\n", "third...\n"] {
            one.write(line).unwrap();
        }
        assert_eq!((read(&old(&path)).as_str(), read(&path).as_str()), ("first...\nsecond..\n", "third...\n"));
        // The other server still has the old one in its hands.
        other.write("fourth..\n").unwrap();
        assert_eq!(
            (read(&old(&path)).as_str(), read(&path).as_str()),
            ("first...\nsecond..\n", "third...\nfourth..\n")
        );
        other.write("fifth...\n").unwrap();
        assert_eq!((read(&old(&path)).as_str(), read(&path).as_str()), ("third...\nfourth..\n", "fifth...\n"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

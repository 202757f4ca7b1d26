//! What an entry was like when it was made, so that one that has come to harm since is not taken for good.
//!
//! A machine that stops before its disk has everything leaves files that are cut short or filled with zeros, and a program
//! of which a part is missing ends in ways for which the user's code would be blamed.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The file that holds the seal: a line for each file, its length, its hash or `-`, and its name.
const SEAL: &str = "sealed";
/// Of files larger than this only the length is kept: a look has to stay cheap.
const MOST_HASHED_BYTES: u64 = 1 << 20;

/// Seals all that is below `folder`.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    let mut text = String::new();
    for path in files_below(folder)? {
        let (length, hash) = measure(&path)?;
        let name = path.strip_prefix(folder).map_err(io::Error::other)?;
        let name = name.to_str().ok_or_else(|| io::Error::other("a name that is no text"))?;
        text.push_str(&format!("{length} {} {name}\n", hash.as_deref().unwrap_or("-")));
    }
    fs::write(folder.join(SEAL), text)
}

/// Whether all that was sealed is as it was then. An entry without a seal is not.
pub(super) fn holds(folder: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(SEAL)) else { return false };
    let is_as_it_was = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let (Some(length), Some(hash), Some(name)) = (parts.next(), parts.next(), parts.next()) else { return false };
        let measured = measure(&folder.join(name));
        measured.is_ok_and(|(now, is)| now.to_string() == length && is.as_deref().unwrap_or("-") == hash)
    };
    // What is cut short may be the seal itself.
    text.ends_with('\n') && text.lines().all(is_as_it_was)
}

/// Length of a file, and the hash of what is in it unless it is large.
fn measure(path: &Path) -> io::Result<(u64, Option<String>)> {
    let length = fs::metadata(path)?.len();
    let hash = match length {
        0..=MOST_HASHED_BYTES => Some(blake3::hash(&fs::read(path)?).to_hex()[..32].to_owned()),
        _ => None,
    };
    Ok((length, hash))
}

fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

//! Builds kept on disk, by the hash of all that went into them.
//!
//! Any number of processes may use one cache at once: an entry is made in a folder of its own under `work/` and becomes
//! visible by one rename; whoever comes second drops its copy. Entries are never changed, only used and, oldest first,
//! removed when the cache outgrows its bound. One that has come to harm on the disk is removed and made anew.

mod seal;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::LabError;

/// The bound on the builds, in bytes.
const MOST_BYTES: u64 = 2 << 30;
/// An entry that was used more recently than this is never removed: it may be running.
const IN_USE: Duration = Duration::from_secs(3600);
/// How often the cache is looked through for what can go.
const TIDY_EVERY: Duration = Duration::from_secs(600);
/// Left-overs of killed processes are removed after this time.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// A cache below one folder.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// What entries of one kind are kept under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The unpacked and built runtime.
    Runtime,
    /// Programs and objects.
    Builds,
}

impl Room {
    fn folder(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Builds => "builds",
        }
    }
}

/// The hash of all that went into an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Its digits.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Collects what goes into a [`Key`].
#[derive(Clone, Debug, Default)]
pub struct KeyMaker(blake3::Hasher);

impl KeyMaker {
    /// Adds one part. Its length goes in as well, so that parts cannot run into one another.
    pub fn add(&mut self, part: impl AsRef<[u8]>) -> &mut Self {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// The key of the parts so far.
    pub fn key(&self) -> Key {
        // 128 bits: no two builds will ever share it, and the path stays short.
        Key(self.0.finalize().to_hex()[..32].to_owned())
    }
}

/// Why something could not be made in the cache, and what to do where it cannot be written at all.
fn not_made(root: &Path, action: &'static str, path: &Path, error: io::Error) -> LabError {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotADirectory => {
            LabError::Unavailable(format!(
                "{action} {}: {error}; nothing can be built without the folder {}: make it writable, or set XDG_CACHE_HOME to \
                 a folder that is",
                path.display(),
                root.display()
            ))
        }
        _ => LabError::io(action, path)(error),
    }
}

impl Cache {
    /// Opens the cache below `root`, making it if it is not there, and tidies it.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let root = std::path::absolute(root).map_err(LabError::io("opening", root))?;
        for folder in [root.join("work"), root.join("runtime"), root.join("builds")] {
            fs::create_dir_all(&folder).map_err(|error| not_made(&root, "creating", &folder, error))?;
        }
        // Commands of children name paths with links followed.
        let root = root.canonicalize().map_err(LabError::io("opening", &root))?;
        let cache = Self { root };
        if cache.is_due_for_tidying() {
            cache.tidy(MOST_BYTES);
        }
        Ok(cache)
    }

    /// Whether nobody tidied for a while; whoever asks is expected to do it.
    fn is_due_for_tidying(&self) -> bool {
        let stamp = self.root.join("tidied");
        let age = fs::metadata(&stamp).and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
        // In a cache that cannot be written, nothing can be removed either.
        age.is_none_or(|age| age > TIDY_EVERY) && fs::write(&stamp, "").is_ok()
    }

    /// The folder that everything lies in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A fresh folder, removed when it is dropped.
    pub fn work_folder(&self) -> Result<TempDir, LabError> {
        let work = self.root.join("work");
        let made = tempfile::Builder::new().prefix("w").tempdir_in(&work);
        made.map_err(|error| not_made(&self.root, "making a folder in", &work, error))
    }

    /// The entry for `key`, if it is there and whole.
    pub fn find(&self, room: Room, key: &Key) -> Option<PathBuf> {
        let path = self.place(room, key);
        let entry = File::open(&path).ok()?;
        if !seal::holds(&path) {
            tracing::info!("{} came to harm on the disk, or is of an earlier version; it is made anew", path.display());
            self.discard(&path);
            return None;
        }
        // For the order of removal; an unwritable cache is still good to read.
        let _ = entry.set_modified(SystemTime::now());
        Some(path)
    }

    /// Makes `folder` the entry for `key`, or finds the one that somebody else made meanwhile.
    pub fn publish(&self, room: Room, key: &Key, folder: TempDir) -> Result<PathBuf, LabError> {
        seal::write(folder.path()).map_err(LabError::io("sealing", folder.path()))?;
        let place = self.place(room, key);
        match fs::rename(folder.path(), &place) {
            Ok(()) => {
                // It is an entry now and must stay.
                let _ = folder.keep();
                Ok(place)
            }
            Err(error) => self.find(room, key).ok_or_else(|| LabError::io("writing", &place)(error)),
        }
    }

    /// Takes an entry out of its place at once. What cannot be removed is found broken again.
    fn discard(&self, path: &Path) {
        if let Ok(work) = self.work_folder()
            && let Err(error) = fs::rename(path, work.path().join("discarded"))
        {
            tracing::debug!("{} stays in the cache: {error}", path.display());
        }
    }

    /// Reads the small note kept under `key`, if there is one.
    pub fn read_note(&self, key: &Key) -> Option<String> {
        fs::read_to_string(self.note(key)).ok()
    }

    /// Keeps a small note under `key`, in place of the one before.
    pub fn write_note(&self, key: &Key, text: &str) -> Result<(), LabError> {
        let note = self.note(key);
        let work = self.work_folder()?;
        let fresh = work.path().join("note");
        fs::write(&fresh, text).map_err(LabError::io("writing", &fresh))?;
        fs::rename(&fresh, &note).map_err(LabError::io("writing", note))
    }

    fn place(&self, room: Room, key: &Key) -> PathBuf {
        self.root.join(room.folder()).join(&key.0)
    }

    fn note(&self, key: &Key) -> PathBuf {
        self.root.join(Room::Builds.folder()).join(format!("{}.note", key.0))
    }

    /// Removes left-overs, then the builds that were not used for the longest time until the rest is below `bound` bytes.
    /// What cannot be removed stays: another process may be removing it too.
    pub fn tidy(&self, bound: u64) {
        let now = SystemTime::now();
        let age = |entry: &Entry| now.duration_since(entry.used).unwrap_or_default();
        for left_over in entries(&self.root.join("work")).into_iter().filter(|entry| age(entry) > ABANDONED) {
            left_over.remove();
        }
        let mut builds = entries(&self.root.join("builds"));
        builds.extend(entries(&self.root.join("runtime")));
        builds.sort_by_key(|entry| entry.used);
        let mut total: u64 = builds.iter().map(|entry| entry.bytes).sum();
        for build in builds.iter().filter(|entry| age(entry) > IN_USE) {
            if total <= bound {
                break;
            }
            build.remove();
            total -= build.bytes;
        }
    }
}

struct Entry {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

impl Entry {
    fn remove(&self) {
        let removed = if self.path.is_dir() { fs::remove_dir_all(&self.path) } else { fs::remove_file(&self.path) };
        if let Err(error) = removed.or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        }) {
            tracing::debug!("{} stays in the cache: {error}", self.path.display());
        }
    }
}

/// What lies directly in `folder`.
fn entries(folder: &Path) -> Vec<Entry> {
    let described = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        let path = entry.path();
        let bytes = if metadata.is_dir() { size_below(&path) } else { metadata.len() };
        Some(Entry { used: metadata.modified().ok()?, bytes, path })
    };
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(described).collect()
}

fn size_below(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    fs::read_dir(folder).into_iter().flatten().flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(part: &str) -> Key {
        KeyMaker::default().add(part).key()
    }

    fn publish(cache: &Cache, name: &str, bytes: usize) -> PathBuf {
        let work = cache.work_folder().unwrap();
        fs::write(work.path().join("out"), vec![0u8; bytes]).unwrap();
        cache.publish(Room::Builds, &key(name), work).unwrap()
    }

    #[test]
    fn parts_do_not_run_into_one_another() {
        let split = KeyMaker::default().add("ab").add("c").key();
        assert_ne!(split, KeyMaker::default().add("a").add("bc").key());
        assert_eq!(split, KeyMaker::default().add("ab").add("c").key());
    }

    #[test]
    fn the_first_to_publish_wins_and_nothing_is_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        assert_eq!(cache.find(Room::Builds, &key("a")), None);
        let first = publish(&cache, "a", 1);
        assert_eq!(publish(&cache, "a", 2), first);
        assert_eq!(fs::metadata(first.join("out")).unwrap().len(), 1);
        assert_eq!(cache.find(Room::Builds, &key("a")), Some(first));
        assert_eq!(entries(&cache.root.join("work")).len(), 0);
    }

    #[test]
    fn an_entry_that_came_to_harm_is_not_found_and_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let harms: [fn(&Path); 5] = [
            |entry| File::options().write(true).open(entry.join("out")).unwrap().set_len(50).unwrap(),
            |entry| fs::write(entry.join("out"), [1u8; 100]).unwrap(),
            |entry| fs::remove_file(entry.join("out")).unwrap(),
            |entry| fs::remove_file(entry.join("sealed")).unwrap(),
            |entry| fs::write(entry.join("sealed"), "10").unwrap(),
        ];
        for harm in harms {
            let entry = publish(&cache, "a", 100);
            assert_eq!(cache.find(Room::Builds, &key("a")).as_ref(), Some(&entry));
            harm(&entry);
            assert_eq!(cache.find(Room::Builds, &key("a")), None);
            assert!(!entry.exists());
        }
        // Only the length of a large file is looked at, and folders are looked into.
        let work = cache.work_folder().unwrap();
        fs::create_dir(work.path().join("below")).unwrap();
        fs::write(work.path().join("below/large"), vec![0u8; 2 << 20]).unwrap();
        let entry = cache.publish(Room::Runtime, &key("b"), work).unwrap();
        assert_eq!(cache.find(Room::Runtime, &key("b")).as_ref(), Some(&entry));
        File::options().write(true).open(entry.join("below/large")).unwrap().set_len(1 << 20).unwrap();
        assert_eq!(cache.find(Room::Runtime, &key("b")), None);
    }

    #[test]
    fn the_longest_unused_go_first_and_what_may_be_running_stays() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let hours_ago = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3600);
        for (name, hours) in [("old", 5), ("older", 9), ("running", 0)] {
            let path = publish(&cache, name, 1000);
            File::open(path).unwrap().set_modified(hours_ago(hours)).unwrap();
        }
        let there = |name| cache.place(Room::Builds, &key(name)).exists();
        cache.tidy(2500);
        assert_eq!((there("older"), there("old"), there("running")), (false, true, true));
        cache.tidy(0);
        assert_eq!((there("old"), there("running")), (false, true));
    }

    #[test]
    fn a_cache_that_cannot_be_made_says_where() {
        let error = Cache::open(Path::new("/proc/nowhere")).unwrap_err().to_string();
        assert!(error.starts_with("creating /proc/nowhere/work: "), "{error}");
    }
}

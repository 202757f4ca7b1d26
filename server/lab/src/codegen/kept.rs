//! What the compiler said of a text, kept for the next time that it is asked.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Codegen, WorkFolder, resources};
use crate::cache::{Key, KeyMaker};
use crate::source::Source;
use crate::toolchain::CompileOptions;
use crate::toolchain::cpu::prerequisites;
use crate::{Cancel, LabError};

/// All that is read of what the compiler wrote.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The kernels' metadata, from the assembly.
    pub(super) metadata: String,
    /// Its messages, remarks among them.
    pub(super) messages: String,
}

/// An answer, and the headers that it holds for: each with the hash of its text.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    headers: Vec<(PathBuf, String)>,
    answer: Answer,
}

impl Codegen {
    /// The compiler's answer: one that is known, else a new one.
    pub(super) fn answer(
        &self,
        source: &Source,
        arch: &str,
        options: &CompileOptions,
        cancel: &Cancel,
    ) -> Result<Answer, LabError> {
        let key = self.key(source, arch, options);
        if let Some(known) = self.known(&key, options) {
            return Ok(known);
        }
        let work = WorkFolder::new(source)?;
        let messages = self.compile(source, &work, arch, options, cancel)?;
        let assembly = std::fs::read_to_string(work.assembly()).map_err(LabError::io("reading", work.assembly()))?;
        let answer = Answer { metadata: resources::metadata_block(&assembly).to_owned(), messages };
        // Where headers are not known, nothing is kept: they may change. The compiler does not tell those of system folders.
        let headers = options.system_folders.is_empty().then(|| headers(&work, source)).flatten();
        let Some(headers) = headers else { return Ok(answer) };
        let kept = Kept { headers, answer };
        let note = serde_json::to_string(&kept).map_err(std::io::Error::other);
        self.cache.write_note(&key, &note.map_err(LabError::io("writing", work.path()))?)?;
        Ok(kept.answer)
    }

    fn key(&self, source: &Source, arch: &str, options: &CompileOptions) -> Key {
        let mut maker = KeyMaker::default();
        maker.add("answer of codegen").add(&self.toolchain.version);
        for argument in self.language_arguments(arch, options) {
            maker.add(argument.as_encoded_bytes());
        }
        for path in options.main.iter().chain([&source.path]) {
            maker.add(path.as_os_str().as_encoded_bytes());
        }
        self.add_system(&mut maker);
        maker.add(source.text.as_bytes()).key()
    }

    fn known(&self, key: &Key, options: &CompileOptions) -> Option<Answer> {
        let kept: Kept = serde_json::from_str(&self.cache.read_note(key)?).ok()?;
        // It may be of the same text where more could be read.
        let ours = [self.cache.root().to_owned()].into_iter().chain(self.toolchain.readable()).collect::<Vec<_>>();
        let may_be_read = |path: &Path| match &options.confined {
            Some(confined) => confined.allows(path) || ours.iter().any(|folder| path.starts_with(folder)),
            None => true,
        };
        if !kept.headers.iter().all(|(path, _)| may_be_read(path)) {
            return None;
        }
        let is_as_it_was = |(path, was): &(PathBuf, String)| hash(path).is_some_and(|is| is == *was);
        kept.headers.iter().all(is_as_it_was).then_some(kept.answer)
    }
}

/// The user's files that the compiler read, but for `source`, whose text may not be on disk; none where that is not known.
fn headers(work: &WorkFolder, source: &Source) -> Option<Vec<(PathBuf, String)>> {
    let rule = std::fs::read_to_string(work.dependencies()).ok()?;
    let is_header = |path: &PathBuf| *path != source.path && !path.starts_with(work.path());
    let read = prerequisites(&rule).into_iter().filter(is_header);
    read.map(|path| hash(&path).map(|hash| (path, hash))).collect()
}

fn hash(path: &Path) -> Option<String> {
    Some(blake3::hash(&std::fs::read(path).ok()?).to_hex().to_string())
}

//! Linking without clang's driver: what it would tell the linker is asked once and kept, for starting it takes a tenth of
//! the time of a small build.

use std::ffi::OsString;
use std::path::Path;

use tempfile::TempDir;

use super::compile::Build;
use crate::LabError;
use crate::cache::{Key, KeyMaker};
use crate::sandbox::{End, Run};

impl Build<'_> {
    /// Links all units below `work`.
    pub(super) fn link_objects(&self, work: &TempDir) -> Result<Run, LabError> {
        let arguments = self.link_arguments();
        let key = self.key_of_call(&arguments);
        let kept = self.kept_call(&key);
        let mut failed = None;
        if let Some(call) = &kept {
            let run = self.run_call(work, call)?;
            if run.end == End::Status(0) {
                return Ok(run);
            }
            failed = Some(run);
        }
        // What a kept call names may have moved since, with an update of the system's compiler.
        match (self.ask_call(work, &key, &arguments)?, failed) {
            (asked, Some(failed)) if asked == kept => Ok(failed),
            (Some(call), _) => self.run_call(work, &call),
            (None, _) => self.run_clang(work, arguments),
        }
    }

    fn run_call(&self, work: &TempDir, call: &[String]) -> Result<Run, LabError> {
        let (linker, rest) = call.split_first().map_or(("", &[][..]), |(linker, rest)| (linker.as_str(), rest));
        self.run_tool(Path::new(linker), work, rest.iter().map(OsString::from).collect())
    }

    fn key_of_call(&self, arguments: &[OsString]) -> Key {
        let clang = &self.cpu.clang;
        let mut maker = KeyMaker::default();
        maker.add("call of the linker").add(clang.path.as_os_str().as_encoded_bytes()).add(&clang.version);
        arguments.iter().for_each(|argument| {
            maker.add(argument.as_encoded_bytes());
        });
        maker.key()
    }

    /// The linker and its arguments as they were kept, while that linker is there.
    fn kept_call(&self, key: &Key) -> Option<Vec<String>> {
        let call: Vec<String> = serde_json::from_str(&self.cpu.cache.read_note(key)?).ok()?;
        call.first().is_some_and(|linker| Path::new(linker).is_file()).then_some(call)
    }

    /// The same as the driver says; none where its answer cannot be read.
    fn ask_call(&self, work: &TempDir, key: &Key, arguments: &[OsString]) -> Result<Option<Vec<String>>, LabError> {
        let question = [OsString::from("-###")].into_iter().chain(arguments.iter().cloned()).collect();
        let answer = self.run_clang(work, question)?;
        let call = answer.stderr.lines().last().and_then(words).filter(|_| answer.end == End::Status(0));
        if let Some(note) = call.as_ref().and_then(|call| serde_json::to_string(call).ok()) {
            self.cpu.cache.write_note(key, &note)?;
        }
        Ok(call)
    }
}

/// The words of a command as `-###` prints it: ` "ld" "-o" "a \"b\""`. None where it is no such line, or names no absolute path.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut letters = line.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => continue,
            '"' => {}
            _ => return None,
        }
        let mut word = String::new();
        loop {
            match letters.next()? {
                '"' => break,
                '\\' => word.push(letters.next()?),
                other => word.push(other),
            }
        }
        words.push(word);
    }
    words.first().is_some_and(|linker| linker.starts_with('/')).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_the_driver_is_read() {
        for (line, expected) in [
            (r#" "/usr/bin/ld.lld" "-o" "out" "#, Some(vec!["/usr/bin/ld.lld", "-o", "out"])),
            (r#" "/l d" "a b\$c" "say \"x\"" "\\" """#, Some(vec!["/l d", "a b$c", "say \"x\"", "\\", ""])),
            ("clang: error: no input files", None),
            (r#" "ld" "x""#, None),
            (r#" "/ld" "x"#, None),
            ("", None),
        ] {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(words(line), expected, "{line}");
        }
    }
}

//! Reads clangd's files, so that a project that an editor understands needs no settings of ours.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::options::CompileOptions;
use crate::LabError;

/// One entry of `compile_commands.json`.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
}

/// The options that clangd's files give for `source`: those of the nearest folder, from the source's own upwards, that
/// has a `compile_commands.json` with the file in it (there or in `build/`) or a `compile_flags.txt`.
pub fn options_for(source: &Path) -> Result<CompileOptions, LabError> {
    for folder in source.ancestors().skip(1) {
        for database in [folder.join("compile_commands.json"), folder.join("build/compile_commands.json")] {
            if database.is_file()
                && let Some(options) = from_database(&database, source)?
            {
                return Ok(options);
            }
        }
        let flags = folder.join("compile_flags.txt");
        if flags.is_file() {
            let text = crate::settings_text::read(&flags).map_err(LabError::io("reading", &flags))?;
            let arguments: Vec<_> = text.lines().map(|line| line.trim().to_owned()).collect();
            return Ok(CompileOptions::from_command_line(&arguments, folder));
        }
    }
    Ok(CompileOptions::default())
}

/// The options of `source`'s entry; `None` when it has none.
fn from_database(database: &Path, source: &Path) -> Result<Option<CompileOptions>, LabError> {
    let text = crate::settings_text::read(database).map_err(LabError::io("reading", database))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| {
        LabError::Usage(format!("{} cannot be read: {error}; build it anew or remove it", database.display()))
    })?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = real(source);
    // Most entries are ruled out by their name, without a look at the disk.
    let same_name = |entry: &&Entry| entry.file.file_name() == source.file_name();
    let entry = entries.iter().filter(same_name).find(|entry| real(&entry.directory.join(&entry.file)) == wanted);
    Ok(entry.map(|entry| {
        let arguments = match (&entry.arguments, &entry.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, Some(command)) => split_command(command),
            (None, None) => Vec::new(),
        };
        CompileOptions::from_command_line(&arguments, &entry.directory)
    }))
}

/// Splits a command as a shell would: quotes and backslashes, nothing else.
fn split_command(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn commands_are_split_as_by_a_shell() {
        let command = r#"hipcc -DA="x y" -DB=\"q\" '-I/a b' -DC= "" end"#;
        assert_eq!(split_command(command), ["hipcc", "-DA=x y", "-DB=\"q\"", "-I/a b", "-DC=", "", "end"]);
    }

    #[test]
    fn the_nearest_file_that_knows_the_source_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("build")).unwrap();
        fs::create_dir_all(root.join("src/inner")).unwrap();
        let source = root.join("src/main.hip");
        fs::write(&source, "").unwrap();
        assert_eq!(options_for(&source).unwrap(), CompileOptions::default());

        fs::write(root.join("compile_flags.txt"), "-DFLAGS\n-I\ninc\n").unwrap();
        let options = options_for(&source).unwrap();
        assert_eq!((options.defines, options.include_folders), (vec!["FLAGS".into()], vec![root.join("inc")]));

        let entry = |file: &str| serde_json::json!([{ "directory": root.join("build"), "file": file, "command": "hipcc -DDATABASE -I../inc -c x" }]);
        let database = root.join("build/compile_commands.json");
        fs::write(&database, entry("../src/other.hip").to_string()).unwrap();
        assert_eq!(options_for(&source).unwrap().defines, ["FLAGS"]);
        fs::write(&database, entry("../src/main.hip").to_string()).unwrap();
        let options = options_for(&source).unwrap();
        assert_eq!(
            (options.defines, options.include_folders),
            (vec!["DATABASE".into()], vec![root.join("build/../inc")])
        );

        fs::write(&database, "[{").unwrap();
        let error = options_for(&source).unwrap_err();
        assert!(matches!(&error, LabError::Usage(text) if text.contains("compile_commands.json")), "{error}");
    }
}

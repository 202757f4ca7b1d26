//! Runs the candidates of `tests/cheats` against the kernels that they stand for.

use std::path::PathBuf;

use super::tests::{folder, sampling, source, with_bench};
use crate::benchmark::Benchmark;
use crate::{Cancel, LabError, Source, Verdict};

/// The value of `// KEY: VALUE` in a file's head.
fn head<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().take(3).find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
}

fn cheats() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder().with_file_name("cheats")).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "hip"));
    paths.sort();
    paths
}

/// How a cheat ended, in the words of the files' heads, and what was said.
fn run(text: &str) -> (&'static str, String) {
    let original = source(head(text, "kernel").unwrap());
    let benchmark = Benchmark::load(&Benchmark::path_for(&original.path)).unwrap();
    let candidate = Source::new(original.path.clone(), text);
    let answer =
        with_bench(&original, &benchmark, |bench| bench.compare(&original, &candidate, &sampling(300), &Cancel::new()));
    match answer {
        Err(LabError::Code(failure)) => (failure.label(), failure.to_string()),
        Err(other) => ("error", other.to_string()),
        Ok(comparison) if comparison.verdict == Verdict::Faster => ("faster", format!("{:?}", comparison.speed)),
        Ok(comparison) => ("not faster", format!("{} {:?}", comparison.verdict, comparison.speed)),
    }
}

#[test]
fn every_cheat_is_caught() {
    let mut escaped = Vec::new();
    let cheats = cheats();
    assert!(cheats.len() >= 20, "{}", cheats.len());
    for path in &cheats {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let ends = head(&text, "ends").unwrap();
        let (end, said) = run(&text);
        println!("{name}: {end}: {said}");
        if !ends.split(", ").any(|allowed| allowed == end) {
            escaped.push(format!("{name}: {end} instead of {ends}: {said}"));
        }
    }
    assert!(escaped.is_empty(), "{}", escaped.join("\n"));
}

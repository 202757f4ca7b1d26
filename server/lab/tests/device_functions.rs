//! Every function that the CPU runtime offers device code is called by some program in `tests/programs`.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The headers through which programs reach device functions.
const HEADERS: [&str; 7] = [
    "hip/hip_runtime.h",
    "hip/hip_fp16.h",
    "hip/hip_bf16.h",
    "hip/hip_bfloat16.h",
    "hip/hip_fp8.h",
    "hip/hip_complex.h",
    "hip/hip_cooperative_groups.h",
];

/// Functions that no program calls yet. The test fails for one that is called after all: this list only gets shorter.
const NOT_YET: [&str; 8] = [
    "tex1DGrad",
    "tex1DLayeredGrad",
    "tex1DLayeredLod",
    "tex1DLod",
    "tex2DLayeredGrad",
    "tex2DLayeredLod",
    "tex3DGrad",
    "tex3DLod",
];

#[test]
fn each_device_function_is_called_by_a_program() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let include = top.join("server/lab/runtime/include");
    let offered = offered(&include);
    for known in ["__shfl_xor", "__builtin_amdgcn_mfma_f32_32x32x1f32", "__hip_ds_swizzle", "atomicAdd", "__hmul"] {
        assert!(offered.contains(known), "{known} was not found among the {} functions of the headers", offered.len());
    }
    let called = called(&top.join("tests/programs"), &include);
    let not_yet: BTreeSet<_> = NOT_YET.map(String::from).into();
    let missing: Vec<_> = offered.iter().filter(|name| !called.contains(*name) && !not_yet.contains(*name)).collect();
    assert!(missing.is_empty(), "no program in tests/programs calls these: {missing:?}");
    let done: Vec<_> = not_yet.iter().filter(|name| called.contains(*name) || !offered.contains(*name)).collect();
    assert!(done.is_empty(), "take these off the list in this test: {done:?}");
}

/// Names of the inline functions and the function-like macros that the headers have for device code.
fn offered(include: &Path) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("all.cpp");
    fs::write(&all, HEADERS.map(|header| format!("#include <{header}>\n")).concat()).unwrap();
    let text = outline(&lines_from(&preprocessed(&all, include), include));
    let mut names: BTreeSet<String> =
        text.split([';', '{']).filter_map(|declaration| function_name(&without_attributes(declaration))).collect();
    names.extend(files_in(&include.join("ks")).iter().flat_map(|file| macros_in(&fs::read_to_string(file).unwrap())));
    // The host's API, and what the runtime needs for itself.
    names.retain(|name| !name.starts_with("hip") && !name.starts_with("ks_") && !name.starts_with("operator"));
    names
}

/// The words in programs. Where names are put together from parts, they are looked for after the preprocessor.
fn called(programs: &Path, include: &Path) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for file in files_in(programs) {
        let text = fs::read_to_string(&file).unwrap();
        add_words(&text, &mut words);
        if file.extension().is_some_and(|extension| extension == "hip") {
            let pastes = text.contains("##") || text.contains("#include \"");
            if pastes {
                add_words(&lines_from(&preprocessed(&file, include), programs), &mut words);
            }
        }
    }
    words
}

fn add_words(text: &str, words: &mut BTreeSet<String>) {
    words.extend(text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').map(String::from));
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

fn preprocessed(source: &Path, include: &Path) -> String {
    let output = Command::new("clang++-19")
        .args(["-E", "-std=gnu++17", "-march=native", "-x", "c++", "-I"])
        .args([include, source])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of preprocessed text that stand in files below `folder`, as its line markers (`# 7 "path" 1`) say.
fn lines_from(text: &str, folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    let mut below = false;
    let mut lines = String::new();
    for line in text.lines() {
        match line.strip_prefix("# ").and_then(|marker| marker.split('"').nth(1)) {
            Some(path) => below = path.starts_with(&*folder),
            None if below => {
                lines.push_str(line);
                lines.push('\n');
            }
            None => {}
        }
    }
    lines
}

/// What stands at the top of the file or in `extern "C"`: the inside of all other braces is left out.
fn outline(text: &str) -> String {
    let mut outline = String::new();
    let mut braces: Vec<bool> = Vec::new(); // whether each that is open is of `extern "C"`
    for c in text.chars() {
        let outside = braces.iter().all(|transparent| *transparent);
        match c {
            '{' => {
                let transparent = outside && outline.trim_end().ends_with("extern \"C\"");
                outline.push(if outside { '{' } else { ' ' });
                braces.push(transparent);
            }
            '}' => {
                braces.pop();
            }
            _ if outside => outline.push(c),
            _ => {}
        }
    }
    outline
}

fn without_attributes(declaration: &str) -> String {
    let mut rest = declaration;
    let mut kept = String::new();
    while let Some(at) = rest.find("__attribute__") {
        kept.push_str(&rest[..at]);
        let attribute = &rest[at..];
        let mut depth = 0;
        let end = attribute.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            *c == ')' && depth == 0
        });
        rest = end.map_or("", |(end, _)| &attribute[end + 1..]);
    }
    kept + rest
}

/// The word before the first parenthesis that has one, after `inline`.
fn function_name(declaration: &str) -> Option<String> {
    let (_, rest) = declaration.split_once("inline")?;
    let word_before = |at: usize| {
        let before = rest[..at].trim_end();
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |start| start + 1);
        &before[start..]
    };
    rest.match_indices('(').map(|(at, _)| word_before(at)).find(|word| !word.is_empty()).map(String::from)
}

/// Function-like macros with names of the compiler or of HIP.
fn macros_in(header: &str) -> Vec<String> {
    let defined = header.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once('('));
    let names = defined.map(|(name, _)| name);
    let for_programs = |name: &&str| name.starts_with("__builtin_amdgcn_") || name.starts_with("__hip_");
    names.filter(for_programs).map(String::from).collect()
}

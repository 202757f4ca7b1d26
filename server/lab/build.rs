//! Writes a table of the files under `runtime/`, so that the binary carries them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("runtime");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();

    let mut table = String::from("pub(crate) static RUNTIME_FILES: &[(&str, &[u8])] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&root).expect("found below it");
        writeln!(table, "    ({:?}, include_bytes!({:?})),", name.display().to_string(), file.display().to_string())
            .expect("a string takes all text");
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("runtime_files.rs"), table)
}

/// The C++ files below `folder`; what else lies there (notes, scratch files) does not travel.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if is_source(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Headers may have no ending, as `hip/hip_fp16` would; hidden and backup files are not sources.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    !name.starts_with('.') && matches!(ending.as_deref(), None | Some("h" | "hpp" | "cuh" | "inc" | "cpp" | "c" | "S"))
}

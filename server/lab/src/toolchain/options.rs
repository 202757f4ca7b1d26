//! How a source is compiled: include folders, macros, the language standard.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Confinement;

/// Compiler settings of a program, beside those that the toolchain has for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileOptions {
    /// `-I`, absolute.
    pub include_folders: Vec<PathBuf>,
    /// `-isystem`, absolute.
    pub system_folders: Vec<PathBuf>,
    /// `-D`, as `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// `-U`.
    pub undefines: Vec<String>,
    /// `-include`, absolute where the file is known.
    pub forced_includes: Vec<PathBuf>,
    /// `-std`, such as `c++20`; the toolchain raises it to the oldest that it can work with.
    pub standard: Option<String>,
    /// The file that is compiled, where the source under test is a header of it; absolute.
    pub main: Option<PathBuf>,
    /// Further source files of the program, compiled for themselves and linked with it; absolute.
    pub sources: Vec<PathBuf>,
    /// Anything else, handed on as it is (`[program]` in a benchmark file).
    pub extra: Vec<String>,
    /// Every kernel that waits at barriers runs on fibers, also where it could be split into loops.
    pub fibers: bool,
    /// Which of the user's files may be read; without, all in the source's and its headers' folders.
    pub confined: Option<Arc<Confinement>>,
}

impl CompileOptions {
    /// These options with `others` after them; the standard of `others` wins.
    pub fn with(mut self, others: &Self) -> Self {
        self.include_folders.extend_from_slice(&others.include_folders);
        self.system_folders.extend_from_slice(&others.system_folders);
        self.defines.extend_from_slice(&others.defines);
        self.undefines.extend_from_slice(&others.undefines);
        self.forced_includes.extend_from_slice(&others.forced_includes);
        self.extra.extend_from_slice(&others.extra);
        self.fibers |= others.fibers;
        self.confined = others.confined.clone().or(self.confined);
        self.sources.extend_from_slice(&others.sources);
        self.main = others.main.clone().or(self.main);
        self.standard = others.standard.clone().or(self.standard);
        self
    }

    /// Takes what concerns the language from a compiler's command line and drops the rest (the GPU's architecture,
    /// optimisation, warnings, outputs). Relative paths are relative to `folder`.
    pub fn from_command_line(arguments: &[String], folder: &Path) -> Self {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            // The value may be joined (`-Ipath`, `-std=x`) or follow (`-I path`, `-isystem path`).
            let mut value = |flag: &str, separator: &str| -> Option<String> {
                let joined = argument.strip_prefix(flag)?;
                match joined.strip_prefix(separator) {
                    Some("") | None if joined.is_empty() => rest.next().cloned(),
                    Some(joined) => Some(joined.to_owned()),
                    None => None,
                }
            };
            if let Some(path) = value("-isystem", "") {
                options.system_folders.push(folder.join(path));
            } else if let Some(path) = value("-iquote", "") {
                options.include_folders.push(folder.join(path));
            } else if let Some(path) = value("-include-pch", "") {
                drop(path); // another compiler's
            } else if let Some(path) = value("-include", "") {
                options.forced_includes.push(forced_include(&path, folder));
            } else if let Some(path) = value("-I", "") {
                options.include_folders.push(folder.join(path));
            } else if let Some(define) = value("-D", "") {
                options.defines.push(define);
            } else if let Some(name) = value("-U", "") {
                options.undefines.push(name);
            } else if let Some(standard) = value("--std", "=").or_else(|| value("-std", "=")) {
                options.standard = Some(standard);
            }
        }
        options
    }

    /// Whether headers may be compiled beforehand and come before all else: not where macros or forced includes are to
    /// change what is in them.
    pub(crate) fn takes_precompiled_header(&self) -> bool {
        let reserved =
            |define: &String| define.starts_with("KS_") || define.starts_with('_') && !define.starts_with("__HIP");
        self.undefines.is_empty()
            && self.forced_includes.is_empty()
            && self.extra.is_empty()
            && !self.defines.iter().any(reserved)
    }

    /// The arguments for clang, in an order that keeps the meaning of each.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let paths = |flag: &'static str, paths: &[PathBuf]| {
            paths.iter().map(|path| format!("{flag}{}", path.display())).collect::<Vec<_>>()
        };
        let mut arguments = paths("-I", &self.include_folders);
        arguments.extend(paths("-isystem", &self.system_folders));
        arguments.extend(self.defines.iter().map(|define| format!("-D{define}")));
        arguments.extend(self.undefines.iter().map(|name| format!("-U{name}")));
        for path in &self.forced_includes {
            arguments.extend(["-include".to_owned(), path.display().to_string()]);
        }
        arguments.extend_from_slice(&self.extra);
        arguments
    }
}

/// A forced include is looked up in the compiler's folder, then like any other include.
fn forced_include(path: &str, folder: &Path) -> PathBuf {
    let there = folder.join(path);
    if there.exists() { there } else { PathBuf::from(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_flags_are_taken_and_the_rest_is_dropped() {
        let line = "/opt/rocm/bin/hipcc -O2 -Iinc -I ../up -isystem/s -isystem s2 -DA -D B=1 -UC -std=c++14 --std=gnu++20 \
                    --offload-arch=gfx942 -Wall -include pre.h -x hip -fgpu-rdc -o out.o -c main.hip -MD";
        let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let options = CompileOptions::from_command_line(&arguments, Path::new("/p"));
        assert_eq!(
            options,
            CompileOptions {
                include_folders: vec!["/p/inc".into(), "/p/../up".into()],
                system_folders: vec!["/s".into(), "/p/s2".into()],
                defines: vec!["A".into(), "B=1".into()],
                undefines: vec!["C".into()],
                forced_includes: vec!["pre.h".into()],
                standard: Some("gnu++20".into()),
                main: None,
                sources: vec![],
                extra: vec![],
                fibers: false,
                confined: None,
            }
        );
        assert_eq!(
            options.arguments().join(" "),
            "-I/p/inc -I/p/../up -isystem/s -isystem/p/s2 -DA -DB=1 -UC -include pre.h"
        );
    }
}

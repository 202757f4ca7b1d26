//! The parts of a module: functions, variables, metadata.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::IrError;
use super::lines::Lines;
use super::types::{Type, end_of_name, names};

/// A module, as its lines.
pub(super) struct Module<'a> {
    text: &'a str,
    /// All of its lines.
    pub lines: Vec<&'a str>,
    /// Functions that it defines, in the order of the text.
    pub functions: Vec<Definition<'a>>,
    /// From names (`@f`) to their numbers among [`Module::functions`].
    pub by_name: HashMap<&'a str, usize>,
    /// Variables by name.
    pub variables: HashMap<&'a str, Variable<'a>>,
    /// The user's lines.
    pub debug: Lines<'a>,
}

/// A function's place in the text.
pub(super) struct Definition<'a> {
    /// With its `@`.
    pub name: &'a str,
    /// The line of `define`.
    pub first: usize,
    /// The line of the closing brace.
    pub last: usize,
    /// Whether launches call it.
    pub is_kernel: bool,
}

/// A variable of the program.
pub(super) struct Variable<'a> {
    /// Its type, as text.
    pub type_text: &'a str,
    /// What kind of memory it is in.
    pub memory: Memory,
}

/// Where a variable lies on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// `__shared__`
    Shared,
    /// `__constant__`, and what never changes.
    Constant,
    /// All others.
    Global,
    /// Not this program's: the runtime's and the libraries'.
    Foreign,
}

impl<'a> Module<'a> {
    pub fn read(text: &'a str, main: Option<&Path>) -> Result<Self, IrError> {
        let lines: Vec<&str> = text.lines().collect();
        let (mut functions, mut variables, mut nodes) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut annotated = HashSet::new();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            if line.starts_with("define ") {
                let name = defined_name(line).ok_or_else(|| IrError::Malformed(line.into()))?;
                let body = lines[at..].iter().position(|line| *line == "}");
                let last = at + body.ok_or_else(|| IrError::Malformed(line.into()))?;
                functions.push(Definition {
                    name,
                    first: at,
                    last,
                    is_kernel: line.contains(" section \"ks_kernel\""),
                });
                at = last;
            } else if line.starts_with("@llvm.global.annotations") {
                annotated.extend(constant_names(line));
            } else if line.starts_with('@') {
                if let Some((name, variable)) = read_variable(line) {
                    variables.insert(name, variable);
                }
            } else if let Some((number, node)) = read_node(line) {
                nodes.insert(number, node);
            }
            at += 1;
        }
        for name in annotated {
            if let Some(variable) = variables.get_mut(name) {
                variable.memory = Memory::Constant;
            }
        }
        let by_name = functions.iter().enumerate().map(|(number, function)| (function.name, number)).collect();
        Ok(Self { text, lines, functions, by_name, variables, debug: Lines::new(nodes, main) })
    }

    /// The text from one line to the end of another.
    pub fn span(&self, first: usize, last: usize) -> &'a str {
        let offset = |line: &str| line.as_ptr() as usize - self.text.as_ptr() as usize;
        &self.text[offset(self.lines[first])..offset(self.lines[last]) + self.lines[last].len()]
    }

    /// The kernels and all functions that they call, by their numbers, in the order of the text.
    pub fn reachable(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = (0..self.functions.len()).filter(|at| self.functions[*at].is_kernel).collect();
        let mut found: HashSet<usize> = waiting.iter().copied().collect();
        while let Some(number) = waiting.pop() {
            let function = &self.functions[number];
            for line in &self.lines[function.first + 1..function.last] {
                if !line.contains("call ") && !line.contains("invoke ") {
                    continue;
                }
                for name in names(line, '@') {
                    if let Some(callee) = self.by_name.get(name)
                        && found.insert(*callee)
                    {
                        waiting.push(*callee);
                    }
                }
            }
        }
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        found
    }
}

fn defined_name(line: &str) -> Option<&str> {
    let begin = line.find('@')?;
    let name = &line[begin..];
    Some(&name[..end_of_name(name)])
}

/// `@x = internal global [4 x i32] zeroinitializer, section "ks_shared", align 16`
fn read_variable(line: &str) -> Option<(&str, Variable<'_>)> {
    let name = &line[..end_of_name(line)];
    let rest = line[name.len()..].strip_prefix(" = ")?;
    let (head, tail, never_changes) = match (rest.find(" global "), rest.find(" constant ")) {
        (Some(at), constant) if constant.is_none_or(|constant| at < constant) => (&rest[..at], &rest[at + 8..], false),
        (_, Some(at)) => (&rest[..at], &rest[at + 10..], true),
        _ => match rest.strip_prefix("global ") {
            Some(tail) => ("", tail, false),
            None => return None,
        },
    };
    let (_, after) = Type::read(tail);
    let memory = if tail.contains("section \"ks_shared\"") {
        Memory::Shared
    } else if head.split(' ').any(|word| word == "external") {
        Memory::Foreign
    } else if never_changes {
        Memory::Constant
    } else {
        Memory::Global
    };
    Some((name, Variable { type_text: tail[..tail.len() - after.len()].trim(), memory }))
}

/// The variables that are annotated as constant memory: the only annotation that the runtime's headers make.
fn constant_names(line: &str) -> impl Iterator<Item = &str> {
    line.split("{ ptr @").skip(1).filter_map(|entry| {
        let end = entry.find(',')?;
        let begin = entry.as_ptr() as usize - line.as_ptr() as usize;
        Some(&line[begin - 1..begin + end])
    })
}

fn read_node(line: &str) -> Option<(u32, &str)> {
    let (number, node) = line.strip_prefix('!')?.split_once(" = ")?;
    Some((number.parse().ok()?, node))
}

//! A function's basic blocks.

use std::collections::HashMap;

use super::IrError;
use super::instruction::Instruction;
use super::module::{Definition, Module};
use super::types::{end_of_name, names};
use crate::code::Value;

/// A function, cut into instructions.
pub(super) struct Function<'a> {
    /// With its `@`.
    pub name: &'a str,
    /// In the order of the text; the first is the entry.
    pub blocks: Vec<BasicBlock<'a>>,
    /// Values by name.
    pub values: HashMap<&'a str, Value>,
    /// The parameters' names.
    pub parameters: Vec<&'a str>,
    /// Those of them that point to a structure which was passed by value.
    pub by_value: Vec<&'a str>,
    /// Whether launches call it.
    pub is_kernel: bool,
    labels: HashMap<&'a str, usize>,
}

/// Instructions that are run from the first to the last.
#[derive(Default)]
pub(super) struct BasicBlock<'a> {
    /// In order; the last is the terminator.
    pub instructions: Vec<Placed<'a>>,
    /// Where control goes, each block once.
    pub successors: Vec<usize>,
}

/// An instruction and the line where it begins.
pub(super) struct Placed<'a> {
    /// The instruction.
    pub instruction: Instruction<'a>,
    /// Its first line in the module.
    pub line: usize,
}

impl<'a> Function<'a> {
    pub fn read(module: &Module<'a>, definition: &Definition<'a>) -> Result<Self, IrError> {
        let head = module.lines[definition.first];
        let mut blocks = vec![BasicBlock::default()];
        let mut labels: HashMap<&str, usize> = HashMap::new();
        let mut values = HashMap::new();
        let mut at = definition.first + 1;
        while at < definition.last {
            let text = module.lines[at];
            if let Some(label) = label(text) {
                if at > definition.first + 1 {
                    blocks.push(BasicBlock::default());
                }
                labels.insert(label, blocks.len() - 1);
                at += 1;
                continue;
            }
            let last = last_line(&module.lines, at);
            let whole = module.span(at, last);
            if let Some(instruction) = Instruction::read(whole) {
                if let Some(result) = instruction.result {
                    let number = values.len() as Value;
                    values.insert(result, number);
                }
                let block = blocks.last_mut().ok_or_else(|| IrError::Malformed(text.into()))?;
                block.instructions.push(Placed { instruction, line: at });
            }
            at = last + 1;
        }
        let mut function = Self {
            name: definition.name,
            blocks,
            values,
            parameters: parameters(head),
            by_value: by_value(head),
            is_kernel: definition.is_kernel,
            labels,
        };
        function.connect()?;
        Ok(function)
    }

    fn connect(&mut self) -> Result<(), IrError> {
        for block in &mut self.blocks {
            let last = block.instructions.last().ok_or_else(|| IrError::Malformed(self.name.into()))?;
            for label in targets(&last.instruction) {
                let target = *self.labels.get(&label[1..]).ok_or_else(|| IrError::Malformed(label.into()))?;
                if !block.successors.contains(&target) {
                    block.successors.push(target);
                }
            }
        }
        Ok(())
    }

    /// By label (`%5`); the entry may have none in the text.
    pub fn block(&self, label: &str) -> usize {
        self.labels.get(&label[1..]).copied().unwrap_or(0)
    }

    /// The values that an instruction needs, each once.
    pub fn uses(&self, instruction: &Instruction<'_>) -> Vec<Value> {
        let mut uses = Vec::new();
        for name in instruction.operands() {
            if let Some(value) = self.values.get(name)
                && !uses.contains(value)
            {
                uses.push(*value);
            }
        }
        uses
    }
}

impl Placed<'_> {
    pub fn is_phi(&self) -> bool {
        self.instruction.opcode == "phi"
    }
}

/// The operands and labels of a phi.
pub(super) fn incoming<'a>(phi: &Instruction<'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
    phi.rest.split('[').skip(1).filter_map(|pair| {
        let (value, label) = pair.split(']').next()?.rsplit_once(", ")?;
        let label = label.trim();
        label.starts_with('%').then(|| (value.trim(), &label[..end_of_name(label)]))
    })
}

fn targets<'a>(terminator: &Instruction<'a>) -> Vec<&'a str> {
    if !matches!(terminator.opcode, "br" | "switch" | "invoke" | "callbr" | "indirectbr" | "catchswitch" | "cleanupret")
    {
        return Vec::new();
    }
    let after = terminator.rest.split("label ").skip(1);
    after.filter(|text| text.starts_with('%')).map(|text| &text[..end_of_name(text)]).collect()
}

/// `5` of `5:   ; preds = %3`, `a b` of `"a b":`.
fn label(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', ';', '}']) || line.is_empty() {
        return None;
    }
    if let Some(quoted) = line.strip_prefix('"') {
        return quoted.find("\":").map(|_| &line[..quoted.find("\":").unwrap_or(0) + 2]);
    }
    let end = line.find(':')?;
    Some(&line[..end])
}

/// Some instructions go on in further lines.
fn last_line(lines: &[&str], at: usize) -> usize {
    let text = lines[at].trim_start();
    let opcode = if text.starts_with('%') { text.split(" = ").nth(1).unwrap_or_default() } else { text };
    if opcode.starts_with("switch ") && !text.contains(']') {
        let closing = lines[at..].iter().position(|line| line.trim_start().starts_with(']'));
        return at + closing.unwrap_or(0);
    }
    if opcode.starts_with("invoke ") {
        return at + 1;
    }
    if opcode.starts_with("landingpad ") {
        let clauses = lines[at + 1..]
            .iter()
            .take_while(|line| ["catch ", "cleanup", "filter "].iter().any(|word| line.trim_start().starts_with(word)));
        return at + clauses.count();
    }
    at
}

fn parameters(head: &str) -> Vec<&str> {
    let Some(begin) = head.find('@') else { return Vec::new() };
    let end = head.rfind(") ").unwrap_or(head.len());
    names(&head[begin..end.max(begin)], '%').collect()
}

/// The parameters that point to a copy which the caller made: `ptr noundef byval(%struct.Grid) align 8 %0`.
fn by_value(head: &str) -> Vec<&str> {
    // Past the type, which may have a name of its own.
    head.split("byval(").skip(1).filter_map(|after| names(&after[after.find(')')?..], '%').next()).collect()
}

//! Puts [`Code`] and the instrumented text together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use super::classify::{Classifier, Kind, Piece};
use super::divergence::Divergent;
use super::function::{Function, Placed, incoming};
use super::module::{Memory, Module};
use super::types::names;
use super::{IrError, order};
use crate::code::{self, Block, BlockId, Code, Op, OpKind, Phi};

/// Most accesses between two looks at how much room is left; the runtime keeps as much free behind the limit.
const MOST_ACCESSES: usize = 8000;
/// As `trace::Event` marks the beginning of a block.
const ENTERS: u64 = 1 << 63;

/// Instruments all that kernels reach.
pub(super) fn assemble(module: &Module<'_>, code: &mut Code) -> Result<String, IrError> {
    let mut names = Names::default();
    for name in std::mem::take(&mut code.names) {
        names.number(&name);
    }
    let mut inserts = Inserts::default();
    for number in module.reachable() {
        let function = Function::read(module, &module.functions[number])?;
        add(module, &function, code, &mut names, &mut inserts)?;
    }
    code.names = names.all;
    Ok(text(module, &inserts))
}

/// Names of functions, each once.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// What to write before lines of the module.
#[derive(Default)]
struct Inserts {
    before: BTreeMap<usize, String>,
}

impl Inserts {
    fn at(&mut self, line: usize) -> &mut String {
        self.before.entry(line).or_default()
    }

    /// The work-item enters block `id`, which has `accesses`: takes the place for all of its events.
    fn enter(&mut self, line: usize, id: BlockId, accesses: usize) {
        let event = (ENTERS | u64::from(id)).cast_signed();
        let events = accesses + 1;
        let text = format!(
            "  %ks.at.{id} = load ptr, ptr @ks_trace_cursor, align 8\n\
             \x20 %ks.limit.{id} = load ptr, ptr @ks_trace_limit, align 8\n\
             \x20 %ks.fits.{id} = icmp ult ptr %ks.at.{id}, %ks.limit.{id}\n\
             \x20 %ks.next.{id} = getelementptr i64, ptr %ks.at.{id}, i64 {events}\n\
             \x20 %ks.to.{id} = select i1 %ks.fits.{id}, ptr %ks.next.{id}, ptr %ks.at.{id}\n\
             \x20 store ptr %ks.to.{id}, ptr @ks_trace_cursor, align 8\n\
             \x20 store i64 {event}, ptr %ks.at.{id}, align 8\n"
        );
        self.at(line).push_str(&text);
    }

    /// Access `number` of block `id`.
    fn access(&mut self, line: usize, id: BlockId, number: usize, address: &str, offset: u32) {
        let place = number + 1;
        let out = self.at(line);
        let mut put = |text: std::fmt::Arguments<'_>| out.write_fmt(text).unwrap_or_default();
        put(format_args!("  %ks.p.{id}.{number} = getelementptr i64, ptr %ks.at.{id}, i64 {place}\n"));
        if offset == 0 {
            put(format_args!("  store ptr {address}, ptr %ks.p.{id}.{number}, align 8\n"));
        } else {
            put(format_args!(
                "  %ks.a.{id}.{number} = getelementptr i8, ptr {address}, i64 {offset}\n\
                 \x20 store ptr %ks.a.{id}.{number}, ptr %ks.p.{id}.{number}, align 8\n"
            ));
        }
    }
}

/// A part of a basic block that becomes a block.
#[derive(Default)]
struct Segment {
    /// Where it is entered: before this line of the module.
    line: Option<usize>,
    ops: Vec<Op>,
    /// Of each access the line that it stands at, its address, and bytes from it.
    accesses: Vec<(usize, String, u32)>,
}

fn add(
    module: &Module<'_>,
    function: &Function<'_>,
    code: &mut Code,
    names: &mut Names,
    inserts: &mut Inserts,
) -> Result<(), IrError> {
    let divergent = Divergent::find(function);
    let classifier = Classifier::new(module, function, &divergent);
    let number = code.functions.len() as u32;
    let first = code.blocks.len() as BlockId;

    let successors: Vec<_> = function.blocks.iter().map(|block| block.successors.clone()).collect();
    let order = order::order(&successors);
    let mut segments = Vec::new();
    let (mut first_segment, mut last_segment) =
        (vec![first; function.blocks.len()], vec![first; function.blocks.len()]);
    let mut next_id = first;
    for block in &order {
        let parts = cut(&classifier, &function.blocks[*block].instructions, names)?;
        first_segment[*block] = next_id;
        next_id += parts.len() as BlockId;
        last_segment[*block] = next_id - 1;
        segments.push(parts);
    }
    for (block, parts) in order.iter().zip(segments) {
        for (part, segment) in parts.into_iter().enumerate() {
            let id = code.blocks.len() as BlockId;
            if let Some(line) = segment.line {
                inserts.enter(line, id, segment.accesses.len());
            }
            for (place, (line, address, offset)) in segment.accesses.iter().enumerate() {
                inserts.access(*line, id, place, address, *offset);
            }
            let phis = if part == 0 { phis(function, *block, &last_segment) } else { Vec::new() };
            let next = match id == last_segment[*block] {
                true => successors[*block].iter().map(|successor| first_segment[*successor]).collect(),
                false => vec![id + 1],
            };
            code.blocks.push(Block { function: number, phis, ops: segment.ops, next });
        }
    }
    code.functions.push(code::Function {
        symbol: function.name[1..].trim_matches('"').to_owned(),
        first,
        blocks: code.blocks.len() as BlockId - first,
        values: function.values.len() as u32,
    });
    Ok(())
}

/// The parts of a basic block, and what they do.
fn cut(
    classifier: &Classifier<'_, '_>,
    instructions: &[Placed<'_>],
    names: &mut Names,
) -> Result<Vec<Segment>, IrError> {
    let mut segments = vec![Segment::default()];
    for placed in instructions {
        let instruction = &placed.instruction;
        // A block begins behind what must come first in it.
        if placed.is_phi() {
            continue;
        }
        let last = segments.len() - 1;
        let segment = &mut segments[last];
        if instruction.opcode != "landingpad" {
            segment.line.get_or_insert(placed.line);
        }
        let pieces = classifier.pieces(instruction)?;
        let uniform = !classifier.divergent.depends(instruction);
        let calls = matches!(pieces.first(), Some(Piece { kind: Kind::Instrumented, .. }));
        let count = pieces.len();
        for (number, piece) in pieces.into_iter().enumerate() {
            let kind = match piece.kind {
                Kind::Op(kind) => kind,
                Kind::Named(name) => OpKind::Call(names.number(&name)),
                Kind::Instrumented => OpKind::Branch { conditional: false },
            };
            if let Some((address, offset)) = piece.address {
                segment.accesses.push((placed.line, address, offset));
            }
            let value = instruction.result.filter(|_| number + 1 == count);
            segment.ops.push(Op {
                kind,
                value: value.and_then(|result| classifier.function.values.get(result).copied()),
                uses: classifier.function.uses(instruction),
                line: instruction.location.map_or(0, |location| classifier.module.debug.line(location)),
                uniform,
            });
        }
        let full = segment.accesses.len() > MOST_ACCESSES;
        // An invoke is the last instruction of its block, which goes on elsewhere.
        if (calls && instruction.opcode == "call") || full {
            segments.push(Segment::default());
        }
    }
    Ok(segments)
}

fn phis(function: &Function<'_>, block: usize, last_segment: &[BlockId]) -> Vec<Phi> {
    let all = function.blocks[block].instructions.iter().take_while(|placed| placed.is_phi());
    all.filter_map(|placed| {
        let value = *function.values.get(placed.instruction.result?)?;
        let from = incoming(&placed.instruction)
            .filter_map(|(operand, label)| {
                let operand = names(operand, '%').next()?;
                Some((last_segment[function.block(label)], *function.values.get(operand)?))
            })
            .collect();
        Some(Phi { value, from })
    })
    .collect()
}

/// The module with what was inserted, for the host.
fn text(module: &Module<'_>, inserts: &Inserts) -> String {
    let added: usize = inserts.before.values().map(String::len).sum();
    let size: usize = module.lines.iter().map(|line| line.len() + 1).sum();
    let mut text = String::with_capacity(size + added + 4096);
    for (number, line) in module.lines.iter().enumerate() {
        if let Some(before) = inserts.before.get(&number) {
            text.push_str(before);
        }
        if line.starts_with("target triple") {
            text.push_str("target triple = \"x86_64-pc-linux-gnu\"");
        } else if line.starts_with("attributes #") {
            text.push_str(&host_attributes(line));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text.push_str("\n@ks_trace_cursor = external global ptr\n@ks_trace_limit = external global ptr\n");
    text.push_str(&variables(module));
    text
}

/// Instrumented functions write memory, whatever the optimiser has found; and the host decides how code is made for it.
fn host_attributes(line: &str) -> String {
    let mut out = line.to_owned();
    while let Some(begin) = out.find(" memory(") {
        let end = out[begin..].find(')').map_or(out.len(), |end| begin + end + 1);
        out.replace_range(begin..end, "");
    }
    for name in [" \"target-cpu\"=\"", " \"target-features\"=\"", " \"tune-cpu\"=\""] {
        if let Some(begin) = out.find(name) {
            let value = begin + name.len();
            let end = out[value..].find('"').map_or(out.len(), |end| value + end + 1);
            out.replace_range(begin..end, "");
        }
    }
    // A group may not be empty.
    out.replace("{ }", "{ \"ks\" }")
}

/// Tells the runtime where the variables lie that kernels name.
fn variables(module: &Module<'_>) -> String {
    let mut found = BTreeSet::new();
    for number in module.reachable() {
        let function = &module.functions[number];
        for line in &module.lines[function.first..function.last] {
            found.extend(names(line, '@').filter(|name| module.variables.contains_key(name)));
        }
    }
    let entries: Vec<String> = found
        .into_iter()
        .filter_map(|name| Some((name, module.variables.get(name)?)))
        .filter(|(_, variable)| matches!(variable.memory, Memory::Constant | Memory::Global))
        .map(|(name, variable)| {
            let constant = u32::from(variable.memory == Memory::Constant);
            let size = format!("ptrtoint (ptr getelementptr ({}, ptr null, i64 1) to i64)", variable.type_text);
            format!("{{ ptr, i64, i64 }} {{ ptr {name}, i64 {size}, i64 {constant} }}")
        })
        .collect();
    if entries.is_empty() {
        return String::new();
    }
    let count = entries.len();
    format!(
        "\n@ks.variables = internal constant [{count} x {{ ptr, i64, i64 }}] [{}]\n\
         @ks.begin = internal constant ptr @ks.register, section \".init_array\"\n\
         declare void @ks_trace_register(ptr, i64)\n\
         define internal void @ks.register() {{\n  call void @ks_trace_register(ptr @ks.variables, i64 {count})\n  ret void\n}}\n",
        entries.join(", ")
    )
}

//! What sets a block's size: a constant, or the same number wherever it is written.

use std::ops::Range;

use hip_syntax::Edit;
use tree_sitter::Node;

use super::block::{Extents, mentions_through, through};
use super::code::{Code, Kernel, Launch, around, inside, of_kind};
use super::constant::{self, Constant};
use super::place::{Refusal, require, ruled_out};

/// Something in a file that can be given another value, with all that follows it.
#[derive(Clone)]
pub(crate) struct Knob<'c> {
    /// The constant's name, or the number.
    pub(crate) label: String,
    pub(crate) value: i64,
    /// Names that stand for the value.
    pub(crate) names: Vec<&'c str>,
    /// Places that hold the value, or the value plus the number beside them.
    written: Vec<(Range<usize>, i64)>,
}

impl<'c> Knob<'c> {
    /// A constant as a knob.
    pub(crate) fn of_constant(constant: &Constant<'c>) -> Self {
        Self {
            label: constant.name.to_owned(),
            value: constant.value,
            names: vec![constant.name],
            written: vec![(constant.range.clone(), 0)],
        }
    }

    /// What sets the block of a kernel's launches.
    pub(crate) fn of_block(code: &'c Code, kernel: &Kernel<'c>, launches: &[Launch<'c>]) -> Result<Self, Refusal> {
        let first = launches.first().ok_or(Refusal::NotHere)?;
        let block = Extents::of_block(code, first).ok_or(Refusal::NotHere)?;
        let extent = *block.written.first().ok_or(Refusal::NotHere)?;
        if extent.kind() == "number_literal" {
            return Self::of_number(
                code,
                kernel,
                launches,
                constant::literal(code.of(extent)).ok_or(Refusal::NotHere)?,
            );
        }
        let mut found: Vec<Constant<'c>> = Vec::new();
        for node in through(code, extent) {
            found.extend(names_in(code, node).into_iter().filter_map(|name| constant::find(code, name, extent)));
        }
        found.dedup_by_key(|constant| constant.name);
        match found.as_slice() {
            [one] => Ok(Self::of_constant(one)),
            _ => ruled_out("the block size is not made of one constant"),
        }
    }

    /// The number of threads written out in each launch: in block, grid and dynamic shared memory, and as the argument of
    /// a template's parameter that is named for the block or its threads.
    fn of_number(code: &'c Code, kernel: &Kernel<'c>, launches: &[Launch<'c>], value: i64) -> Result<Self, Refusal> {
        let mut knob = Self { label: value.to_string(), value, names: Vec::new(), written: Vec::new() };
        let about = code.about(kernel).ok_or(Refusal::NotHere)?;
        for launch in launches {
            let function = around(launch.node, &["function_definition"]).ok_or(Refusal::NotHere)?;
            let alone = code.syntax_launches_in(function).iter().all(|other| other.kernel == kernel.name);
            for part in [Some(launch.grid), Some(launch.block), launch.shared].into_iter().flatten() {
                // What the launch is given by a variable may be given to other kernels too.
                require(alone || part.kind() != "identifier", "other kernels are launched with the same variables")?;
                for number in through(code, part).into_iter().flat_map(|node| of_kind(node, "number_literal")) {
                    let offset = constant::literal(code.of(number)).map(|found| found - value);
                    knob.written.extend(
                        offset.filter(|offset| [0, -1].contains(offset)).map(|offset| (number.byte_range(), offset)),
                    );
                }
            }
            for (argument, param) in launch.template_arguments.iter().zip(&about.template_params) {
                let name = param.name.to_lowercase();
                if constant::literal(code.of(*argument)) == Some(value) {
                    let is_block = name.contains("block") || name.contains("thread");
                    require(
                        is_block,
                        format!("the template's argument {value} for `{}` may mean something else", param.name),
                    )?;
                    knob.written.push((argument.byte_range(), 0));
                    knob.names.push(&param.name);
                }
            }
            let counted = |number: &Node<'_>| knob.written.iter().any(|(range, _)| *range == number.byte_range());
            let same = |number: &Node<'_>| constant::literal(code.of(*number)) == Some(value);
            let others =
                of_kind(function, "number_literal").into_iter().any(|number| same(&number) && !counted(&number));
            require(!others, format!("{value} also stands elsewhere beside the launch and may mean the block size"))?;
        }
        knob.names.dedup();
        knob.written.sort_by_key(|(range, _)| range.start);
        knob.written.dedup();
        Ok(knob)
    }

    /// The kernels that it means something to, in order: those that use it, and those with a launch that follows it.
    pub(crate) fn users(&self, code: &'c Code) -> Vec<Kernel<'c>> {
        let written = self.written.iter().filter_map(|(range, _)| code.node_at(range));
        let written = written.filter_map(|node| around(node, &["function_definition"]));
        let functions = self.names.iter().flat_map(|name| code.users(name)).chain(written);
        let mut kernels: Vec<Kernel<'c>> = Vec::new();
        for function in functions {
            let launched = code.launches_in(function).into_iter();
            let launched = launched.filter(|(_, launch)| self.moves(code, launch.node)).map(|(kernel, _)| kernel);
            for kernel in code.kernel_at(function).into_iter().chain(launched) {
                if kernels.iter().all(|other| other.node != kernel.node) {
                    kernels.push(kernel);
                }
            }
        }
        kernels.sort_by_key(|kernel| kernel.node.start_byte());
        kernels
    }

    /// What tells it from all others of its text.
    pub(crate) fn question(&self, about: &str) -> String {
        format!("{about} {} {:?} {:?}", self.label, self.names, self.written)
    }

    /// Gives it another value, and the declared bounds of its kernels' blocks with it.
    pub(crate) fn set(&self, code: &'c Code, value: i64) -> Vec<Edit> {
        let bounds = code.once(&self.question("bounds"), || Ok(self.bounds(code))).unwrap_or_default();
        let stale = bounds.chunks_exact(2).map(|range| range[0] as usize..range[1] as usize);
        let stale = stale.map(|bound| Edit::replace(bound, value.to_string()));
        let written =
            self.written.iter().map(|(range, offset)| Edit::replace(range.clone(), (value + offset).to_string()));
        written.chain(stale).collect()
    }

    /// First and last byte of the value in each `__launch_bounds__` of its kernels.
    fn bounds(&self, code: &'c Code) -> Vec<i64> {
        let declared = |kernel: Kernel<'c>| code.about(&kernel)?.launch_bounds.as_ref()?.args.first().cloned();
        let bounds = self.users(code).into_iter().filter_map(declared);
        let stale = bounds.filter(|bound| constant::literal(&code.text()[bound.clone()]) == Some(self.value));
        stale.flat_map(|bound| [bound.start as i64, bound.end as i64]).collect()
    }

    /// Whether an expression follows the knob, itself or through the variables it is made of.
    pub(crate) fn moves(&self, code: &Code, node: Node<'_>) -> bool {
        let written = || through(code, node).into_iter().any(|part| self.stands_in(part));
        self.names.iter().any(|name| mentions_through(code, node, name)) || written()
    }

    fn stands_in(&self, node: Node<'_>) -> bool {
        self.written.iter().any(|(range, _)| node.start_byte() <= range.start && range.end <= node.end_byte())
    }

    /// Whether an expression is the knob's value itself.
    pub(crate) fn is_it(&self, code: &Code, node: Node<'_>) -> bool {
        self.names.contains(&code.of(node)) || self.written.contains(&(node.byte_range(), 0))
    }

    /// Checks that no number or other constant of the same value stands in a function; it may mean the same.
    pub(crate) fn check_numbers(&self, code: &Code, node: Node<'_>) -> Result<(), Refusal> {
        // Its neighbours and its square may be made from it: a tile's border, the threads of a block.
        let kin = [self.value, self.value - 1, self.value + 1, self.value + 2, self.value * self.value];
        let numbers =
            of_kind(node, "number_literal").into_iter().filter_map(|number| constant::literal(code.of(number)));
        match numbers.into_iter().find(|number| kin.contains(number)) {
            Some(number) if number == self.value => {
                return ruled_out(format!(
                    "{number} also stands as a number in the kernel and may mean the block size"
                ));
            }
            Some(number) => return ruled_out(format!("{number} in the kernel may be made from `{}`", self.label)),
            None => {}
        }
        let twins = of_kind(node, "identifier").into_iter().filter(|node| !self.names.contains(&code.of(*node)));
        let mut twins = twins.filter_map(|node| constant::find(code, code.of(node), node));
        match twins.find(|other| other.value == self.value) {
            Some(twin) => {
                ruled_out(format!("`{}` has the same value and may have to follow `{}`", twin.name, self.label))
            }
            None => Ok(()),
        }
    }

    /// Whether every array of fixed size in LDS follows the knob.
    pub(crate) fn sizes_arrays(&self, code: &Code, function: Node<'_>) -> bool {
        let shared = of_kind(function, "declaration").into_iter().filter(|node| code.of(*node).contains("__shared__"));
        let fixed = shared.filter(|node| !code.of(*node).contains("extern"));
        fixed.into_iter().all(|node| self.names.iter().any(|name| code.mentions(node, name)))
    }

    /// Checks that the host's code holds no `/ 256` or `+ 255` that would not follow.
    pub(crate) fn check_divisions(&self, code: &Code, function: Node<'_>) -> Result<(), Refusal> {
        let means_it = |node: Node<'_>| {
            let (operator, right) = (node.child_by_field_name("operator"), node.child_by_field_name("right"));
            let Some((operator, right)) = operator.zip(right).filter(|(_, right)| !self.stands_in(*right)) else {
                return false;
            };
            let value = constant::literal(code.of(right));
            match code.of(operator) {
                "/" | "%" => value == Some(self.value),
                "+" | "-" | "&" => value == Some(self.value - 1),
                _ => false,
            }
        };
        let found = of_kind(function, "binary_expression").into_iter().any(means_it);
        require(!found, format!("the host's code divides by the number {} beside `{}`", self.value, self.label))
    }

    /// Whether problems need not be multiples of the knob: every division by it rounds up.
    pub(crate) fn rounds_up(&self, code: &Code) -> bool {
        let mut less_one: Vec<String> =
            self.names.iter().flat_map(|name| [format!("{name}-1"), format!("({name}-1)")]).collect();
        less_one.push(format!("+{}", self.value - 1));
        let is_fine = |node: &Node<'_>| {
            let by_it = node.child_by_field_name("right").is_some_and(|right| self.is_it(code, right));
            let is_division =
                node.child_by_field_name("operator").is_some_and(|operator| code.of(operator) == "/") && by_it;
            let above =
                node.child_by_field_name("left").map(|left| code.of(left).split_whitespace().collect::<String>());
            !is_division || above.is_some_and(|above| less_one.iter().any(|end| above.contains(end.as_str())))
        };
        let named = self.names.iter().flat_map(|name| code.uses(code.root(), name));
        let written = self.written.iter().filter_map(|(range, _)| code.node_at(range));
        let divisions = named.chain(written).filter_map(|node| node.parent());
        divisions.filter(|node| node.kind() == "binary_expression").all(|node| is_fine(&node))
    }
}

/// The elements of global memory that a kernel touches: those of pointer parameters and of pointers made from them.
pub(crate) fn global_places<'c>(code: &'c Code, kernel: &Kernel<'c>) -> Vec<Node<'c>> {
    let params = code.params(kernel);
    let mut pointers: Vec<&str> = params.iter().filter(|param| param.is_pointer).map(|param| param.name).collect();
    let locals = code.locals(kernel.body);
    pointers.extend(locals.iter().filter(|local| local.shape.kind() == "pointer_declarator").map(|local| local.name));
    let is_global = |node: &Node<'c>| code.base(*node).is_some_and(|base| pointers.contains(&base));
    let places = ["subscript_expression", "pointer_expression"].iter().flat_map(|kind| of_kind(kernel.body, kind));
    places.filter(|node| !code.of(*node).starts_with('&')).filter(is_global).collect()
}

/// Whether every access of a kernel to global memory stands under a condition, so that a grid may reach past the problem.
pub(crate) fn is_guarded(code: &Code, kernel: &Kernel<'_>) -> bool {
    let conditional = ["if_statement", "conditional_expression", "for_statement"];
    let guarded = |node: Node<'_>| around(node, &conditional).is_some_and(|around| inside(around, kernel.body));
    let leaves_early = !of_kind(kernel.body, "return_statement").is_empty();
    leaves_early || global_places(code, kernel).into_iter().all(guarded)
}

fn names_in<'c>(code: &'c Code, node: Node<'c>) -> Vec<&'c str> {
    ["identifier", "type_identifier"].iter().flat_map(|kind| of_kind(node, kind)).map(|name| code.of(name)).collect()
}

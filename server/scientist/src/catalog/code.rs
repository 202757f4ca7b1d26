//! A text under the catalog's eyes: its syntax tree, kernels and launches, and the questions that conditions ask of them.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use hip_syntax::{LaunchKind, Syntax};
use tree_sitter::Node;

use super::numbering::asks_for_threads;
use super::outside::Outside;
use super::place::Refusal;

/// A parsed source text.
pub(crate) struct Code {
    syntax: Syntax,
    /// Where each name is used, in order of the text. Conditions ask for names all over the file, for each kernel again.
    names: OnceCell<HashMap<String, Vec<Range<usize>>>>,
    /// The launches of each kernel, by their numbers in the syntax.
    launches: OnceCell<HashMap<String, Vec<usize>>>,
    /// How many kernels have a name.
    kernels: OnceCell<HashMap<String, usize>>,
    macros_with_threads: OnceCell<Vec<String>>,
    macros_that_leave: OnceCell<Vec<String>>,
    /// The constants of each name, by their numbers in the syntax.
    constants: OnceCell<HashMap<String, Vec<usize>>>,
    /// Names that the text undefines somewhere.
    undefined: OnceCell<HashSet<String>>,
    functions: OnceCell<HashMap<String, Vec<usize>>>,
    methods_with_threads: OnceCell<bool>,
    outside: Option<Outside>,
    answers: RefCell<HashMap<String, Result<Vec<i64>, Refusal>>>,
}

/// One `__global__` function with a body.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'c> {
    pub(crate) name: &'c str,
    /// The `function_definition`.
    pub(crate) node: Node<'c>,
    /// Its `compound_statement`.
    pub(crate) body: Node<'c>,
}

/// One parameter of a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Param<'c> {
    pub(crate) name: &'c str,
    pub(crate) node: Node<'c>,
    /// The identifier inside the declarator.
    pub(crate) identifier: Node<'c>,
    pub(crate) is_pointer: bool,
    pub(crate) is_restrict: bool,
}

/// One launch, by `<<<>>>` or `hipLaunchKernelGGL`.
#[derive(Clone)]
pub(crate) struct Launch<'c> {
    /// The whole call.
    pub(crate) node: Node<'c>,
    pub(crate) grid: Node<'c>,
    pub(crate) block: Node<'c>,
    /// Dynamic shared memory, where it is given.
    pub(crate) shared: Option<Node<'c>>,
    pub(crate) arguments: Vec<Node<'c>>,
    pub(crate) template_arguments: Vec<Node<'c>>,
}

impl Code {
    /// Parses a text. Broken text parses too; its unreadable parts are `ERROR` nodes.
    pub(crate) fn parse(text: &str) -> Self {
        Self {
            syntax: Syntax::parse(text),
            names: OnceCell::new(),
            launches: OnceCell::new(),
            kernels: OnceCell::new(),
            macros_with_threads: OnceCell::new(),
            macros_that_leave: OnceCell::new(),
            constants: OnceCell::new(),
            undefined: OnceCell::new(),
            functions: OnceCell::new(),
            methods_with_threads: OnceCell::new(),
            outside: None,
            answers: RefCell::default(),
        }
    }

    /// With a launch that stands outside the text.
    pub(crate) fn launched_outside(mut self, outside: Option<Outside>) -> Self {
        self.outside = outside;
        self
    }

    /// The launch of a kernel that stands outside the text.
    pub(crate) fn outside(&self, kernel: &str) -> Option<&Outside> {
        self.outside.as_ref().filter(|outside| outside.kernel == kernel)
    }

    pub(crate) fn syntax(&self) -> &Syntax {
        &self.syntax
    }

    pub(crate) fn text(&self) -> &str {
        self.syntax.text()
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.syntax.tree().root_node()
    }

    pub(crate) fn of(&self, node: Node<'_>) -> &str {
        &self.text()[node.byte_range()]
    }

    /// The innermost node with exactly these bytes.
    pub(crate) fn node_at(&self, range: &Range<usize>) -> Option<Node<'_>> {
        self.root().descendant_for_byte_range(range.start, range.end).filter(|node| node.byte_range() == *range)
    }

    /// Line of a byte, from 1.
    pub(crate) fn line(&self, byte: usize) -> u32 {
        self.syntax.line_of(byte)
    }

    /// The blanks that the line of a byte starts with.
    pub(crate) fn indent(&self, byte: usize) -> &str {
        let start = self.text()[..byte].rfind('\n').map_or(0, |at| at + 1);
        let line = &self.text()[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The kernels whose structure can be read, in order.
    pub(crate) fn kernels(&self) -> Vec<Kernel<'_>> {
        let whole = self.syntax.kernels().iter().filter(|kernel| kernel.complete);
        whole.filter_map(|found| self.kernel(found)).collect()
    }

    fn kernel<'c>(&'c self, found: &'c hip_syntax::Kernel) -> Option<Kernel<'c>> {
        let (node, body) = self.function_at(&found.body).filter(|_| found.complete)?;
        Some(Kernel { name: &found.name, node, body })
    }

    /// The device functions of the file that a kernel calls, directly or not, as far as their structure can be read.
    pub(crate) fn callees<'c>(&'c self, kernel: &Kernel<'c>) -> Vec<Kernel<'c>> {
        let mut found: Vec<Kernel<'c>> = Vec::new();
        let mut waiting = vec![*kernel];
        while let Some(caller) = waiting.pop() {
            for name in self.called(caller.body) {
                let Some((node, body)) = self.device_function(name) else { continue };
                if !found.iter().any(|other| other.node == node) {
                    found.push(Kernel { name, node, body });
                    waiting.push(Kernel { name, node, body });
                }
            }
        }
        found
    }

    /// The one device function of a name.
    fn device_function(&self, name: &str) -> Option<(Node<'_>, Node<'_>)> {
        let all = self.syntax.functions();
        let numbers = self.functions.get_or_init(|| by_name(all.iter().map(|function| function.name.as_str())));
        let [number] = numbers.get(name)?.as_slice() else { return None };
        let function = &all[*number];
        self.function_at(&function.body).filter(|_| function.is_device && !function.is_kernel)
    }

    /// The kernels that run a function: itself, or those that call it, directly or not.
    pub(crate) fn kernels_that_reach<'c>(&'c self, function: &Kernel<'c>) -> Vec<Kernel<'c>> {
        let mut reached = vec![function.node];
        let mut next = 0;
        while let Some(node) = reached.get(next).copied() {
            let head = of_kind(node, "function_declarator").into_iter().next();
            for user in head.and_then(declared_name).map(|name| self.users(self.of(name))).unwrap_or_default() {
                if !reached.contains(&user) {
                    reached.push(user);
                }
            }
            next += 1;
        }
        let reaches = |kernel: &Kernel<'c>| {
            kernel.node == function.node || self.callees(kernel).iter().any(|callee| callee.node == function.node)
        };
        reached.into_iter().filter_map(|node| self.kernel_at(node)).filter(reaches).collect()
    }

    /// The kernel whose `function_definition` a node is.
    pub(crate) fn kernel_at<'c>(&'c self, node: Node<'c>) -> Option<Kernel<'c>> {
        let start = node.child_by_field_name("body")?.start_byte();
        let kernels = self.syntax.kernels();
        let found = kernels.get(kernels.partition_point(|kernel| kernel.body.start < start))?;
        self.kernel(found).filter(|kernel| kernel.node == node)
    }

    /// What the syntax says of a kernel.
    pub(crate) fn about(&self, kernel: &Kernel<'_>) -> Option<&hip_syntax::Kernel> {
        let kernels = self.syntax.kernels();
        let start = kernel.body.start_byte();
        kernels.get(kernels.partition_point(|found| found.body.start < start)).filter(|found| found.body.start == start)
    }

    /// The constants of a name, in order.
    pub(crate) fn constants_named(&self, name: &str) -> Vec<&hip_syntax::Constant> {
        let all = self.syntax.constants();
        let numbers = self.constants.get_or_init(|| by_name(all.iter().map(|constant| constant.name.as_str())));
        numbers.get(name).into_iter().flatten().map(|number| &all[*number]).collect()
    }

    /// Whether the text undefines a macro somewhere.
    pub(crate) fn is_undefined(&self, name: &str) -> bool {
        let undefined = self.undefined.get_or_init(|| {
            let lines = self.text().lines().filter_map(|line| line.trim_start().strip_prefix('#'));
            let names = lines.filter_map(|line| line.trim_start().strip_prefix("undef"));
            names.filter_map(|rest| rest.split_whitespace().next()).map(str::to_owned).collect()
        });
        undefined.contains(name)
    }

    /// The functions that a name is used in, each once, in order.
    pub(crate) fn users(&self, name: &str) -> Vec<Node<'_>> {
        let uses = self.uses(self.root(), name).into_iter();
        let mut functions: Vec<Node<'_>> = uses.filter_map(|used| around(used, &["function_definition"])).collect();
        functions.dedup();
        functions
    }

    /// Works an answer out once for each question: what holds of a constant of the file is asked for by each kernel that
    /// uses it.
    pub(crate) fn once(
        &self,
        question: &str,
        answer: impl FnOnce() -> Result<Vec<i64>, Refusal>,
    ) -> Result<Vec<i64>, Refusal> {
        if let Some(known) = self.answers.borrow().get(question) {
            return known.clone();
        }
        let found = answer();
        self.answers.borrow_mut().insert(question.to_owned(), found.clone());
        found
    }

    fn function_at(&self, body: &Range<usize>) -> Option<(Node<'_>, Node<'_>)> {
        let body = self.node_at(body).filter(|body| body.kind() == "compound_statement")?;
        let node = body.parent().filter(|node| node.kind() == "function_definition" && !node.has_error())?;
        Some((node, body))
    }

    /// A kernel's parameters, in order.
    pub(crate) fn params<'c>(&'c self, kernel: &Kernel<'c>) -> Vec<Param<'c>> {
        let Some(list) = of_kind(kernel.node, "parameter_list").into_iter().next() else { return Vec::new() };
        let named = |node: Node<'c>| {
            let identifier = of_kind(node.child_by_field_name("declarator")?, "identifier").pop()?;
            Some(Param {
                name: self.of(identifier),
                node,
                identifier,
                is_pointer: !of_kind(node, "pointer_declarator").is_empty(),
                is_restrict: self.of(node).contains("restrict"),
            })
        };
        named_children(list).into_iter().filter_map(named).collect()
    }

    /// Every launch of a kernel; none where there may be others than those that can be read: in macros, by pointers to the
    /// kernel, of another kernel by the same name, or in a benchmark file.
    pub(crate) fn launches_of(&self, kernel: &str) -> Vec<Launch<'_>> {
        let numbers =
            self.launches.get_or_init(|| by_name(self.syntax.launches().iter().map(|launch| launch.kernel.as_str())));
        let numbers = numbers.get(kernel);
        let all = || numbers.into_iter().flatten().map(|number| &self.syntax.launches()[*number]);
        let is_one = self.kernels.get_or_init(|| self.kernels_by_name()).get(kernel) == Some(&1);
        let is_expected = |used: &Node<'_>| {
            let is_launch = all().any(|launch| within(used, &launch.kernel_range));
            is_launch || around(*used, &["function_declarator"]).is_some_and(|head| declared_name(head) == Some(*used))
        };
        if !is_one || all().next().is_none() || self.outside(kernel).is_some() {
            return Vec::new();
        }
        let launches: Option<Vec<_>> = all().map(|launch| self.launch(launch)).collect();
        let uses = self.uses(self.root(), kernel);
        launches.filter(|_| uses.iter().all(is_expected)).unwrap_or_default()
    }

    /// The launches in a function of kernels that this file alone launches, with the kernels.
    pub(crate) fn launches_in<'c>(&'c self, function: Node<'c>) -> Vec<(Kernel<'c>, Launch<'c>)> {
        let mut names: Vec<&str> =
            self.syntax_launches_in(function).iter().map(|launch| launch.kernel.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let of_kernel = |name: &str| {
            let kernel = self.functions_named(name).into_iter().find_map(|node| self.kernel_at(node));
            let launches = self.launches_of(name).into_iter().filter(|launch| inside(launch.node, function));
            kernel.map(|kernel| launches.map(|launch| (kernel, launch)).collect::<Vec<_>>()).unwrap_or_default()
        };
        names.into_iter().flat_map(of_kernel).collect()
    }

    /// All launches under a node, of whatever kernel.
    pub(crate) fn syntax_launches_in(&self, node: Node<'_>) -> &[hip_syntax::Launch] {
        let all = self.syntax.launches();
        let before = |byte: usize| all.partition_point(|launch| launch.range.start < byte);
        &all[before(node.start_byte())..before(node.end_byte())]
    }

    fn kernels_by_name(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for kernel in self.syntax.kernels() {
            *counts.entry(kernel.name.clone()).or_default() += 1;
        }
        counts
    }

    fn launch<'c>(&'c self, launch: &'c hip_syntax::Launch) -> Option<Launch<'c>> {
        if launch.in_macro || launch.kind == LaunchKind::Pointer {
            return None;
        }
        let node = |range: &Range<usize>| self.node_at(range);
        Some(Launch {
            node: node(&launch.range)?,
            grid: node(launch.grid.as_ref()?)?,
            block: node(launch.block.as_ref()?)?,
            shared: launch.shared.as_ref().and_then(node),
            arguments: launch.args.iter().map(node).collect::<Option<_>>()?,
            template_arguments: launch.template_args.iter().map(node).collect::<Option<_>>()?,
        })
    }

    /// The plain name in `k`, `k<T>`, `ns::k<T>` or `(k<T>)`.
    fn function_name<'c>(&'c self, node: Node<'c>) -> Option<&'c str> {
        let inner = match node.kind() {
            "identifier" => return Some(self.of(node)),
            "template_function" | "qualified_identifier" => node.child_by_field_name("name")?,
            "parenthesized_expression" => node.named_child(0)?,
            _ => return None,
        };
        self.function_name(inner)
    }

    /// Names of the type parameters of the template that a node stands in.
    pub(crate) fn params_of_template<'c>(&'c self, node: Node<'c>) -> Vec<&'c str> {
        let Some(template) = around(node, &["template_declaration"]) else { return Vec::new() };
        let params = of_kind(template, "type_parameter_declaration").into_iter();
        params.filter_map(|param| param.named_child(0)).map(|name| self.of(name)).collect()
    }

    /// Names of the functions called under a node.
    pub(crate) fn called<'c>(&'c self, node: Node<'c>) -> Vec<&'c str> {
        let name = |call: Node<'c>| self.function_name(call.child_by_field_name("function")?);
        of_kind(node, "call_expression").into_iter().filter_map(name).collect()
    }

    /// Whether a node contains a call of the function.
    pub(crate) fn calls(&self, node: Node<'_>, name: &str) -> bool {
        of_kind(node, "call_expression")
            .into_iter()
            .any(|call| call.child_by_field_name("function").is_some_and(|function| self.of(function) == name))
    }

    /// Uses of a name under a node.
    pub(crate) fn uses<'c>(&'c self, node: Node<'c>, name: &str) -> Vec<Node<'c>> {
        let uses = self.names.get_or_init(|| self.uses_by_name()).get(name).map_or(&[] as &[_], Vec::as_slice);
        let first = uses.partition_point(|used| used.start < node.start_byte());
        let under = uses[first..].iter().take_while(|used| used.end <= node.end_byte());
        under.filter_map(|used| self.node_at(used)).collect()
    }

    /// The definitions of functions by a name, as far as their structure can be read.
    pub(crate) fn functions_named(&self, name: &str) -> Vec<Node<'_>> {
        let all = self.syntax.functions();
        let numbers = self.functions.get_or_init(|| by_name(all.iter().map(|function| function.name.as_str())));
        let named = numbers.get(name).into_iter().flatten();
        named.filter_map(|number| self.function_at(&all[*number].body)).map(|(node, _)| node).collect()
    }

    /// Whether a type of the file asks for a thread's number in its methods, or synchronises there. Who calls a method
    /// cannot be told from its name.
    pub(crate) fn has_methods_with_threads(&self) -> bool {
        *self.methods_with_threads.get_or_init(|| {
            let types = of_kind(self.root(), "field_declaration_list").into_iter();
            types.flat_map(everything).any(|part| part.child_count() == 0 && asks_for_threads(self.of(part)))
        })
    }

    /// Names of all functions called under a node and in the functions of the file that are called there.
    pub(crate) fn all_called<'c>(&'c self, node: Node<'c>) -> Vec<&'c str> {
        let mut names: Vec<&'c str> = Vec::new();
        let mut waiting = vec![node];
        while let Some(next) = waiting.pop() {
            for name in self.called(next) {
                if !names.contains(&name) {
                    names.push(name);
                    waiting.extend(self.functions_named(name));
                }
            }
        }
        names
    }

    /// Macros that ask for a thread's number or synchronise, themselves or by other macros.
    pub(crate) fn macros_with_threads(&self) -> &[String] {
        self.macros_with_threads.get_or_init(|| self.macros_with(asks_for_threads))
    }

    /// The macro that a kernel uses and that may leave the kernel or a loop: no statement of the tree says so.
    pub(crate) fn macro_that_leaves(&self, kernel: &Kernel<'_>) -> Option<&str> {
        let leaves = |word: &str| ["return", "break", "continue", "goto"].contains(&word);
        let macros = self.macros_that_leave.get_or_init(|| self.macros_with(leaves));
        macros.iter().map(String::as_str).find(|name| self.mentions(kernel.body, name))
    }

    /// Macros in whose bodies such a word stands, or the name of another one of them.
    fn macros_with(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let definitions: Vec<Node<'_>> =
            ["preproc_def", "preproc_function_def"].iter().flat_map(|kind| of_kind(self.root(), kind)).collect();
        let mut found: Vec<String> = Vec::new();
        loop {
            let before = found.len();
            for definition in &definitions {
                let Some(name) = definition.child_by_field_name("name").map(|name| self.of(name)) else { continue };
                let value = definition.child_by_field_name("value").map_or("", |value| self.of(value));
                let mut words = value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                let holds = words.any(|word| is_wanted(word) || found.iter().any(|other| other == word));
                if holds && !found.iter().any(|other| other == name) {
                    found.push(name.to_owned());
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    fn uses_by_name(&self) -> HashMap<String, Vec<Range<usize>>> {
        let mut names: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        // `dim3 block(TILE, TILE)` reads as a function's declaration: there the name is a type's.
        for found in everything(self.root()) {
            if ["identifier", "type_identifier"].contains(&found.kind()) {
                names.entry(self.of(found).to_owned()).or_default().push(found.byte_range());
            }
        }
        names
    }

    /// Whether a name is used under a node.
    pub(crate) fn mentions(&self, node: Node<'_>, name: &str) -> bool {
        !self.uses(node, name).is_empty()
    }

    /// The places under a node that change a variable: left sides, `++`, and operands of `&`. Declarations are not among them.
    pub(crate) fn writes<'c>(&'c self, node: Node<'c>) -> Vec<Write<'c>> {
        let target = |node: Node<'c>| {
            let place = match node.kind() {
                "assignment_expression" => node.child_by_field_name("left"),
                "update_expression" => node.child_by_field_name("argument"),
                "pointer_expression" if self.of(node).starts_with('&') => node.child_by_field_name("argument"),
                _ => None,
            }?;
            Some(Write { name: self.base(place)?, place, node })
        };
        everything(node).filter_map(target).collect()
    }

    /// The variable that a place belongs to: `a` in `a[i].x`, `*a` and `(a)`.
    pub(crate) fn base<'c>(&'c self, place: Node<'c>) -> Option<&'c str> {
        match place.kind() {
            "identifier" => Some(self.of(place)),
            "subscript_expression" | "field_expression" | "pointer_expression" => {
                self.base(place.child_by_field_name("argument")?)
            }
            "cast_expression" => self.base(place.child_by_field_name("value")?),
            "parenthesized_expression" | "binary_expression" => self.base(place.named_child(0)?),
            _ => None,
        }
    }

    /// The declarators of local variables under a node: one entry a name.
    pub(crate) fn locals<'c>(&'c self, node: Node<'c>) -> Vec<Local<'c>> {
        let mut found = Vec::new();
        for declaration in of_kind(node, "declaration") {
            for declarator in declarators(declaration) {
                let value = declarator.child_by_field_name("value");
                let inner =
                    declarator.child_by_field_name("declarator").filter(|_| declarator.kind() == "init_declarator");
                let shape = inner.unwrap_or(declarator);
                let Some(identifier) = first_identifier(shape) else { continue };
                found.push(Local { name: self.of(identifier), identifier, declaration, declarator, shape, value });
            }
        }
        found
    }

    /// The one declaration of a local name under a node; `None` when there is none or several.
    pub(crate) fn local<'c>(&'c self, node: Node<'c>, name: &str) -> Option<Local<'c>> {
        let mut all = self.locals(node).into_iter().filter(|local| local.name == name);
        all.next().filter(|_| all.next().is_none())
    }

    /// The declared type of a declaration or parameter, without qualifiers.
    pub(crate) fn type_of<'c>(&'c self, declaration: Node<'c>) -> &'c str {
        declaration.child_by_field_name("type").map_or("", |node| self.of(node))
    }
}

/// A change of a variable.
#[derive(Clone, Copy)]
pub(crate) struct Write<'c> {
    pub(crate) name: &'c str,
    /// What is written to, such as `a[i]`.
    pub(crate) place: Node<'c>,
    /// The assignment, increment or `&`.
    pub(crate) node: Node<'c>,
}

/// A local variable.
#[derive(Clone, Copy)]
pub(crate) struct Local<'c> {
    pub(crate) name: &'c str,
    pub(crate) identifier: Node<'c>,
    pub(crate) declaration: Node<'c>,
    /// With its initial value.
    pub(crate) declarator: Node<'c>,
    /// Without it: the name with its `*` and `[]`.
    pub(crate) shape: Node<'c>,
    pub(crate) value: Option<Node<'c>>,
}

fn within(node: &Node<'_>, range: &Range<usize>) -> bool {
    range.start <= node.start_byte() && node.end_byte() <= range.end
}

/// The numbers at which each name comes.
fn by_name<'t>(names: impl Iterator<Item = &'t str>) -> HashMap<String, Vec<usize>> {
    let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, name) in names.enumerate() {
        numbers.entry(name.to_owned()).or_default().push(number);
    }
    numbers
}

/// The name in a function's head, without template arguments and scopes.
fn declared_name(head: Node<'_>) -> Option<Node<'_>> {
    let mut name = head.child_by_field_name("declarator")?;
    while let Some(inner) = name.child_by_field_name("name") {
        name = inner;
    }
    Some(name)
}

fn first_identifier(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "identifier" => Some(node),
        "array_declarator" | "pointer_declarator" | "init_declarator" | "function_declarator" => {
            first_identifier(node.child_by_field_name("declarator")?)
        }
        "reference_declarator" | "parenthesized_declarator" | "attributed_declarator" => {
            first_identifier(node.named_child(0)?)
        }
        _ => None,
    }
}

/// The declarators of a declaration, each with its initial value.
pub(crate) fn declarators(declaration: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = declaration.walk();
    declaration.children_by_field_name("declarator", &mut cursor).collect()
}

/// All children.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// The named children without comments.
pub(crate) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    children(node).into_iter().filter(|child| child.is_named() && child.kind() != "comment").collect()
}

/// A node and everything under it, in order of the text.
pub(crate) fn everything(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut waiting = vec![node];
    std::iter::from_fn(move || {
        let next = waiting.pop()?;
        waiting.extend(children(next).into_iter().rev());
        Some(next)
    })
}

/// A node itself and what is under it, of one kind, in order of the text.
pub(crate) fn of_kind<'c>(node: Node<'c>, kind: &str) -> Vec<Node<'c>> {
    everything(node).filter(|found| found.kind() == kind && found.is_named()).collect()
}

/// The nearest node around this one (not itself) that is of one of the kinds.
pub(crate) fn around<'c>(node: Node<'c>, kinds: &[&str]) -> Option<Node<'c>> {
    let mut next = node.parent();
    while let Some(found) = next {
        if kinds.contains(&found.kind()) {
            return Some(found);
        }
        next = found.parent();
    }
    None
}

/// Whether `inner` lies inside `outer` or is it.
pub(crate) fn inside(inner: Node<'_>, outer: Node<'_>) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

/// The statements of a loop's or branch's body: those of a block, or the one that stands alone.
pub(crate) fn statements(body: Node<'_>) -> Vec<Node<'_>> {
    if body.kind() == "compound_statement" { named_children(body) } else { vec![body] }
}

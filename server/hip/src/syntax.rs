//! An immutable snapshot of a text with its tree and everything that is read from it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tree_sitter::{Parser, Point, Tree};

use crate::code::Code;
use crate::constants::{Constant, Constants};
use crate::fingerprint::{self, Fingerprint, Uses};
use crate::items::{Item, ItemKind, items};
use crate::kernels::{self, Function, Kernel};
use crate::language::Language;
use crate::launches::{Launch, launches};
use crate::lines::Lines;
use crate::shadow::shadow;
use crate::synchronises::{Judge, Waiting};

/// How long the first parse of a text may take; text that needs more gets an empty tree.
pub const FULL_PARSE_BUDGET: Duration = Duration::from_secs(5);

/// A text, its tree and its kernels. Cheap to share between threads; what is read from the tokens is read once, when it is
/// first asked for.
#[derive(Debug)]
pub struct Syntax {
    code: Code,
    shadow: OnceLock<Arc<str>>,
    lines: Lines,
    language: Language,
    tree: Tree,
    tree_is_current: bool,
    facts: OnceLock<Facts>,
    functions: OnceLock<Vec<Function>>,
    constants: OnceLock<Vec<Constant>>,
    /// Of each kernel.
    waiting: OnceLock<Vec<Waiting>>,
}

/// What is read from the tokens.
#[derive(Debug)]
struct Facts {
    items: Vec<Item>,
    kernels: Vec<Kernel>,
    /// Which items they are.
    kernel_items: Vec<usize>,
    launches: Vec<Launch>,
    constants: Constants,
}

impl Syntax {
    /// Parses a text from scratch. Never fails: broken text gives a broken tree and the kernels that can be made out.
    pub fn parse(text: impl Into<Arc<str>>) -> Self {
        Self::parse_within(text, FULL_PARSE_BUDGET)
    }

    /// Like [`Syntax::parse`], with a wall-clock limit for the tree.
    pub fn parse_within(text: impl Into<Arc<str>>, budget: Duration) -> Self {
        let code = Code::new(text.into());
        let shadow: Arc<str> = shadow(&code).into();
        let language = Language::of(&code);
        let tree = parse_tree(language, &shadow, None, budget);
        let is_current = tree.is_some();
        Self::from_parts(code, shadow.into(), language, tree, is_current)
    }

    /// Reads the tokens alone: kernels, functions, launches and constants are all there, the tree is empty. For whoever asks
    /// for nothing that needs the tree, at a fraction of the time.
    pub fn without_tree(text: impl Into<Arc<str>>) -> Self {
        let code = Code::new(text.into());
        let language = Language::of(&code);
        Self::from_parts(code, OnceLock::new(), language, None, false)
    }

    /// A snapshot of what a document has at hand. `tree` is `None` where parsing ran out of time and no older one fits.
    pub(crate) fn from_parts(
        code: Code,
        shadow: OnceLock<Arc<str>>,
        language: Language,
        tree: Option<Tree>,
        tree_is_current: bool,
    ) -> Self {
        let tree = tree.unwrap_or_else(|| empty_tree(language));
        let lines = Lines::new(&code.text);
        let (facts, functions, constants, waiting) = Default::default();
        Self { code, shadow, lines, language, tree, tree_is_current, facts, functions, constants, waiting }
    }

    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.code.text
    }

    /// The text that the tree was made from: as long as [`Syntax::text`], with macros blanked that the grammar cannot read.
    pub fn shadow(&self) -> &Arc<str> {
        self.shadow.get_or_init(|| shadow(&self.code).into())
    }

    /// The tree. Its byte offsets are those of the text.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The tree of a part of the text that stands for itself, such as a kernel, whether or not there is one of the whole. Its
    /// byte offsets are those of the text, and it takes as much memory as the part is long (a kilobyte a line). `None` where
    /// parsing ran out of time.
    pub(crate) fn tree_of(&self, part: &Range<usize>) -> Option<Tree> {
        let point = |at: usize| {
            let line = self.lines.line_of(at);
            Point::new(line as usize - 1, at - self.lines.start_of(line).unwrap_or(at))
        };
        let part = tree_sitter::Range {
            start_byte: part.start,
            end_byte: part.end,
            start_point: point(part.start),
            end_point: point(part.end),
        };
        let mut parser = Parser::new();
        parser.set_included_ranges(&[part]).ok()?;
        parse_with(parser, self.language, self.shadow(), None, FULL_PARSE_BUDGET)
    }

    /// `false` where parsing ran out of time: the tree is empty, or that of an older text moved along with the edits since.
    pub fn tree_is_current(&self) -> bool {
        self.tree_is_current
    }

    /// The grammar that the tree was made with.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The lines of the text.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Line of the byte at `offset`, from 1.
    pub fn line_of(&self, offset: usize) -> u32 {
        self.lines.line_of(offset)
    }

    /// Hash of all tokens and directives: comments and blanks do not change it.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint::of_all(&self.code)
    }

    /// Every bracket of the text has its partner. Kernels of a text for which this is `false` may be cut short or missing.
    pub fn is_balanced(&self) -> bool {
        self.code.brackets.balanced
    }

    /// The tree has ERROR or MISSING nodes. Common in correct files too: the grammar does not know every macro.
    pub fn has_errors(&self) -> bool {
        self.tree.root_node().has_error()
    }

    /// The kernels, in order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.facts().kernels
    }

    /// The first kernel with that name, qualified or not.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels().iter().find(|kernel| kernel.name == name || kernel.qualified_name == name)
    }

    /// The kernel whose range holds the byte at `offset`.
    pub fn kernel_at(&self, offset: usize) -> Option<&Kernel> {
        self.kernels().iter().find(|kernel| kernel.range.contains(&offset))
    }

    /// All functions with bodies, kernels among them, in order.
    pub fn functions(&self) -> &[Function] {
        self.functions.get_or_init(|| self.facts().functions(&self.code, &self.lines))
    }

    /// Whether the work-items of one of [`Syntax::kernels`] may wait for each other, and how; of a kernel of another text it is
    /// assumed that they may in any way.
    pub fn waiting(&self, kernel: &Kernel) -> Waiting {
        let kernels = self.kernels();
        let at = kernels.partition_point(|other| other.body.start < kernel.body.start);
        let waiting = self.waiting.get_or_init(|| self.facts().waiting(&self.code, &self.lines));
        let is_here = kernels.get(at).is_some_and(|found| found.body == kernel.body);
        waiting.get(at).copied().filter(|_| is_here).unwrap_or(Waiting::ASSUMED)
    }

    /// The launches, in order.
    pub fn launches(&self) -> &[Launch] {
        &self.facts().launches
    }

    /// The integer constants, in order of their values' places.
    pub fn constants(&self) -> &[Constant] {
        self.constants.get_or_init(|| self.facts().constants.list(&self.code, &self.lines))
    }

    /// Value of an integer expression that stands in the text, over the constants in scope there.
    pub fn evaluate(&self, range: &Range<usize>) -> Option<i64> {
        self.facts().constants.evaluate(&self.code, self.code.tokens_in(range))
    }

    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// The kernels if somebody has asked for them already.
    pub(crate) fn kernels_if_read(&self) -> Option<&[Kernel]> {
        self.facts.get().map(|facts| facts.kernels.as_slice())
    }

    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Facts::read(&self.code, &self.lines))
    }
}

impl Facts {
    fn read(code: &Code, lines: &Lines) -> Self {
        let items = items(code);
        let launches = launches(code, lines);
        let constants = Constants::new(code, &items, &launches);
        let uses = Uses::new(code, &items);
        let ends = kernels::UnclosedEnds::new(code);
        let kernel = |index: usize| {
            let mut kernel = kernels::kernel(code, lines, &ends, &items[index], &constants)?;
            kernel.fingerprint = uses.fingerprint(index, &uses.closure(index));
            Some(kernel)
        };
        let of_items = (0..items.len()).filter(|&index| kernels::is_kernel(code, &items[index]));
        let (kernel_items, kernels) = of_items.filter_map(|index| Some((index, kernel(index)?))).unzip();
        Self { items, kernels, kernel_items, launches, constants }
    }

    fn functions(&self, code: &Code, lines: &Lines) -> Vec<Function> {
        let ends = kernels::UnclosedEnds::new(code);
        let functions = self.items.iter().filter(|item| item.kind == ItemKind::Function);
        let mut functions: Vec<_> = functions.filter_map(|item| kernels::function(code, lines, &ends, item)).collect();
        kernels::fill_callees(code, &mut functions);
        functions
    }

    fn waiting(&self, code: &Code, lines: &Lines) -> Vec<Waiting> {
        let uses = Uses::new(code, &self.items);
        let mut judge = Judge::new(code, lines, &self.items, &uses);
        self.kernel_items.iter().map(|&index| judge.waiting(index)).collect()
    }
}

/// Parses `shadow`, starting from an edited older tree if there is one; `None` when the time is up.
pub(crate) fn parse_tree(language: Language, shadow: &str, old: Option<&Tree>, budget: Duration) -> Option<Tree> {
    parse_with(Parser::new(), language, shadow, old, budget)
}

fn parse_with(
    mut parser: Parser,
    language: Language,
    shadow: &str,
    old: Option<&Tree>,
    budget: Duration,
) -> Option<Tree> {
    parser.set_language(&language.grammar()).ok()?;
    let deadline = Instant::now() + budget;
    let bytes = shadow.as_bytes();
    let mut over = |_: &tree_sitter::ParseState| {
        if Instant::now() > deadline { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut over);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), old, Some(options))
}

fn empty_tree(language: Language) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&language.grammar())
        .ok()
        .and_then(|()| parser.parse("", None))
        .expect("the grammars are linked in, and an empty text parses without a limit")
}

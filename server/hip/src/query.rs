//! tree-sitter queries over a [`Syntax`], for both grammars.

use std::ops::Range;

use tree_sitter::StreamingIterator;

use crate::language::Language;
use crate::syntax::Syntax;

/// A query that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("query {name:?}, line {line}, does not fit the {language:?} grammar: {message}; correct the pattern there")]
pub struct QueryError {
    /// Name that the query was given.
    pub name: String,
    /// Line in the query's text, from 1.
    pub line: usize,
    /// The grammar.
    pub language: Language,
    /// What tree-sitter says.
    pub message: String,
}

/// A query, compiled once for each grammar (this takes tens of milliseconds: keep it).
#[derive(Debug)]
pub struct Query {
    cuda: tree_sitter::Query,
    cpp: Option<tree_sitter::Query>,
}

/// One match of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Which pattern of the query matched, from 0.
    pub pattern: usize,
    /// Captures in order: name (without `@`) and bytes.
    pub captures: Vec<(String, Range<usize>)>,
}

impl Match {
    /// Bytes of the first capture named `name`.
    pub fn get(&self, name: &str) -> Option<Range<usize>> {
        self.all(name).next()
    }

    /// Bytes of every capture named `name`.
    pub fn all(&self, name: &str) -> impl Iterator<Item = Range<usize>> {
        self.captures.iter().filter(move |(capture, _)| capture == name).map(|(_, range)| range.clone())
    }
}

impl Query {
    /// Compiles `source`, the text of a `.scm` file called `name` in messages.
    ///
    /// It has to fit the CUDA grammar. Where it names nodes that plain C++ does not have (a launch), it never matches in
    /// texts without device code.
    pub fn new(name: &str, source: &str) -> Result<Self, QueryError> {
        let cuda = tree_sitter::Query::new(&Language::Cuda.grammar(), source).map_err(|error| QueryError {
            name: name.to_owned(),
            line: error.row + 1,
            language: Language::Cuda,
            message: error.message.clone(),
        })?;
        let cpp = tree_sitter::Query::new(&Language::Cpp.grammar(), source).ok();
        Ok(Self { cuda, cpp })
    }

    /// Runs it on the nodes of `syntax` that touch `range`; predicates (`#eq?`, `#match?`) see the shadow text.
    pub fn run(&self, syntax: &Syntax, range: Range<usize>) -> Vec<Match> {
        let query = match syntax.language() {
            Language::Cuda => &self.cuda,
            Language::Cpp => match &self.cpp {
                Some(query) => query,
                None => return Vec::new(),
            },
        };
        let mut cursor = tree_sitter::QueryCursor::new();
        cursor.set_byte_range(range);
        let names = query.capture_names();
        let mut matches = cursor.matches(query, syntax.tree().root_node(), syntax.shadow().as_bytes());
        let mut found = Vec::new();
        while let Some(one) = matches.next() {
            let capture = |c: &tree_sitter::QueryCapture| (names[c.index as usize].to_owned(), c.node.byte_range());
            found.push(Match { pattern: one.pattern_index, captures: one.captures().iter().map(capture).collect() });
        }
        found
    }
}

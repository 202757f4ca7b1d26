//! Which bracket closes which, across `#if` branches and broken text.

use crate::lexer::{DirectiveKind, Lexed, TokenKind};

/// No partner.
const NONE: u32 = u32::MAX;

/// Brackets and `#if`s nested deeper than this have no partner: real code never is, and noise must not cost quadratic time.
const MAX_DEPTH: usize = 2000;
const MAX_CONDITIONALS: usize = 100;

/// A closer looks this far for its opener past others that were forgotten.
const MAX_REACH: usize = 200;

/// Partners of all `( [ {` among the code tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brackets {
    partner: Vec<u32>,
    /// Every bracket has its partner.
    pub balanced: bool,
}

/// An open bracket; `alternatives` are brackets of other `#if` branches that the same closer ends.
#[derive(Clone, Debug)]
struct Open {
    at: u32,
    alternatives: Vec<u32>,
}

/// State of one `#if`: the stack before it and the stack after its first branch.
struct Conditional {
    before: Vec<Open>,
    first: Option<Vec<Open>>,
    /// Too deep to be followed: its branches count as if they all were compiled.
    ignored: bool,
}

impl Brackets {
    /// Pairs the brackets of `lexed`. Each branch of an `#if` starts from the stack before it; after `#endif` the first
    /// branch counts, and brackets that the other branches left open share its closers.
    pub fn new(text: &str, lexed: &Lexed) -> Self {
        let mut brackets = Self { partner: vec![NONE; lexed.tokens.len()], balanced: true };
        let mut stack: Vec<Open> = Vec::new();
        let mut conditionals: Vec<Conditional> = Vec::new();
        let mut directives = lexed.directives.iter().peekable();
        for index in 0..=lexed.tokens.len() {
            while let Some(directive) = directives.next_if(|d| d.before <= index) {
                conditional_step(directive.kind, &mut stack, &mut conditionals);
            }
            let Some(token) = lexed.tokens.get(index) else { break };
            if token.kind == TokenKind::Punct && token.end - token.start == 1 {
                brackets.step(text.as_bytes()[token.start as usize], index as u32, &mut stack, text, lexed);
            }
        }
        brackets.balanced &= stack.is_empty();
        brackets
    }

    /// The partner of the bracket at token `index`.
    pub fn partner(&self, index: usize) -> Option<usize> {
        self.partner.get(index).copied().filter(|&p| p != NONE).map(|p| p as usize)
    }

    fn step(&mut self, byte: u8, index: u32, stack: &mut Vec<Open>, text: &str, lexed: &Lexed) {
        let opener = match byte {
            b'(' | b'[' | b'{' if stack.len() >= MAX_DEPTH => {
                self.balanced = false;
                return;
            }
            b'(' | b'[' | b'{' => {
                stack.push(Open { at: index, alternatives: Vec::new() });
                return;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => return,
        };
        let byte_at = |open: &Open| text.as_bytes()[lexed.tokens[open.at as usize].start as usize];
        // A brace closes over forgotten parentheses; a parenthesis never closes over a brace.
        let reach = stack
            .iter()
            .rev()
            .take(MAX_REACH)
            .take_while(|open| opener == b'{' || byte_at(open) != b'{')
            .position(|open| byte_at(open) == opener);
        let Some(depth) = reach else {
            self.balanced = false;
            return;
        };
        self.balanced &= depth == 0;
        stack.truncate(stack.len() - depth);
        if let Some(open) = stack.pop() {
            for alternative in open.alternatives {
                self.partner[alternative as usize] = index;
            }
            self.partner[open.at as usize] = index;
            self.partner[index as usize] = open.at;
        }
    }
}

fn conditional_step(kind: DirectiveKind, stack: &mut Vec<Open>, conditionals: &mut Vec<Conditional>) {
    match kind {
        DirectiveKind::If if conditionals.len() >= MAX_CONDITIONALS => {
            conditionals.push(Conditional { before: Vec::new(), first: None, ignored: true })
        }
        DirectiveKind::If => {
            conditionals.push(Conditional { before: stack.clone(), first: None, ignored: false });
        }
        DirectiveKind::Else => {
            if let Some(conditional) = conditionals.last_mut().filter(|conditional| !conditional.ignored) {
                conditional.end_branch(stack);
                *stack = conditional.before.clone();
            }
        }
        DirectiveKind::Endif => {
            if let Some(mut conditional) = conditionals.pop()
                && !conditional.ignored
            {
                conditional.end_branch(stack);
                *stack = conditional.first.unwrap_or_default();
            }
        }
        _ => {}
    }
}

impl Conditional {
    fn end_branch(&mut self, stack: &[Open]) {
        let Some(first) = &mut self.first else {
            self.first = Some(stack.to_vec());
            return;
        };
        if first.len() != stack.len() {
            return;
        }
        for (kept, other) in first.iter_mut().zip(stack) {
            if kept.at != other.at {
                kept.alternatives.push(other.at);
                kept.alternatives.extend(&other.alternatives);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lex;

    #[test]
    fn pairs_across_branches_and_faults() {
        for (text, balanced) in [
            ("a(b[c]{d})", true),
            ("f(a {b}", false),
            ("f) {}", false),
            ("#if A\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}", true),
            ("#if A\nif (a) {\n#endif\n}\n", true),
        ] {
            assert_eq!(Brackets::new(text, &lex(text)).balanced, balanced, "{text}");
        }
    }

    #[test]
    fn both_branches_share_the_closer() {
        let text = "#if A\nvoid f(int a) {\n#else\nvoid g() {\n#endif\n}";
        let lexed = lex(text);
        let brackets = Brackets::new(text, &lexed);
        let braces: Vec<_> = (0..lexed.tokens.len()).filter(|&i| lexed.tokens[i].text(text) == "{").collect();
        assert_eq!(braces.len(), 2);
        assert!(braces.iter().all(|&b| brackets.partner(b) == Some(lexed.tokens.len() - 1)));
    }
}

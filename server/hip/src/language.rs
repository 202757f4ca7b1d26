//! Which grammar reads a text.

use crate::code::Code;
use crate::lexer::TokenKind;

/// A grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// tree-sitter-cuda: text with a device marker or a launch. HIP's syntax is CUDA's.
    Cuda,
    /// tree-sitter-cpp: everything else.
    Cpp,
}

impl Language {
    /// The grammar for `code`.
    pub(crate) fn of(code: &Code) -> Self {
        let marks = |at: usize| match code.kind(at) {
            Some(TokenKind::Ident) => matches!(
                code.word(at),
                "__global__"
                    | "__device__"
                    | "__shared__"
                    | "__constant__"
                    | "__host__"
                    | "__launch_bounds__"
                    | "__managed__"
            ),
            Some(TokenKind::Punct) => code.word(at) == "<" && code.word(at + 1) == "<" && code.word(at + 2) == "<",
            _ => false,
        };
        if (0..code.len()).any(marks) { Self::Cuda } else { Self::Cpp }
    }

    /// The grammar itself.
    pub fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Cuda => tree_sitter_cuda::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        }
    }
}

//! Documents under edit: the text is the client's, nothing panics, and after the full re-parse all is as if freshly opened.
#![allow(clippy::unwrap_used)]

use std::ops::Range;

use hip_syntax::{Change, Document, Kernel, Position, PositionEncoding, Syntax, rewrite};
use proptest::prelude::*;

const SAMPLE: &str = "#define N 8\r\ntemplate <int M>\n__global__ void first(float* a) {\n  __shared__ float s[N];\n  \
    for (int i = 0; i < N; ++i) { a[i] = s[i]; } // \u{1f600} \u{6f22}\u{5b57}\n}\r__global__ void second(int* b) { b[0] = 1; }\n\
    int main() { first<4><<<1, 64>>>(nullptr); }\n";

/// The edit as an editor makes it: lines split by hand, columns counted by hand.
fn client(text: &str, change: &Change, encoding: PositionEncoding) -> String {
    let Some(range) = &change.range else { return change.text.clone() };
    let start = client_offset(text, range.start, encoding);
    let end = client_offset(text, range.end, encoding).max(start);
    format!("{}{}{}", &text[..start], change.text, &text[end..])
}

fn client_offset(text: &str, position: Position, encoding: PositionEncoding) -> usize {
    let mut line = 0;
    let mut column = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let line_break = match character {
            '\n' => true,
            '\r' => characters.peek().is_none_or(|(_, next)| *next != '\n'),
            _ => false,
        };
        if line == position.line {
            let ends = matches!(character, '\n' | '\r');
            column += match encoding {
                PositionEncoding::Utf8 => character.len_utf8(),
                PositionEncoding::Utf16 => character.len_utf16(),
                PositionEncoding::Utf32 => 1,
            };
            if ends || column > position.column as usize {
                return at;
            }
        }
        if line_break {
            line += 1;
        }
    }
    text.len()
}

fn positions() -> impl Strategy<Value = Position> {
    (0..12u32, prop_oneof![0..60u32, Just(u32::MAX)]).prop_map(|(line, column)| Position::new(line, column))
}

fn snippets() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "", " ", "\n", "\r\n", "\r", "{", "}", "(", ")", "\"", "/*", "*/", "//", "#if X\n", "#endif\n", "<", "<<<1, 2>>>(", ">>>",
            "__global__ void k(int* p) {", "__shared__ ", "extern __shared__ int q[];", "template <typename T>", "R\"(", "\u{1f600}",
            "\u{6f22}\u{5b57}", "e\u{301}", "for (int i = 0; i < 4; i++)", "#define X ", "\\", "'",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,8}",
    ]
}

fn changes() -> impl Strategy<Value = Change> {
    let range = prop_oneof![9 => (positions(), positions()).prop_map(|(start, end)| Some(start..end)), 1 => Just(None)];
    (range, snippets()).prop_map(|(range, text)| Change { range, text })
}

fn encodings() -> impl Strategy<Value = PositionEncoding> {
    prop::sample::select(vec![PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32])
}

/// Everything that can be asked of a text; all ranges have to lie on character borders.
fn read_all(syntax: &Syntax) {
    let inside = |range: &Range<usize>| assert!(syntax.text().get(range.clone()).is_some(), "{range:?}");
    for kernel in syntax.kernels() {
        for range in [&kernel.range, &kernel.header, &kernel.name_range, &kernel.body, &kernel.params_range] {
            inside(range);
        }
        kernel.params.iter().for_each(|param| inside(&param.range));
        kernel.loops.iter().for_each(|found| inside(&found.range));
        kernel.shared.iter().for_each(|array| inside(&array.range));
        assert!(kernel.line <= kernel.end_line);
    }
    syntax.functions().iter().for_each(|function| inside(&function.range));
    syntax.launches().iter().for_each(|launch| inside(&launch.range));
    syntax.constants().iter().for_each(|constant| inside(&constant.value_range));
    assert_eq!(syntax.shadow().len(), syntax.text().len());
    let rewritten = rewrite::cpu(syntax, rewrite::Barriers::Split);
    assert_eq!(rewritten.text.matches('\n').count(), syntax.text().matches('\n').count());
    for at in (0..=rewritten.text.len()).step_by(7) {
        assert!(rewritten.original_offset(at) <= syntax.text().len());
    }
}

fn parse_and_read(text: &str) {
    read_all(&Syntax::parse(text));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_give_the_clients_text(encoding in encodings(), edits in prop::collection::vec(changes(), 1..12)) {
        let mut document = Document::new(SAMPLE, 0);
        let mut text = SAMPLE.to_owned();
        for (step, change) in edits.iter().enumerate() {
            text = client(&text, change, encoding);
            document.apply(std::slice::from_ref(change), encoding, step as i32);
            prop_assert_eq!(document.rope().to_string(), text.as_str());
            prop_assert_eq!(document.syntax().text().as_ref(), text.as_str());
            document.kernels();
            read_all(document.syntax());
        }
        document.reparse();
        let fresh = Syntax::parse(text.as_str());
        prop_assert_eq!(document.syntax().kernels(), fresh.kernels());
        prop_assert_eq!(document.syntax().tree().root_node().to_sexp(), fresh.tree().root_node().to_sexp());
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        parse_and_read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn shuffled_code_never_panics(parts in prop::collection::vec(snippets(), 0..60)) {
        parse_and_read(&parts.concat());
    }

    #[test]
    fn positions_go_there_and_back(encoding in encodings(), at in 0..SAMPLE.len()) {
        let document = Document::new(SAMPLE, 0);
        let position = document.position(at, encoding);
        let back = document.offset(position, encoding);
        // Within a character or a line break its start is meant.
        prop_assert!(back <= at && at - back < 4);
        prop_assert_eq!(document.position(back, encoding), position);
    }
}

#[test]
fn cut_text_never_panics() {
    for end in 0..=SAMPLE.len() {
        if SAMPLE.is_char_boundary(end) {
            parse_and_read(&SAMPLE[..end]);
            parse_and_read(&SAMPLE[end..]);
        }
    }
}

#[test]
fn several_changes_apply_in_order() {
    let mut document = Document::new("a\u{1f600}b\r\nc", 1);
    let change = |from: (u32, u32), to: (u32, u32), text: &str| Change {
        range: Some(Position::new(from.0, from.1)..Position::new(to.0, to.1)),
        text: text.to_owned(),
    };
    let changes = [change((0, 3), (0, 4), "X"), change((0, 99), (1, 0), ""), change((9, 0), (9, 0), "!")];
    document.apply(&changes, PositionEncoding::Utf16, 2);
    assert_eq!(document.rope().to_string(), "a\u{1f600}Xc!");
    assert_eq!(document.version(), 2);
}

fn names(kernels: &[Kernel]) -> Vec<(String, u32)> {
    kernels.iter().map(|kernel| (kernel.name.clone(), kernel.line)).collect()
}

#[test]
fn kernels_stay_while_the_text_is_broken() {
    let text = "__global__ void a(int* p) {\n  p[0] = 1;\n}\n__global__ void b(int* p) {\n  p[1] = 2;\n}\n";
    let mut document = Document::new(text, 0);
    assert_eq!(names(&document.kernels()), [("a".to_owned(), 1), ("b".to_owned(), 4)]);
    let insert = |line, column, text: &str| Change {
        range: Some(Position::new(line, column)..Position::new(line, column)),
        text: text.to_owned(),
    };
    // A brace too many and an unclosed comment hide what follows; lines move along.
    document.apply(&[insert(0, 0, "\n")], PositionEncoding::Utf8, 1);
    document.apply(&[insert(2, 2, "if (x) { /* ")], PositionEncoding::Utf8, 2);
    assert!(!document.syntax().is_balanced());
    let kept = document.kernels();
    assert_eq!(names(&kept), [("a".to_owned(), 2), ("b".to_owned(), 5)]);
    assert_eq!(&document.syntax().text()[kept[1].name_range.clone()], "b");
    // Once the text is whole again, what is not there is not shown.
    document.apply(&[Change { range: None, text: "__global__ void c() {}".to_owned() }], PositionEncoding::Utf8, 3);
    assert_eq!(names(&document.kernels()), [("c".to_owned(), 1)]);
}

#[test]
fn the_grammar_follows_the_text() {
    let mut document = Document::new("int a;", 0);
    assert_eq!(document.language(), hip_syntax::Language::Cpp);
    document.apply(&[Change { range: None, text: "__global__ void k() {}".to_owned() }], PositionEncoding::Utf8, 1);
    assert_eq!(document.language(), hip_syntax::Language::Cuda);
    assert!(!document.syntax().has_errors());
}

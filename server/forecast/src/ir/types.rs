//! LLVM's types, as far as operations differ by them.

/// What the elements of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// An integer of so many bits.
    Int(u32),
    /// `float`
    Float,
    /// `double`
    Double,
    /// `half` or `bfloat`
    Half,
    /// A pointer.
    Pointer,
    /// A structure, an array, `void`.
    Other,
}

/// A type: so many elements of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// What the elements are.
    pub element: Element,
    /// How many there are: 1 for a scalar.
    pub count: u32,
    /// Bytes in memory.
    pub bytes: u32,
}

impl Type {
    const OTHER: Self = Self { element: Element::Other, count: 1, bytes: 8 };

    /// The type at the beginning of `text`, and what follows it.
    pub fn read(text: &str) -> (Self, &str) {
        let text = text.trim_start();
        match text.as_bytes().first() {
            Some(b'<') => read_sequence(text, '<', '>'),
            Some(b'[') => read_sequence(text, '[', ']'),
            Some(b'{') => read_structure(text),
            Some(b'%') => {
                let end = end_of_name(text);
                (Self::OTHER, &text[end..])
            }
            _ => {
                let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
                let (word, mut rest) = text.split_at(end);
                if let Some(space) = rest.strip_prefix(" addrspace(") {
                    rest = space.split_once(')').map_or("", |(_, rest)| rest);
                }
                (scalar(word), rest)
            }
        }
    }
}

fn scalar(word: &str) -> Type {
    let (element, bytes) = match word {
        "float" => (Element::Float, 4),
        "double" => (Element::Double, 8),
        "half" | "bfloat" => (Element::Half, 2),
        "ptr" => (Element::Pointer, 8),
        _ => match word.strip_prefix('i').and_then(|bits| bits.parse::<u32>().ok()) {
            Some(bits) => (Element::Int(bits), bits.div_ceil(8).next_power_of_two()),
            None => (Element::Other, 8),
        },
    };
    Type { element, count: 1, bytes }
}

/// `<4 x float>`, `[2 x i32]`.
fn read_sequence(text: &str, open: char, close: char) -> (Type, &str) {
    let end = end_of_bracket(text, open, close);
    let inner = &text[1..end.saturating_sub(1)];
    let inner = inner.strip_prefix("vscale x ").unwrap_or(inner);
    let Some((count, element)) = inner.split_once(" x ") else {
        // A packed structure.
        return (read_structure(inner).0, &text[end..]);
    };
    let count = count.trim().parse().unwrap_or(1);
    let (element, _) = Type::read(element);
    let bytes = if open == '<' && element.element == Element::Int(1) {
        (element.count * count).div_ceil(8)
    } else {
        element.bytes * count
    };
    (Type { element: element.element, count: element.count * count, bytes }, &text[end..])
}

fn read_structure(text: &str) -> (Type, &str) {
    let end = end_of_bracket(text, '{', '}');
    let mut rest = text[1..end.max(1)].trim_end_matches('}').trim();
    let (mut count, mut bytes, mut first) = (0, 0_u32, None);
    while !rest.is_empty() {
        let (member, after) = Type::read(rest);
        let natural = (member.bytes / member.count.max(1)).clamp(1, 16).next_power_of_two();
        bytes = bytes.next_multiple_of(natural) + member.bytes;
        count += member.count;
        first = first.or(Some(member.element));
        rest = after.trim_start().trim_start_matches(',').trim_start();
        if after.len() == text.len() {
            break;
        }
    }
    (Type { element: first.unwrap_or(Element::Other), count: count.max(1), bytes }, &text[end..])
}

/// Past the bracket that closes the first one.
fn end_of_bracket(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

/// Past the name (`%x`, `@f`, `%"a b"`) that `text` begins with.
pub(super) fn end_of_name(text: &str) -> usize {
    if text.as_bytes().get(1) == Some(&b'"') {
        return text[2..].find('"').map_or(text.len(), |end| end + 3);
    }
    text[1..]
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '$' | '-'))
        .map_or(text.len(), |end| end + 1)
}

/// The names in `text` that begin with `sigil`.
pub(super) fn names(text: &str, sigil: char) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let begin = rest.find(sigil)?;
        let name = &rest[begin..];
        let end = end_of_name(name);
        rest = &name[end..];
        Some(&name[..end])
    })
}

//! Which expressions of a kernel are of single precision.

use tree_sitter::Node;

use super::code::{Code, Kernel, named_children};

/// Functions that give a `float` for a `float`.
const SINGLE: [&str; 27] = [
    "expf",
    "exp",
    "__expf",
    "logf",
    "log",
    "__logf",
    "sqrtf",
    "sqrt",
    "rsqrtf",
    "sinf",
    "cosf",
    "tanhf",
    "tanh",
    "fabsf",
    "fabs",
    "fmaxf",
    "fminf",
    "powf",
    "floorf",
    "ceilf",
    "fmaf",
    "erff",
    "__fdividef",
    "sin",
    "cos",
    "max",
    "min",
];
const INTEGERS: [&str; 7] = ["int", "unsigned", "unsigned int", "char", "unsigned char", "uint8_t", "short"];

/// Whether an expression is a `float` or an integer that fits one, as far as the text shows it.
pub(crate) fn is_single(code: &Code, kernel: &Kernel<'_>, node: Node<'_>) -> bool {
    let all = |nodes: Vec<Node<'_>>| nodes.into_iter().all(|node| is_single(code, kernel, node));
    match node.kind() {
        "number_literal" => !is_double_literal(code.of(node)),
        "identifier" => is_single_type(kind_of(code, kernel, code.of(node))),
        "field_expression" => {
            ["threadIdx", "blockIdx", "blockDim", "gridDim"].iter().any(|name| code.of(node).starts_with(name))
        }
        "subscript_expression" => code.base(node).is_some_and(|base| is_single_type(kind_of(code, kernel, base))),
        "parenthesized_expression" | "binary_expression" | "unary_expression" => all(named_children(node)),
        "call_expression" => {
            let function = node.child_by_field_name("function").map_or("", |function| code.of(function));
            let arguments = node.child_by_field_name("arguments").map(named_children).unwrap_or_default();
            SINGLE.contains(&function) && all(arguments)
        }
        _ => false,
    }
}

/// Whether an expression contains a variable or element declared `float`.
pub(crate) fn holds_float(code: &Code, kernel: &Kernel<'_>, node: Node<'_>) -> bool {
    super::code::of_kind(node, "identifier")
        .into_iter()
        .any(|name| kind_of(code, kernel, code.of(name)) == Some("float"))
}

/// Whether a literal is a `double`: a point or exponent, and no suffix.
pub(crate) fn is_double_literal(text: &str) -> bool {
    let decimal = !text.starts_with("0x") && !text.starts_with("0X");
    let is_real = decimal && text.contains(['.', 'e', 'E']);
    is_real && text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// The declared type of a variable, or of the elements it points to.
fn kind_of<'c>(code: &'c Code, kernel: &Kernel<'c>, name: &str) -> Option<&'c str> {
    let local = code.local(kernel.body, name).map(|local| code.type_of(local.declaration));
    let is_local = code.locals(kernel.body).iter().any(|local| local.name == name);
    let param =
        || code.params(kernel).into_iter().find(|param| param.name == name).map(|param| code.type_of(param.node));
    if is_local { local } else { param() }
}

fn is_single_type(kind: Option<&str>) -> bool {
    kind.is_some_and(|kind| kind == "float" || INTEGERS.contains(&kind))
}

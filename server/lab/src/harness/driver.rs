//! A benchmark as a program of its own: what a tracer runs, which neither checks nor times.
//!
//! The text is the source, its glue, and a `main` that takes the shape's parameters as arguments, fills the buffers and
//! calls the entry once.

use std::fmt::Write as _;

use super::glue;
use crate::Source;
use crate::benchmark::{Argument, Benchmark, ElementType, Fill, Role};

/// What the driver needs besides the glue. Names begin with `ks_`.
const HELPERS: &str = r#"
#line 1 "kernel-scientist driver"
#undef main
#include <stdlib.h>
static unsigned long long ks_random_state = 88172645463325252ull;
static double ks_random() {
    ks_random_state ^= ks_random_state << 13;
    ks_random_state ^= ks_random_state >> 7;
    ks_random_state ^= ks_random_state << 17;
    return (double)(ks_random_state >> 11) / 9007199254740992.0;
}
static double ks_random_normal() {
    // Four uniform numbers from one draw: buffers have millions of elements.
    ks_random();
    const unsigned long long ks_s = ks_random_state;
    const unsigned long long ks_sum = (ks_s & 65535) + (ks_s >> 16 & 65535) + (ks_s >> 32 & 65535) + (ks_s >> 48);
    return ((double)ks_sum - 131070) * (1.7320508075688772 / 65536);
}
template <class Lane, class Number, class Value> static void* ks_make(long long ks_bytes, long long ks_lanes, Value ks_value) {
    void* ks_device = nullptr;
    if (ks_bytes <= 0) ks_bytes = 16;
    if (hipMalloc(&ks_device, (size_t)ks_bytes) != hipSuccess) exit(70);
    // The device's memory is the host's.
    Lane* ks_lane = static_cast<Lane*>(ks_device);
    for (long long ks_i = 0; ks_i < ks_lanes; ks_i++) ks_lane[ks_i] = static_cast<Lane>(static_cast<Number>(ks_value(ks_i)));
    return ks_device;
}
"#;

/// The source with what drives it.
pub(crate) fn program(source: &Source, benchmark: &Benchmark) -> Source {
    let mut text = format!("{}{}{HELPERS}", source.text, glue::feeding(benchmark));
    let _ = main(&mut text, benchmark);
    source.with_text(text)
}

/// The source with the launches that the benchmark makes: what code generation needs to see, so that templates have their
/// instances.
pub(crate) fn with_launches(source: &Source, benchmark: &Benchmark) -> Source {
    source.with_text(format!("{}{}", source.text, glue::run(benchmark)))
}

/// The arguments for one shape.
pub(crate) fn arguments(benchmark: &Benchmark, shape: usize) -> Vec<String> {
    benchmark.shapes[shape].values.iter().map(i64::to_string).collect()
}

// Writing to a string cannot fail.
fn main(text: &mut String, benchmark: &Benchmark) -> std::fmt::Result {
    let parameters = benchmark.parameters.len();
    writeln!(text, "int main(int ks_argc, char** ks_argv) {{")?;
    writeln!(text, "if (ks_argc != {}) return 64;", parameters + 1)?;
    writeln!(text, "long long ks_shape[{}] = {{}};", parameters.max(1))?;
    writeln!(text, "for (int ks_i = 1; ks_i < ks_argc; ks_i++) ks_shape[ks_i - 1] = atoll(ks_argv[ks_i]);")?;
    writeln!(text, "void* ks_arguments[{}] = {{}};", benchmark.arguments.len().max(1))?;
    for (index, argument) in benchmark.arguments.iter().enumerate() {
        if let Role::Buffer { fill, .. } = &argument.role {
            buffer(text, index, argument, fill)?;
        }
    }
    writeln!(text, "ks_benchmark_run(ks_arguments, ks_shape);")?;
    writeln!(text, "return hipDeviceSynchronize() == hipSuccess ? 0 : 1;\n}}")
}

fn buffer(text: &mut String, index: usize, argument: &Argument, fill: &Fill) -> std::fmt::Result {
    let element = &argument.element;
    let lane = if element.lanes == 1 { element.cpp.as_str() } else { lane_type(element.lane) };
    let number = number_type(element.lane);
    let (first, second) =
        (format!("ks_benchmark_fill({index}, 0, ks_shape)"), format!("ks_benchmark_fill({index}, 1, ks_shape)"));
    let lanes = element.lanes;
    writeln!(text, "{{\nconst long long ks_count = ks_benchmark_count({index}, ks_shape);")?;
    writeln!(text, "if (ks_count < 0) return 65;")?;
    writeln!(text, "const double ks_first = {first}, ks_second = {second};\n(void)ks_first; (void)ks_second;")?;
    let value = match fill {
        Fill::Zeros => "0.0".to_owned(),
        Fill::Ones => "1.0".to_owned(),
        Fill::Iota => format!("(double)(ks_i / {lanes})"),
        Fill::Permutation => "(double)ks_order[ks_i]".to_owned(),
        Fill::Uniform(..) => "ks_first + (ks_second - ks_first) * ks_random()".to_owned(),
        Fill::Normal(..) => "ks_first + ks_second * ks_random_normal()".to_owned(),
        Fill::Integers(..) => "(double)(long long)(ks_first + (ks_second - ks_first + 1) * ks_random())".to_owned(),
        Fill::Constant(_) => "ks_first".to_owned(),
        Fill::Expression(_) => format!("ks_benchmark_element({index}, ks_i / {lanes}, ks_shape)"),
    };
    if matches!(fill, Fill::Permutation) {
        writeln!(text, "long long* ks_order = static_cast<long long*>(malloc((size_t)ks_count * 8 + 8));")?;
        writeln!(text, "for (long long ks_i = 0; ks_i < ks_count; ks_i++) ks_order[ks_i] = ks_i;")?;
        writeln!(text, "for (long long ks_i = ks_count - 1; ks_i > 0; ks_i--) {{")?;
        writeln!(text, "const long long ks_other = (long long)(ks_random() * (double)(ks_i + 1));")?;
        writeln!(text, "const long long ks_kept = ks_order[ks_i];")?;
        writeln!(text, "ks_order[ks_i] = ks_order[ks_other]; ks_order[ks_other] = ks_kept;\n}}")?;
    }
    writeln!(
        text,
        "ks_arguments[{index}] = ks_make<{lane}, {number}>(ks_count * (long long)sizeof({}), ks_count * {lanes}, \
         [&](long long ks_i) {{ (void)ks_i; return {value}; }});\n}}",
        element.cpp
    )
}

/// The lanes of vector types.
fn lane_type(lane: ElementType) -> &'static str {
    match lane {
        ElementType::F16 => "__half",
        ElementType::BF16 => "__hip_bfloat16",
        ElementType::F32 => "float",
        ElementType::F64 => "double",
        ElementType::I8 => "signed char",
        ElementType::I16 => "short",
        ElementType::I32 => "int",
        ElementType::I64 => "long long",
        ElementType::U8 => "unsigned char",
        ElementType::U16 => "unsigned short",
        ElementType::U32 => "unsigned",
        ElementType::U64 => "unsigned long long",
        ElementType::Bool => "bool",
    }
}

/// What a number is before it becomes a lane: half types are made of floats, integers of integers.
fn number_type(lane: ElementType) -> &'static str {
    match lane {
        ElementType::F16 | ElementType::BF16 | ElementType::F32 => "float",
        ElementType::F64 => "double",
        ElementType::U64 => "unsigned long long",
        _ => "long long",
    }
}

//! Text made to cost time or stack: everything is bounded.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use hip_syntax::{Syntax, rewrite};

/// Reads everything of `text` on a thread with a server's stack; fails if that takes long.
fn read(name: &str, text: String) {
    let start = Instant::now();
    let read = move || {
        let syntax = Syntax::parse_within(text, Duration::from_millis(20));
        for kernel in syntax.kernels() {
            assert!(kernel.range.end <= syntax.text().len());
        }
        syntax.constants();
        rewrite::cpu(&syntax, rewrite::Barriers::Split);
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap().join().unwrap();
    // Unoptimised code on a busy machine: generous, but far below what quadratic time would take.
    assert!(start.elapsed() < Duration::from_secs(60), "{name}: {:?}", start.elapsed());
}

#[test]
fn repeated_fragments() {
    for fragment in [
        "(",
        "{",
        "[",
        "<",
        ")",
        "}",
        "]",
        "([{",
        "a<",
        "a<<<",
        "a<<<1>>>(",
        ">>>",
        "namespace a {",
        "extern \"C\" {",
        "struct S {",
        "void f() {",
        "__global__ void k() {",
        "__global__ ",
        "template <",
        "template <int N> ",
        "#if A\n",
        "#if A\n(",
        "#else\n",
        "#define A B\n",
        "if (a) ",
        "for (;;) ",
        "while (a) ",
        "do ",
        "else ",
        "__shared__ ",
        "__shared__ int a[",
        "\"",
        "'",
        "/*",
        "R\"(",
        "\\\n",
        "-",
        "?",
        "a ? ",
        "constexpr int a = ",
        "hipLaunchKernelGGL(",
        "\u{1f600}",
        "\0",
        "[](",
        "a::",
        "1'",
        "#",
    ] {
        let body = fragment.repeat(3_000 / fragment.len());
        read(fragment, body.clone());
        read(fragment, format!("__global__ void k(int* a) {{ __shared__ int x[{body}"));
        read(fragment, format!("constexpr int N = {body};\n__global__ void k(int* a) {{ {body} }}"));
    }
}

#[test]
fn loops_inside_one_another_without_braces() {
    let syntax = Syntax::parse(format!("__global__ void k(int* a) {{ {}a[0] = 1; }}", "for (;;) ".repeat(5_000)));
    let loops = &syntax.kernels()[0].loops;
    assert_eq!(loops.len(), 5_000);
    // Statements are followed for so far only; what is around a loop is never more than that.
    assert!(loops.iter().all(|inner| inner.depth < 70), "{:?}", loops.iter().map(|inner| inner.depth).max());
    assert_eq!((loops[0].depth, loops[10].depth), (0, 10));
}

#[test]
fn definitions_that_chase_each_other() {
    let doubling: String = (0..40).map(|i| format!("#define A{i} (A{} + A{})\n", i + 1, i + 1)).collect();
    read("doubling", format!("{doubling}__global__ void k() {{ __shared__ int x[A0]; }}"));
    let circle = "#define A B\n#define B A\nstruct S { char a[sizeof(S)]; S b; };\nusing T = U; using U = T;\nconstexpr int N = N;";
    read("circle", format!("{circle}__global__ void k() {{ __shared__ S x[A]; __shared__ T y[N]; }}"));
}

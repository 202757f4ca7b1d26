//! Edits, and the rewrite for the CPU.
#![allow(clippy::unwrap_used)]

use hip_syntax::Syntax;
use hip_syntax::rewrite::{self, Barriers, Edit, EditError};

#[test]
fn edits_apply_in_order_and_refuse_overlap() {
    let edits = [Edit::insert(3, "Y"), Edit::replace(0..1, "A"), Edit::insert(3, "Z"), Edit::replace(1..2, "")];
    assert_eq!(rewrite::apply("abcd", &edits).unwrap(), "AcYZd");
    let overlap = rewrite::apply("abcd", &[Edit::replace(0..2, ""), Edit::replace(1..3, "")]);
    assert_eq!(overlap, Err(EditError::Overlap { first: 0..2, second: 1..3 }));
    assert!(matches!(rewrite::apply("\u{1f600}", &[Edit::insert(1, "")]), Err(EditError::Outside { .. })));
    assert!(matches!(rewrite::apply("a", &[Edit::insert(2, "")]), Err(EditError::Outside { .. })));
}

#[test]
fn a_rewrite_that_breaks_the_text_is_refused() {
    let syntax = Syntax::parse("__global__ void k(int* a) {\n  a[0] = 1;\n}\n");
    let value = syntax.text().find('1').unwrap();
    let good = rewrite::apply_checked(&syntax, &[Edit::replace(value..value + 1, "2 + 3")]).unwrap();
    assert!(good.text().contains("2 + 3"));
    for wrong in ["(2", "2 +", "}"] {
        let result = rewrite::apply_checked(&syntax, &[Edit::replace(value..value + 1, wrong)]);
        assert!(matches!(result, Err(EditError::Broken { .. })), "{wrong}: {result:?}");
    }
}

const KERNELS: &str = "template <class T, int N = 1> __global__ void loop(T* a) { a[threadIdx.x] = 1; }\n\
    __global__ void fiber(int* a) { __syncwarp(); }\nnamespace n { __global__ void inner() {} }\n";

/// Rewrites `code` after the kernels and compares.
fn check(code: &str, expect: &str) {
    let text = format!("{KERNELS}{code}");
    let rewritten = rewrite::cpu(&Syntax::parse(text.as_str()), Barriers::Split);
    assert_eq!(rewritten.text.strip_prefix(KERNELS).unwrap(), expect);
}

#[test]
fn launches_become_macros() {
    for (code, expect) in [
        ("loop<float><<<g, b, sh, st>>>(a);", "KS_LAUNCH_LOOP((loop<float>), (g, b, sh, st), (a));"),
        ("loop<A<B<int>>, 2><<<dim3(1, 2), b>>>(a);", "KS_LAUNCH_LOOP((loop<A<B<int>>, 2>), (dim3(1, 2), b), (a));"),
        ("fiber<<<1,\n  2>>>\n  (a);", "KS_LAUNCH_FIBERS((fiber), (1,\n  2), \n  (a));"),
        ("n::inner<<<1, sizeof(A<B<C>>)>>>();", "KS_LAUNCH_LOOP((n::inner), (1, sizeof(A<B<C>>)), ());"),
        ("unknown<<<1, 2>>>(a);", "KS_LAUNCH_FIBERS((unknown), (1, 2), (a));"),
        ("(loop<int>)<<<1, 2>>>(a);", "KS_LAUNCH_LOOP(((loop<int>)), (1, 2), (a));"),
        ("auto f = [&] { fiber<<<1, 2>>>(a); };", "auto f = [&] { KS_LAUNCH_FIBERS((fiber), (1, 2), (a)); };"),
        ("hipLaunchKernelGGL(fiber, g, b, 0, s, a, b);", "KS_LAUNCH_FIBERS((fiber), ( g, b, 0, s), ( a, b));"),
        (
            "hipLaunchKernelGGL(HIP_KERNEL_NAME(loop<int, 2>), dim3(1), dim3(2), 0, 0, a);",
            "KS_LAUNCH_LOOP((HIP_KERNEL_NAME(loop<int, 2>)), ( dim3(1), dim3(2), 0, 0), ( a));",
        ),
        ("hipLaunchKernelGGL(n::inner, 1, 2, 0, 0);", "KS_LAUNCH_LOOP((n::inner), ( 1, 2, 0, 0), ());"),
        (
            "#define RUN(k, x) \\\n  k<<<1, 2>>>(x)\nRUN(loop, a);",
            "#define RUN(k, x) \\\n  KS_LAUNCH_FIBERS((k), (1, 2), (x))\nRUN(loop, a);",
        ),
        (
            "void f() { auto loop = pick(); loop<<<1, 2>>>(a); }",
            "void f() { auto loop = pick(); KS_LAUNCH_FIBERS((loop), (1, 2), (a)); }",
        ),
        (
            "void f(void (*loop)(int*)) { loop<<<1, 2>>>(a); }",
            "void f(void (*loop)(int*)) { KS_LAUNCH_FIBERS((loop), (1, 2), (a)); }",
        ),
        ("a << b; c >> d; std::cout << (1 < 2) << x;", "a << b; c >> d; std::cout << (1 < 2) << x;"),
    ] {
        check(code, expect);
    }
}

#[test]
fn dynamic_shared_memory_becomes_a_macro() {
    for (code, expect) in [
        ("void f() { extern __shared__ float x[]; }", "void f() { KS_DYNAMIC_SHARED((  float ), x); }"),
        (
            "extern __shared__ __align__(16) unsigned char x[ ];",
            "KS_DYNAMIC_SHARED_GLOBAL((  __align__(16) unsigned char ), x) ;",
        ),
        (
            "namespace a::b { extern \"C\" { extern __shared__ int x[]; } void f() { extern __shared__ int y[]; } }",
            "namespace a::b { extern \"C\" { KS_DYNAMIC_SHARED_GLOBAL((  int ), x); } void f() { KS_DYNAMIC_SHARED((  int ), y); } }",
        ),
        (
            "void f() { extern __shared__ float x[][33]; }",
            "void f() { KS_DYNAMIC_SHARED((__typeof__(  float [33])), x); }",
        ),
        (
            "void f() { extern __shared__ float x[4][8]; }",
            "void f() { KS_DYNAMIC_SHARED((__typeof__(  float [8])), x); }",
        ),
        ("__shared__ int y[4];", "__shared__ int y[4];"),
        ("extern __shared__ int y;", "extern __shared__ int y;"),
    ] {
        check(code, expect);
    }
}

#[test]
fn kernels_launched_by_pointer_keep_their_type() {
    let kernel = "template <class T> __global__ void k(T* a) {}\n";
    for (code, expect) in [
        ("reinterpret_cast<const void*>(k<int>)", "KS_KERNEL_POINTER((k<int>))"),
        ("(void*)&k<int>", "KS_KERNEL_POINTER((k<int>))"),
        ("k<int>", "k<int>"),
        ("(void*)other", "(void*)other"),
    ] {
        let launch = |pointer: &str| format!("{kernel}void f() {{ hipLaunchKernel({pointer}, 1, 1, args, 0, 0); }}");
        assert_eq!(rewrite::cpu(&Syntax::parse(launch(code)), Barriers::Split).text, launch(expect));
    }
}

#[test]
fn positions_lead_back() {
    let text = "__global__ void k(int* a) {}\nvoid f() { k<<<1, 2>>>(a); int b; }\n";
    let rewritten = rewrite::cpu(&Syntax::parse(text), Barriers::Split);
    for word in ["k(int", "a); int", "a)) ; int", "int b", "1, 2", "void f"] {
        let Some(at) = rewritten.text.find(word) else { continue };
        let original = rewritten.original_offset(at);
        assert_eq!(text.as_bytes()[original], word.as_bytes()[0], "{word}");
    }
    let column = rewritten.text.lines().nth(1).unwrap().find("int b").unwrap() as u32 + 1;
    assert_eq!(rewritten.original_column(2, column), text.lines().nth(1).unwrap().find("int b").unwrap() as u32 + 1);
    assert_eq!(rewritten.original_column(1, 5), 5);
    assert_eq!(rewritten.original_column(99, 5), 5);
}

#[test]
fn kernels_of_headers_are_found() {
    let header = std::sync::Arc::new(Syntax::parse(KERNELS));
    let launches = "loop<int><<<1, 2>>>(a); fiber<<<1, 2>>>(a);";
    let rewritten = rewrite::cpu_with(&Syntax::parse(launches), &[header], Barriers::Split);
    assert_eq!(rewritten.text, "KS_LAUNCH_LOOP((loop<int>), (1, 2), (a)); KS_LAUNCH_FIBERS((fiber), (1, 2), (a));");
    assert!(!rewrite::cpu(&Syntax::parse(launches), Barriers::Split).text.contains("LOOP"));
}

//! Which kernels are split at their barriers, and what becomes of them.
#![allow(clippy::unwrap_used)]

use hip_syntax::Syntax;
use hip_syntax::rewrite::{self, Barriers, Refusal};

/// Why the kernel with `body` runs on fibers, after `before`.
fn why(before: &str, body: &str) -> Option<Refusal> {
    let head = "template <int N, class T> __global__ void kernel(float* a, const int* flag, int n, T value)";
    let text = format!("{before}\n{head} {{ __shared__ float s[256]; const int t = threadIdx.x; {body} }}");
    let syntax = Syntax::parse(text.as_str());
    assert!(!syntax.has_errors(), "{text}");
    rewrite::why_on_fibers(&syntax, syntax.kernel("kernel").unwrap())
}

#[test]
fn kernels_with_uniform_barriers_are_split() {
    for (before, body) in [
        ("", "s[t] = 1; __syncthreads(); a[t] = s[t];"),
        ("", "for (int i = 0; i < n; ++i) { __syncthreads(); s[t] = i; __syncthreads(); a[t] += s[0]; }"),
        ("", "for (int h = blockDim.x / 2; h > 0; h >>= 1) { if (t < h) s[t] += s[t + h]; __syncthreads(); }"),
        ("", "if (n > 3) { __syncthreads(); } else s[t] = 2;"),
        ("", "if (n > 3) { __syncthreads(); } else if (n == 2) { s[t] = 2; __syncthreads(); }"),
        ("", "int i = 0; while (i < n) { __syncthreads(); i += N; if (i > 7) break; }"),
        ("", "int i = 0; do { __syncthreads(); ++i; if (i == 2) continue; s[t] = i; } while (i < n);"),
        ("", "if (t > n) return; __syncthreads(); a[t] = s[0];"),
        ("", "float x[4] = {0}; float *p = x; p[1] = a[t]; __syncthreads(); a[t] = x[1];"),
        ("", "auto x = a[t]; __syncthreads(); a[t] = x;"),
        ("", "float &r = a[t]; __syncthreads(); r = s[t];"),
        ("", "int v[4] = {t, n}; int *p = &v[1]; __syncthreads(); for (int &e : v) e += t; for (int e : v) *p += e;"),
        ("", "a += blockIdx.x * n; __syncthreads(); a[t] = s[t];"),
        ("", "int k = 1; if (k < n) k *= 2; if (k > 1) __syncthreads();"),
        ("constexpr int kTile = 16;", "for (int k = 0; k < n; k += kTile) { __syncthreads(); }"),
        ("", "constexpr int kTile = 16; for (int k = 0; k < n; k += kTile) { __syncthreads(); }"),
        ("", "static constexpr int kTile = 16; for (int k = 0; k < n; k += kTile) { __syncthreads(); }"),
        ("enum { kTile = 16, kOther };", "for (int k = 0; k < n; k += kOther) { __syncthreads(); }"),
        (
            "#define TILE 16\n#define UP(x) (((x) + TILE - 1) / TILE)",
            "for (int k = 0; k < UP(n); k++) __syncthreads();",
        ),
        ("", "for (int i = 0; i < n; ++i) __syncthreads(); for (int i = 0; i < n; ++i) { __syncthreads(); a[i] = i; }"),
        ("struct P { int n, m; };", "P p = {n, N}; auto q = p; __syncthreads(); a[t] = q.m + (float)(n) + float(t);"),
        (
            "#define AT(p, x) p[(x)]",
            "for (int i = 0; i < n; ++i) { AT(s, i) = 1; *(a + i) = 2; a[(i)] = 3; __syncthreads(); }",
        ),
        ("", "switch (t) { case 1: a[0] = 1; break; default: return; } __syncthreads();"),
        ("", "for (int i = t; i < n; i += 64) { if (a[i] > 0) break; } __syncthreads();"),
        ("", "using V = float; struct P { int x; }; P p = {t}; __syncthreads(); a[t] = (V)p.x;"),
        ("__device__ float twice(float x) { return 2 * x; }", "s[t] = twice(a[t]); __syncthreads();"),
        ("", "auto f = [&](int i) { return s[i]; }; a[t] = f(t); __syncthreads();"),
        ("", "\n#pragma unroll\n for (int i = 0; i < N; ++i) { __syncthreads(); }"),
        ("", "\n#pragma clang loop unroll(disable)\n for (int i = 0; i < N; ++i) { __syncthreads(); }"),
        (
            "",
            "\n#pragma clang loop vectorize(enable) unroll_count(N)\n for (int i = 0; i < N; ++i) s[i] = i; __syncthreads();",
        ),
        ("", "HIP_DYNAMIC_SHARED(float, d) d[t] = 1; __syncthreads(); a[t] = d[0];"),
        // Names of other functions' own.
        (
            "void host(int n) { using R = int &; auto f = [](int &x) -> int & { return x; }; f(n) or_eq 3; }",
            "if (n) __syncthreads();",
        ),
    ] {
        assert_eq!(why(before, body), None, "{before} | {body}");
    }
}

#[test]
fn what_is_not_shown_to_be_the_same_stays_on_fibers() {
    type Is = fn(&Refusal) -> bool;
    const DIVERGENT: Is = |why| matches!(why, Refusal::Divergent(_));
    const CALLS: Is = |why| matches!(why, Refusal::Calls);
    const PLACE: Is = |why| matches!(why, Refusal::Place);
    const PARAMETER: Is = |why| matches!(why, Refusal::Parameter(_));
    const TYPE: Is = |why| matches!(why, Refusal::Type(_));
    const HIDES: Is = |why| matches!(why, Refusal::Hides(_));
    const ANY: Is = |_| true;
    const OTHER: Is =
        |why| matches!(why, Refusal::Statement | Refusal::Declaration | Refusal::Directive | Refusal::NoBarrier);
    for (before, body, is) in [
        ("", "if (t < n) __syncthreads();", DIVERGENT),
        (
            "template <class U> __device__ U max(U a, U b) { return threadIdx.x > 3 ? a : b; }",
            "if (max(n, 3)) __syncthreads();",
            DIVERGENT,
        ),
        ("template <class U> __device__ U min(U a, U b);", "if (min(n, 3)) __syncthreads();", ANY),
        ("", "if (threadIdx.y == 0) { __syncthreads(); }", DIVERGENT),
        ("", "for (int i = t; i < n; i += 64) __syncthreads();", DIVERGENT),
        ("", "for (int i = 0; i < n; i += t) __syncthreads();", DIVERGENT),
        ("", "for (int i = 0; i < n; ++i) { if (t == 3) ++i; __syncthreads(); }", DIVERGENT),
        ("", "for (int i = 0; i < n; ++i) { if (a[i] > 0) break; __syncthreads(); }", DIVERGENT),
        ("", "for (int i = 0; i < n; ++i) { if (t == i) continue; __syncthreads(); }", DIVERGENT),
        ("", "for (int i = 0; i < *flag; ++i) __syncthreads();", DIVERGENT),
        ("", "for (int i = flag[0]; i < 3; ++i) __syncthreads();", DIVERGENT),
        ("", "if (s[0] > 0) { __syncthreads(); }", DIVERGENT),
        ("__device__ int counter;", "while (counter < n) { __syncthreads(); }", DIVERGENT),
        ("", "int k = t; while (k < n) { __syncthreads(); ++k; }", DIVERGENT),
        ("", "int k = 0; if (t > 2) k = 1; if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; int *p = &k; *p = t; if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; int &r = k; r = t; if (k) __syncthreads();", DIVERGENT),
        ("__device__ void set(int& x) { x = threadIdx.x; }", "int k = 0; set(k); if (k) __syncthreads();", DIVERGENT),
        ("#define SET(x) x = threadIdx.x", "int k = 0; SET(k); if (k) __syncthreads();", DIVERGENT),
        ("#define SET k = threadIdx.x", "int k = 0; SET; if (k) __syncthreads();", DIVERGENT),
        ("#define BAD threadIdx.x", "if (BAD < n) __syncthreads();", DIVERGENT),
        ("", "int k = 0; auto f = [&] { k = t; }; f(); if (k) __syncthreads();", DIVERGENT),
        ("", "int k = n; { int n = t; if (n) __syncthreads(); } a[k] = 0;", DIVERGENT),
        ("", "int k = 0; (k) = t; if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0, l = 1; (t ? k : l) = 2; if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; if (t) ++(k); if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; reinterpret_cast<int &>(k) = t; if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0, l = 1; if (t) std::swap(k, l); if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; [&r = k] { r = threadIdx.x; }(); if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; [](int &r) { r = threadIdx.x; }(k); if (k) __syncthreads();", DIVERGENT),
        ("", "int k = 0; decltype((k)) r = k; r = t; if (k) __syncthreads();", DIVERGENT),
        ("struct R { int &v; };", "int k = 0; R{k}.v = t; if (k) __syncthreads();", DIVERGENT),
        ("struct R { int &v; };", "int k = 0; R r = {k}; r.v = t; if (k) __syncthreads();", DIVERGENT),
        ("template <class U> __device__ void set(U x);", "int k = 0; set<int &>(k); if (k) __syncthreads();", ANY),
        ("using R = int &;", "int k = 0; R r = k; r = t; if (k) __syncthreads();", ANY),
        ("", "int k = 0; auto f = [&]() -> int & { return k; }; f() = t; if (k) __syncthreads();", ANY),
        ("struct C { int v; __device__ operator int() { return v++; } };", "if (C{3}) __syncthreads();", ANY),
        ("__device__ int M, K;\nvoid host() { const int K = 5; }", "if (K) __syncthreads();", DIVERGENT),
        ("", "int half = t; if (half) __syncthreads();", DIVERGENT),
        ("", "int k = 0; k or_eq t; if (k) __syncthreads();", ANY),
        ("struct T2 { int v[4]; };", "int *w = value.v; w[1] = t; __syncthreads(); a[t] = value.v[1];", PARAMETER),
        ("struct T2 { int v[4]; };", "for (int &w : value.v) w = t; __syncthreads(); a[t] = value.v[1];", PARAMETER),
        ("", "const int k = n + t; __syncthreads(); { int n = 7; __syncthreads(); a[t] = k + n; }", HIDES),
        (
            "constexpr int K = 3;",
            "int k = K * t; __syncthreads(); const int K = 7; __syncthreads(); a[t] = k * K;",
            HIDES,
        ),
        (
            "",
            "using V = short; V k = t; __syncthreads(); { using V = int; V b = t; __syncthreads(); a[b] = k; }",
            HIDES,
        ),
        ("", "if ((t & 1) == 0) { if (n) { __syncthreads(); } }", DIVERGENT),
        ("", "t < n ? (void)0 : __syncthreads();", PLACE),
        ("", "switch (n) { case 1: __syncthreads(); break; }", PLACE),
        ("", "int x[3]; for (int v : x) { __syncthreads(); }", PLACE),
        ("", "auto f = [&] { __syncthreads(); }; f();", PLACE),
        ("__device__ void wait() { __syncthreads(); }", "wait(); __syncthreads();", CALLS),
        ("#define WAIT __syncthreads()", "WAIT; __syncthreads();", CALLS),
        ("", "a[t] = __shfl_down(a[t], 1); __syncthreads();", CALLS),
        ("", "int c = __syncthreads_count(t); __syncthreads();", CALLS),
        ("", "while (atomicAdd(&a[0], 0) == 0) {} __syncthreads();", CALLS),
        ("", "unknown(a); __syncthreads();", CALLS),
        ("", "value(t); __syncthreads();", CALLS),
        ("", "n -= t; __syncthreads(); a[n] = 1;", PARAMETER),
        ("", "if (t == 3) n = 2; __syncthreads(); a[n] = 1;", PARAMETER),
        ("", "auto f = [=](int i) { return i + t; }; __syncthreads(); a[0] = f(1);", TYPE),
        ("", "const float &r = a[t]; __syncthreads(); a[0] = r;", TYPE),
        ("", "if (n) goto end; __syncthreads(); end: a[0] = 1;", ANY),
        ("", "static int x; x = t; __syncthreads();", OTHER),
        ("", "volatile int x = t; __syncthreads(); a[0] = x;", ANY),
        ("", "\n#if A\n a[0] = 1;\n#endif\n __syncthreads();", OTHER),
        ("#define GUARD if (t >= n) return", "GUARD; __syncthreads();", OTHER),
        ("#define STOP(x) if (x) break", "for (int i = 0; i < n; ++i) { STOP(i > t); __syncthreads(); }", ANY),
        ("", "GUARD_OF_A_HEADER; __syncthreads();", ANY),
        ("", "a[t] = 1;", OTHER),
    ] {
        let why = why(before, body);
        assert!(why.as_ref().is_some_and(is), "{before} | {body}: {why:?}");
    }
}

/// How many loops of a kernel with `body` are turned inside out.
fn turned(body: &str) -> usize {
    let head = "template <int N> __global__ void kernel(float* a, const int* flag, int n)";
    let text =
        format!("constexpr int kStep = 64;\n{head} {{ const int t = threadIdx.x; __shared__ float s[64]; {body} }}");
    let syntax = Syntax::parse(text.as_str());
    assert!(!syntax.has_errors(), "{text}");
    rewrite::cpu(&syntax, Barriers::Split).text.matches("::ks::Turns").count()
}

#[test]
fn loops_by_a_step_of_the_block_are_turned_inside_out() {
    for (body, count) in [
        ("for (int i = t; i < n; i += blockDim.x) a[i] = 1;", 1),
        ("for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = 1;", 1),
        ("for (size_t i = t; i < n; i = i + kStep) { a[i] = 1; }", 1),
        ("for (long i = n - t; i > 0; i -= N) { a[i] = 1; }", 1),
        (
            "const int step = blockDim.x * gridDim.x; float x = 0; for (auto i = t; i < n; i += step) x += a[i]; a[t] = x;",
            1,
        ),
        ("float x = a[t]; __syncthreads(); for (int i = t; i < n; i += 64) x += a[i]; __syncthreads(); a[t] = x;", 1),
        ("for (int k = 0; k < n; ++k) { for (int i = t; i < n; i += 64) s[i] = a[i]; __syncthreads(); }", 1),
        ("if (n > 3) for (int i = t; i < n; i += 64) s[i] = a[i]; else s[t] = 0; __syncthreads();", 0),
        ("if (n > 3) { __syncthreads(); } else for (int i = t; i < n; i += 64) { s[i] = a[i]; }", 1),
        (
            "for (int i = t; i < n; i += 64) { if (i == 7) continue; if (a[i] < 0) break; if (n == i) return; a[i] = 1; }",
            1,
        ),
        ("for (int i = t; i < n && a[i] > 0; i += 64) a[i] = 1;", 1),
        ("for (int i = t; i < n; i += 64) a[i] = 1; for (int i = t; i < n; i += 64) a[i] += 2;", 2),
        // Not a place of the work-item's own, or not to be told again.
        ("for (int i = 0; i < n; i += 64) a[i] = 1;", 0),
        ("for (int i = flag[t]; i < n; i += 64) a[i] = 1;", 0),
        ("int k = t; k += flag[k]; for (int i = k; i < n; i += 64) a[i] = 1;", 0),
        ("for (float i = t; i < n; i += 64) a[t] = i;", 0),
        // Not a step of the block, or a short one.
        ("for (int i = t; i < n; i += t) a[i] = 1;", 0),
        ("for (int i = t; i < n; i += flag[0]) a[i] = 1;", 0),
        ("int k = 16; for (int i = t; i < n; i += k) k += t;", 0),
        ("for (int i = t; i < n; ++i) a[i] = 1;", 0),
        ("for (int i = t; i < n; i += 2) a[i] = 1;", 0),
        ("for (int i = t; i < n; i *= 64) a[i] = 1;", 0),
        // The variable changes in other places.
        ("for (int i = t; i < n; i += 64) { a[i] = 1; if (a[i + 1] > 0) i += 64; }", 0),
        ("for (int i = t; i < n; i += 64) { int *p = &i; *p += 1; }", 0),
        ("for (int i = t; i < n; i += 64) { auto f = [&](int &x) { x += 1; }; f(i); }", 0),
        ("for (int i = t; i++ < n; i += 64) a[i] = 1;", 0),
        ("for (int i = t, k = 0; i < n; i += 64) a[i] = k;", 0),
        ("for (int i = t; i < n; i += 64, n -= 1) a[i] = 1;", 0),
        ("for (int i = t;; i += 64) { if (i > n) break; a[i] = 1; }", 0),
        // Too dear: an array of each work-item would be kept in memory.
        ("float x[4] = {0}; for (int i = t; i < n; i += 64) x[i & 3] += a[i]; a[t] = x[0] + x[1];", 0),
        ("float x = 0; float *p = &x; for (int i = t; i < n; i += 64) *p += a[i]; a[t] = x;", 0),
        ("auto f = [&](int i) { return a[i]; }; for (int i = t; i < n; i += 64) a[i] = f(i);", 0),
        // Text keeps the order in which the work-items come.
        ("for (int i = t; i < n; i += 64) printf(\"%d\\n\", i);", 0),
        // Under a condition of the work-item's own.
        ("if (t < n) { for (int i = t; i < n; i += 64) a[i] = 1; }", 0),
        ("\n#pragma unroll\n for (int i = t; i < n; i += 64) a[i] = 1;", 0),
    ] {
        assert_eq!(turned(body), count, "{body}");
    }
}

#[test]
fn a_kernel_whose_loop_is_turned_inside_out_is_launched_by_blocks_and_keeps_its_lines() {
    let text = "__global__ void k(float* a, int n) {\n    for (int i = threadIdx.x;\n         i < n;\n         i += blockDim.x) {\n        \
        if (a[i] < 0) continue;\n        a[i] += 1;\n    }\n}\nvoid f() { k<<<1, 64>>>(p, 3); }\n";
    let rewritten = rewrite::cpu(&Syntax::parse(text), Barriers::Split);
    assert!(rewritten.text.contains("KS_LAUNCH_BLOCKS((k), (1, 64), (p, 3))"), "{}", rewritten.text);
    assert_eq!(rewritten.text.lines().count(), text.lines().count());
    let (new, old) = (rewritten.text.lines().nth(5).unwrap(), text.lines().nth(5).unwrap());
    assert_eq!(new, old);
    let whole = rewrite::cpu(&Syntax::parse(text), Barriers::Fibers);
    assert!(whole.text.contains("KS_LAUNCH_LOOP((k)") && !whole.text.contains("KS_SPLIT"), "{}", whole.text);
}

#[test]
fn a_split_kernel_keeps_its_lines() {
    let text = "__global__ void k(float* a, int n) {\n    __shared__ float s[64];\n    const int t = threadIdx.x; // who\n    \
        float sum = 0;\n    for (int i = 0; i < n; ++i) {\n        s[t] = a[i + t];\n        __syncthreads();\n        \
        sum += s[63 - t];\n        __syncthreads();\n    }\n    a[t] = sum;\n}\nvoid f() { k<<<1, 64>>>(p, 3); }\n";
    let rewritten = rewrite::cpu(&Syntax::parse(text), Barriers::Split);
    assert_eq!(rewritten.split, ["k"]);
    assert!(rewritten.text.contains("KS_LAUNCH_BLOCKS((k), (1, 64), (p, 3))"), "{}", rewritten.text);
    assert_eq!(rewritten.text.lines().count(), text.lines().count());
    for (new, old) in rewritten.text.lines().zip(text.lines()) {
        let mark = old.trim().split(['(', ' ']).next().unwrap();
        assert!(new.contains(mark) || old.contains("__syncthreads"), "{old} | {new}");
    }
    let line = rewritten.text.lines().nth(7).unwrap();
    let column = line.find("sum += s[63").unwrap() as u32 + 1;
    assert_eq!(rewritten.original_column(8, column), 9);
    let whole = rewrite::cpu(&Syntax::parse(text), Barriers::Fibers);
    assert!(
        whole.text.contains("__syncthreads();")
            && whole.text.contains("KS_LAUNCH_FIBERS((k)")
            && whole.split.is_empty()
    );
}

#[test]
fn operations_that_read_like_declarations_declare_nothing() {
    for text in [
        "(mix(other & kept)) & 1 ? void(kept += 3) : void();",
        "(mix(other * kept)) - kept++;",
        "other & kept; ++kept;",
    ] {
        let body = format!(
            "int kept = in[threadIdx.x], other = kept; __syncthreads(); {text} __syncthreads(); out[0] = kept;"
        );
        let source = format!(
            "__device__ int mix(int x) {{ return x; }}\n__global__ void k(const int *in, int *out) {{\n{body}\n}}\n"
        );
        let rewritten = rewrite::cpu(&Syntax::parse(source), Barriers::Split).text;
        let changed = rewritten.split("KS_SPLIT_BARRIER").nth(1).unwrap_or_default();
        let (load, save) = (changed.find("int kept = ks_kept_"), changed.rfind("[ks_i] = kept;"));
        assert!(load.is_some() && load < changed.find(text) && changed.find(text) < save, "{rewritten}");
    }
}

#[test]
fn a_variable_whose_address_is_one_of_several_is_kept_in_its_place() {
    for address in ["&(t & 1 ? kept : other)", "&((other += 2), kept)", "(int *)&(kept += 1)"] {
        let source = format!(
            "__global__ void k(const int *in, int *out) {{ const int t = threadIdx.x; int kept = in[t]; int other = t;\n\
             int *p = {address}; __syncthreads(); *p += 1; __syncthreads(); out[t] = kept;\n}}\n"
        );
        let rewritten = rewrite::cpu(&Syntax::parse(source), Barriers::Split).text;
        assert!(rewritten.contains("auto &kept = ks_kept_"), "{rewritten}");
    }
    // Through an array of pointers only.
    let source = "__global__ void k(int *a) { int t = threadIdx.x; int kept = t; int *p[2] = {&kept}; __syncthreads(); a[t] = *p[0]; }";
    let rewritten = rewrite::cpu(&Syntax::parse(source), Barriers::Split).text;
    assert!(rewritten.contains("auto &kept = ks_kept_"), "{rewritten}");
    let body = "int kept = t; __syncthreads(); kept = (kept + 1) & (kept ? n : 4); __syncthreads(); \
                a[t] = kept;";
    let rewritten = rewrite::cpu(
        &Syntax::parse(format!("__global__ void k(int *a, int n) {{ int t = threadIdx.x; {body} }}")),
        Barriers::Split,
    );
    assert!(rewritten.text.contains("int kept = ks_kept_"), "{}", rewritten.text);
}

#[test]
fn a_name_that_stands_for_split_and_other_kernels_is_launched_on_fibers() {
    let text = "__global__ void k(float* a) { __syncthreads(); }\n__global__ void k(int* a) { __syncwarp(); }\n\
        void f() { k<<<1, 64>>>(p); }\n";
    assert!(rewrite::cpu(&Syntax::parse(text), Barriers::Split).text.contains("KS_LAUNCH_FIBERS((k), (1, 64), (p))"));
}

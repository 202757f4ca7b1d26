//! The queries beside the catalog: they compile, and on code that the grammar reads they find what the library finds.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use hip_syntax::{Query, Syntax};

const CODE: &str = r#"
template <int N> __global__ void tiled(float* a) {
    __shared__ float tile[4][N];
    extern __shared__ int sized[];
    __shared__ int one;
    a[0] = tile[0][0] + sized[0] + one;
}
template <> __global__ void tiled<3>(float* a) { a[0] = 1; }
extern "C" __global__ void __launch_bounds__(4) plain(int n) {}
namespace inner { static __global__ void nested(int n) {} }
__global__ void declared(int n);
__device__ void helper() {}
void launch(float* a, hipStream_t stream) {
    tiled<4><<<1, dim3(2), 0, stream>>>(a);
    inner::nested<<<1, 2>>>(3);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(tiled<3>), 1, 2, 0, stream, a);
    hipLaunchKernelGGL(plain, 1, 2, 0, 0, 4);
    auto later = [=] { plain<<<1, 2>>>(5); };
}
"#;

/// Names and lines that a query captures as `@name`.
fn captured(name: &str, source: &str, syntax: &Syntax) -> BTreeSet<(String, u32)> {
    let query = Query::new(name, source).unwrap();
    let matches = query.run(syntax, 0..syntax.text().len());
    let names = matches.iter().filter_map(|found| found.get("name"));
    names.map(|range| (syntax.text()[range.clone()].to_owned(), syntax.line_of(range.start))).collect()
}

#[test]
fn queries_agree_with_the_library() {
    let syntax = Syntax::parse(CODE);
    assert!(!syntax.has_errors());
    let kernels = captured("kernels.scm", include_str!("../../../queries/kernels.scm"), &syntax);
    assert_eq!(kernels, syntax.kernels().iter().map(|kernel| (kernel.name.clone(), kernel.line)).collect());
    assert_eq!(kernels.len(), 4);

    let launches = captured("launches.scm", include_str!("../../../queries/launches.scm"), &syntax);
    assert_eq!(launches, syntax.launches().iter().map(|launch| (launch.kernel.clone(), launch.line)).collect());
    assert_eq!(launches.len(), 5);

    let shared = captured("shared-memory.scm", include_str!("../../../queries/shared-memory.scm"), &syntax);
    let arrays = syntax.kernels().iter().flat_map(|kernel| &kernel.shared);
    assert_eq!(shared, arrays.map(|array| (array.name.clone(), array.line)).collect());
    assert_eq!(shared.len(), 3);
}

#[test]
fn a_query_sees_only_its_range() {
    let syntax = Syntax::parse(CODE);
    let query = Query::new("kernels.scm", include_str!("../../../queries/kernels.scm")).unwrap();
    let plain = syntax.kernel("plain").unwrap();
    let matches = query.run(&syntax, plain.range.clone());
    let names: Vec<_> = matches.iter().filter_map(|found| found.get("name")).map(|r| &syntax.text()[r]).collect();
    assert_eq!(names, ["plain"]);
}

#[test]
fn a_wrong_query_says_where() {
    let error = Query::new("wrong.scm", "(function_definition)\n(no_such_node) @x").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.to_string().contains("wrong.scm"), "{error}");
}

#[test]
fn queries_with_device_nodes_find_nothing_in_plain_code() {
    let query = Query::new("launches.scm", include_str!("../../../queries/launches.scm")).unwrap();
    assert!(query.run(&Syntax::parse("int f() { return g(1); }"), 0..24).is_empty());
}

//! A version that somebody else wrote reads what the original includes, and nothing else that lies beside it: neither into its
//! code nor into the compiler's messages.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::workbench::{Workbench, WorkbenchOptions};
use lab::{Cancel, Failure, LabError, Source};

const ORIGINAL: &str = "#include <hip/hip_runtime.h>
#include \"parts/add.h\"
__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = sum(a[i], b[i]);
}
void add(const float* a, const float* b, float* c, int n) { add_kernel<<<(n + 63) / 64, 64>>>(a, b, c, n); }
";

const SUM: &str = "__device__ inline float sum(float a, float b) { return a + b; }\n";

/// The size that is kept from those who write versions.
const HELD_OUT: &str = "48271";

const BENCHMARK: &str = "entry = \"add\"
[[argument]]
name = \"a\"
kind = \"input\"
type = \"float\"
count = \"n\"
[[argument]]
name = \"b\"
kind = \"input\"
type = \"float\"
count = \"n\"
[[argument]]
name = \"c\"
kind = \"output\"
type = \"float\"
count = \"n\"
[[argument]]
name = \"n\"
kind = \"scalar\"
type = \"int\"
value = \"n\"
[[shape]]
n = 100
[[shape]]
n = 48271
held_out = true
";

/// Shows bytes of a file as template arguments of a message, and hides them in a constant.
const SHOW: &str = "template <int... digits> struct Show;
constexpr unsigned char bytes[] = {
#embed \"FILE\"
};
constexpr int at = [] { for (int i = 0; i < (int)sizeof bytes - 4; i++) if (bytes[i] == '4' && bytes[i + 1] == '8') return i; return 0; }();
";

fn project() -> (tempfile::TempDir, Workbench) {
    project_of(ORIGINAL)
}

fn project_of(original: &str) -> (tempfile::TempDir, Workbench) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    put("parts/add.h", SUM);
    put("add.hip", original);
    put("add.bench.toml", BENCHMARK);
    put("notes.h", &format!("#error {HELD_OUT}\n"));
    let source = Source::new(folder.path().join("add.hip"), original);
    let options = WorkbenchOptions {
        device: "cpu".into(),
        cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        benchmark: None,
        program_args: None,
        kernel: None,
        timeout: Duration::from_secs(60),
        memory_bytes: 4 << 30,
    };
    let bench = Workbench::open(&source, options, &Cancel::new()).unwrap();
    (folder, bench)
}

/// What a draft with these lines before the original's comes to.
fn built(bench: &Workbench, lines: &str) -> Result<lab::workbench::Build, LabError> {
    bench.build(&bench.original().with_text(format!("{lines}\n{ORIGINAL}")), &Cancel::new())
}

#[test]
fn a_draft_reads_what_the_original_includes() {
    let (_folder, bench) = project();
    let original = bench.build(bench.original(), &Cancel::new()).unwrap();
    bench.check(&original, &Cancel::new()).unwrap();
    let draft = built(&bench, "#include <type_traits>\n#if __has_include(\"parts/add.h\")\n#endif").unwrap();
    bench.check(&draft, &Cancel::new()).unwrap();
}

#[test]
fn a_draft_reads_nothing_else_that_lies_there() {
    let (folder, bench) = project();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let shown = format!("{SHOW}Show<bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3], bytes[at + 4]> x;");
    for hostile in [
        shown.replace("FILE", "add.bench.toml"),
        SHOW.replace("FILE", &path("add.bench.toml")),
        "#include \"add.bench.toml\"".into(),
        format!("#define HEADER \"{}\"\n#include HEADER", path("add.bench.toml")),
        "#include \"notes.h\"".into(),
        format!("asm(\".incbin \\\"{}\\\"\");", path("add.bench.toml")),
        format!("asm(\".include \\\"{}\\\"\");", path("add.bench.toml")),
        format!("#pragma comment(lib, \"{}\")", path("add.bench.toml")),
    ] {
        let error = built(&bench, &hostile).expect_err(&hostile);
        let told = format!("{error} {error:?}");
        assert!(matches!(error, LabError::Code(Failure::DoesNotCompile { .. })), "{hostile}: {told}");
        for secret in [HELD_OUT, "<52, 56", "held_out", "kind", "unknown directive"] {
            assert!(!told.replace(&hostile, "").contains(secret), "{hostile}: {told}");
        }
    }
}

#[test]
fn a_text_that_reads_the_benchmark_file_itself_is_not_trusted_with_it() {
    let (_folder, mut bench) = project();
    let draft = bench.original().with_text(format!("#include \"add.bench.toml\"\n{ORIGINAL}"));
    bench.admit(&draft, &Cancel::new()).unwrap();
    let error = bench.build(&draft, &Cancel::new()).unwrap_err();
    assert!(matches!(error, LabError::Code(Failure::DoesNotCompile { .. })), "{error}");
}

#[test]
fn an_include_that_macros_make_up_is_found_by_the_compiler() {
    let named = "#define TEXT(name) #name\n#define TEXT_OF(name) TEXT(name)\n#define WHERE parts/add.h\n#include TEXT_OF(WHERE)\n";
    let original = ORIGINAL.replace("#include \"parts/add.h\"\n", named);
    let (_folder, bench) = project_of(&original);
    let build = |lines: &str| bench.build(&bench.original().with_text(format!("{lines}\n{original}")), &Cancel::new());
    bench.check(&build("").unwrap(), &Cancel::new()).unwrap();
    bench.check(&build("// A draft.").unwrap(), &Cancel::new()).unwrap();
    assert!(build("#include \"add.bench.toml\"").is_err());
}

#[test]
fn a_further_file_of_the_users_brings_what_it_includes() {
    let (folder, mut bench) = project();
    let text = "#include \"fast.h\"\n".to_owned() + ORIGINAL;
    std::fs::write(folder.path().join("fast.h"), "").unwrap();
    let other = Source::new(PathBuf::from(folder.path()).join("other.hip"), text);
    assert!(bench.build(&other, &Cancel::new()).is_err());
    bench.admit(&other, &Cancel::new()).unwrap();
    bench.build(&other, &Cancel::new()).unwrap();
}

//! The command line's contract: JSON fields, exit statuses, and clear words for bad input.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use program::Run;
use serde_json::{Value, json};

/// A kernel with a benchmark file beside it.
const SAMPLE: &str = "vector_add";

fn field_names(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn kernels_lists_names_and_lines_from_one() {
    let run = Run::in_folder();
    run.file(
        "two.hip",
        "__global__ void a(int *x) {\n  x[0] = 1;\n}\n\ntemplate <class T>\n__global__ void b(T *x) {}\n",
    );
    let done = run.program(["kernels", "two.hip", "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    let kernels: Vec<Value> = done.json()["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| json!([kernel["name"], kernel["line"], kernel["end_line"]]))
        .collect();
    assert_eq!(kernels, [json!(["a", 1, 3]), json!(["b", 6, 6])]);
}

#[test]
fn time_reports_every_shape_with_an_interval() {
    let run = Run::in_folder();
    run.sample(SAMPLE);
    let done = run.program(["time", "vector_add.hip", "--json", "--seed", "7"]);
    assert_eq!(done.status, 0, "{done:?}");
    let answer = done.json();
    assert_eq!((&answer["device"], &answer["correct"]), (&json!("cpu"), &json!(true)));
    let kernels = answer["kernels"].as_array().unwrap();
    assert!(!kernels.is_empty());
    for kernel in kernels {
        for name in ["name", "shape", "median_ns", "low_ns", "high_ns", "samples"] {
            assert!(field_names(kernel).contains(&name), "{name} is missing in {kernel}");
        }
        let ns = |name: &str| kernel[name].as_f64().unwrap();
        assert!(0.0 < ns("low_ns") && ns("low_ns") <= ns("median_ns") && ns("median_ns") <= ns("high_ns"), "{kernel}");
    }
    assert!(answer.get("verdict").is_none());
}

#[test]
fn time_against_a_slower_version_says_faster() {
    let run = Run::in_folder();
    run.sample(SAMPLE);
    let slow = run.read("vector_add.hip").replacen(
        "c[i] =",
        "float waste = 0; for (int k = 0; k < 200; ++k) waste += a[i] * k; c[i] = waste * 0.0f +",
        1,
    );
    assert_ne!(slow, run.read("vector_add.hip"), "the sample has changed: plant the waste elsewhere");
    run.file("slow.hip", &slow);
    let done = run.program(["time", "vector_add.hip", "--against", "slow.hip", "--json", "--seed", "7"]);
    assert_eq!(done.status, 0, "{done:?}");
    let answer = done.json();
    assert_eq!(answer["verdict"], "faster", "{answer}");
    assert!(answer["ratio_low"].as_f64().unwrap() > 1.0 && answer["ratio"].as_f64() < answer["ratio_high"].as_f64());
}

#[test]
fn a_time_is_found_again_in_the_history_until_the_code_changes() {
    let run = Run::in_folder();
    run.sample(SAMPLE);
    assert_eq!(run.program(["time", "vector_add.hip"]).status, 0);
    let current = |run: &Run| -> Vec<bool> {
        let history = run.program(["history", "vector_add.hip", "--json"]).json();
        let rows = history["kernels"][0]["measurements"].as_array().unwrap().clone();
        rows.iter().map(|row| row["current"].as_bool().unwrap()).collect()
    };
    let fresh = current(&run);
    assert!(!fresh.is_empty() && fresh.iter().all(|&current| current), "{fresh:?}");

    run.file("vector_add.hip", format!("// formatting only\n\n{}", run.read("vector_add.hip")));
    assert_eq!(current(&run), fresh, "comments and lines do not make a figure stale");

    run.file("vector_add.hip", run.read("vector_add.hip").replacen("c[i] =", "c[i] = 1.0f *", 1));
    assert!(current(&run).iter().all(|&current| !current), "a changed kernel keeps no current figure");
}

#[test]
fn suggest_names_its_rules_and_says_that_it_is_rule_based() {
    let run = Run::in_folder();
    run.sample("sgemm");
    let answer = run.program(["suggest", "sgemm.hip", "--json"]).json();
    assert_eq!((&answer["provider"], &answer["rule_based"]), (&json!("catalog"), &json!(true)));
    let hypotheses = answer["hypotheses"].as_array().unwrap();
    assert!(!hypotheses.is_empty());
    for hypothesis in hypotheses {
        for name in ["key", "kernel", "title", "reason", "source", "line", "gain", "innovation"] {
            assert!(field_names(hypothesis).contains(&name), "{name} is missing in {hypothesis}");
        }
    }
}

#[test]
fn an_inferred_benchmark_runs_as_it_is() {
    let run = Run::in_folder();
    run.sample(SAMPLE);
    std::fs::remove_file(run.path("vector_add.bench.toml")).unwrap();
    let inferred = run.program(["benchmark", "vector_add.hip"]);
    assert_eq!(inferred.status, 0, "{inferred:?}");
    let without = run.program(["time", "vector_add.hip"]);
    assert_eq!(without.status, 0, "{without:?}");
    assert!(without.stderr.contains("fed by its signature"), "the user is told: {}", without.stderr);
    run.file("vector_add.bench.toml", &inferred.stdout);
    let with = run.program(["time", "vector_add.hip"]);
    assert_eq!((with.status, with.stderr.contains("note:")), (0, false), "{with:?}");
}

#[test]
fn an_open_header_is_timed_through_the_program_that_its_benchmark_file_names() {
    let run = Run::in_folder();
    run.file(
        "scale.hpp",
        "#pragma once\n#include <hip/hip_runtime.h>\n\
         __global__ void scale(float *x, int n) {\n\
         int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) x[i] *= 2.0f;\n}\n",
    );
    run.file(
        "app.hip",
        "#include \"scale.hpp\"\n#include <cstdio>\n#include <cstdlib>\n\
         int main(int argc, char **argv) {\n\
         int n = argc > 1 ? std::atoi(argv[1]) : 0;\n if (n < 1) return 4;\n\
         float *x = nullptr;\n hipMallocManaged(&x, n * sizeof(float));\n\
         for (int i = 0; i < n; ++i) x[i] = i;\n\
         scale<<<(n + 63) / 64, 64>>>(x, n);\n hipDeviceSynchronize();\n\
         std::printf(\"%d items, last %g\\n\", n, x[n - 1]);\n return x[n - 1] == 2.0f * (n - 1) ? 0 : 5;\n}\n",
    );
    run.file("scale.bench.toml", "[program]\nmain = \"app.hip\"\nargs = [\"4096\"]\ncheck_args = [\"128\"]\n");

    let checked = run.program(["check", "scale.hpp", "--output"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    assert!(checked.stdout.contains("128 items, last 254"), "the check takes its own arguments: {checked:?}");
    let timed = run.program(["time", "scale.hpp", "--json"]);
    assert_eq!(timed.status, 0, "{timed:?}");
    assert_eq!(timed.json()["kernels"][0]["shape"], "grid 64x1x1 block 64x1x1", "{timed:?}");

    // What is built is the open text in the header's place.
    run.file("scale.hpp", run.read("scale.hpp").replace("2.0f", "3.0f"));
    let wrong = run.program(["check", "scale.hpp"]);
    assert_eq!(wrong.status, 1, "{wrong:?}");
    assert!(wrong.stderr.contains("exit status 5"), "{wrong:?}");
}

#[test]
fn a_program_that_would_take_any_kernel_for_right_is_not_compared() {
    const KERNEL: &str = "#include <hip/hip_runtime.h>\n#include <cstdio>\n\
        __global__ void fill(float *x, int n) {\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
        if (i < n) x[i] = 0.5f * i;\n}\n";
    const MAIN: &str = "int main() {\n const int n = 1 << 16;\n float *x = nullptr;\n hipMalloc(&x, n * sizeof(float));\n\
        fill<<<n / 64, 64>>>(x, n);\n float last = 0;\n\
        hipMemcpy(&last, x + n - 1, sizeof(float), hipMemcpyDeviceToHost);\n";
    let run = Run::in_folder();
    for (name, end, status) in [
        ("silent", "return 0;\n}\n", 2),
        ("talkative", "std::printf(\"done after 0.12 ms\\n\");\n return 0;\n}\n", 2),
        ("prints", "std::printf(\"%g\\n\", last);\n return 0;\n}\n", 0),
        ("checks", "return last == 0.5f * (n - 1) ? 0 : 1;\n}\n", 0),
    ] {
        let file = format!("{name}.hip");
        run.file(&file, format!("{KERNEL}{MAIN}{end}"));
        run.file("same.hip", format!("// the same\n{KERNEL}{MAIN}{end}"));
        let done = run.program(["time", "same.hip", "--against", &file, "--budget", "0.3"]);
        assert_eq!(done.status, status, "{name}: {done:?}");
        assert_eq!(done.stderr.contains("when its kernels do nothing"), status == 2, "{name}: {done:?}");
    }
}

/// Two kernels, of which one is slower by far.
const TWO_KERNELS: &str = "#include <hip/hip_runtime.h>\n#include <cstdio>\n\
    __global__ void first(const float *x, float *y, int n) {\n\
     int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) y[i] = x[i] * 2.0f;\n}\n\
    __global__ void second(const float *x, float *y, int n) {\n\
     int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) y[i] = x[i] + 1.0f;\n}\n";
const THEIR_MAIN: &str = "int main() {\n const int n = 4096;\n float *x, *y, last = 0;\n\
     (void)hipMalloc(&x, n * 4);\n (void)hipMalloc(&y, n * 4);\n (void)hipMemset(x, 0, n * 4);\n\
     first<<<n / 64, 64>>>(x, y, n);\n second<<<n / 64, 64>>>(y, x, n);\n\
     (void)hipMemcpy(&last, x + n - 1, 4, hipMemcpyDeviceToHost);\n std::printf(\"%g\\n\", last);\n\
     return last == 1.0f ? 0 : 1;\n}\n";

#[test]
fn one_kernel_of_a_program_is_timed_compared_and_checked_by_its_name() {
    let run = Run::in_folder();
    run.file("two.hip", format!("{TWO_KERNELS}{THEIR_MAIN}"));
    run.file("same.hip", format!("// the same\n{TWO_KERNELS}{THEIR_MAIN}"));
    let timed = run.program(["time", "two.hip", "--kernel", "second", "--against", "same.hip", "--budget", "0.3"]);
    assert_eq!(timed.status, 0, "{timed:?}");
    assert!(timed.stdout.contains("second") && !timed.stdout.contains("first"), "{timed:?}");
    assert_eq!(run.program(["check", "two.hip", "--kernel", "first"]).status, 0);
    for command in ["check", "time"] {
        let missing = run.program([command, "two.hip", "--kernel", "third"]);
        assert_eq!(missing.status, 2, "{missing:?}");
        assert!(missing.stderr.contains("did not launch third; it launched first, second"), "{missing:?}");
    }
    // The comparison is in the notebook with its interval.
    let history = run.program(["history", "two.hip", "--kernel", "second"]);
    assert!(!history.stdout.contains("x faster") && !history.stdout.contains("x same"), "{history:?}");
}

#[test]
fn one_kernel_of_a_file_without_a_main_is_fed_by_its_name() {
    let run = Run::in_folder();
    run.file("two.hip", TWO_KERNELS);
    let checked = run.program(["check", "two.hip", "--kernel", "second"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    let missing = run.program(["check", "two.hip", "--kernel", "third"]);
    assert_eq!(missing.status, 2, "{missing:?}");
    // A benchmark file says what is called.
    let written = run.program(["benchmark", "two.hip", "--kernel", "first"]);
    run.file("two.bench.toml", &written.stdout);
    assert_eq!(run.program(["check", "two.hip", "--kernel", "first"]).status, 0);
    let other = run.program(["check", "two.hip", "--kernel", "second"]);
    assert_eq!(other.status, 2, "{other:?}");
    assert!(other.stderr.contains("it calls first and not second"), "{other:?}");
    // Of two files with a benchmark each, one benchmark feeds both, and it is said which.
    run.file("other.hip", format!("// the same\n{TWO_KERNELS}"));
    run.file("other.bench.toml", &written.stdout);
    let compared = run.program(["time", "two.hip", "--against", "other.hip", "--budget", "0.2"]);
    assert_eq!(compared.status, 0, "{compared:?}");
    assert!(compared.stderr.contains("two.bench.toml; ") && compared.stderr.contains("other.bench.toml is not used"));
}

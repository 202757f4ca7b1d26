//! The forecast at the command line: its contract, and that it is never called a measurement.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use program::{Done, Run};
use serde_json::{Value, json};

/// Runs the program on its default device.
fn on_default(run: &Run, arguments: &[&str]) -> Done {
    run.command(arguments).env_remove("KERNEL_SCIENTIST_DEVICE").output().unwrap().into()
}

fn has_fields(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "{field} is missing in {value}");
    }
}

/// Columns are written along rows: a wave's stores lie far apart.
const SCATTERED: &str = r#"#include <hip/hip_runtime.h>
__global__ void turn(const float* in, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x < n) out[x * n + y] = in[y * n + x];
}
void entry(const float* in, float* out, int n) {
    turn<<<dim3(n / 256, n), 256>>>(in, out, n);
}
"#;

const BENCH: &str = r#"
entry = "entry"
argument = [
    { name = "in", kind = "input", type = "float", count = "n * n" },
    { name = "out", kind = "output", type = "float", count = "n * n" },
    { name = "n", kind = "scalar", type = "int", value = "n" },
]
shape = [{ n = 512 }, { n = 1024, held_out = true }]
"#;

fn folder() -> Run {
    let run = Run::in_folder();
    run.file("turn.hip", SCATTERED);
    run.file("turn.bench.toml", BENCH);
    run
}

#[test]
fn the_answer_has_the_documented_fields() {
    let run = folder();
    let done = run.program(["forecast", "turn.hip", "--json", "--on", "mi300x"]);
    assert_eq!(done.status, 0, "{done:?}");
    let answer = done.json();
    assert_eq!(answer["on"], "mi300x");
    let kernels = answer["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 1, "held-out shapes are not forecast unasked: {answer}");
    has_fields(&kernels[0], &["name", "grid", "block", "us", "bound", "lines", "launches", "low_us", "high_us"]);
    assert_eq!((&kernels[0]["grid"], &kernels[0]["block"]), (&json!([2, 512, 1]), &json!([256, 1, 1])));
    assert!(kernels[0]["us"].as_f64().unwrap() > 0.0);
    let line = kernels[0]["lines"].as_array().unwrap().iter().find(|line| line["line"] == 5).unwrap();
    has_fields(line, &["line", "share", "sectors", "ideal_sectors", "conflict_degree"]);
    assert!(line["sectors"].as_f64() > line["ideal_sectors"].as_f64(), "{line}");
    assert_eq!(run.program(["forecast", "turn.hip", "--on", "mi999"]).status, 2);
}

#[test]
fn with_no_device_configured_times_are_forecasts_for_mi300x() {
    let run = folder();
    run.file("better.hip", SCATTERED.replace("out[x * n + y] = in[y * n + x]", "out[y * n + x] = in[y * n + x]"));
    let done = on_default(&run, &["time", "turn.hip", "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    let answer = done.json();
    assert_eq!(
        (&answer["device"], &answer["kind"], &answer["correct"]),
        (&json!("mi300x"), &json!("forecast"), &json!(true))
    );
    let kernel = &answer["kernels"][0];
    has_fields(kernel, &["name", "shape", "median_ns", "low_ns", "high_ns"]);
    assert_eq!(kernel["samples"], 0);

    let done = on_default(&run, &["time", "turn.hip"]);
    assert!(done.stdout.contains("forecast, not a measurement"), "{done:?}");
    // It does something else, so that it has no time whatever the model says.
    let done = on_default(&run, &["time", "better.hip", "--against", "turn.hip", "--benchmark", "turn.bench.toml"]);
    assert_ne!(done.status, 0, "{done:?}");

    let history = on_default(&run, &["history", "turn.hip", "--json"]).json();
    let kernel = &history["kernels"][0];
    assert_eq!(kernel["measurements"].as_array().unwrap().len(), 0, "{history}");
    let rows = kernel["forecasts"].as_array();
    assert!(rows.is_some(), "{history}");
}

#[test]
fn what_cannot_be_traced_is_named_and_not_guessed() {
    let run = Run::in_folder();
    run.file(
        "asm.hip",
        "#include <hip/hip_runtime.h>\n__global__ void k(int* x) {\n    int y = x[0];\n    asm volatile(\"nop\" : \"+r\"(y));\n    \
         x[0] = y;\n}\nint main() {\n    int* x;\n    if (hipMalloc(&x, 4) != hipSuccess) return 1;\n    k<<<1, 1>>>(x);\n    \
         return hipDeviceSynchronize() == hipSuccess ? 0 : 1;\n}\n",
    );
    let done = run.program(["forecast", "asm.hip", "--json"]);
    assert_eq!(done.status, 1, "{done:?}");
    assert!(done.json()["failure"]["message"].as_str().unwrap().contains("inline assembly"), "{done:?}");
}

#[test]
fn an_evolution_by_forecast_names_the_lines_that_it_cured() {
    // Its stores run along the columns of the result.
    let run = Run::in_folder();
    run.file("transpose.hip", std::fs::read(program::repository().join("demo/transpose.hip")).unwrap());
    let bench = std::fs::read_to_string(program::repository().join("demo/transpose.bench.toml")).unwrap();
    let (head, _) = bench.split_once("[[shape]]").unwrap();
    let shapes = "[[shape]]\nrows = 4096\ncols = 4096\n\n[[shape]]\nrows = 3000\ncols = 4096\nheld_out = true\n";
    run.file("transpose.bench.toml", format!("{head}{shapes}"));
    let done = on_default(&run, &["evolve", "transpose.hip", "--generations", "1", "--seed", "1", "--out", "best.hip"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert!(!done.stdout.contains("measured"), "{}", done.stdout);
    assert!(done.stdout.contains("A forecast, not a measurement: forecast "), "{}", done.stdout);
    assert!(
        done.stdout.contains("% of pairs this far apart were ordered right (validated on an H200)"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("Lines that were cured (forecast for MI300X)"), "{}", done.stdout);
    let page = on_default(&run, &["report", "transpose.hip"]);
    assert!(page.stdout.contains("Forecast speedup") && page.stdout.contains("not measurements"), "{}", page.stderr);
}

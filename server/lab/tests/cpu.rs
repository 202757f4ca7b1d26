//! The CPU toolchain and program mode on small projects.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lab::program::{self, RunOptions};
use lab::toolchain::cpu::Cpu;
use lab::toolchain::{CompileOptions, clangd};
use lab::workbench::{Sampling, ShapeChoice};
use lab::{Cancel, Failure, LabError, Source, Verdict};

fn cpu() -> Cpu {
    Cpu::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")).unwrap()
}

/// A folder with files in it.
struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn source(&self, name: &str) -> Source {
        Source::new(self.path(name), fs::read_to_string(self.path(name)).unwrap())
    }
}

/// Builds with what clangd's files say, runs, and gives the program's output.
fn output(cpu: &Cpu, source: &Source) -> Result<String, LabError> {
    let options = clangd::options_for(&source.path)?;
    let program = cpu.build_program(source, &options, &Cancel::new())?;
    Ok(program::run(cpu, &program, &run_options(), &Cancel::new())?.stdout)
}

fn run_options() -> RunOptions {
    RunOptions::new(Duration::from_secs(60))
}

fn diagnostics(error: LabError) -> Vec<String> {
    match error {
        LabError::Code(Failure::DoesNotCompile { diagnostics }) => diagnostics
            .iter()
            .map(|d| {
                let name = d.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                format!("{name}:{}:{}: {}: {}", d.line, d.column, d.severity, d.message)
            })
            .collect(),
        other => panic!("{other}"),
    }
}

const SCALE: &str = r#"#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void scale(float *data, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] -= 2.0f;
    if (i < n) for (int k = 0; k < REPEATS; k++) data[i] = data[i] * factor + 1.0f;
}

int main(int argc, char **argv) {
    const int n = 1 << 16;
    std::vector<float> host(n, 4.0f);
    float *data = nullptr;
    if (hipMalloc(&data, n * sizeof(float)) != hipSuccess) return 1;
    if (hipMemcpy(data, host.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 2;
    scale<<<dim3(n / 256), dim3(256), 0, 0>>>(data, FACTOR, n);
    if (hipMemcpy(host.data(), data, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 3;
    printf("first %g arguments %d\n", host[0], argc);
    return 0;
}
"#;

/// [`SCALE`] with its two constants.
fn scale(repeats: &str, factor: &str) -> String {
    SCALE.replace("REPEATS", repeats).replace("FACTOR", factor)
}

#[test]
fn a_program_is_timed_by_kernel_and_configuration() {
    let cpu = cpu();
    let project = Project::new(&[("main.hip", &scale("1", "0.5f"))]);
    let program = cpu.build_program(&project.source("main.hip"), &CompileOptions::default(), &Cancel::new()).unwrap();
    let sampling = Sampling { seed: 1, budget: Duration::from_secs(2), half_width: 0.5, shapes: ShapeChoice::All };
    let report = program::time(&cpu, &program, &run_options(), &sampling, &Cancel::new()).unwrap();
    assert_eq!(report.output, "first 2 arguments 1\n");
    assert_eq!(report.device, "cpu");
    assert!(report.device_note.starts_with("CPU emulation, not GPU time"), "{}", report.device_note);
    let kernel = &report.kernels[0];
    assert!(kernel.name.starts_with("scale") && kernel.shape == "grid 256x1x1 block 256x1x1", "{kernel:?}");
    assert!(kernel.figure.samples.len() >= 5 && kernel.figure.low_ns <= kernel.figure.median_ns, "{kernel:?}");
    assert!(kernel.figure.median_ns > 1e3 && kernel.figure.median_ns < 1e9, "{kernel:?}");
}

#[test]
fn a_call_of_the_linker_that_no_longer_fits_the_system_is_asked_for_again() {
    // Of this run alone: calls that earlier ones kept may be of another runtime.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let mark = format!("--build-id=0x{now:032x}");
    let cpu = cpu();
    let options = CompileOptions { extra: vec![format!("-Wl,{mark}")], ..CompileOptions::default() };
    let build = |number: u32| {
        let text = format!("int main() {{ return {number}; }}\n");
        cpu.build_program(&Source::new("/w/linked.hip", text), &options, &Cancel::new())
    };
    build(1).unwrap();
    let mut notes = {
        let rooms = fs::read_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")).unwrap();
        let files = rooms.filter_map(|room| fs::read_dir(room.ok()?.path()).ok()).flatten().filter_map(Result::ok);
        let notes = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|it| it == "note"));
        notes.filter_map(|path| Some((fs::read_to_string(&path).ok()?, path)))
    };
    let (call, path) = notes.find(|(text, _)| text.starts_with("[\"/") && text.contains(&mark)).unwrap();
    assert!(call.contains("crtbegin"), "{call}");
    fs::write(&path, call.replace("crtbegin", "crtgone")).unwrap();
    build(2).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), call);
}

#[test]
fn of_a_build_the_cache_keeps_what_is_run_and_not_what_it_was_linked_of() {
    let project = Project::new(&[
        ("main.hip", "int other();\nint main() { return other(); } // kept\n"),
        ("other.hip", "int other() { return 0; }\n"),
    ]);
    let options = CompileOptions { sources: vec![project.path("other.hip")], ..CompileOptions::default() };
    let program = cpu().build_program(&project.source("main.hip"), &options, &Cancel::new()).unwrap();
    let files = fs::read_dir(program.path.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let objects: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "o")).collect();
    assert!(program.path.is_file() && objects.is_empty(), "{objects:?}");
}

#[test]
fn unsaved_text_is_built_and_nothing_is_written_beside_it() {
    let cpu = cpu();
    let project = Project::new(&[("saved.hip", "this is no program"), ("part.h", "#define PART 7\n")]);
    let text = "#include <hip/hip_runtime.h>\n#include <cstdio>\n#include \"part.h\"\n\
                int main() { printf(\"%s %d %d\\n\", __FILE__, __LINE__, PART); }\n";
    for name in ["saved.hip", "never_saved.hip"] {
        let source = Source::new(project.path(name), text);
        assert_eq!(output(&cpu, &source).unwrap(), format!("{} 4 7\n", project.path(name).display()));
    }
    assert_eq!(fs::read_to_string(project.path("saved.hip")).unwrap(), "this is no program");
    assert_eq!(fs::read_dir(project.0.path()).unwrap().count(), 2);
}

#[test]
fn headers_with_launches_are_rewritten_where_they_stand() {
    let cpu = cpu();
    let project = Project::new(&[
        ("src/main.hip", "#include \"launch.h\"\n#include \"far.hpp\"\nint main() { return far() + launch(3); }\n"),
        (
            "src/launch.h",
            "#pragma once\n#include <hip/hip_runtime.h>\n#include <cstdio>\n\
             template <typename T> __global__ void put(T *out, T value) {\n\
                 extern __shared__ T staged[];\n\
                 staged[threadIdx.x] = value;\n__syncthreads();\n\
                 if (threadIdx.x == 0) *out = staged[blockDim.x - 1];\n}\n\
             inline int launch(int value) {\n\
                 int *out, host = 0;\n\
                 if (hipMalloc(&out, sizeof(int)) != hipSuccess) return 1;\n\
                 put<int><<<1, 64, 64 * sizeof(int)>>>(out, value);\n\
                 if (hipMemcpy(&host, out, sizeof(int), hipMemcpyDeviceToHost) != hipSuccess) return 2;\n\
                 printf(\"%d in %s\\n\", host, __FILE__);\n\
                 return 0;\n}\n",
        ),
        ("Common/far.hpp", "inline int far() { return 0; }\n"),
    ]);
    let expected = format!("3 in {}\n", project.path("src/launch.h").display());
    assert_eq!(output(&cpu, &project.source("src/main.hip")).unwrap(), expected);
}

#[test]
fn clangds_files_give_folders_macros_and_standard() {
    let cpu = cpu();
    let text = "#include <given.h>\n#include <cstdio>\n\
                int main() { printf(\"%d %d %s\\n\", GIVEN, MACRO, __cplusplus > 201703L ? \"newer\" : \"17\"); }\n";
    let project = Project::new(&[
        ("main.hip", text),
        ("inc/given.h", "#define GIVEN 5\n"),
        ("compile_flags.txt", "-xhip\n--offload-arch=gfx942\n-Iinc\n-DMACRO=6\n-std=c++20\n-Werror\n"),
    ]);
    assert_eq!(output(&cpu, &project.source("main.hip")).unwrap(), "5 6 newer\n");
}

#[test]
fn an_open_header_takes_its_place_in_the_program_of_its_main_file() {
    let cpu = cpu();
    let project = Project::new(&[
        ("main.hip", "#include \"value.h\"\n#include <cstdio>\nint main() { printf(\"%d\\n\", value()); }\n"),
        ("value.h", "inline int value() { return 1; }\n"),
    ]);
    let options = CompileOptions { main: Some(project.path("main.hip")), ..CompileOptions::default() };
    for (text, expected) in [("1", "1\n"), ("2", "2\n")] {
        let source = Source::new(project.path("value.h"), format!("inline int value() {{ return {text}; }}\n"));
        let program = cpu.build_program(&source, &options, &Cancel::new()).unwrap();
        let outcome = program::run(&cpu, &program, &run_options(), &Cancel::new()).unwrap();
        assert_eq!(outcome.stdout, expected);
    }
}

#[test]
fn a_program_of_several_sources_is_built_from_all_of_them() {
    let cpu = cpu();
    let shared = "#pragma once\n#include <hip/hip_runtime.h>\n__device__ inline int item() { return threadIdx.x; }\n\
                  extern __device__ int offset;\n__device__ int scaled(int x);\nvoid fill(int *out);\n";
    let main = "#include \"shared.hpp\"\n#include <cstdio>\n__device__ int scaled(int x) { return 3 * x; }\n\
                __global__ void zero(int *out) { out[item()] = 0; }\n\
                int main() { int *out; hipMalloc(&out, 8 * sizeof(int)); zero<<<1, 8>>>(out); fill(out);\n\
                for (int i = 0; i < 8; ++i) printf(\"%d \", out[i]); return 0; }\n";
    let other = "#include \"shared.hpp\"\n__device__ int offset = 5;\n\
                 __global__ void write(int *out) { out[item()] += scaled(item()) + offset; }\n\
                 void fill(int *out) { write<<<1, 8>>>(out); }\n";
    let project = Project::new(&[("main.hip", main), ("shared.hpp", shared), ("other.hip", other)]);
    let options = CompileOptions { sources: vec![project.path("other.hip")], ..CompileOptions::default() };
    let build = || cpu.build_program(&project.source("main.hip"), &options, &Cancel::new());
    let program = build().unwrap();
    let outcome = program::run(&cpu, &program, &run_options(), &Cancel::new()).unwrap();
    assert_eq!(outcome.stdout, "5 8 11 14 17 20 23 26 ");
    assert_eq!(build().unwrap().path, program.path);

    fs::write(project.path("other.hip"), other.replace("= 5", "= 6")).unwrap();
    assert_ne!(build().unwrap().path, program.path);
    fs::write(project.path("other.hip"), other.replace("+ offset", "+ offfset")).unwrap();
    let messages = diagnostics(build().unwrap_err());
    assert!(messages[0].contains("other.hip:3:"), "{messages:?}");
}

#[test]
fn messages_stand_in_the_users_lines_and_columns_and_words() {
    let cpu = cpu();
    let kernel = "#include <hip/hip_runtime.h>\n__global__ void k(int *p, float f) { *p = f; }\n";
    let cases = [
        ("int main() { k<<<1, 64>>>(nullptr, missing); }", "3:36: error: use of undeclared identifier 'missing'"),
        ("int main() { gone<<<1, 64>>>(1); }", "3:14: error: use of undeclared identifier 'gone'"),
        (
            "int main() { k<<<1, 64>>>(nullptr); }",
            "3:14: error: too few arguments to function call, expected 2, have 1",
        ),
        ("int main() { k<<<1, 64>>>(nullptr, \"text\"); }", "3:"),
        ("#include \"not_there.h\"\nint main() {}", "3:10: fatal error: 'not_there.h' file not found"),
        ("int helper(); int main() { return helper(); }", "undefined symbol: helper()"),
        ("", "there is no main function"),
        ("int main() { return 0 }", "3:22: error: expected ';' after return statement"),
        ("int main() { k<<<1, 64>>>(nullptr, 1", "error: "),
    ];
    for (text, expected) in cases {
        let source = Source::new("/nowhere/message.hip", format!("{kernel}{text}\n"));
        let error = cpu.build_program(&source, &CompileOptions::default(), &Cancel::new()).unwrap_err();
        let messages = diagnostics(error);
        assert!(!messages.iter().any(|message| message.contains("__invoke")), "{messages:#?}");
        assert!(messages[0].contains(expected) && messages[0].starts_with("message.hip:"), "{text}: {messages:#?}");
        assert!(
            messages.iter().all(|message| !message.to_lowercase().contains("ks_") && !message.contains("ks::")),
            "{messages:#?}"
        );
    }
}

#[test]
fn a_build_is_kept_until_something_that_went_into_it_changes() {
    let cpu = cpu();
    let project = Project::new(&[
        ("main.hip", "#include \"value.h\"\n#include <cstdio>\nint main() { printf(\"%d\\n\", VALUE); }\n"),
        ("value.h", "#define VALUE 1\n"),
    ]);
    let build = || {
        let source = project.source("main.hip");
        cpu.build_program(&source, &CompileOptions::default(), &Cancel::new()).unwrap().path
    };
    let first = build();
    let made = fs::metadata(&first).unwrap().modified().unwrap();
    assert_eq!(build(), first);
    assert_eq!(fs::metadata(&first).unwrap().modified().unwrap(), made, "it was built again");
    fs::write(project.path("value.h"), "#define VALUE 2\n").unwrap();
    assert_ne!(build(), first);
    assert_eq!(output(&cpu, &project.source("main.hip")).unwrap(), "2\n");
    fs::write(project.path("value.h"), "#define VALUE 1\n").unwrap();
    assert_eq!(build(), first);
}

#[test]
fn an_object_shows_only_what_its_glue_exports() {
    let cpu = cpu();
    let project = Project::new(&[("main.hip", &scale("1", "0.5f"))]);
    let glue = "extern \"C\" __attribute__((visibility(\"default\"))) int exported() { return 1; }";
    let object =
        cpu.build_object(&project.source("main.hip"), Some(glue), &CompileOptions::default(), &Cancel::new()).unwrap();
    let symbols = std::process::Command::new("llvm-nm-19").args(["-D", "--defined-only"]).arg(&object.path).output();
    let symbols = String::from_utf8(symbols.unwrap().stdout).unwrap();
    let strong: Vec<_> = symbols.lines().filter(|line| line.contains(" T ")).collect();
    assert!(strong.len() == 1 && strong[0].ends_with(" exported"), "{symbols}");
}

#[test]
fn programs_are_compared_by_their_kernels_and_outputs() {
    let cpu = cpu();
    let project = Project::new(&[("main.hip", "")]);
    let build = |text: &str| {
        let source = Source::new(project.path("main.hip"), text);
        cpu.build_program(&source, &CompileOptions::default(), &Cancel::new()).unwrap()
    };
    let sampling = Sampling { seed: 3, budget: Duration::from_secs(4), half_width: 0.05, shapes: ShapeChoice::All };
    let compare = |baseline: &str, candidate: &str| {
        program::compare(&cpu, &build(baseline), &build(candidate), &run_options(), &sampling, &Cancel::new())
    };
    // 0.5 * 2 + 1 stays 2 however often it is done, so that the slow version gives the same result.
    let (slow, fast) = (scale("400", "0.5f"), scale("1", "0.5f"));
    let faster = compare(&slow, &fast).unwrap();
    assert_eq!((faster.verdict, faster.seed), (Verdict::Faster, 3));
    assert!(faster.speed.ratio > 1.5 && faster.shapes[0].shape.starts_with("scale"), "{faster:?}");
    assert_eq!(compare(&fast, &slow).unwrap().verdict, Verdict::Slower);

    let wrong = compare(&fast, &scale("1", "0.6f")).unwrap_err().to_string();
    assert!(
        wrong.contains("wrong result: its output differs from the original's: expected \"first 2 arguments 1\""),
        "{wrong}"
    );
    let no_launch = fast.replace("scale<<<dim3(n / 256), dim3(256), 0, 0>>>(data, 0.5f, n);", "");
    let refused = compare(&fast, &no_launch).unwrap_err().to_string();
    assert!(refused.contains("refused: it reported no launch"), "{refused}");
    // A kernel that does next to nothing, and a host that takes the time instead.
    let idle = "const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);\n\
                while (std::chrono::steady_clock::now() < end) {}\n    return 0;";
    let moved = fast.replace("return 0;", idle).replace("#include <vector>", "#include <chrono>\n#include <vector>");
    let patient = Sampling { budget: Duration::from_secs(30), half_width: 100.0, ..sampling.clone() };
    let (slow, moved) = (build(&slow), build(&moved));
    let refused = program::compare(&cpu, &slow, &moved, &run_options(), &patient, &Cancel::new());
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("the work was moved to the host, or the times are not true"), "{refused}");
    let broken = compare(&fast.replace("return 0;", "return 9;"), &fast).unwrap_err();
    assert!(matches!(&broken, LabError::Usage(text) if text.contains("does not run itself")), "{broken}");
}

const CLOCKS: &str = r#"#include <hip/hip_runtime.h>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <thread>
#include <unistd.h>

__global__ void nothing() {}
__global__ void rest() { usleep(3000); }
__global__ void turn(unsigned *out, int n) {
    unsigned x = 1;
    for (int i = 0; i < n; i++) x = x * x + 12345u;
    *out = x;
}

int main() {
    unsigned *out = nullptr;
    if (hipMalloc(&out, sizeof *out) != hipSuccess) return 1;
    for (int i = 0; i < 1000; i++) nothing<<<1, 64>>>();
    rest<<<1, 1>>>();
    std::atomic<bool> stop{false};
    std::thread helper([&] { while (!stop) {} });
    const std::clock_t before = std::clock();
    for (int i = 0; i < 2000; i++) turn<<<1, 1>>>(out, 10000);
    std::printf("%.0f\n", double(std::clock() - before) / CLOCKS_PER_SEC * 1e9);
    stop = true;
    helper.join();
}
"#;

#[test]
fn processor_time_leaves_out_rests_and_holds_the_work_of_other_threads() {
    let project = Project::new(&[("clocks.hip", CLOCKS)]);
    let cpu = cpu();
    let built = cpu.build_program(&project.source("clocks.hip"), &CompileOptions::default(), &Cancel::new()).unwrap();
    let outcome = program::run(&cpu, &built, &run_options(), &Cancel::new()).unwrap();

    let sums = |name: &str| {
        let group = outcome.launches.iter().find(|group| group.name == name).unwrap();
        (group.nanoseconds.iter().sum::<u64>(), group.processor_ns.iter().sum::<u64>())
    };
    let (wall, processor) = sums("rest");
    assert!(wall >= 3_000_000 && processor < wall / 2, "{wall} {processor}");
    let used: f64 = outcome.stdout.trim().parse().unwrap();
    let (_, processor) = sums("turn");
    assert!(processor as f64 > 0.6 * used, "{processor} of {used}");
}

#[test]
fn a_build_can_be_cancelled() {
    let cpu = cpu();
    let slow =
        "#include <hip/hip_runtime.h>\n#include <regex>\ntemplate <int n> struct S { S<n - 1> a; S<n - 2> b; };\n\
                template <> struct S<0> {}; template <> struct S<1> {};\n\
                int main() { std::regex r(\"a\"); return (int)sizeof(S<400>); }\n// RANDOM\n"
            .replace("RANDOM", &format!("{:?}", std::time::SystemTime::now()));
    let cancel = Cancel::new();
    let stopper = cancel.clone();
    let asked = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stopper.cancel();
        Instant::now()
    });
    let result = cpu.build_program(&Source::new("/nowhere/slow.hip", slow), &CompileOptions::default(), &cancel);
    let delay = asked.join().unwrap().elapsed();
    assert!(matches!(result, Err(LabError::Cancelled)), "{:?}", result.map(|program| program.path));
    assert!(delay < Duration::from_secs(30), "{delay:?}");
}

#[test]
fn a_build_that_was_cut_short_on_the_disk_is_made_anew() {
    let project = Project::new(&[(
        "k.hip",
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n__global__ void k() {}\n\
         int main() { k<<<1, 1>>>(); std::puts(\"whole\"); }\n// cut short\n",
    )]);
    let (cpu, source, cancel) = (cpu(), project.source("k.hip"), Cancel::new());
    let options = CompileOptions::default();
    for length in [0, 5000] {
        let built = cpu.build_program(&source, &options, &cancel).unwrap();
        fs::File::options().write(true).open(&built.path).unwrap().set_len(length).unwrap();
        assert_eq!(output(&cpu, &source).unwrap(), "whole\n", "cut to {length} bytes");
    }
}

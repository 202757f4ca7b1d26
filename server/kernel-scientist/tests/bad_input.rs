//! Bad input: a clear error with the right exit status, in bounded time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use program::{Done, Run, repository};

/// `name`, exit status, and what the message must say.
struct Case {
    file: &'static str,
    contents: &'static [u8],
    status: i32,
    says: &'static str,
}

fn message(done: &Done) -> String {
    format!("{}{}", done.stdout, done.stderr)
}

#[test]
fn files_that_hold_nothing_to_time() {
    let cases = [
        Case { file: "empty.hip", contents: b"", status: 2, says: "no kernel" },
        Case { file: "host.hip", contents: b"int add(int a, int b) { return a + b; }\n", status: 2, says: "no kernel" },
        Case { file: "noise.hip", contents: &[0x7f, b'E', 0xff, 0xfe, 0x00, 0x80], status: 2, says: "not UTF-8 text" },
        Case { file: "nul.hip", contents: b"__global__ void k() {}\0", status: 2, says: "NUL" },
    ];
    for case in cases {
        let run = Run::in_folder();
        run.file(case.file, case.contents);
        for command in ["time", "check", "evolve"] {
            let done = run.program([command, case.file]);
            assert_eq!(done.status, case.status, "{command} {}: {done:?}", case.file);
            assert!(message(&done).contains(case.says), "{command} {}: {done:?}", case.file);
        }
    }
}

#[test]
fn paths_that_are_no_file() {
    let run = Run::in_folder();
    std::fs::create_dir(run.path("folder.hip")).unwrap();
    for command in ["kernels", "analyze", "time", "check", "suggest", "evolve", "benchmark", "history"] {
        for (file, says) in [("missing.hip", "No such file"), ("folder.hip", "is a folder")] {
            let done = run.program([command, file]);
            assert_eq!(done.status, 2, "{command} {file}: {done:?}");
            assert!(message(&done).contains(says) && message(&done).contains(file), "{command} {file}: {done:?}");
        }
    }
}

#[test]
fn mistakes_on_the_command_line() {
    let run = Run::in_folder();
    run.sample("vector_add");
    std::os::unix::fs::symlink(run.path("vector_add.hip"), run.path("link.hip")).unwrap();
    for (arguments, says) in [
        (&["time", "vector_add.hip", "--device", "mi300"] as &[_], "there is no device mi300"),
        (&["time", "vector_add.hip", "--budget", "-1"], "--budget"),
        (&["time", "vector_add.hip", "--benchmark", "none.toml"], "none.toml"),
        (&["time", "vector_add.hip", "--against", "none.hip"], "none.hip"),
        (&["suggest", "vector_add.hip", "--kernel", "vector_sub"], "there is no kernel vector_sub"),
        (&["suggest", "vector_add.hip", "--provider", "oracle"], "there is no provider `oracle`"),
        (&["suggest", "vector_add.hip", "--provider", "anthropic"], "names no model"),
        (&["evolve", "vector_add.hip", "--model", "gpt-5"], "names no provider"),
        (&["evolve", "vector_add.hip", "--model", "replay:none.jsonl"], "none.jsonl"),
        (&["evolve", "vector_add.hip", "--model", "editor"], "start the run there"),
        (&["evolve", "vector_add.hip", "--model", "openai:m", "--base-url", "http://far.example"], "not encrypted"),
        (&["evolve", "vector_add.hip", "--generations", "0"], "--generations"),
        (&["evolve", "vector_add.hip", "--out", "no/such/folder/best.hip"], "folder does not exist"),
        (&["evolve", "vector_add.hip", "--out", "vector_add.hip"], "is the source itself"),
        (&["evolve", "vector_add.hip", "--out", "./link.hip"], "is the source itself"),
        (&["evolve", "vector_add.hip", "--resume"], "no run of this file is recorded; leave --resume out"),
        (&["evolve", "vector_add.hip", "--model", "replay:/dev/zero"], "/dev/zero: is no file"),
        (&["evolve", "vector_add.hip", "--model", "openai:m", "--base-url", "127.0.0.1:9/v1"], "begin with https://"),
        (&["report", "vector_add.hip"], "no run of this file"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&[], "Usage"),
    ] {
        let done = run.program(arguments);
        assert_eq!(done.status, 2, "{arguments:?}: {done:?}");
        assert!(message(&done).contains(says), "{arguments:?} should say {says:?}: {done:?}");
    }
}

#[test]
fn a_device_or_a_model_that_is_not_there_is_status_3() {
    let run = Run::in_folder();
    run.sample("vector_add");
    run.file("kernel-scientist.toml", "[device.mi300]\ntoolchain = \"hip\"\narch = \"gfx942\"\nssh = \"user@host\"\n");
    for (arguments, says) in [
        (["time", "vector_add.hip", "--device", "mi300"], "not in this version"),
        (["suggest", "vector_add.hip", "--model", "anthropic:claude-x"], "set ANTHROPIC_API_KEY"),
        (["evolve", "vector_add.hip", "--model", "openai:gpt-5"], "set OPENAI_API_KEY"),
        (["evolve", "vector_add.hip", "--model", "gemini:gemini-x"], "set GEMINI_API_KEY"),
    ] {
        let done = run.program(arguments);
        assert_eq!(done.status, 3, "{arguments:?}: {done:?}");
        assert!(message(&done).contains(says), "{arguments:?}: {done:?}");
    }
}

#[test]
fn a_malformed_benchmark_file_is_named_with_the_line() {
    let run = Run::in_folder();
    run.sample("vector_add");
    let good = run.read("vector_add.bench.toml");
    for (broken, says) in [
        (format!("{good}\n[shap]\nn = 3\n"), "shap"),
        (good.replacen("entry", "entri", 1), "entri"),
        (format!("{good}\n[[shape]\n"), "vector_add.bench.toml"),
    ] {
        run.file("vector_add.bench.toml", &broken);
        let done = run.program(["time", "vector_add.hip"]);
        assert_eq!(done.status, 2, "{done:?}");
        assert!(message(&done).contains(says) && message(&done).contains("vector_add.bench.toml:"), "{done:?}");
    }
}

#[test]
fn programs_that_fail_are_status_1_and_say_how() {
    let run = Run::in_folder();
    for (name, says) in [
        ("does_not_compile", "does not compile"),
        ("hangs_on_host", "timed out"),
        ("hangs_in_a_kernel", "timed out"),
        ("writes_to_null", "crashed"),
        ("aborts", "crashed"),
        ("fails_its_own_check", "wrong"),
        ("allocates_host_memory", "memory"),
        ("allocates_device_memory", "memory"),
        ("forks", "refused"),
        ("writes_to_tmp", "refused"),
        ("opens_a_socket", "refused"),
    ] {
        let file = format!("{name}.hip");
        std::fs::copy(repository().join("tests/faults").join(&file), run.path(&file)).unwrap();
        let done = run.program(["time", &file, "--timeout", "3", "--memory", "512", "--json"]);
        assert_eq!(done.status, 1, "{name}: {done:?}");
        assert_eq!(done.json()["correct"], false, "{name}: {done:?}");
        assert!(done.stderr.contains(says), "{name} should say {says:?}: {}", done.stderr);
        // The compiler's messages are in the user's file and never about what the rewrite put there.
        assert!(!message(&done).contains("KS_LAUNCH"), "{name}: {done:?}");
    }
}

#[test]
fn a_notebook_that_cannot_be_written_does_not_cost_the_result() {
    let run = Run::in_folder();
    run.sample("vector_add");
    run.file("not-a-database", "this is no notebook at all, only text that somebody wrote there\n".repeat(40));
    for notebook in ["not-a-database", "no/such\0".trim_end_matches('\0'), "/proc/notebook.db"] {
        let done = run.program(["time", "vector_add.hip", "--notebook", notebook, "--json"]);
        if done.status == 0 {
            // A missing folder may be made on the way.
            assert_eq!(notebook, "no/such");
            continue;
        }
        assert_eq!(done.status, 2, "{notebook}: {done:?}");
        assert_eq!(done.json()["correct"], true, "the result is printed all the same: {done:?}");
        assert!(done.stderr.contains(notebook) && done.stderr.contains("not recorded"), "{notebook}: {done:?}");
    }
    assert!(run.read("not-a-database").starts_with("this is no notebook"), "a foreign file is left alone");
}

#[test]
fn names_that_compilers_do_not_take_are_refused_before_they_are_built() {
    use std::os::unix::ffi::OsStrExt;

    for name in [&b"not\xffutf8.hip"[..], b"line\nfeed.hip", b"tab\t.hip", b"back\\slash.hip", b"a\"quote.hip"] {
        let run = Run::in_folder();
        run.sample("vector_add");
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::copy(run.path("vector_add.hip"), run.path(".").join(name)).unwrap();
        for command in ["time", "analyze", "evolve"] {
            let done = run.program([std::ffi::OsStr::new(command), name]);
            assert_eq!(done.status, 2, "{command} {name:?}: {done:?}");
            assert!(done.stderr.contains("rename it"), "{command} {name:?}: {done:?}");
        }
    }
    let run = Run::in_folder();
    run.sample("vector_add");
    std::fs::rename(run.path("vector_add.hip"), run.path("größe 大.hip")).unwrap();
    assert_eq!(run.program(["check", "größe 大.hip"]).status, 0, "other names are taken");
}

#[test]
fn counts_that_are_no_number_are_mistakes_of_the_benchmark_file() {
    for count in ["0.0 / 0.0", "1e300", "-1e300", "-1"] {
        let run = Run::in_folder();
        run.sample("vector_add");
        let broken = run.read("vector_add.bench.toml").replacen("count = \"n\"", &format!("count = \"{count}\""), 1);
        run.file("vector_add.bench.toml", broken);
        let done = run.program(["time", "vector_add.hip"]);
        assert_eq!(done.status, 2, "{count}: {done:?}");
        assert!(done.stderr.contains("vector_add.bench.toml"), "{count}: {done:?}");
    }
}

#[test]
fn a_compiler_that_hangs_is_told_in_bounded_time() {
    use std::os::unix::fs::PermissionsExt;

    let run = Run::in_folder();
    run.sample("vector_add");
    run.file("clang++", "#!/bin/sh\nexec sleep 1000\n");
    std::fs::set_permissions(run.path("clang++"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = run.command(["time", "vector_add.hip"]);
    let done = Done::from(command.env("KERNEL_SCIENTIST_CLANG", run.path("clang++")).output().unwrap());
    assert_eq!(done.status, 3, "{done:?}");
    assert!(done.stderr.contains("did not tell its version"), "{done:?}");
}

#[test]
fn what_a_benchmark_file_cannot_mean_is_told_with_its_line() {
    let run = Run::in_folder();
    run.sample("vector_add");
    let good = run.read("vector_add.bench.toml");
    for (from, to, says) in [
        (
            "block = 64",
            "block = 2048",
            "vector_add.bench.toml:2: a block of 2048x1x1 work-items is not possible (n=65536)",
        ),
        ("block = 64", "block = [64, 64]", "a block of 64x64x1 work-items is not possible"),
        ("block = 64", "block = 0", "a block of 0x1x1 work-items"),
        ("\"(n + 63) / 64\"", "\"n - 65536\"", "vector_add.bench.toml:2: a grid of 0x1x1 blocks is not possible"),
        ("block = 64", "block = 64, shared = 70000", "vector_add.bench.toml:2: 70000 bytes of shared memory"),
        ("kernel = \"vector_add\"", "kernel = \"vector_sub\"", "vector_add.bench.toml:2:"),
        ("[check]", "[check]\natol = 1e9", "with `atol` 1e+09, zeros would pass for every element of `c`"),
        (
            "c[i] = a[i] + b[i];\"",
            "for (volatile bool on = true; on;) {}\"",
            "vector_add.bench.toml:29: the reference timed out after 1.0 s",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        run.file("vector_add.bench.toml", good.replacen(from, to, 1));
        for command in ["check", "time"] {
            let done = run.program([command, "vector_add.hip", "--timeout", "1"]);
            assert_eq!(done.status, 2, "{command} {to}: {done:?}");
            assert!(done.stderr.contains(says), "{command} {to} should say {says:?}: {done:?}");
        }
    }
}

#[test]
fn a_full_disk_under_the_cache_is_told_as_such() {
    use std::os::unix::fs::PermissionsExt;

    let run = Run::in_folder();
    run.sample("vector_add");
    let full = "#!/bin/sh\ncase \"$*\" in --version) echo 'clang version 19.1.7';; *)\n\
                echo 'fatal error: error in backend: IO failure on output stream: No space left on device' >&2; exit 70;; esac\n";
    run.file("clang++", full);
    std::fs::set_permissions(run.path("clang++"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = run.command(["time", "vector_add.hip"]);
    let done = Done::from(command.env("KERNEL_SCIENTIST_CLANG", run.path("clang++")).output().unwrap());
    assert_eq!(done.status, 3, "{done:?}");
    assert!(done.stderr.contains("is full, so that nothing can be built there"), "{done:?}");
}

//! The sandbox against a program that tries what it should not.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lab::sandbox::{Command, End, Limits, Policy, Run, capabilities, run};
use lab::{Cancel, LabError};

/// The deeds' program, compiled once for all tests of this file.
fn deeds() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("deeds");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sandbox/deeds.cpp");
        let done = std::process::Command::new("clang++-19")
            .args(["-std=c++17", "-O1", "-w", "-pthread", "-o"])
            .args([&program, &source])
            .status()
            .expect("clang++-19 is there");
        assert!(done.success());
        (folder, program)
    });
    program
}

/// At once, on a machine that has much else to do; half of what a program gets.
const SOON: Duration = Duration::from_secs(30);

fn limits() -> Limits {
    Limits {
        wall: Duration::from_secs(60),
        memory_bytes: 256 << 20,
        address_space_bytes: Some(4 << 30),
        output_bytes: 1 << 20,
        file_bytes: 20 << 20,
        threads: 64,
    }
}

/// Runs a deed in a folder of its own, under `limits`.
fn attempt(deed: &str, argument: &str, limits: Limits) -> (Run, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(deeds(), folder.path(), Policy::Candidate, limits);
    command.arguments = vec![deed.into(), argument.into()];
    command.environment = vec![("GIVEN".into(), "yes".into())];
    command.report = true;
    let run = run(&command, &Cancel::new()).unwrap();
    (run, folder)
}

fn refused(run: &Run) -> &str {
    match &run.end {
        End::Refused(what) => what,
        other => panic!("not refused but {other:?}: {} {}", run.stdout, run.stderr),
    }
}

#[test]
fn the_sandbox_is_whole_on_the_machines_that_test_it() {
    assert_eq!(capabilities().missing(), Vec::<String>::new());
}

#[test]
fn forbidden_deeds_are_named_and_stopped() {
    let cases = [
        ("fork", "tried to start a process (clone)"),
        ("vfork", "tried to start a process (vfork)"),
        ("system", "tried to start a process (clone)"),
        ("spawn", "tried to start a process (clone)"),
        ("exec", "tried to run another program: /"),
        ("threads", "started more than 64 threads"),
        ("print", "printed more than 1 MiB"),
        ("print-stderr", "printed more than 1 MiB"),
        ("write-shm", "tried to write /dev/shm/kernel-scientist-test, outside its folder (openat)"),
        ("write-home", "tried to write /root/kernel-scientist-test, outside its folder (openat)"),
        ("socket", "tried to open a socket (socket(AF_INET))"),
        ("unix-socket", "tried to open a socket (socket(AF_UNIX))"),
        ("kill-parent", "tried to act on another process"),
        ("kill-all", "tried to act on another process, -1 (kill)"),
        ("ptrace-parent", "tried to read another process's memory (process_vm_readv)"),
        ("limit-parent", "tried to act on another process"),
        ("outlive", "tried to outlive the program that started it"),
        ("leave-group", "tried to leave its session (setsid)"),
        ("attach-shared-memory", "tried to use another program's shared memory (shmat)"),
        ("control-semaphores", "tried to use another program's semaphores (semctl)"),
        ("receive-message", "tried to use another program's message queue (msgrcv)"),
        ("many-files", "wrote more than 20 MiB into its folder"),
    ];
    for (deed, expected) in cases {
        let (run, _folder) = attempt(deed, "", limits());
        assert!(refused(&run).contains(expected), "{deed}: {:?}", run.end);
        assert!(run.wall < SOON, "{deed} took {:?}", run.wall);
    }
}

#[test]
fn changes_outside_its_folder_are_named_and_do_not_happen() {
    let cases = [
        ("write", "new", "tried to write"),
        ("append", "file", "tried to write"),
        ("symlink", "", "tried to write"),
        ("dangling", "new", "tried to write"),
        ("rename", "new", "tried to rename"),
        ("link", "new", "tried to link"),
        ("unlink", "file", "tried to remove"),
        ("mkdir", "new", "tried to make the folder"),
        ("truncate", "file", "tried to truncate"),
        ("chmod", "file", "tried to change the attributes of"),
    ];
    for (deed, name, expected) in cases {
        let outside = tempfile::tempdir().unwrap();
        let real = outside.path().canonicalize().unwrap();
        let file = real.join("file");
        fs::write(&file, "kept").unwrap();
        let target = if name.is_empty() { real.clone() } else { real.join(name) };
        let (run, _folder) = attempt(deed, target.to_str().unwrap(), limits());
        let what = refused(&run);
        assert!(what.contains(expected) && what.contains(real.to_str().unwrap()), "{deed}: {what}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept", "{deed}");
        assert_eq!(fs::read_dir(&real).unwrap().count(), 1, "{deed} left something behind");
        assert_ne!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o777, "{deed}");
    }
    let (run, folder) = attempt("write", "../kernel-scientist-outside", limits());
    assert!(refused(&run).contains("kernel-scientist-outside, outside its folder"), "{:?}", run.end);
    assert!(!folder.path().join("../kernel-scientist-outside").exists());
}

#[test]
fn honest_deeds_are_let_go_on() {
    let cases = [
        ("nothing", End::Status(0)),
        ("fail", End::Status(3)),
        ("some-threads", End::Status(0)),
        ("own-files", End::Status(0)),
        ("raise", End::Status(5)),
        ("clone3", End::Status(0)),
        ("call-of-tomorrow", End::Status(0)),
        ("report", End::Status(0)),
    ];
    for (deed, expected) in cases {
        let (run, _folder) = attempt(deed, "", limits());
        assert_eq!(run.end, expected, "{deed}: {} {}", run.stdout, run.stderr);
        assert_eq!(run.report == b"hello\n", deed == "report", "{deed}");
    }
}

#[test]
fn crashes_and_limits_have_their_ends() {
    let long = limits();
    let short = Limits { wall: Duration::from_millis(300), ..limits() };
    let cases = [
        ("null", long, End::Signal(libc::SIGSEGV)),
        ("abort", long, End::Signal(libc::SIGABRT)),
        ("overflow", long, End::Signal(libc::SIGSEGV)),
        ("malloc-touched", long, End::OutOfMemory),
        ("malloc-untouched", long, End::Signal(libc::SIGABRT)),
        ("huge-file", long, End::Signal(libc::SIGXFSZ)),
        ("hang", short, End::TimedOut),
        ("spin", short, End::TimedOut),
        ("ignore-sigterm", short, End::TimedOut),
    ];
    for (deed, limits, expected) in cases {
        let (run, _folder) = attempt(deed, "", limits);
        assert_eq!(run.end, expected, "{deed}: {} {}", run.stdout, run.stderr);
        assert!(run.wall < limits.wall + SOON, "{deed} took {:?}", run.wall);
        let said = run.failure(&limits).unwrap().to_string();
        assert_eq!(said.contains("ran out of memory"), deed.starts_with("malloc"), "{deed}: {said}");
    }
}

#[test]
fn nothing_of_ours_reaches_the_child() {
    let (run, _folder) = attempt("environment", "", limits());
    let names: Vec<_> = run.stdout.lines().filter_map(|line| line.split('=').next()).collect();
    assert_eq!(names, ["GIVEN", "KS_REPORT_FD"]);
    assert_eq!(attempt("descriptors", "", limits()).0.stdout, "1\n");
    assert_eq!(attempt("parent-environment", "", limits()).0.end, End::Status(7));
    let (run, _folder) = attempt("capabilities", "", limits());
    assert_eq!(run.stdout.lines().count(), 2);
    assert!(run.stdout.lines().all(|line| line.ends_with("\t0000000000000000")), "{}", run.stdout);
}

#[test]
fn only_what_was_given_can_be_read() {
    let elsewhere = tempfile::tempdir().unwrap();
    let secret = elsewhere.path().join("secret");
    fs::write(&secret, "s").unwrap();
    assert_eq!(attempt("read", secret.to_str().unwrap(), limits()).0.end, End::Status(7));
    assert_eq!(attempt("read", "/usr/bin/env", limits()).0.end, End::Status(0));

    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(deeds(), folder.path(), Policy::Candidate, limits());
    command.arguments = vec!["read".into(), secret.clone().into()];
    command.readable = vec![elsewhere.path().into(), "/does/not/exist".into()];
    assert_eq!(run(&command, &Cancel::new()).unwrap().end, End::Status(0));
    command.arguments[0] = "fchmod".into();
    let run = run(&command, &Cancel::new()).unwrap();
    assert!(refused(&run).contains("change the attributes of"), "{:?}", run.end);
}

#[test]
fn no_other_process_can_be_read_about() {
    let (own, parent) = ("/proc/self", format!("/proc/{}", std::process::id()));
    for name in ["cmdline", "comm", "stat", "status", "limits", "task", "."] {
        for process in [parent.as_str(), "/proc/1", &format!("/proc/self/../{}", std::process::id())] {
            let path = format!("{process}/{name}");
            assert!(fs::symlink_metadata(&path).is_ok(), "{path} is not there, so it shows nothing");
            assert_eq!(attempt("read", &path, limits()).0.end, End::Status(7), "{path}");
        }
        let path = format!("{own}/{name}");
        assert_eq!(attempt("read", &path, limits()).0.end, End::Status(0), "{path}");
    }
    assert_eq!(attempt("read", "/proc", limits()).0.end, End::Status(7), "a list of the processes");
    for path in [
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/self/maps",
        "/proc/thread-self/stat",
        "/proc/sys/vm/overcommit_memory",
    ] {
        assert_eq!(attempt("read", path, limits()).0.end, End::Status(0), "{path}");
    }

    // A compiler would put it into the program, or into its messages.
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("/bin/sh", folder.path(), Policy::Compiler, limits());
    command.arguments = vec!["-c".into(), format!("read x < {parent}/cmdline; /bin/cat {parent}/cmdline").into()];
    let done = run(&command, &Cancel::new()).unwrap();
    assert_eq!((done.stdout.as_str(), done.end), ("", End::Status(1)), "{}", done.stderr);
}

#[test]
fn cancelling_kills_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(deeds(), folder.path(), Policy::Candidate, limits());
    command.arguments = vec!["spin".into()];
    let cancel = Cancel::new();
    let stopper = cancel.clone();
    let asked = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        stopper.cancel();
        Instant::now()
    });
    let result = run(&command, &cancel);
    let returned = Instant::now();
    assert!(matches!(result, Err(LabError::Cancelled)));
    let delay = returned - asked.join().unwrap();
    assert!(delay < SOON, "{delay:?}");
    assert_eq!(children(), Vec::<String>::new());
}

#[test]
fn a_program_that_is_not_there_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let command = Command::new("/does/not/exist", folder.path(), Policy::Candidate, limits());
    let error = run(&command, &Cancel::new()).unwrap_err().to_string();
    assert!(error.contains("starting /does/not/exist"), "{error}");
}

#[test]
fn a_compiler_may_start_processes_but_gets_no_network_and_writes_only_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let script = format!("echo out > made; /bin/cat made; echo no > {}/new || echo kept out", outside.path().display());
    let mut command = Command::new("/bin/sh", folder.path(), Policy::Compiler, limits());
    command.arguments = vec!["-c".into(), script.into()];
    let done = run(&command, &Cancel::new()).unwrap();
    assert_eq!((done.end, done.stdout.as_str()), (End::Status(0), "out\nkept out\n"), "{}", done.stderr);

    command.program = deeds().into();
    command.arguments = vec!["socket".into()];
    let done = run(&command, &Cancel::new()).unwrap();
    assert_eq!((done.end, done.stdout.contains("Operation not permitted")), (End::Status(0), true), "{}", done.stdout);
}

/// The other half of the test below: a process that runs a child without end.
#[test]
#[ignore = "run by the test that kills it"]
fn run_a_child_without_end() {
    let (folder, program) = (std::env::var_os("FOLDER").unwrap(), std::env::var_os("PROGRAM").unwrap());
    let mut command = Command::new(program, folder, Policy::Candidate, limits());
    command.arguments = vec!["spin".into()];
    run(&command, &Cancel::new()).unwrap();
}

#[test]
fn a_parent_that_is_killed_takes_its_child_along() {
    let folder = tempfile::tempdir().unwrap();
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run_a_child_without_end", "--ignored"])
        .envs([("FOLDER", folder.path()), ("PROGRAM", deeds())])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let child = wait_for(|| running(deeds()).first().copied()).expect("the child starts");
    parent.kill().unwrap(); // SIGKILL: it gets no chance to clean up
    parent.wait().unwrap();
    let gone = wait_for(|| running(deeds()).is_empty().then_some(()));
    assert!(gone.is_some(), "{child} outlived its parent");
}

/// Asks until there is an answer, for as long as [`SOON`] at most.
fn wait_for<T>(answer: impl Fn() -> Option<T>) -> Option<T> {
    let started = Instant::now();
    while started.elapsed() < SOON {
        if let Some(answer) = answer() {
            return Some(answer);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Processes that run `program`.
fn running(program: &Path) -> Vec<u32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|process| fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == program))
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect()
}

/// Children of this process, zombies included. (nextest runs each test in a process of its own; without it, `tests/run.sh` runs one test at a time.)
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let parent = |stat: &str| stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1).map(str::to_owned);
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| parent(stat).is_some_and(|parent| parent == own))
        .collect()
}

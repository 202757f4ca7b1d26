//! Bad files, full disks, killed writers and racing processes. A child is this test program itself, told by a variable
//! of the environment which part to play.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod samples;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lab::Failure;
use notebook::{ExperimentOutcome, Notebook, NotebookError, Options};
use samples::*;

const NOTEBOOK: &str = "KS_TEST_NOTEBOOK";

fn child(part: &str, notebook: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([part, "--exact", "--nocapture", "--test-threads=1"]).env(NOTEBOOK, notebook);
    command
}

fn played_by_child() -> Option<Notebook> {
    std::env::var_os(NOTEBOOK).map(|path| Notebook::open(Path::new(&path)).unwrap())
}

fn error(outcome: Result<Notebook, NotebookError>, path: &Path) -> NotebookError {
    let error = outcome.expect_err("it was opened");
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "does not say where: {text}");
    assert!(text.contains(". ") || text.contains("; "), "does not say what to do: {text}");
    error
}

#[test]
fn a_file_that_is_no_notebook_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..9000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let other = folder.path().join("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE music (title TEXT)").unwrap();
    let mut damaged = {
        let path = folder.path().join("damaged.db");
        start(&Notebook::open(&path).unwrap(), FILE);
        std::fs::read(path).unwrap()
    };
    damaged[100..4000].fill(0xA5);
    let cases: [(&str, Vec<u8>); 4] = [
        ("noise", noise),
        ("text", b"int main() { return 0; }\n".repeat(300)),
        ("music", std::fs::read(other).unwrap()),
        ("damage", damaged),
    ];
    for (name, bytes) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let error = error(Notebook::open(&path), &path);
        assert!(matches!(error, NotebookError::Unreadable { .. }), "{name}: {error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name} was changed");
    }
}

#[test]
fn a_newer_notebook_is_refused_and_not_touched() {
    let (folder, notebook) = fresh();
    let path = folder.path().join("notebook.db");
    drop(notebook);
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", notebook::VERSION + 1).unwrap();
    drop(raw);
    let before = std::fs::read(&path).unwrap();
    let error = error(Notebook::open(&path), &path);
    let NotebookError::Newer { found, known, .. } = error else { panic!("{error:?}") };
    assert_eq!((found, known), (notebook::VERSION + 1, notebook::VERSION));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn places_that_cannot_hold_a_notebook_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [folder.path().to_path_buf(), file.join("notebook.db"), "/proc/notebook.db".into()] {
        let error = error(Notebook::open(&path), &path);
        assert!(matches!(error, NotebookError::CannotOpen { .. }), "{error:?}");
    }
    assert!(Notebook::open_existing(&folder.path().join("none.db")).unwrap().is_none());
    assert!(!folder.path().join("none.db").exists());
}

#[test]
fn a_lock_that_is_held_too_long_is_an_error_in_bounded_time() {
    let (folder, notebook) = fresh();
    let path = folder.path().join("notebook.db");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    drop(notebook);
    let began = Instant::now();
    let waiting = Notebook::open_with(&path, Options { lock_timeout: Duration::from_millis(200) }).unwrap();
    let run = notebook::RunId(1);
    let error = waiting.record_step(run, "a", &serde_json::Value::Null, &Default::default()).unwrap_err();
    assert!(matches!(error, NotebookError::Locked { .. }), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
    raw.execute_batch("ROLLBACK").unwrap();
    start(&waiting, FILE);
}

/// Plays the child of [`a_killed_writer_loses_nothing_that_was_acknowledged`].
#[test]
fn child_writes_until_it_is_killed() {
    let Some(notebook) = played_by_child() else { return };
    let run = start(&notebook, FILE);
    println!("run {run}");
    for index in 0.. {
        let id = experiment(&notebook, run, &format!("s{index}"), ExperimentOutcome::Measured(&comparison()));
        println!("row {}", id.0);
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notebook.db");
    let mut acknowledged = 0;
    // At several moments, so that the kill falls into different parts of a write.
    for delay in [0, 3, 7, 12, 20] {
        let mut writer = child("child_writes_until_it_is_killed", &path).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap());
        let mut output = String::new();
        while !output.contains("row ") {
            assert!(lines.read_line(&mut output).unwrap() > 0, "the child ended: {output}");
        }
        std::thread::sleep(Duration::from_millis(delay));
        writer.kill().unwrap();
        writer.wait().unwrap();
        lines.read_to_string(&mut output).unwrap();

        let notebook = Notebook::open(&path).unwrap();
        let run = notebook.runs(Path::new(FILE)).unwrap()[0].id;
        let kept: Vec<i64> = notebook.experiments(run).unwrap().iter().map(|row| row.id.0).collect();
        // The last line may be cut off by the kill.
        let whole_lines = output.rsplit_once('\n').unwrap().0.lines();
        for said in whole_lines.filter_map(|line| line.strip_prefix("row ")) {
            assert!(kept.contains(&said.parse().unwrap()), "{said} was acknowledged and is not among {kept:?}");
            acknowledged += 1;
        }
        let check: String = rusqlite::Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(check, "ok");
        notebook.hold_run(run).expect("a killed process lets go of its run");
    }
    assert!(acknowledged >= 5, "only {acknowledged} rows were written");
}

/// Plays the children of [`processes_write_to_one_notebook_at_once`].
#[test]
fn child_writes_fifty_rows() {
    let Some(notebook) = played_by_child() else { return };
    let run = start(&notebook, &format!("/file{}.hip", std::process::id()));
    for index in 0..50 {
        experiment(&notebook, run, &format!("s{index}"), ExperimentOutcome::Measured(&comparison()));
    }
}

#[test]
fn processes_write_to_one_notebook_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notebook.db");
    // All of them find no file and make it.
    let writers: Vec<_> =
        (0..3).map(|_| child("child_writes_fifty_rows", &path).stdout(Stdio::piped()).spawn().unwrap()).collect();
    let files: Vec<String> = writers.iter().map(|writer| format!("/file{}.hip", writer.id())).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let notebook = Notebook::open(&path).unwrap();
    for file in files {
        let runs = notebook.runs(Path::new(&file)).unwrap();
        assert_eq!(notebook.experiments(runs[0].id).unwrap().len(), 50, "{file}");
    }
}

/// Fills the notebook until it refuses, and says what it had been told was kept.
fn fill(notebook: &Notebook) -> (Vec<i64>, NotebookError) {
    let run = start(notebook, FILE);
    let mut kept = Vec::new();
    for index in 0.. {
        let failure = Failure::Wrong { detail: "x".repeat(2000) };
        match record(notebook, run, &format!("s{index}"), ExperimentOutcome::Failed(failure)) {
            Ok(id) => kept.push(id.0),
            Err(error) => return (kept, error),
        }
        assert!(index < 100_000, "the disk never fills");
    }
    unreachable!()
}

/// Plays the child of [`a_full_disk_is_an_error_and_loses_nothing`].
#[test]
fn child_fills_its_disk() {
    let Some(notebook) = played_by_child() else { return };
    let (kept, error) = fill(&notebook);
    assert!(matches!(error, NotebookError::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("disk is full"), "{error}");
    let path = notebook.path().to_path_buf();
    drop(notebook);
    let again = Notebook::open(&path).expect("a full disk can still be read");
    let run = again.runs(Path::new(FILE)).unwrap()[0].id;
    let found: Vec<i64> = again.experiments(run).unwrap().iter().map(|row| row.id.0).collect();
    assert_eq!(found, kept);
    println!("kept {} rows", kept.len());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    // A disk of half a megabyte in a mount namespace of its own.
    let script = r#"mount -t tmpfs -o size=512k tmpfs "$0" && exec "$@""#;
    let program = child("child_fills_its_disk", &disk.join("notebook.db"));
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(&disk);
    command.arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap());
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return eprintln!("not tested here: unshare: {error}"),
    };
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if complaint.contains("unshare") || complaint.contains("mount:") {
        return eprintln!("not tested here, no disk can be mounted: {complaint}");
    }
    assert!(output.status.success() && said.contains("kept "), "{said}\n{complaint}");
}

//! The main job: from a HIP file to a confirmed speedup, also when it is interrupted on the way.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use program::{Done, Run};
use serde_json::{Value, json};

/// Generous: what must happen within a second or so on an idle machine.
const SOON: Duration = Duration::from_secs(60);

/// A kernel whose loop stores to global memory in every round and divides by a constant: a flaw far above any noise.
const FLAWED: &str = "reduction";

fn last(done: &Done) -> Value {
    done.json_lines().pop().unwrap_or_else(|| panic!("no event: {done:?}"))
}

fn send(child: &Child, signal: i32) {
    // SAFETY: a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
}

/// Reads events until one is of this kind.
fn read_until(child: &mut Child, kind: &str) -> Vec<Value> {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut seen = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        let event: Value = serde_json::from_str(&line).unwrap();
        let found = event["event"] == kind;
        seen.push(event);
        if found {
            return seen;
        }
    }
    panic!("it ended before an event {kind}: {seen:?}");
}

fn wait_for_end(mut child: Child) -> (i32, Duration) {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code().unwrap_or(-1), start.elapsed());
        }
        assert!(start.elapsed() < SOON, "it did not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes that `pid` started and that still run, zombies left out.
fn children_of(pid: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&child| is_running_child(child, pid).unwrap_or(false))
        .collect()
}

/// `None` when it has ended meanwhile.
fn is_running_child(child: u32, of: u32) -> Option<bool> {
    let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
    // The state and the parent follow the name, which stands in parentheses and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let (state, parent) = (fields.next()?, fields.next()?);
    Some(state != "Z" && parent.parse() == Ok(of))
}

#[test]
fn a_flawed_kernel_gets_a_confirmed_speedup_and_a_report() {
    // A process in which memory lies badly for one version makes the answer "inconclusive"; never does it make it wrong.
    assert!((3..6).any(finds_a_speedup), "of three runs none found the speedup that is there");
}

/// Whether a run ends with a confirmed speedup that a comparison of the files sees as well.
fn finds_a_speedup(seed: u32) -> bool {
    let run = Run::in_folder();
    run.sample(FLAWED);
    let file = format!("{FLAWED}.hip");
    let seed = seed.to_string();
    let done = run.program(["evolve", &file, "--generations", "1", "--seed", &seed, "--json", "--out", "best.hip"]);
    assert_eq!(done.status, 0, "{done:?}");

    let events = done.json_lines();
    assert_eq!(events[0]["event"], "started");
    assert_eq!(events.iter().filter(|event| event["event"] == "finished").count(), 1);
    let end = last(&done);
    assert_eq!(end["event"], "finished", "{end}");
    let report = run.program(["report", &file]);
    assert_eq!(report.status, 0, "{report:?}");
    assert!(report.stdout.starts_with("<!doctype html>") || report.stdout.starts_with("<!DOCTYPE html>"));
    if end["confirmed"] != true {
        return false;
    }
    assert!(end["speedup_low"].as_f64().unwrap() > 1.0, "{end}");
    assert!(end["shapes"].as_array().unwrap().iter().any(|shape| shape["held_out"] == true), "{end}");
    assert_eq!(end["best"], json!(run.path("best.hip")));
    assert!(report.stdout.contains(&format!("{:.2}", end["speedup"].as_f64().unwrap())));

    // What was written is what was measured: it is right, and faster against the file as it is.
    std::fs::copy(run.path(&format!("{FLAWED}.bench.toml")), run.path("best.bench.toml")).unwrap();
    let again = run.program(["time", "best.hip", "--against", &file, "--json"]);
    let verdict = again.json()["verdict"].clone();
    assert!(verdict == "faster" || verdict == "inconclusive", "{again:?}");
    verdict == "faster"
}

#[test]
fn ctrl_c_ends_a_run_and_its_processes_and_it_can_go_on() {
    let run = Run::in_folder();
    run.sample(FLAWED);
    let file = format!("{FLAWED}.hip");
    let mut child = run.start(["evolve", &file, "--generations", "1", "--seed", "5", "--json"]);
    let pid = child.id();
    let before = read_until(&mut child, "designed");
    send(&child, libc::SIGINT);
    let rest: String = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    let (status, _) = wait_for_end(child);
    assert_eq!(status, 130);
    let end: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!((&end["event"], &end["state"]), (&json!("finished"), &json!("cancelled")), "{end}");
    assert_eq!(children_of(pid), Vec::<u32>::new());

    let done = run.program(["evolve", &file, "--resume", "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    assert_eq!(done.json_lines()[0]["resumed"], true);
    assert_eq!(last(&done)["run"], before[0]["run"]);
    assert_eq!(last(&done)["state"], "completed");
    let repeated = done.json_lines().iter().filter(|event| event["event"] == "designed").count();
    assert_eq!(repeated, 0, "the design is in the notebook and is not made again");
}

#[test]
fn a_closed_terminal_ends_a_run_as_ctrl_c_does() {
    let run = Run::in_folder();
    run.sample(FLAWED);
    let mut child = run.start(["evolve", &format!("{FLAWED}.hip"), "--generations", "1", "--seed", "5", "--json"]);
    let pid = child.id();
    read_until(&mut child, "designed");
    send(&child, libc::SIGHUP);
    let rest: String = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert_eq!(wait_for_end(child).0, 130);
    let end: Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!((&end["event"], &end["state"]), (&json!("finished"), &json!("cancelled")), "{end}");
    assert_eq!(children_of(pid), Vec::<u32>::new());
}

#[test]
fn a_killed_run_leaves_no_process_and_loses_nothing_recorded() {
    let run = Run::in_folder();
    run.sample(FLAWED);
    let file = format!("{FLAWED}.hip");
    let mut child = run.start(["evolve", &file, "--generations", "1", "--seed", "6", "--json"]);
    let before = read_until(&mut child, "experiment");
    let children = children_of(child.id());
    send(&child, libc::SIGKILL);
    child.wait().unwrap();
    let start = Instant::now();
    for child in children {
        // Ended, or a zombie that has no program any more.
        while Path::new("/proc").join(child.to_string()).join("exe").read_link().is_ok() {
            assert!(start.elapsed() < SOON, "process {child} outlived the killed program");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    let done = run.program(["evolve", &file, "--resume", "--json"]);
    assert_eq!(done.status, 0, "{done:?}");
    let told = before.last().unwrap();
    let again: Vec<Value> = done
        .json_lines()
        .into_iter()
        .filter(|event| {
            event["event"] == "experiment" && event["key"] == told["key"] && event["draft"] == told["draft"]
        })
        .filter(|event| event["kind"] == told["kind"])
        .collect();
    assert!(again.is_empty(), "an experiment that was told of is not made again: {again:?}");
    assert_eq!(last(&done)["state"], "completed");
}

#[test]
fn a_full_disk_ends_the_run_with_a_clear_error() {
    // A file system of its own that is full: needs the right to mount one.
    let run = Run::in_folder();
    run.sample(FLAWED);
    std::fs::create_dir(run.path("full")).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=192k", "tmpfs"])
        .arg(run.path("full"))
        .status()
        .is_ok_and(|status| status.success());
    if !mounted {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    let notebook = run.path("full/notebook.db");
    let file = format!("{FLAWED}.hip");
    let evolved = run.command(["evolve", &file, "--generations", "3"]).arg("--notebook").arg(&notebook).output();
    let timed = run.command(["time", &file, "--json"]).arg("--notebook").arg(&notebook).output();
    Command::new("umount").arg(run.path("full")).status().unwrap();

    let evolved = Done::from(evolved.unwrap());
    assert_eq!(evolved.status, 2, "{evolved:?}");
    assert!(evolved.stderr.contains("full") && evolved.stderr.contains("notebook.db"), "{evolved:?}");
    let timed = Done::from(timed.unwrap());
    assert_eq!(timed.status, 2, "{timed:?}");
    assert_eq!(timed.json()["correct"], true, "the result is printed all the same: {timed:?}");
}

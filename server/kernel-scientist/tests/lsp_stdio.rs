//! The built program as an editor starts it: over standard input and output.
#![allow(clippy::unwrap_used)]

mod program;

use std::time::{Duration, Instant};

use program::Run;
use program::server::{Server, are_gone, children_of};
use serde_json::{Value, json};

#[test]
fn it_serves_an_editor_and_ends_when_told() {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    let uri = format!("file://{}", run.path("a.hip").display());
    server.open(&uri, "__global__ void k() {}\n");
    assert_eq!(server.lenses(&uri), ["Time", "Suggest", "Evolve"]);
    server.request("shutdown", Value::Null);
    server.notify("exit", Value::Null);
    // Standard input stays open, as some editors leave it.
    let (status, took) = server.end();
    assert_eq!(status, Some(0));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn the_ends_that_it_was_given_block_as_before() {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    for end in [0, 1] {
        let about = std::fs::read_to_string(format!("/proc/{}/fdinfo/{end}", server.child.id())).unwrap();
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
        let flags = i32::from_str_radix(flags, 8).unwrap();
        assert_eq!(flags & libc::O_NONBLOCK, 0, "{about}");
    }
    server.request("shutdown", Value::Null);
    server.notify("exit", Value::Null);
    assert_eq!(server.end().0, Some(0));
}

/// Whatever ends it during a run, it and every child are gone within a second.
fn ends_in_time(how: impl FnOnce(&mut Server)) -> Option<i32> {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    server.spin(&run);
    let children = children_of(server.child.id());
    assert!(!children.is_empty());
    how(&mut server);
    let (status, took) = server.end();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(are_gone(&children, Duration::from_secs(1).saturating_sub(took)), "children are left");
    status
}

#[test]
fn input_that_closes_during_a_run_ends_everything_within_a_second() {
    ends_in_time(|server| drop(server.input.take()));
}

#[test]
fn exit_during_a_run_ends_everything_within_a_second() {
    // Without a word before, which the protocol answers with a status of its own.
    let status = ends_in_time(|server| server.notify("exit", Value::Null));
    assert_eq!(status, Some(1));
    let status = ends_in_time(|server| {
        server.request("shutdown", Value::Null);
        server.notify("exit", Value::Null);
    });
    assert_eq!(status, Some(0));
}

#[test]
fn a_signal_during_a_run_ends_everything_within_a_second() {
    let kill = |server: &mut Server| {
        let id = server.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    };
    ends_in_time(kill);
}

#[test]
fn nothing_is_left_when_the_server_is_killed() {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    server.spin(&run);
    let children = children_of(server.child.id());
    assert!(!children.is_empty());
    server.child.kill().unwrap();
    assert!(are_gone(&children, Duration::from_secs(1)), "children are left");
}

#[test]
fn a_run_that_was_killed_is_offered_and_goes_on_where_it_was() {
    let run = Run::in_folder();
    run.sample("reduction");
    let text = run.read("reduction.hip");
    let uri = format!("file://{}", run.path("reduction.hip").display());
    let mut server = Server::start(&run);
    server.open(&uri, &text);
    let argument = json!({ "uri": uri, "kernel": "reduce_sum" });
    server.request("workspace/executeCommand", json!({ "command": "kernelScientist.evolve", "arguments": [argument] }));
    let begun = server.event("started");
    server.event("designed");
    server.child.kill().unwrap();
    server.child.wait().unwrap();

    let mut server = Server::start(&run);
    server.open(&uri, &text);
    let offer = server.wait("offer", |message| message["method"] == "window/showMessageRequest");
    assert!(offer["params"]["message"].as_str().unwrap().contains("was cut off"), "{offer}");
    server.send(&json!({ "jsonrpc": "2.0", "id": offer["id"], "result": { "title": "Resume" } }));
    let resumed = server.event("started");
    assert_eq!((&resumed["run"], &resumed["resumed"]), (&begun["run"], &json!(true)));
    let population = server.request("kernelScientist/population", json!({ "uri": uri, "run": begun["run"] }));
    assert_eq!(population["members"][0]["number"], 0, "{population}");
    let experiment = server.event("experiment");
    assert_eq!(experiment["generation"], 1, "the design on record was gone on with: {experiment}");

    // Cancelled from the client's display of progress: the job and its processes end within a second.
    let children = children_of(server.child.id());
    server.notify("window/workDoneProgress/cancel", json!({ "token": "kernel-scientist/job/1" }));
    let cancelled = Instant::now();
    let is_end = |message: &Value| message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end";
    server.wait("end of the progress", is_end);
    assert!(cancelled.elapsed() < Duration::from_secs(1), "{:?}", cancelled.elapsed());
    assert!(are_gone(&children, Duration::from_secs(1)), "children are left");
    assert_eq!(server.lenses(&uri), ["Time", "Suggest", "Evolve"]);

    // Another file's run is not taken for one's own.
    run.sample("softmax");
    let other = format!("file://{}", run.path("softmax.hip").display());
    server.open(&other, &run.read("softmax.hip"));
    let argument = json!({ "uri": other, "run": begun["run"] });
    server.request("workspace/executeCommand", json!({ "command": "kernelScientist.resume", "arguments": [argument] }));
    let refusal = server.wait("refusal", |message| message["method"] == "window/showMessage");
    let words = refusal["params"]["message"].as_str().unwrap();
    assert!(words.contains("reduction.hip, not of ") && words.contains("from its own file"), "{words}");
}

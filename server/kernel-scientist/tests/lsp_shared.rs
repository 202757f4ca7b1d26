//! Two servers on one workspace, as two windows of an editor start them: they share the notebook without harm.
#![allow(clippy::unwrap_used)]

mod program;

use std::time::{Duration, Instant};

use program::Run;
use program::server::Server;
use serde_json::{Value, json};

/// Two servers with the reduction of the samples open, and its address.
fn two(run: &Run) -> ([Server; 2], String) {
    run.sample("reduction");
    let text = run.read("reduction.hip");
    let uri = format!("file://{}", run.path("reduction.hip").display());
    let mut servers = [Server::start(run), Server::start(run)];
    for server in &mut servers {
        server.open(&uri, &text);
    }
    (servers, uri)
}

fn begin(server: &mut Server, command: &str, uri: &str) {
    let argument = json!({ "uri": uri, "kernel": "reduce_sum" });
    let command = format!("kernelScientist.{command}");
    let job = server.request("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }));
    assert!(job["job"].is_u64(), "{job}");
}

/// Waits for the end of a job. Neither a complaint nor an offer to resume the other's run may come before.
fn end(server: &mut Server) {
    server.wait("end of a job", |message| {
        let method = message["method"].as_str().unwrap_or_default();
        assert!(method != "window/showMessageRequest", "{message}");
        let is_complaint = method == "window/showMessage" && message["params"]["type"].as_u64() < Some(3);
        assert!(!is_complaint, "{message}");
        method == "$/progress" && message["params"]["value"]["kind"] == "end"
    });
}

fn history(server: &mut Server, uri: &str) -> String {
    let place = json!({ "textDocument": { "uri": uri }, "position": { "line": 5, "character": 18 } });
    let hover = server.request("textDocument/hover", place);
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn what_one_measures_the_other_shows() {
    let run = Run::in_folder();
    let ([mut one, mut other], uri) = two(&run);
    begin(&mut one, "time", &uri);
    end(&mut one);
    let rows = |history: &str| history.matches("| as now |").count();
    let first = {
        let start = Instant::now();
        while rows(&history(&mut one, &uri)) == 0 {
            assert!(start.elapsed() < Duration::from_secs(20), "no history");
            std::thread::sleep(Duration::from_millis(20));
        }
        rows(&history(&mut one, &uri))
    };
    // Both at once.
    for server in [&mut one, &mut other] {
        begin(server, "time", &uri);
    }
    for server in [&mut one, &mut other] {
        end(server);
    }
    let start = Instant::now();
    loop {
        for server in [&mut one, &mut other] {
            server.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
        }
        let (here, there) = (history(&mut one, &uri), history(&mut other, &uri));
        if rows(&here) == 3 * first && here == there {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{here}\n{there}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn runs_of_both_go_on_side_by_side() {
    let run = Run::in_folder();
    let ([mut one, mut other], uri) = two(&run);
    begin(&mut one, "evolve", &uri);
    let first = one.event("started")["run"].clone();
    // A run that the other works on is no run that was cut off: opening its file offers nothing.
    other.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    let text = run.read("reduction.hip");
    other.open(&uri, &text);
    begin(&mut other, "evolve", &uri);
    let second = other.event("started")["run"].clone();
    assert_ne!(first, second);
    for (server, run) in [(&mut other, &first), (&mut one, &second)] {
        server.event("experiment");
        let population = server.request("kernelScientist/population", json!({ "uri": uri, "run": run }));
        assert_eq!((&population["run"], &population["state"]), (run, &json!("open")), "{population}");
        assert_eq!(population["members"][0]["number"], 0, "{population}");
    }
    for server in [&mut one, &mut other] {
        server.notify("window/workDoneProgress/cancel", json!({ "token": "kernel-scientist/job/1" }));
        end(server);
    }
    for (server, run) in [(&mut other, &first), (&mut one, &second)] {
        let population = server.request("kernelScientist/population", json!({ "uri": uri, "run": run }));
        assert_eq!(population["state"], "cancelled", "{population}");
    }
    for server in [&mut one, &mut other] {
        server.request("shutdown", Value::Null);
        server.notify("exit", Value::Null);
        assert_eq!(server.end().0, Some(0));
    }
}

//! The relay whose answers are files (`tests/relay/`).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stub;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use stub::*;

#[test]
fn a_file_answers_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/relay/relay.py");
    let mut relay = Command::new("python3")
        .arg(script)
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3, which setup.sh test installs");
    let mut line = String::new();
    BufReader::new(relay.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port: u16 = line.trim().strip_prefix("LISTENING ").unwrap().parse().unwrap();
    let place = folder.path().to_path_buf();
    let person = std::thread::spawn(move || {
        let question = place.join("001.question.md");
        while !question.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Written whole before it has its name, as the relay's own files are.
        std::fs::write(place.join("draft"), "Because of banks.\n").unwrap();
        std::fs::rename(place.join("draft"), place.join("001.answer.md")).unwrap();
        std::fs::read_to_string(question).unwrap()
    });
    let (answer, _) = ask(&model("openai", &format!("http://127.0.0.1:{port}/v1")));
    assert_eq!(answer.unwrap(), "Because of banks.\n");
    assert_eq!(person.join().unwrap(), "# system\n\nBe brief.\n\n# user\n\nWhy?\n");
    relay.kill().unwrap();
    relay.wait().unwrap();
}

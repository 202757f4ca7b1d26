//! A whole run by the relay whose answers are files (`tests/relay/`), with a key that must be nowhere but in the requests.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use program::{Done, Run, repository, server};
use serde_json::{Value, json};

const KEY: &str = "sk-that-nobody-may-see-9876543210";

/// The relay, and somebody who answers its questions out of the recording.
struct Relay {
    process: Child,
    port: u16,
    over: Arc<AtomicBool>,
    person: Option<std::thread::JoinHandle<usize>>,
}

impl Relay {
    fn start(folder: &Path) -> Self {
        let mut process = Command::new("python3")
            .arg(repository().join("tests/relay/relay.py"))
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3, which setup.sh test installs");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("LISTENING ").unwrap().parse().unwrap();
        let (over, folder) = (Arc::new(AtomicBool::new(false)), folder.to_path_buf());
        let is_over = Arc::clone(&over);
        let person = std::thread::spawn(move || answer_all(&folder, &is_over));
        Self { process, port, over, person: Some(person) }
    }

    /// Ends it; how many questions were answered.
    fn end(mut self) -> usize {
        self.over.store(true, Ordering::SeqCst);
        let answered = self.person.take().unwrap().join().unwrap();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        answered
    }
}

/// Answers each question as it comes. Three drafts are asked for at once, in no order.
fn answer_all(folder: &Path, is_over: &AtomicBool) -> usize {
    let mut answered = HashSet::new();
    while !is_over.load(Ordering::SeqCst) {
        let questions: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        for question in questions.into_iter().filter(|path| path.to_string_lossy().ends_with(".question.md")) {
            if answered.insert(question.clone()) {
                let answer = repository().join("tests/recordings/sgemm").join(answer_to(&question));
                let place = PathBuf::from(question.to_string_lossy().replace(".question.md", ".answer.md"));
                // Whole or not at all.
                std::fs::copy(answer, place.with_extension("part")).unwrap();
                std::fs::rename(place.with_extension("part"), place).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    answered.len()
}

fn answer_to(question: &Path) -> &'static str {
    let text = std::fs::read_to_string(question).unwrap();
    if text.contains("# What to answer\n\nFirst list 10 **avenues**") {
        return "01-designer.json";
    }
    let experiment = text.split("# The experiment\n\n").nth(1).unwrap().lines().next().unwrap().to_owned();
    let is_repair = text.contains("# What came of it");
    match (experiment, is_repair) {
        (title, false) if title.starts_with("Compute 4x4") => "03-writer-register-blocking.md",
        (title, false) if title.starts_with("Split K") => "02-writer-split-k.md",
        (title, false) if title.starts_with("Let a work-item") => "04-writer-coarsening.md",
        (title, true) if title.starts_with("Split K") => "05-repair-split-k.md",
        (title, true) if title.starts_with("Let a work-item") => "06-repair-coarsening.md",
        other => panic!("nobody has an answer to {other:?}"),
    }
}

/// Processes whose environment or arguments hold the key, looked for until it is over: those under `of`, and the arguments of all.
/// With how many processes were looked at.
fn spy(of: u32, is_over: &AtomicBool) -> (Vec<String>, usize) {
    let read = |id: u32, what: &str| std::fs::read(format!("/proc/{id}/{what}")).unwrap_or_default();
    let holds = |bytes: &[u8]| bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    while !is_over.load(Ordering::SeqCst) {
        for id in server::children_of(of) {
            // One that has not begun to run its own program yet is still a picture of its parent.
            let (own, before) = (read(of, "cmdline"), read(id, "cmdline"));
            let (environment, arguments) = (read(id, "environ"), read(id, "cmdline"));
            if before == own || before != arguments || environment.is_empty() {
                continue;
            }
            seen.insert(id);
            if holds(&environment) || holds(&arguments) {
                found.push(String::from_utf8_lossy(&arguments).replace('\0', " "));
            }
        }
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(arguments) = id.map(|id| read(id, "cmdline")).filter(|arguments| holds(arguments)) {
                found.push(String::from_utf8_lossy(&arguments).replace('\0', " "));
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    (found, seen.len())
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] }).collect()
}

#[test]
fn answers_in_files_drive_a_run_and_its_key_is_nowhere() {
    let run = Run::in_folder();
    for file in ["sgemm.hip", "sgemm.bench.toml"] {
        std::fs::copy(repository().join("tests/recordings/sgemm").join(file), run.path(file)).unwrap();
    }
    let relay = Relay::start(&run.path("answers"));
    let address = format!("http://127.0.0.1:{}/v1", relay.port);
    let evolve =
        ["--json", "-vv", "evolve", "sgemm.hip", "--generations", "1", "--device", "mi300x", "--timeout", "600"];
    let model = ["--model", "openai:by-hand", "--base-url", &address, "--record", "asked.jsonl"];
    let mut command = run.command([&evolve[..], &model[..]].concat());
    command.env("OPENAI_API_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let (id, over) = (child.id(), Arc::new(AtomicBool::new(false)));
    let is_over = Arc::clone(&over);
    let spying = std::thread::spawn(move || spy(id, &is_over));
    let done: Done = child.wait_with_output().unwrap().into();
    over.store(true, Ordering::SeqCst);
    let (found, seen) = spying.join().unwrap();
    let answered = relay.end();

    assert_eq!(done.status, 0, "{done:?}");
    let last: Value = done.json_lines().pop().unwrap();
    // What the drafts are worth is not the matter here; two were mended.
    let came_to = [&last["state"], &last["generations"], &last["candidates"], &last["failed"]];
    assert_eq!(came_to, [&json!("completed"), &json!(1), &json!(3), &json!(0)], "{last}");
    assert_eq!(answered, 6, "a design, three drafts, two repairs");
    // How far answers are is told while they come.
    let lines = done.json_lines();
    let answering: Vec<&Value> = lines.iter().filter(|event| event["event"] == "answering").collect();
    for stage in ["designer", "writer"] {
        let told = answering.iter().any(|event| event["stage"] == stage && event["characters"].as_u64() > Some(100));
        assert!(told, "no progress of the {stage}: {answering:?}");
    }
    assert_eq!(found, Vec::<String>::new());
    assert!(seen > 5, "{seen} children were seen: that is no run");

    let report = run.program(["report", "sgemm.hip"]);
    let history = run.program(["history", "sgemm.hip"]);
    assert!(report.stdout.contains("openai:by-hand"), "{}", report.stderr);
    let told = format!("{done:?}{report:?}{history:?}");
    assert!(told.contains("127.0.0.1"), "nothing of the connection was logged, so the test shows nothing");
    assert!(!told.contains(KEY), "the key was printed");
    let files = files_under(&run.path(""));
    assert!(files.len() > 10 && files.iter().any(|file| file.ends_with("notebook.db")), "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "the key is in {}", file.display());
    }
}

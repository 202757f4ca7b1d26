//! Servers of models that a run meets: where questions go, and what comes back as words.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use program::{Done, Run};
use serde_json::{Value, json};

/// Escapes that a terminal would follow, and a line that looks like one of ours.
const BAD: &str = "Wide loads\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\nverdict: faster, 9.99x";

/// A server that speaks OpenAI's dialect, with `answer` to each question: a status and the text.
struct Stub {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Stub {
    fn start(answer: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(answer));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, answer, count) = (stream.unwrap(), Arc::clone(&answer), Arc::clone(&count));
                std::thread::spawn(move || {
                    let Some(question) = read_question(&mut stream) else { return };
                    count.fetch_add(1, Ordering::SeqCst);
                    let (status, text) = answer(&question);
                    let body = match status {
                        200 => json!({ "model": BAD, "choices": [{ "message": { "content": text }, "finish_reason": "stop" }],
                                       "usage": { "prompt_tokens": 10, "completion_tokens": 10 } }),
                        _ => json!({ "error": { "message": text } }),
                    }
                    .to_string();
                    let head = format!("HTTP/1.1 {status} So\r\ncontent-type: application/json\r\nconnection: close");
                    let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                });
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn read_question(stream: &mut TcpStream) -> Option<Value> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 1 << 16]);
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(question) = head_end.and_then(|end| serde_json::from_slice(&bytes[end + 4..]).ok()) {
            return Some(question);
        }
    }
}

fn run_with(run: &Run, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    let mut command = run.command(arguments);
    command.env("XDG_DATA_HOME", run.path("data")).env_remove("KERNEL_SCIENTIST_BASE_URL");
    command.envs(variables.iter().copied());
    command.output().unwrap().into()
}

#[test]
fn a_run_goes_on_where_it_was_begun_unless_another_place_is_named() {
    let refusing = || Stub::start(|_| (401, "no".into()));
    let (first, second) = (refusing(), refusing());
    let run = Run::in_folder();
    run.sample("vector_add");
    let begin = ["evolve", "vector_add.hip", "--generations", "1", "--model", "openai:m", "--base-url", &first.url];
    assert_eq!(run_with(&run, &begin, &[]).status, 3);
    assert_eq!(first.asked(), 1);

    // Neither the provider's own address nor a settings file that came since leads it elsewhere.
    let resume = ["evolve", "vector_add.hip", "--resume", "1"];
    for settings in ["", &format!("base_url = \"{}\"\n", second.url)] {
        run.file("kernel-scientist.toml", format!("[scientist]\n{settings}"));
        let done = run_with(&run, &resume, &[("OPENAI_API_KEY", "sk-1")]);
        assert_eq!((done.status, first.asked(), second.asked()), (2, 1, 0), "{done:?}");
        assert!(done.stderr.contains(&format!("run 1 was begun with its models at {}", first.url)), "{done:?}");
    }
    let there = [&resume[..], &["--base-url", &first.url]].concat();
    assert_eq!((run_with(&run, &there, &[]).status, first.asked()), (3, 2));

    let elsewhere = [&resume[..], &["--base-url", &second.url]].concat();
    let done = run_with(&run, &elsewhere, &[]);
    assert_eq!((done.status, first.asked(), second.asked()), (3, 2, 1), "{done:?}");
    let told = format!("begun with its models at {}; its questions and your code go to {}", first.url, second.url);
    assert!(done.stderr.contains(&told), "{done:?}");

    // It cost nothing so far: nobody is paid without a limit.
    let paid = [&resume[..], &["--base-url", "https://api.openai.com/v1"]].concat();
    let done = run_with(&run, &paid, &[("OPENAI_API_KEY", "sk-1")]);
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("run 1 cost nothing so far") && done.stderr.contains("--max-usd"), "{done:?}");
}

#[test]
fn a_question_outside_of_a_run_keeps_to_the_budget_and_is_on_the_bill() {
    let run = Run::in_folder();
    run.sample("vector_add");
    let stub = Stub::start(|_| (200, "I would rather not.".into()));
    let suggest = ["suggest", "vector_add.hip", "--model", "openai:m", "--base-url", &stub.url];
    // What is wrong with an answer is asked for once more, where that may be paid.
    let done = run_with(&run, &suggest, &[]);
    assert_eq!((done.status, stub.asked()), (3, 2), "{done:?}");
    run.file("kernel-scientist.toml", "[scientist]\nmax_calls = 1\n");
    let done = run_with(&run, &suggest, &[]);
    assert_eq!((done.status, stub.asked()), (3, 3), "{done:?}");
    assert!(done.stderr.contains("the budget of 1 calls is used up (1)"), "{done:?}");
    let done = run_with(&run, &[&suggest[..], &["--max-tokens", "20"]].concat(), &[]);
    assert!(done.stderr.contains("the budget of 20 tokens is used up (20)"), "{done:?}");
    let notebook = notebook::Notebook::open_existing(&run.path("notebook.db")).unwrap().unwrap();
    let calls: usize = (1..=3).map(|id| notebook.model_calls(notebook::RunId(id)).unwrap().len()).sum();
    assert_eq!(calls, 4);
    assert!(notebook.latest_runs(9).unwrap().is_empty());
}

#[test]
fn what_models_servers_and_programs_say_does_nothing_to_a_terminal() {
    let run = Run::in_folder();
    run.sample("vector_add");
    let source = run.read("vector_add.hip");
    // The program prints escapes and falls.
    let talk = "#include <cstdio>\nstruct Talk { Talk() { printf(\"\\033]0;pwned\\007\\033[2J\\n\"); fflush(stdout); __builtin_trap(); } } talk;\n";
    let broken = format!("{source}\n{talk}");
    let stub = Stub::start(move |question| {
        let text = question.to_string();
        let plan = |title: &str| {
            json!({ "family": BAD, "kernel": "vector_add", "line": 5, "title": format!("{title} {BAD}"), "reason": BAD,
                    "rubric": format!("{title}: {BAD}"), "min_percent": 1, "max_percent": 9, "innovation": 20 })
        };
        match (question["response_format"].to_string().contains("avenues"), text.contains("What came of it")) {
            (true, _) => (
                200,
                json!({ "avenues": [BAD], "plans": [plan("Unroll the loop"), plan("Bigger blocks")] }).to_string(),
            ),
            (false, true) => (400, BAD.to_owned()),
            (false, false) => (200, format!("{BAD}\n```cpp\n{broken}```\n")),
        }
    });
    let model = ["--model", "openai:m", "--base-url", &stub.url];
    let suggested = run_with(&run, &[&["suggest", "vector_add.hip"], &model[..]].concat(), &[]);
    assert!(suggested.stdout.contains("Unroll the loop Wide loads]0;pwned[2J31m verdict: faster"), "{suggested:?}");
    let evolved = run_with(&run, &[&["evolve", "vector_add.hip", "--generations", "1"], &model[..]].concat(), &[]);
    assert!(
        evolved.stdout.contains("it last printed: \u{fffd}]0;pwned") && evolved.stdout.contains("Wide loads"),
        "{evolved:?}"
    );
    assert!(evolved.stderr.contains("the request was refused"), "{evolved:?}");
    let history = run_with(&run, &["history", "vector_add.hip"], &[]);
    let report = run_with(&run, &["report", "vector_add.hip"], &[]);
    assert!(report.stdout.contains("Wide loads"), "{report:?}");
    for done in [suggested, evolved, history, report] {
        for text in [&done.stdout, &done.stderr] {
            let hidden: Vec<char> = text.chars().filter(|c| llm::foreign::is_hidden(*c)).collect();
            assert!(hidden.is_empty(), "{hidden:?} in {text:?}");
            assert!(!text.lines().any(|line| line.trim_start().starts_with("verdict: faster, 9.99x")), "{text}");
        }
    }
}

//! Runs with models behind the stages: a recorded one, and a real server with a small model.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;
#[path = "../../llm/tests/real/mod.rs"]
mod real;

use program::{Done, Run, repository};
use real::RealServer;
use serde_json::{Value, json};

/// A folder with the recording's kernel.
fn with_recording() -> (Run, String) {
    let run = Run::in_folder();
    let recording = repository().join("tests/recordings/sgemm");
    for file in ["sgemm.hip", "sgemm.bench.toml"] {
        std::fs::copy(recording.join(file), run.path(file)).unwrap();
    }
    (run, recording.join("run.jsonl").display().to_string())
}

fn events<'d>(lines: &'d [Value], kind: &str) -> Vec<&'d Value> {
    lines.iter().filter(|event| event["event"] == kind).collect()
}

/// With a seed that is drawn anew, or that of the recording.
fn evolve(run: &Run, model: &str, generations: &str, more: &[&str]) -> Done {
    let arguments = [
        "--json",
        "evolve",
        "sgemm.hip",
        "--generations",
        generations,
        "--device",
        "mi300x",
        // However busy the machine is.
        "--timeout",
        "600",
        "--model",
        model,
    ];
    run.program([&arguments[..], more].concat())
}

#[test]
fn a_recorded_model_drives_a_whole_evolution() {
    let (run, recording) = with_recording();
    let model = format!("replay:{recording}");
    // In two sittings: the first ends with its budget, the second gets more.
    let first = evolve(&run, &model, "1", &["--record", "asked.jsonl"]);
    assert_eq!(first.status, 0, "{first:?}");
    let lines = first.json_lines();
    assert_eq!(lines[0]["provider"], json!(model));
    let failures: Vec<&Value> =
        events(&lines, "experiment").into_iter().map(|event| &event["failure"]["kind"]).collect();
    assert!(failures.contains(&&json!("wrong")) && failures.contains(&&json!("does_not_compile")), "{failures:?}");
    // Both were mended: all three plans came to a time.
    let candidates = events(&lines, "candidate");
    assert!(candidates.iter().all(|candidate| candidate["failure"].is_null()), "{candidates:?}");
    assert_eq!(candidates.len(), 4);

    let again = evolve(&run, &model, "3", &["--record", "asked.jsonl", "--resume", "1"]);
    assert_eq!(again.status, 0, "{again:?}");
    let lines = again.json_lines();
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["state"], &last["confirmed"], &last["generations"]),
        (&json!("completed"), &json!(true), &json!(3)),
        "{last}"
    );
    assert!(last["speedup"].as_f64().unwrap() > 1.2, "{last}");
    assert!(last["shapes"].as_array().unwrap().iter().any(|shape| shape["held_out"] == json!(true)), "{last}");
    // The repeated plan was refused.
    let designed = events(&lines, "designed");
    let titles = designed.last().unwrap()["plans"].to_string();
    assert!(!titles.contains("Prefetch") && titles.contains("Tell the compiler"), "{titles}");

    // What was recorded drives a run of its own, which asks the same to the letter: a wrong draft is wrong on the same inputs, which
    // follow from the recorded seed, and what the notebook has learnt since is not told.
    let asked = run.read("asked.jsonl");
    let recorded = format!("replay:{}", run.path("asked.jsonl").display());
    let whole = evolve(&run, &recorded, "3", &["--record", "again.jsonl"]);
    assert_eq!(whole.status, 0, "{whole:?}");
    assert_eq!(whole.json_lines()[0]["seed"], lines[0]["seed"], "the recorded one");
    let exchanges = |text: &str| -> Vec<Value> {
        let exchanges = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        exchanges.map(|exchange| json!([exchange["label"], exchange["request"], exchange["answer"]["text"]])).collect()
    };
    let (asked_again, asked_first) = (exchanges(&run.read("again.jsonl")), exchanges(&asked));
    assert!(asked_first.len() >= 19, "what it began with, and all that was asked");
    for (again, first) in asked_again.iter().zip(&asked_first) {
        assert_eq!(again, first);
    }
    assert_eq!(asked_again.len(), asked_first.len());
    // The first question that is another is told, with its place; nothing is answered by guess.
    let changed = run.read("sgemm.hip").replacen("// ", "// Changed: ", 1);
    run.file("sgemm.hip", &changed);
    let other = evolve(&run, &recorded, "1", &[]);
    assert_eq!(other.status, 3, "{other:?}");
    let reason = other.json_lines().pop().unwrap()["reason"].to_string();
    assert!(reason.contains("line 2 of the recording has another question: in its line"), "{reason}");
    assert!(reason.contains("Changed: "), "{reason}");

    // Nothing of the held-out shape, the seeds or the harness was asked.
    let seed = lines[0]["seed"].to_string();
    for line in asked.lines().skip(1) {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let question = exchange["request"].to_string();
        assert!(question.contains("1536"), "the shown shapes are told");
        // Whole numbers: the digits of a size may well stand in some result.
        let lines = question.replace("\\n", " ");
        let words: Vec<&str> = lines.split(|c: char| !c.is_alphanumeric() && c != '.').collect();
        for size in ["1111", "1333", "271"] {
            assert!(!words.contains(&size), "{size} in a question of {}", exchange["label"]);
        }
        for secret in ["held_out", "seed\\\"", "poison", "KS_", &seed] {
            assert!(!question.contains(secret), "{secret} in a question of {}", exchange["label"]);
        }
    }
}

/// What would be asked, by `prompt`.
fn prompt(run: &Run, stage: &str, more: &[&str]) -> Value {
    let done = run
        .program([&["--json", "prompt", stage, "sgemm.hip", "--device", "mi300x", "--timeout", "600"], more].concat());
    assert_eq!(done.status, 0, "{done:?}");
    done.json()
}

/// The first question of a stage that a run recorded.
fn first_asked(run: &Run, record: &str, stage: &str) -> Value {
    let record = run.read(record);
    let exchanges = record.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    exchanges.into_iter().find(|exchange| exchange["label"] == stage).unwrap()["request"].clone()
}

#[test]
fn a_run_that_pauses_says_how_to_go_on_and_asks_what_prompt_prints() {
    let (run, recording) = with_recording();
    let folder = repository().join("tests/recordings/sgemm");
    let whole = std::fs::read_to_string(&recording).unwrap();
    let whole = whole.replace("\"answer_file\": \"", &format!("\"answer_file\": \"{}/", folder.display()));
    // A recording that ends too soon is a provider that is not there any more.
    run.file("short.jsonl", whole.lines().next().unwrap());
    let model = format!("replay:{}", run.path("short.jsonl").display());
    let designer = prompt(&run, "designer", &[]);
    let done = evolve(&run, &model, "1", &["--record", "first.jsonl"]);
    assert_eq!(done.status, 3, "{done:?}");
    let last = done.json_lines().pop().unwrap();
    assert_eq!((&last["state"], &last["generations"]), (&json!("paused"), &json!(0)));
    assert!(last["reason"].as_str().unwrap().contains("can be resumed"), "{last}");
    assert_eq!(designer, first_asked(&run, "first.jsonl", "designer"));
    let told = "Code generation for gfx942 says:\\n- `sgemm_tiled`: ";
    assert!(designer.to_string().contains(told), "{designer}");
    let other = evolve(&run, "openai:gpt-5", "1", &["--resume"]);
    assert_eq!(other.status, 2, "{other:?}");
    assert!(other.stderr.contains("was begun with replay:"), "{other:?}");

    let writer = prompt(&run, "writer", &["--resume"]);
    run.file("short.jsonl", &whole);
    let second = evolve(&run, &model, "1", &["--resume", "--record", "second.jsonl"]);
    assert_eq!(second.status, 0, "{second:?}");
    assert_eq!(writer, first_asked(&run, "second.jsonl", "writer"));
    let selector = prompt(&run, "selector", &["--resume", "1"]);
    let third = evolve(&run, &model, "2", &["--resume", "1", "--record", "third.jsonl"]);
    assert_eq!(third.status, 0, "{third:?}");
    assert_eq!(selector, first_asked(&run, "third.jsonl", "selector"));
    let ended = evolve(&run, &model, "3", &["--resume"]);
    assert!(ended.status == 2 && ended.stderr.contains("run 1, came to its end"), "{ended:?}");
    assert!(ended.stderr.contains("--resume 1 --generations N"), "{ended:?}");
    let less = evolve(&run, &model, "1", &["--resume", "1"]);
    assert!(less.status == 2 && less.stderr.contains("2 generations were begun, and 1 are allowed"), "{less:?}");
    let doctor = run.program(["doctor", "--model", &model]);
    assert!(doctor.stdout.contains("a recorded run") && !doctor.stdout.contains("provider catalog"), "{doctor:?}");
    let text = run.program(["prompt", "selector", "sgemm.hip", "--device", "mi300x", "--resume", "1"]).stdout;
    assert!(text.starts_with("# system\n\n") && text.contains("# JSON schema of the answer"), "{text}");
}

#[test]
fn a_real_model_is_asked_and_its_key_is_nowhere() {
    let server = RealServer::start(16_384);
    let run = Run::in_folder();
    run.sample("vector_add");
    run.file(
        "kernel-scientist.toml",
        "[scientist]\nprovider = \"openai\"\nmodel = \"smollm2\"\nmax_output_tokens = 32\nknowledge_tokens = 100\n",
    );
    let with_key = |arguments: &[&str]| -> Done {
        let mut command = run.command(arguments);
        command.env("OPENAI_API_KEY", real::KEY).env("KERNEL_SCIENTIST_BASE_URL", format!("{}/v1", server.url()));
        command.output().unwrap().into()
    };
    // A new run has nothing to select from.
    let nothing = run.program(["prompt", "selector", "vector_add.hip"]);
    assert_eq!(nothing.status, 2, "{nothing:?}");
    assert!(
        nothing.stderr.contains("nothing would be asked") && nothing.stderr.contains("the original alone"),
        "{nothing:?}"
    );
    let doctor = with_key(&["doctor"]);
    assert!(doctor.stdout.contains("model openai:smollm2") && doctor.stdout.contains("answers ("), "{doctor:?}");
    let done =
        with_key(&["--json", "-vv", "evolve", "vector_add.hip", "--generations", "3", "--record", "asked.jsonl"]);
    // What such a model designs cannot be used: the run gives up after two generations, and says why.
    assert_eq!(done.status, 0, "{done:?}");
    let last = done.json_lines().pop().unwrap();
    assert_eq!((&last["state"], &last["best_candidate"]), (&json!("completed"), &json!(0)), "{last}");
    assert!(last["spent_tokens"].as_u64().unwrap() > 500, "{last}");
    let wrong = {
        let mut command = run.command(["evolve", "vector_add.hip", "--generations", "1"]);
        command.env("KERNEL_SCIENTIST_BASE_URL", format!("{}/v1", server.url()));
        command.env("OPENAI_API_KEY", "sk-a-wrong-one").output().unwrap()
    };
    let wrong: Done = wrong.into();
    assert_eq!(wrong.status, 3, "{wrong:?}");
    assert!(wrong.stderr.contains("check the key"), "{wrong:?}");
    let told = format!("{doctor:?}{done:?}{wrong:?}");
    for secret in [real::KEY, "sk-a-wrong-one"] {
        assert!(!told.contains(secret), "{secret} was printed");
        for file in std::fs::read_dir(run.path("")).unwrap() {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap_or_default();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {}", path.display());
        }
    }
}

#[test]
fn the_users_own_settings_hold_in_every_folder() {
    let run = Run::in_folder();
    let own = run.path("own-settings/kernel-scientist");
    std::fs::create_dir_all(&own).unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!("[scientist]\nprovider = \"openai:mine\"\nbase_url = \"http://127.0.0.1:{closed}/v1\"\n");
    std::fs::write(own.join("kernel-scientist.toml"), settings).unwrap();
    let doctor = run.program(["doctor"]);
    assert!(doctor.stdout.contains("model openai:mine") && doctor.stdout.contains("does not answer"), "{doctor:?}");
    run.file("kernel-scientist.toml", "[scientist]\nprovider = \"catalog\"\n");
    let doctor = run.program(["doctor"]);
    assert!(doctor.stdout.contains("provider catalog") && !doctor.stdout.contains("openai:mine"), "{doctor:?}");
    run.file("kernel-scientist.toml", "[scientist]\nOPENAI_API_KEY = \"sk-in-a-file\"\n");
    let doctor = run.program(["doctor"]);
    let told = format!("{doctor:?}");
    assert!(told.contains("a key does not belong in a settings file") && !told.contains("sk-in-a-file"), "{told}");
}

//! A recorded run: one exchange a line of JSON.
//!
//! ```json
//! {"label":"selector","request":{...},"answer":{"text":"...","stop":"end","usage":{...},"model":"..."}}
//! ```
//!
//! The first line may say what the run began with, `{"began_with":{...}}`, in the words of whoever recorded it ([`began_with`]).
//!
//! A question is answered by the exchange that has the same question: questions that were under way at once may come in another
//! order. A run that measures times anew asks with other figures than were recorded; that is let pass, and a question that
//! differs by more than figures is logged and answered by the next one of its label. A [`Replay::strict`] one refuses every
//! difference. A line without `request` answers whatever is asked under its label next; in place of `answer` it may have
//! `answer_file`, a text beside the recording, which is easier to write by hand.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::LlmError;
use crate::provider::{Answer, Caller, Provider, Request, Stop, Usage};

/// Largest recording, and largest answer beside one, that is read, in bytes: some thousand questions of the longest.
const LARGEST: u64 = 1 << 30;

/// A recording's first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    began_with: Value,
}

/// What a recorded run began with, where its recording says so.
///
/// # Errors
/// [`LlmError::Setup`] when it cannot be read.
pub fn began_with(path: &Path) -> Result<Option<Value>, LlmError> {
    let text = read(path).map_err(|why| unreadable(path, &why))?;
    Ok(head(&text))
}

fn head(text: &str) -> Option<Value> {
    serde_json::from_str::<Head>(text.lines().next()?).ok().map(|head| head.began_with)
}

/// A file's text. A device or a pipe has no end, so that only files are read.
fn read(path: &Path) -> Result<String, String> {
    let unread = |error: std::io::Error| format!("cannot be read: {error}");
    // Before it is opened, which waits for a writer of a pipe.
    let about = std::fs::metadata(path).map_err(unread)?;
    if !about.is_file() {
        return Err("is no file".into());
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text)).map_err(unread)?;
    match read as u64 > LARGEST {
        true => Err(format!("is larger than {} MiB", LARGEST >> 20)),
        false => Ok(text),
    }
}

fn unreadable(path: &Path, why: &str) -> LlmError {
    LlmError::Setup(format!("{}: {why}", path.display()))
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// What it was for: [`Request::label`].
    pub label: String,
    /// The question; without it any question is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The answer's text in a file beside the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_file: Option<PathBuf>,
}

/// Writes a recording while a run goes on.
pub struct Recorder {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Opens a recording; what is in the file stays, so that a resumed run goes on with it.
    ///
    /// # Errors
    /// [`LlmError::Setup`] when the file cannot be written.
    pub fn open(path: &Path) -> Result<Self, LlmError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| unwritable(path, &error))?;
        Ok(Self { path: path.to_path_buf(), file: Mutex::new(file) })
    }

    /// The same with a first line that says what the run begins with, where nothing is in the file yet.
    ///
    /// # Errors
    /// As [`Recorder::open`].
    pub fn begin(path: &Path, began_with: Value) -> Result<Self, LlmError> {
        let recorder = Self::open(path)?;
        let is_new = std::fs::metadata(path).map_err(|error| unwritable(path, &error))?.len() == 0;
        if is_new {
            recorder.line(&Head { began_with })?;
        }
        Ok(recorder)
    }

    /// Adds an exchange.
    ///
    /// # Errors
    /// [`LlmError::Setup`] when it cannot be written.
    pub fn record(&self, request: &Request, answer: &Answer) -> Result<(), LlmError> {
        let exchange = Exchange {
            label: request.label.clone(),
            request: Some(request.clone()),
            answer: Some(answer.clone()),
            answer_file: None,
        };
        self.line(&exchange)
    }

    fn line(&self, line: &impl Serialize) -> Result<(), LlmError> {
        let line = serde_json::to_string(line).map_err(|error| LlmError::Setup(error.to_string()))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> LlmError {
    LlmError::Setup(format!("{}: the recording cannot be written: {error}", path.display()))
}

/// Answers from a recording, in its order.
pub struct Replay {
    name: String,
    left: Mutex<VecDeque<(usize, Exchange)>>,
    is_strict: bool,
}

impl Replay {
    /// Reads a recording. Of the first `skip` exchanges, which a resumed run has the answers of already, those are left out that
    /// would answer any question.
    ///
    /// # Errors
    /// [`LlmError::Setup`] when it cannot be read.
    pub fn open(path: &Path, skip: usize) -> Result<Self, LlmError> {
        let wrong = |why: String| unreadable(path, &why);
        let text = read(path).map_err(wrong)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut left = VecDeque::new();
        let lines = (1..).zip(text.lines()).skip(usize::from(head(&text).is_some()));
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let mut exchange: Exchange =
                serde_json::from_str(line).map_err(|error| wrong(format!("line {number}: {error}")))?;
            if let (None, Some(file)) = (&exchange.answer, &exchange.answer_file) {
                let text = read(&folder.join(file))
                    .map_err(|why| wrong(format!("line {number}: {} {why}", file.display())))?;
                let model = "recorded".to_owned();
                exchange.answer = Some(Answer { text, stop: Stop::End, usage: Usage::default(), model });
            }
            if exchange.answer.is_none() {
                return Err(wrong(format!("line {number}: it has neither `answer` nor `answer_file`")));
            }
            left.push_back((number, exchange));
        }
        let given: VecDeque<_> = left.drain(..skip.min(left.len())).collect();
        let left = given.into_iter().filter(|(_, exchange)| exchange.request.is_some()).chain(left).collect();
        Ok(Self { name: format!("replay:{}", path.display()), left: Mutex::new(left), is_strict: false })
    }

    /// The same, for a run in which nothing may differ.
    pub fn strict(self) -> Self {
        Self { is_strict: true, ..self }
    }

    /// Exchanges that were not asked for yet.
    pub fn left(&self) -> usize {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Replay {
    /// Where the answer to a question is.
    fn place_of(&self, request: &Request, left: &VecDeque<(usize, Exchange)>) -> Result<usize, LlmError> {
        let same = |figures: bool| {
            left.iter().position(|(_, exchange)| {
                let recorded = exchange.request.as_ref().filter(|recorded| recorded.label == request.label);
                recorded.is_some_and(|recorded| difference(recorded, request, figures).is_none())
            })
        };
        if let Some(at) = same(true) {
            return Ok(at);
        }
        if let (false, Some(at)) = (self.is_strict, same(false)) {
            return Ok(at);
        }
        let Some(at) = left.iter().position(|(_, exchange)| exchange.label == request.label) else {
            let next = left.front().map_or_else(
                || "the recording has ended".to_owned(),
                |(number, next)| format!("the recording goes on with a question of `{}` in line {number}", next.label),
            );
            return Err(LlmError::Replay(format!("{next}, and `{}` asks once more", request.label)));
        };
        let (number, exchange) = &left[at];
        if let Some(recorded) = &exchange.request {
            let difference = difference(recorded, request, self.is_strict).unwrap_or_default();
            let what = format!("line {number} of the recording has another question: {difference}");
            if self.is_strict {
                return Err(LlmError::Replay(format!(
                    "{what}; to take its answers all the same, delete the recording's first line"
                )));
            }
            tracing::warn!("replay: {what}");
        }
        Ok(at)
    }
}

impl Provider for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn attempt(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.place_of(request, &left)?;
        let answer = left.remove(at).and_then(|(_, exchange)| exchange.answer);
        let answer = answer.ok_or_else(|| LlmError::Replay("the recording has no answer here".into()))?;
        caller.hear(&answer.text);
        Ok(answer)
    }

    fn is_recorded(&self) -> bool {
        true
    }
}

/// Where two questions part; `None` when they are the same, or the same but for figures where those do not count. The limit
/// of tokens is no part of the question.
fn difference(recorded: &Request, asked: &Request, figures: bool) -> Option<String> {
    let texts = |request: &Request| {
        let mut texts = vec![request.system.clone()];
        texts.extend(request.messages.iter().map(|message| format!("{:?}: {}", message.role, message.text)));
        texts.push(request.schema.as_ref().map(ToString::to_string).unwrap_or_default());
        texts.join("\n")
    };
    let (one, other) = (texts(recorded), texts(asked));
    let same = |a: &str, b: &str| a == b || !figures && without_figures(a) == without_figures(b);
    let (mut one, mut other) = (one.lines(), other.lines());
    for number in 1.. {
        match (one.next(), other.next()) {
            (Some(a), Some(b)) if same(a, b) => {}
            (None, None) => break,
            (a, b) => {
                let (a, b) = (a.unwrap_or("(nothing)"), b.unwrap_or("(nothing)"));
                // What is quoted has its blanks joined.
                let column = 1 + a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
                let (a, b) = (crate::http::quoted(a), crate::http::quoted(b));
                return Some(format!("in its line {number}, column {column}, recorded was \"{a}\", asked is \"{b}\""));
            }
        }
    }
    None
}

/// A text with each number, its sign included, replaced by the same character.
fn without_figures(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '-' if chars.peek().is_some_and(char::is_ascii_digit) => {}
            '0'..='9' | '.' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(replay: &Replay, request: &Request) -> Result<String, String> {
        let mut nobody = |_: &str| ();
        let answer = replay.attempt(request, &mut Caller::new(&|| false, &mut nobody));
        answer.map(|answer| answer.text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_recording_answers_the_same_questions_in_the_same_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let recorder = Recorder::open(&path).unwrap();
        let questions = ["one", "two"].map(|text| Request::new(text, "system", format!("line\nquestion {text}")));
        for request in &questions {
            let usage = Usage { input: 3, cached: 0, output: 4, estimated: false };
            let answer = Answer { text: request.label.to_uppercase(), stop: Stop::End, usage, model: "m".into() };
            recorder.record(request, &answer).unwrap();
        }
        let changed = Request::new("two", "system", "line\nquestion 2");
        let replay = Replay::open(&path, 0).unwrap().strict();
        let error = ask(&replay, &changed).unwrap_err();
        assert!(error.contains(r#"recorded was "question two", asked is "question 2""#), "{error}");
        // Questions that were under way at once may come in another order.
        assert_eq!(ask(&replay, &questions[1]).unwrap(), "TWO");
        let error = ask(&replay, &questions[1]).unwrap_err();
        assert!(error.contains("goes on with a question of `one` in line 1, and `two` asks once more"), "{error}");
        assert_eq!(ask(&replay, &questions[0]).unwrap(), "ONE");
        assert!(ask(&replay, &questions[1]).unwrap_err().contains("has ended"));
        // What it began with stands before the first of them, once.
        let began = folder.path().join("began.jsonl");
        assert!(began_with(&path).unwrap().is_none());
        for seed in [5, 6] {
            let usage = Usage::default();
            let answer = Answer { text: "yes".into(), stop: Stop::End, usage, model: "m".into() };
            Recorder::begin(&began, serde_json::json!({ "seed": seed })).unwrap().record(&changed, &answer).unwrap();
        }
        assert_eq!(began_with(&began).unwrap(), Some(serde_json::json!({ "seed": 5 })));
        assert_eq!(Replay::open(&began, 0).unwrap().left(), 2);
        // A resumed run may ask for the one that it was stopped at.
        for question in [&questions[0], &questions[1], &changed] {
            let expected = question.label.to_uppercase();
            assert_eq!(ask(&Replay::open(&path, 1).unwrap(), question).unwrap(), expected);
        }
    }

    #[test]
    fn figures_are_told_from_words() {
        let check = |one: &str, other: &str, figures: bool, same: bool| {
            let found = difference(&Request::new("x", "", one), &Request::new("x", "", other), figures);
            assert_eq!(found.is_none(), same, "{one} and {other}: {found:?}");
        };
        check("n=4: 12.5 us", "n=4: 7 us", false, true);
        check("n=4: 12.5 us", "n=4: 7 us", true, false);
        check("C[0] is 6.95", "C[0] is -2.23", false, true);
        check("a - b", "a b", false, false);
        check("n=4: 12.5 us", "n=4: 12.5 ms", false, false);
        check("a\nb", "a", false, false);
    }

    #[test]
    fn what_has_no_end_is_no_recording() {
        let error = Replay::open(Path::new("/dev/zero"), 0).err().unwrap().to_string();
        assert!(error.contains("/dev/zero: is no file"), "{error}");
    }

    #[test]
    fn answers_may_stand_in_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        std::fs::write(folder.path().join("a.md"), "from a file").unwrap();
        std::fs::write(&path, "{\"label\":\"writer\",\"answer_file\":\"a.md\"}\n\n").unwrap();
        let question = Request::new("writer", "", "x");
        assert_eq!(ask(&Replay::open(&path, 0).unwrap(), &question).unwrap(), "from a file");
        assert!(ask(&Replay::open(&path, 1).unwrap(), &question).unwrap_err().contains("has ended"));
        for (line, expected) in [
            ("{\"label\":\"writer\"}", "line 1: it has neither"),
            ("{\"label\":\"writer\",\"answer_file\":\"b.md\"}", "b.md"),
            ("nonsense", "line 1"),
        ] {
            std::fs::write(&path, line).unwrap();
            let error = Replay::open(&path, 0).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

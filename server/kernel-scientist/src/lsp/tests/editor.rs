//! A scripted editor on the other end of a pipe. It fails when a message of the server was not consumed by the test.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::devices;
use crate::lsp::log::Level;
use crate::lsp::serve_and;
use crate::lsp::session::{Session, World};

/// Longest wait for a message where nothing else is said.
const PATIENCE: Duration = Duration::from_secs(120);

/// The editor.
pub struct Editor {
    output: Option<WriteHalf<DuplexStream>>,
    inbox: mpsc::UnboundedReceiver<Value>,
    unread: VecDeque<Value>,
    server: Option<JoinHandle<bool>>,
    last_id: i64,
    /// Requests to refresh that were answered, by their method.
    pub refreshed: Vec<String>,
    /// Requests of the server are not answered.
    pub is_mute: bool,
    /// The workspace.
    pub folder: TempDir,
    done: bool,
    /// Longest wait for a message.
    pub patience: Duration,
}

/// What the editor can do.
pub fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "window": { "workDoneProgress": true, "showDocument": { "support": true } },
        "workspace": {
            "applyEdit": true,
            "inlayHint": { "refreshSupport": true },
            "codeLens": { "refreshSupport": true },
            "workspaceEdit": {
                "documentChanges": true, "resourceOperations": ["create"], "changeAnnotationSupport": {}
            },
        },
    })
}

impl Editor {
    /// An editor whose server has not been spoken to.
    pub fn silent() -> Self {
        Self::of_session(None).0
    }

    /// An editor whose server was started with this text as the settings file that its user names.
    pub async fn with_config(text: &str, settings: Value) -> Self {
        let mut editor = Self::of_session(Some(text)).0;
        editor.begin(capabilities(), settings).await;
        editor
    }

    /// An editor with its server's session, initialized with these options.
    pub async fn with_session(options: Value) -> (Self, Arc<Session>) {
        let (mut editor, session) = Self::of_session(None);
        editor.begin(capabilities(), options).await;
        (editor, session.await.unwrap())
    }

    /// An editor whose server builds into a folder of its own.
    pub async fn with_cache(cache: &Path, options: Value) -> Self {
        let (mut editor, _) = Self::in_cache(cache.to_path_buf(), None);
        editor.begin(capabilities(), options).await;
        editor
    }

    fn of_session(config: Option<&str>) -> (Self, oneshot::Receiver<Arc<Session>>) {
        Self::in_cache(dirs::cache_dir().unwrap().join("kernel-scientist"), config)
    }

    fn in_cache(cache: PathBuf, config: Option<&str>) -> (Self, oneshot::Receiver<Arc<Session>>) {
        let folder = tempfile::tempdir().unwrap();
        let config = config.map(|text| {
            let path = folder.path().join("named.toml");
            std::fs::write(&path, text).unwrap();
            path
        });
        let world = World {
            cache,
            notebook: folder.path().join("notebook.db"),
            log: Level::default(),
            config,
            device: devices::DEFAULT.into(),
        };
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let (teller, session) = oneshot::channel();
        let server = tokio::spawn(serve_and(input, output, world, std::future::pending(), |session| {
            let _ = teller.send(Arc::clone(session));
        }));
        let (from, to) = tokio::io::split(ours);
        let (sender, inbox) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut from = BufReader::new(from);
            while let Some(message) = receive(&mut from).await {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let editor = Self {
            output: Some(to),
            inbox,
            unread: VecDeque::new(),
            server: Some(server),
            last_id: 0,
            refreshed: Vec::new(),
            is_mute: false,
            folder,
            done: false,
            patience: PATIENCE,
        };
        (editor, session)
    }

    /// An editor whose server is initialized, and forecasts nothing unasked.
    pub async fn start() -> Self {
        Self::start_with(capabilities(), json!({ "forecasts": false })).await
    }

    /// As [`Editor::start`], with other capabilities and initial settings.
    pub async fn start_with(capabilities: Value, settings: Value) -> Self {
        let mut editor = Self::silent();
        editor.begin(capabilities, settings).await;
        editor
    }

    async fn begin(&mut self, capabilities: Value, options: Value) {
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities,
            "initializationOptions": options });
        let answer = self.request("initialize", params).await;
        assert_eq!(answer["serverInfo"]["name"], "kernel-scientist");
        self.notify("initialized", json!({})).await;
    }

    /// Address of a file in the workspace.
    pub fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    /// A file in the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens a document, which need not be on disk.
    pub async fn open(&mut self, name: &str, text: &str) -> String {
        let uri = self.uri(name);
        let language = if name.ends_with(".toml") { "toml" } else { "hip" };
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document })).await;
        uri
    }

    /// Puts a text in at a place.
    pub async fn insert(&mut self, uri: &str, version: i32, at: (u32, u32), text: &str) {
        let at = json!({ "line": at.0, "character": at.1 });
        let change = json!({ "range": { "start": at, "end": at }, "text": text });
        self.change(uri, version, json!([change])).await;
    }

    /// Sends changes.
    pub async fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes })).await;
    }

    /// The hints of a document: line, column, label.
    pub async fn hints(&mut self, uri: &str) -> Vec<(u64, u64, String)> {
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 999_999, "character": 0 } });
        let hints = self.ask(uri, "inlayHint", json!({ "range": whole })).await;
        let hint = |hint: &Value| {
            let at = &hint["position"];
            let number = |value: &Value| value.as_u64().unwrap();
            (number(&at["line"]), number(&at["character"]), hint["label"].as_str().unwrap().to_owned())
        };
        hints.as_array().unwrap().iter().map(hint).collect()
    }

    /// Titles of the lenses of a document.
    pub async fn lenses(&mut self, uri: &str) -> Vec<String> {
        let lenses = self.ask(uri, "codeLens", json!({})).await;
        lenses.as_array().unwrap().iter().map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect()
    }

    /// A request about a document.
    pub async fn ask(&mut self, uri: &str, what: &str, mut params: Value) -> Value {
        params["textDocument"] = json!({ "uri": uri });
        self.request(&format!("textDocument/{what}"), params).await
    }

    /// Carries out a command.
    pub async fn execute(&mut self, command: &str, argument: Value) -> Value {
        let command = format!("kernelScientist.{command}");
        self.request("workspace/executeCommand", json!({ "command": command, "arguments": [argument] })).await
    }

    /// Sends a request and waits for its result.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request and waits for its answer, which may be an error.
    pub async fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.send_request(method, params).await;
        self.find(|message| message.get("method").is_none() && message["id"] == id).await
    }

    /// Waits for the result of the request that was sent last.
    pub async fn take_answer(&mut self) -> Value {
        let id = self.last_id;
        let answer = self.find(|message| message.get("method").is_none() && message["id"] == id).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Sends a request and gives its number.
    pub async fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message).await;
        id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message).await;
    }

    async fn send(&mut self, message: &Value) {
        let body = message.to_string();
        self.send_raw(&format!("Content-Length: {}\r\n\r\n{body}", body.len())).await;
    }

    /// Sends bytes as they are.
    pub async fn send_raw(&mut self, bytes: &str) {
        self.output.as_mut().unwrap().write_all(bytes.as_bytes()).await.unwrap();
    }

    /// Waits for a message of the server that is no answer, and gives its parameters. A request is answered with `result`.
    pub async fn expect(&mut self, method: &str, result: Value) -> Value {
        let message = self.find(|message| message["method"] == method).await;
        if let Some(id) = message.get("id") {
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            self.send(&answer).await;
        }
        message["params"].clone()
    }

    /// Waits for a request of the server and refuses it.
    pub async fn refuse(&mut self, method: &str, error: Value) {
        let (id, _) = self.take_request(method).await;
        self.answer_request(&id, json!({ "error": error })).await;
    }

    /// Waits for a request of the server, and gives its number and parameters; it is not answered yet.
    pub async fn take_request(&mut self, method: &str) -> (Value, Value) {
        let message = self.find(|message| message["method"] == method && message.get("id").is_some()).await;
        (message["id"].clone(), message["params"].clone())
    }

    /// Answers a request of the server.
    pub async fn answer_request(&mut self, id: &Value, mut answer: Value) {
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        self.send(&answer).await;
    }

    /// Waits for a message with text or choices, takes the choice if one is named, and gives the text.
    pub async fn message(&mut self, choice: Option<&str>) -> String {
        let is_message = |message: &Value| {
            message["method"] == "window/showMessage" || message["method"] == "window/showMessageRequest"
        };
        let message = self.find(is_message).await;
        if let Some(id) = message.get("id") {
            let taken = choice.map(|title| json!({ "title": title }));
            if let Some(choice) = choice {
                let choices = message["params"]["actions"].as_array().unwrap();
                assert!(choices.iter().any(|known| known["title"] == choice), "{choice} among {choices:?}");
            }
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": taken });
            self.send(&answer).await;
        }
        message["params"]["message"].as_str().unwrap().to_owned()
    }

    async fn find(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.unread.iter().position(&is_it) {
            return self.unread.remove(at).unwrap();
        }
        let deadline = tokio::time::Instant::now() + self.patience;
        loop {
            let message = tokio::time::timeout_at(deadline, self.inbox.recv()).await;
            let message = message.unwrap_or_else(|_| panic!("no such message came; unread: {:?}", self.unread));
            let message = message.unwrap_or_else(|| panic!("the server is gone; unread: {:?}", self.unread));
            if is_it(&message) {
                return message;
            }
            self.file(message).await;
        }
    }

    /// Answers requests that need no human; log lines are read and forgotten.
    async fn file(&mut self, message: Value) {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let is_routine = method.ends_with("/refresh") || method == "window/workDoneProgress/create";
        if is_routine && !self.is_mute {
            if method.ends_with("/refresh") {
                self.refreshed.push(method);
            }
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": null });
            self.send(&answer).await;
        } else if method != "window/logMessage" && !(self.is_mute && message.get("id").is_some()) {
            self.unread.push_back(message);
        }
    }

    /// Waits until nothing has come for a while.
    pub async fn settle(&mut self) {
        while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(300), self.inbox.recv()).await {
            self.file(message).await;
        }
    }

    /// Messages of a kind that came and were not looked at; they count as consumed now.
    pub fn take_unread(&mut self, method: &str) -> Vec<Value> {
        let (taken, left) = self.unread.drain(..).partition(|message| message["method"] == method);
        self.unread = left;
        let taken: VecDeque<Value> = taken;
        taken.into()
    }

    /// Ends the server as editors do.
    pub async fn stop(mut self) {
        self.request("shutdown", Value::Null).await;
        self.notify("exit", Value::Null).await;
        let server = self.server.take().unwrap();
        assert!(tokio::time::timeout(Duration::from_secs(2), server).await.unwrap().unwrap());
        self.settle().await;
        self.done = true;
    }

    /// Closes the pipe without a word, and waits for the server's end. Says how long that took.
    pub async fn vanish(mut self) -> Duration {
        let start = std::time::Instant::now();
        self.output.take().unwrap().shutdown().await.unwrap();
        let server = self.server.take().unwrap();
        tokio::time::timeout(Duration::from_secs(10), server).await.unwrap().unwrap();
        self.unread.clear();
        self.done = true;
        start.elapsed()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.done, "the test did not end the server");
            assert!(self.unread.is_empty(), "messages that the test did not look at: {:?}", self.unread);
        }
    }
}

/// The next message; `None` at the end.
async fn receive(from: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => {
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).await.ok()?;
    serde_json::from_slice(&body).ok()
}

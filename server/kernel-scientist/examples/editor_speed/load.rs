//! What is under way while questions are asked: a timing run and an evolution, both on the file itself.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::source::{EVOLVED, TIMED};

/// Jobs that are begun again as soon as they end.
pub struct Load {
    uri: String,
    /// Requests that are not answered yet, by their number: which command and kernel.
    begun: HashMap<u64, (&'static str, &'static str)>,
    running: HashMap<u64, (&'static str, &'static str)>,
    ended: HashMap<&'static str, u32>,
    experiments: u32,
}

impl Load {
    /// Begins both and waits until the evolution has designed its first experiments.
    pub fn begin(client: &mut Client, uri: &str) -> Self {
        let mut load = Self {
            uri: uri.to_owned(),
            begun: HashMap::new(),
            running: HashMap::new(),
            ended: HashMap::new(),
            experiments: 0,
        };
        load.start(client, "evolve", EVOLVED);
        load.start(client, "time", TIMED);
        let mut is_designed = false;
        while !is_designed {
            for message in client.others(Duration::from_millis(100)) {
                is_designed |= message["params"]["event"]["event"] == "designed";
                load.hear(client, &message);
            }
        }
        load
    }

    fn start(&mut self, client: &mut Client, command: &'static str, kernel: &'static str) {
        let argument = json!({ "uri": self.uri, "kernel": kernel });
        let params = json!({ "command": format!("kernelScientist.{command}"), "arguments": [argument] });
        self.begun.insert(client.post("workspace/executeCommand", params), (command, kernel));
    }

    /// Hears what came in for a while, and begins again what has ended.
    pub fn keep_up(&mut self, client: &mut Client, time: Duration) {
        for message in client.others(time) {
            self.hear(client, &message);
        }
    }

    fn hear(&mut self, client: &mut Client, message: &Value) {
        let answered = message["id"].as_u64().filter(|_| message.get("method").is_none());
        if let Some(what) = answered.and_then(|id| self.begun.remove(&id)) {
            let job = message["result"]["job"].as_u64().unwrap_or_else(|| panic!("{what:?}: {message}"));
            self.running.insert(job, what);
        }
        match message["method"].as_str().unwrap_or_default() {
            "window/showMessage" if message["params"]["type"] == 1 => panic!("{}", message["params"]["message"]),
            "kernelScientist/runEvent" if message["params"]["event"]["event"] == "experiment" => self.experiments += 1,
            "$/progress" if message["params"]["value"]["kind"] == "end" => {
                let token = message["params"]["token"].as_str().unwrap_or_default();
                let job = token.rsplit('/').next().and_then(|job| job.parse().ok()).unwrap_or_default();
                if let Some((command, kernel)) = self.running.remove(&job) {
                    *self.ended.entry(command).or_default() += 1;
                    self.start(client, command, kernel);
                }
            }
            _ => {}
        }
    }

    /// What was done meanwhile.
    pub fn summary(&self) -> String {
        let ended = |command: &str| self.ended.get(command).copied().unwrap_or_default();
        format!(
            "meanwhile: {} timing runs and {} evolutions came to their end, {} experiments",
            ended("time"),
            ended("evolve"),
            self.experiments
        )
    }
}

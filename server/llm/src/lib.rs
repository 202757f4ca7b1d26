//! Language models behind one trait: OpenAI-compatible servers, Anthropic, Gemini, the editor's own models, and a
//! recorded run.
//!
//! - [`provider::Provider`] is one attempt at one question. The dialects (`openai`, `anthropic`, `gemini`) speak HTTP with
//!   server-sent events; [`editor`] goes through whoever implements [`editor::EditorModels`]; [`replay`] reads a file.
//! - [`Model`] is what callers use: it waits for its turn, tries again where that helps, keeps the bill, and checks answers
//!   that must be JSON against their schema.
//!
//! Invariants:
//! - Knows nothing of kernels, devices or editors' protocols.
//! - An answer is whole or an error: what was cut off is never handed on.
//! - A key is in no error, log line or recording, in no other process, and goes to no place but the provider's own address
//!   or one that the user named ([`key`]).
//! - Whatever a server answered is on the bill, also where nothing of it could be used; no call is begun above a limit ([`Ledger`]).
//! - Another model is never asked in place of the one that was named.
//! - Every call returns within a fraction of a second after its caller was cancelled, and the connection is closed then.
//!
//! Calls block; those over HTTP run on a small runtime of their own, so they are not to be made (nor is a [`Model`] to be
//! made or dropped) on a thread that runs futures.
//!
//! Tests: `cargo nextest run -p llm`. `tests/trouble.rs` and `tests/dialects.rs` talk to a stub that misbehaves in every way that is known of servers;
//! `tests/real_server.rs` to llama.cpp's own server with a model of 135 million parameters (`setup.sh test` installs it).
#![warn(missing_docs)]

mod anthropic;
pub mod connect;
pub mod editor;
mod error;
mod events;
pub mod foreign;
mod gate;
mod gemini;
pub mod hearing;
mod http;
pub mod key;
mod model;
pub mod name;
mod openai;
pub mod price;
pub mod provider;
mod refusal;
pub mod replay;
mod retry;
mod spent;
pub mod structured;

pub use error::LlmError;
pub use gate::Gate;
pub use hearing::{Heard, Hearing};
pub use model::{Model, Options};
pub use name::{Kind, ModelName};
pub use price::{Price, PriceTable};
pub use provider::{Answer, Caller, Message, Provider, Request, Role, Stop, Usage, Used};
pub use retry::Retry;
pub use spent::{Call, Ledger, Limits, Spent};

//! From the protocol's types to our own. Together with `to_proto` the one place that names them.

use std::ops::Range;
use std::path::PathBuf;

use hip_syntax::{Change, Position, PositionEncoding};
use serde::Deserialize;
use serde_json::Value;
use tower_lsp::jsonrpc;
use tower_lsp::ls_types as lsp;

use super::code_actions::Untested;
use super::code_lens::Brief;
use super::commands::Command;
use super::protocol::{ClientAbilities, Trust};
use super::to_proto::EditAbilities;
use super::view::View;

/// What a client can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// How it counts columns.
    pub encoding: PositionEncoding,
    /// It can be asked to ask for hints again.
    pub refreshes_hints: bool,
    /// It can be asked to ask for lenses again.
    pub refreshes_lenses: bool,
    /// It shows progress that the server opens.
    pub shows_progress: bool,
    /// It can be asked for settings.
    pub has_settings: bool,
    /// It can be asked to watch files.
    pub watches_files: bool,
    /// It can be asked to open a file.
    pub shows_documents: bool,
    /// It shows images in Markdown.
    pub shows_images: bool,
    /// It shows places that have to do with a diagnostic.
    pub shows_related: bool,
    /// It offers the editor's models.
    pub has_models: bool,
    /// It keeps keys of providers.
    pub has_keys: bool,
    /// It shows proposals by itself.
    pub shows_proposals: bool,
    /// Its user trusts the workspace: what is in it may be built, run and sent.
    pub is_trusted: bool,
    /// What it can do with changes.
    pub edits: EditAbilities,
}

/// What a client can do, and the settings that it starts the server with.
pub fn abilities(params: &lsp::InitializeParams) -> (Abilities, Value) {
    let all = &params.capabilities;
    let workspace = all.workspace.as_ref();
    let window = all.window.as_ref();
    let edit = workspace.and_then(|workspace| workspace.workspace_edit.as_ref());
    let operations = edit.and_then(|edit| edit.resource_operations.as_ref());
    let (ours, settings) = options(params.initialization_options.clone().unwrap_or(Value::Null));
    let abilities = Abilities {
        encoding: encoding(all.general.as_ref().and_then(|general| general.position_encodings.as_deref())),
        refreshes_hints: workspace
            .and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support)
            .unwrap_or_default(),
        refreshes_lenses: workspace
            .and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support)
            .unwrap_or_default(),
        shows_progress: window.and_then(|window| window.work_done_progress).unwrap_or_default(),
        has_settings: workspace.and_then(|workspace| workspace.configuration).unwrap_or_default(),
        watches_files: workspace
            .and_then(|workspace| workspace.did_change_watched_files.as_ref()?.dynamic_registration)
            .unwrap_or_default(),
        shows_documents: window.and_then(|window| window.show_document.as_ref()).is_some_and(|show| show.support),
        shows_images: params.client_info.as_ref().is_some_and(|info| info.name.starts_with("Visual Studio Code")),
        shows_related: all
            .text_document
            .as_ref()
            .and_then(|document| document.publish_diagnostics.as_ref()?.related_information)
            .unwrap_or_default(),
        has_models: ours.editor_models,
        has_keys: ours.keys,
        shows_proposals: ours.proposals,
        is_trusted: ours.trusted,
        edits: EditAbilities {
            versions: edit.and_then(|edit| edit.document_changes).unwrap_or_default(),
            annotations: edit.is_some_and(|edit| edit.change_annotation_support.is_some()),
            creates: operations.is_some_and(|operations| operations.contains(&lsp::ResourceOperationKind::Create)),
        },
    };
    (abilities, settings)
}

/// What `initializationOptions` say of the client, and the settings among them.
fn options(mut options: Value) -> (ClientAbilities, Value) {
    let Value::Object(fields) = &mut options else { return (ClientAbilities::default(), options) };
    let mut take = |name: &str| fields.remove(name).filter(|value| !value.is_null());
    let [editor_models, keys, proposals] =
        ["editorModels", "keys", "proposals"].map(|name| take(name).is_some_and(|value| value == true));
    // Whoever says something of trust that is not understood does not say that there is any.
    let trusted = take("trusted").is_none_or(|value| value == true);
    (ClientAbilities { editor_models, keys, proposals, trusted }, options)
}

/// Whether the user trusts the workspace, where a change of settings says so.
pub fn trust(settings: &Value) -> Option<bool> {
    let is_said = settings.get("trusted").is_some_and(|value| !value.is_null());
    is_said.then(|| Trust::deserialize(settings).is_ok_and(|trust| trust.trusted))
}

/// UTF-8 where the client offers it, for that needs no counting; UTF-16 is what every client can do.
fn encoding(offered: Option<&[lsp::PositionEncodingKind]>) -> PositionEncoding {
    let offered = offered.unwrap_or_default();
    if offered.contains(&lsp::PositionEncodingKind::UTF8) {
        PositionEncoding::Utf8
    } else if offered.contains(&lsp::PositionEncodingKind::UTF16) || offered.is_empty() {
        PositionEncoding::Utf16
    } else if offered.contains(&lsp::PositionEncodingKind::UTF32) {
        PositionEncoding::Utf32
    } else {
        PositionEncoding::Utf16
    }
}

/// The file of a document; `None` for one that is no file.
pub fn path(uri: &lsp::Uri) -> Option<PathBuf> {
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    is_file.then(|| uri.to_file_path()).flatten().map(|path| path.into_owned())
}

/// As [`path`] of an address that is still text.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    path(&uri.parse().ok()?)
}

/// A position.
pub fn position(position: lsp::Position) -> Position {
    Position::new(position.line, position.character)
}

/// Bytes of a view's text.
pub fn range(range: lsp::Range, view: &View) -> Range<usize> {
    let at = |at| view.text.offset(position(at), view.encoding);
    let start = at(range.start);
    start..at(range.end).max(start)
}

/// Changes of a text.
pub fn changes(changes: Vec<lsp::TextDocumentContentChangeEvent>) -> Vec<Change> {
    let change = |change: lsp::TextDocumentContentChangeEvent| Change {
        range: change.range.map(|range| position(range.start)..position(range.end)),
        text: change.text,
    };
    changes.into_iter().map(change).collect()
}

/// The kinds of actions that a client wants; empty for all.
pub fn wanted(context: &lsp::CodeActionContext) -> Vec<String> {
    context.only.iter().flatten().map(|kind| kind.as_str().to_owned()).collect()
}

/// What an action that is to be resolved would apply.
pub fn untested(action: &lsp::CodeAction) -> jsonrpc::Result<Untested> {
    let data =
        action.data.clone().ok_or_else(|| jsonrpc::Error::invalid_params("the code action has no data to resolve"))?;
    serde_json::from_value(data)
        .map_err(|error| jsonrpc::Error::invalid_params(format!("the code action's data are not ours: {error}")))
}

/// Which lens is to be resolved; `None` for one that is whole.
pub fn brief_lens(lens: &lsp::CodeLens) -> jsonrpc::Result<Option<Brief>> {
    let Some(data) = lens.data.as_ref().filter(|_| lens.command.is_none()) else { return Ok(None) };
    let brief = data.as_str().ok_or_else(|| format!("{data} is no text")).and_then(str::parse);
    brief.map(Some).map_err(|why| jsonrpc::Error::invalid_params(format!("the lens's data are not ours: {why}")))
}

/// A command.
pub fn command(params: lsp::ExecuteCommandParams) -> jsonrpc::Result<Command> {
    Command::read(&params.command, params.arguments.into_iter().next()).map_err(jsonrpc::Error::invalid_params)
}

/// The files that changed.
pub fn changed_files(params: &lsp::DidChangeWatchedFilesParams) -> Vec<PathBuf> {
    params.changes.iter().filter_map(|change| path(&change.uri)).collect()
}

/// The name of a display of progress.
pub fn progress_token(params: &lsp::WorkDoneProgressCancelParams) -> Option<&str> {
    match &params.token {
        lsp::ProgressToken::String(token) => Some(token),
        lsp::ProgressToken::Number(_) => None,
    }
}

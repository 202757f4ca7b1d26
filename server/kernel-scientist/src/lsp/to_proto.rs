//! From our own types to the protocol's. Together with `from_proto` the one place that names them.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use hip_syntax::{PositionEncoding, Text};
use serde_json::json;
use tower_lsp::ls_types as lsp;

use super::code_actions::{Action, Kind, What};
use super::code_lens::{Brief, Lens};
use super::commands::{self, Command};
use super::diagnostics::{BUILD, Finding, Related, RelatedPlace, Severity};
use super::edits::TextEdit;
use super::hover::Hover;
use super::inlay_hints::Hint;
use super::outbox::Tone;
use super::progress::Shown;
use super::protocol;
use super::view::View;

/// Lenses that a client is given whole: those of some fifty kernels.
const MOST_WHOLE_LENSES: usize = 150;

/// Where positions are counted: a text and an encoding.
#[derive(Clone, Copy)]
pub struct Scale<'a> {
    /// The text that bytes are of.
    pub text: &'a Text,
    /// How the client counts columns.
    pub encoding: PositionEncoding,
}

impl<'a> Scale<'a> {
    /// That of a view.
    pub fn of(view: &'a View) -> Self {
        Self { text: &view.text, encoding: view.encoding }
    }

    /// A byte of the text.
    pub fn position(self, at: usize) -> lsp::Position {
        let position = self.text.position(at, self.encoding);
        lsp::Position::new(position.line, position.column)
    }

    /// Bytes of the text.
    pub fn range(self, range: &Range<usize>) -> lsp::Range {
        lsp::Range::new(self.position(range.start), self.position(range.end))
    }
}

/// Diagnostics of a document.
pub struct Publication {
    /// The client's address of the document.
    pub uri: String,
    /// Its version.
    pub version: Option<i32>,
    /// Its text at that version.
    pub text: Text,
    /// How the client counts columns.
    pub encoding: PositionEncoding,
    /// What was found.
    pub found: Vec<Finding>,
    /// The client shows places that have to do with a finding.
    pub shows_related: bool,
    /// The code that was run was changed since: what only runs find may hold no longer.
    pub is_stale: bool,
}

/// A change of a document.
pub struct WorkspaceChange {
    /// What it is called.
    pub label: String,
    /// The client's address of the document.
    pub uri: String,
    /// The version that it is made for; `None` for a file that is not open.
    pub version: Option<i32>,
    /// The text at that version.
    pub text: Text,
    /// How the client counts columns.
    pub encoding: PositionEncoding,
    /// The edits, in order.
    pub edits: Vec<TextEdit>,
    /// Whether the document is made first.
    pub creates: bool,
    /// What the client can do with it.
    pub abilities: EditAbilities,
    /// Whether the user is to look at it before it is carried out.
    pub needs_confirmation: bool,
}

/// What a client can do with a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditAbilities {
    /// Check the version it is made for.
    pub versions: bool,
    /// Show it before it is carried out.
    pub annotations: bool,
    /// Make files.
    pub creates: bool,
}

/// What the server can do, and how it counts columns.
pub fn capabilities(encoding: PositionEncoding) -> lsp::InitializeResult {
    let sync = lsp::TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
        save: Some(lsp::TextDocumentSyncSaveOptions::Supported(true)),
        ..Default::default()
    };
    let kinds = Kind::ALL.iter().map(|kind| lsp::CodeActionKind::from(kind.name())).collect();
    let capabilities = lsp::ServerCapabilities {
        position_encoding: Some(match encoding {
            PositionEncoding::Utf8 => lsp::PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => lsp::PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => lsp::PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(true) }),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        code_action_provider: Some(lsp::CodeActionProviderCapability::Options(lsp::CodeActionOptions {
            code_action_kinds: Some(kinds),
            resolve_provider: Some(true),
            ..Default::default()
        })),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: commands::NAMES.map(str::to_owned).to_vec(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let server_info =
        lsp::ServerInfo { name: "kernel-scientist".into(), version: Some(env!("CARGO_PKG_VERSION").into()) };
    lsp::InitializeResult { capabilities, server_info: Some(server_info), ..Default::default() }
}

/// A command with what is written on its button.
pub fn command(title: &str, command: &Command) -> lsp::Command {
    let (name, argument) = command.written();
    lsp::Command::new(title.to_owned(), name.to_owned(), Some(vec![argument]))
}

/// Lenses of a document; those of one kernel stand at one place, which is looked up once. Where there are many, a client is told
/// what they say when it asks for those that come into view.
pub fn lenses(lenses: &[Lens], view: &View) -> Vec<lsp::CodeLens> {
    let (is_brief, scale) = (lenses.len() > MOST_WHOLE_LENSES, Scale::of(view));
    let of_kernel = |lenses: &[Lens]| {
        let range = scale.range(&lenses[0].at);
        let lens = |lens: &Lens| match is_brief {
            true => {
                let brief = Brief { opening: view.opening, lens: lens.which.clone() };
                lsp::CodeLens { range, command: None, data: Some(brief.to_string().into()) }
            }
            false => {
                let command = command(&lens.title, &lens.which.command(&view.uri));
                lsp::CodeLens { range, command: Some(command), data: None }
            }
        };
        lenses.iter().map(lens).collect::<Vec<_>>()
    };
    lenses.chunk_by(|one, next| one.at == next.at).flat_map(of_kernel).collect()
}

/// A hint.
pub fn hint(hint: Hint, scale: Scale<'_>) -> lsp::InlayHint {
    let tooltip = (!hint.tooltip.is_empty()).then(|| lsp::InlayHintTooltip::MarkupContent(markdown(hint.tooltip)));
    lsp::InlayHint {
        position: scale.position(hint.at),
        label: lsp::InlayHintLabel::String(hint.label),
        kind: None,
        text_edits: None,
        tooltip,
        padding_left: Some(true),
        padding_right: Some(false),
        data: None,
    }
}

fn markdown(value: String) -> lsp::MarkupContent {
    lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value }
}

/// A hover.
pub fn hover(hover: Hover, scale: Scale<'_>) -> lsp::Hover {
    let range = Some(scale.range(&hover.range));
    lsp::Hover { contents: lsp::HoverContents::Markup(markdown(hover.text)), range }
}

/// A code action.
pub fn action(action: Action) -> lsp::CodeActionOrCommand {
    let kind = Some(lsp::CodeActionKind::from(action.kind.name()));
    let (command, data) = match &action.what {
        What::Command(run) => (Some(command(&action.title, run)), None),
        What::Edit(untested) => (None, Some(json!(untested))),
    };
    lsp::CodeActionOrCommand::CodeAction(lsp::CodeAction {
        title: action.title,
        kind,
        command,
        data,
        ..Default::default()
    })
}

/// A change as the client carries it out; `None` for an address that is none.
pub fn workspace_edit(change: &WorkspaceChange) -> Option<lsp::WorkspaceEdit> {
    let uri = lsp::Uri::from_str(&change.uri).ok()?;
    let scale = Scale { text: &change.text, encoding: change.encoding };
    let edits =
        change.edits.iter().map(|edit| lsp::TextEdit { range: scale.range(&edit.range), new_text: edit.text.clone() });
    if !change.abilities.versions {
        return Some(lsp::WorkspaceEdit {
            changes: Some(HashMap::from([(uri, edits.collect())])),
            ..Default::default()
        });
    }
    let annotation = "kernel-scientist".to_owned();
    let edits = edits.map(|text_edit| match change.abilities.annotations {
        true => lsp::OneOf::Right(lsp::AnnotatedTextEdit { text_edit, annotation_id: annotation.clone() }),
        false => lsp::OneOf::Left(text_edit),
    });
    let text_document = lsp::OptionalVersionedTextDocumentIdentifier { uri: uri.clone(), version: change.version };
    let edit = lsp::TextDocumentEdit { text_document, edits: edits.collect() };
    let document_changes = if change.creates {
        let create = lsp::CreateFile { uri, options: None, annotation_id: None };
        lsp::DocumentChanges::Operations(vec![
            lsp::DocumentChangeOperation::Op(lsp::ResourceOp::Create(create)),
            lsp::DocumentChangeOperation::Edit(edit),
        ])
    } else {
        lsp::DocumentChanges::Edits(vec![edit])
    };
    let change_annotations = change.abilities.annotations.then(|| {
        let note = lsp::ChangeAnnotation {
            label: change.label.clone(),
            needs_confirmation: Some(change.needs_confirmation),
            description: None,
        };
        HashMap::from([(annotation, note)])
    });
    Some(lsp::WorkspaceEdit { changes: None, document_changes: Some(document_changes), change_annotations })
}

/// Diagnostics of a document.
pub fn publication(publication: &Publication) -> (Option<lsp::Uri>, Vec<lsp::Diagnostic>, Option<i32>) {
    let uri = lsp::Uri::from_str(&publication.uri).ok();
    let found = publication.found.iter().map(|finding| diagnostic(finding, publication, uri.as_ref()));
    let found = found.collect();
    (uri, found, publication.version)
}

fn diagnostic(finding: &Finding, publication: &Publication, uri: Option<&lsp::Uri>) -> lsp::Diagnostic {
    let scale = Scale { text: &publication.text, encoding: publication.encoding };
    let is_stale = publication.is_stale && finding.code != BUILD;
    let mut message = if is_stale { format!("stale: {}", finding.message) } else { finding.message.clone() };
    let mut related_information = None;
    if publication.shows_related {
        let places = finding.related.iter().filter_map(|related| location(related, scale, uri));
        related_information = Some(places.collect::<Vec<_>>()).filter(|places| !places.is_empty());
    } else {
        finding.related.iter().for_each(|related| message.push_str(&format!("; {related}")));
    }
    lsp::Diagnostic {
        range: scale.range(&finding.range),
        severity: Some(match finding.severity {
            _ if is_stale => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
        }),
        code: Some(lsp::NumberOrString::String(finding.code.to_owned())),
        source: Some("kernel-scientist".to_owned()),
        message,
        related_information,
        ..Default::default()
    }
}

fn location(related: &Related, scale: Scale<'_>, here: Option<&lsp::Uri>) -> Option<lsp::DiagnosticRelatedInformation> {
    let (uri, range) = match &related.place {
        RelatedPlace::Here(range) => (here?.clone(), scale.range(range)),
        RelatedPlace::Elsewhere { path, line, column } => {
            // The text of that file is not at hand: columns count its bytes.
            let at = lsp::Position::new(line.saturating_sub(1), column.saturating_sub(1));
            (lsp::Uri::from_file_path(path)?, lsp::Range::new(at, at))
        }
    };
    Some(lsp::DiagnosticRelatedInformation { location: lsp::Location { uri, range }, message: related.message.clone() })
}

/// The address of a file.
pub fn uri(path: &Path) -> Option<String> {
    lsp::Uri::from_file_path(path).map(|uri| uri.as_str().to_owned())
}

/// How a message is meant.
pub fn tone(tone: Tone) -> lsp::MessageType {
    match tone {
        Tone::Error => lsp::MessageType::ERROR,
        Tone::Warning => lsp::MessageType::WARNING,
        Tone::Info => lsp::MessageType::INFO,
        Tone::Log => lsp::MessageType::LOG,
    }
}

/// Choices below a message.
pub fn choices(titles: &[String]) -> Vec<lsp::MessageActionItem> {
    titles.iter().map(|title| lsp::MessageActionItem { title: title.clone(), properties: HashMap::new() }).collect()
}

/// A request to open a file.
pub fn show_document(path: &Path) -> Option<lsp::ShowDocumentParams> {
    let uri = lsp::Uri::from_file_path(path)?;
    Some(lsp::ShowDocumentParams { uri, external: Some(false), take_focus: Some(true), selection: None })
}

/// A request for a section of the client's settings.
pub fn settings_request(section: &str) -> Vec<lsp::ConfigurationItem> {
    vec![lsp::ConfigurationItem { scope_uri: None, section: Some(section.to_owned()) }]
}

/// What asks a client to watch files.
pub fn watchers(globs: &[&str]) -> lsp::Registration {
    let watcher =
        |glob: &&str| lsp::FileSystemWatcher { glob_pattern: lsp::GlobPattern::String((*glob).to_owned()), kind: None };
    let options = lsp::DidChangeWatchedFilesRegistrationOptions { watchers: globs.iter().map(watcher).collect() };
    lsp::Registration {
        id: "kernel-scientist/files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!(options)),
    }
}

/// The name of a display of progress.
pub fn progress_token(token: &str) -> lsp::ProgressToken {
    lsp::ProgressToken::String(token.to_owned())
}

/// A display of progress opens.
pub fn progress_begin(token: &str, title: String, shown: &Shown) -> lsp::ProgressParams {
    progress(
        token,
        lsp::WorkDoneProgress::Begin(lsp::WorkDoneProgressBegin {
            title,
            cancellable: Some(true),
            message: Some(shown.doing.clone()).filter(|doing| !doing.is_empty()),
            percentage: shown.percent,
        }),
    )
}

/// A display of progress changes.
pub fn progress_report(token: &str, shown: &Shown) -> lsp::ProgressParams {
    progress(
        token,
        lsp::WorkDoneProgress::Report(lsp::WorkDoneProgressReport {
            cancellable: Some(true),
            message: Some(shown.doing.clone()),
            percentage: shown.percent,
        }),
    )
}

/// A display of progress closes.
pub fn progress_end(token: &str) -> lsp::ProgressParams {
    progress(token, lsp::WorkDoneProgress::End(lsp::WorkDoneProgressEnd { message: None }))
}

fn progress(token: &str, value: lsp::WorkDoneProgress) -> lsp::ProgressParams {
    lsp::ProgressParams { token: progress_token(token), value: lsp::ProgressParamsValue::WorkDone(value) }
}

/// `$/progress`.
pub type ProgressNotice = lsp::notification::Progress;

/// `$/cancelRequest`.
pub type CancelNotice = lsp::notification::Cancel;

/// The answer to a request is not wanted any more.
pub fn cancelled(request: &str) -> lsp::CancelParams {
    lsp::CancelParams { id: lsp::NumberOrString::String(request.to_owned()) }
}

/// `kernelScientist/proposed`: a version that can be put into a document.
pub enum ProposedNotice {}

impl lsp::notification::Notification for ProposedNotice {
    type Params = protocol::Proposed;
    const METHOD: &'static str = protocol::PROPOSED;
}

/// `kernelScientist/key`: the key of a provider.
pub enum KeyRequest {}

impl lsp::request::Request for KeyRequest {
    type Params = protocol::KeyParams;
    type Result = protocol::KeyAnswer;
    const METHOD: &'static str = protocol::KEY;
}

/// `kernelScientist/runEvent`: what happened in a run, for the panel.
pub enum RunNotice {}

impl lsp::notification::Notification for RunNotice {
    type Params = protocol::RunEvent;
    const METHOD: &'static str = protocol::RUN_EVENT;
}

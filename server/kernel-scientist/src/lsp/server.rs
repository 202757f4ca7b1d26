//! The protocol's requests and notifications, each a few lines: from the protocol, to a feature, and back.

use std::sync::Arc;

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;
use tower_lsp::{Client, LanguageServer, LspService};

use super::documents::Role;
use super::outbox::Outbox;
use super::progress::job_of;
use super::protocol::{
    FileKernels, KernelsParams, MachineCode, MachineCodeParams, ModelPart, Plan, PlanParams, Population,
    PopulationParams, Preview, PreviewParams, ProposalNumber, ProposeParams, Run, RunsParams, Status, StatusParams,
    Version, VersionParams,
};
use super::session::{Session, World};
use super::to_proto::Scale;
use super::{
    code_actions, code_lens, from_proto, hover, inlay_hints, machine_code, offers, panel, plan, protocol, status,
    to_proto, workspace_kernels,
};

/// The server that tower-lsp calls.
///
/// House rules: documents change before the first await; whatever takes time is a job or a background task, never part
/// of a request.
pub struct Server {
    session: Arc<Session>,
}

/// The service, the client's end of it, and the session behind it.
pub fn service(world: World) -> (LspService<Server>, tower_lsp::ClientSocket, Arc<Session>) {
    let runtime = tokio::runtime::Handle::current();
    let build = |client: Client| Server { session: Session::new(world, Outbox::new(client, runtime)) };
    let service = LspService::build(build)
        .custom_method("window/workDoneProgress/cancel", Server::cancel_progress)
        .custom_method(protocol::POPULATION, Server::population)
        .custom_method(protocol::RUNS, Server::runs)
        .custom_method(protocol::VERSION, Server::version)
        .custom_method(protocol::KERNELS, Server::kernels)
        .custom_method(protocol::STATUS, Server::status)
        .custom_method(protocol::PLAN, Server::plan)
        .custom_method(protocol::PROPOSE, Server::propose)
        .custom_method(protocol::PREVIEW, Server::preview)
        .custom_method(protocol::MACHINE_CODE, Server::machine_code)
        .custom_method(protocol::MODEL_PART, Server::model_part);
    #[cfg(test)]
    let service = service.custom_method("test/panic", Server::panic_with_the_state);
    let (service, socket) = service.finish();
    let session = Arc::clone(&service.inner().session);
    (service, socket, session)
}

impl Server {
    async fn cancel_progress(&self, params: lsp::WorkDoneProgressCancelParams) {
        if let Some(job) = from_proto::progress_token(&params).and_then(job_of) {
            self.session.stop(job);
        }
    }

    /// Fails as no handler should: while it holds what all others need.
    #[cfg(test)]
    async fn panic_with_the_state(&self) -> Result<serde_json::Value> {
        let _held = self.session.state();
        panic!("as the test wants it");
    }

    async fn population(&self, params: PopulationParams) -> Result<Option<Population>> {
        panel::population(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn runs(&self, params: RunsParams) -> Result<Vec<Run>> {
        panel::runs(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn version(&self, params: VersionParams) -> Result<Version> {
        panel::version(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn kernels(&self, params: KernelsParams) -> Result<Vec<FileKernels>> {
        workspace_kernels::kernels(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn status(&self, params: StatusParams) -> Result<Status> {
        status::status(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn plan(&self, params: PlanParams) -> Result<Plan> {
        plan::plan(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn propose(&self, params: ProposeParams) -> Result<ProposalNumber> {
        offers::propose(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn preview(&self, params: PreviewParams) -> Result<Preview> {
        offers::preview(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn machine_code(&self, params: MachineCodeParams) -> Result<MachineCode> {
        machine_code::machine_code(&self.session, params).await.map_err(Error::invalid_params)
    }

    async fn model_part(&self, part: ModelPart) {
        self.session.models.part(part);
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let (abilities, settings) = from_proto::abilities(&params);
        let encoding = abilities.encoding;
        self.session.begin(abilities, &settings);
        Ok(to_proto::capabilities(encoding))
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        self.session.is_ready();
    }

    async fn shutdown(&self) -> Result<()> {
        self.session.stop_all();
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        let Some(path) = from_proto::path(&document.uri) else { return };
        let Some(role) = Role::of(&document.language_id, &path) else { return };
        self.session.open(document.uri.as_str(), path, role, document.version, &document.text);
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let document = params.text_document;
        self.session.change(document.uri.as_str(), document.version, &from_proto::changes(params.content_changes));
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        self.session.saved(params.text_document.uri.as_str());
        // For clients that watch no files.
        self.session.files_changed(&from_proto::path(&params.text_document.uri).into_iter().collect::<Vec<_>>());
    }

    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        self.session.files_changed(&from_proto::changed_files(&params));
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        self.session.close(params.text_document.uri.as_str());
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        self.session.settings_changed(&params.settings);
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        let uri = params.text_document.uri.as_str();
        let Some(view) = self.session.view(uri).await else { return Ok(None) };
        if !view.settings.code_lens {
            return Ok(None);
        }
        let lenses = code_lens::lenses(&view);
        self.session.lenses_were_shown(uri, &lenses);
        Ok(Some(to_proto::lenses(&lenses, &view)))
    }

    async fn code_lens_resolve(&self, mut lens: lsp::CodeLens) -> Result<lsp::CodeLens> {
        let Some(brief) = from_proto::brief_lens(&lens)? else { return Ok(lens) };
        let (title, command) = self.session.lens(&brief).ok_or_else(Error::content_modified)?;
        lens.command = Some(to_proto::command(&title, &command));
        Ok(lens)
    }

    async fn inlay_hint(&self, params: lsp::InlayHintParams) -> Result<Option<Vec<lsp::InlayHint>>> {
        let uri = params.text_document.uri.as_str();
        let Some(view) = self.session.view(uri).await else { return Ok(None) };
        if !view.settings.inlay_hints {
            return Ok(None);
        }
        let range = from_proto::range(params.range, &view);
        let all = inlay_hints::hints(&view, &(0..usize::MAX));
        self.session.hints_were_shown(uri, &all);
        let hints = all.into_iter().filter(|hint| range.start <= hint.at && hint.at <= range.end);
        Ok(Some(hints.map(|hint| to_proto::hint(hint, Scale::of(&view))).collect()))
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let place = params.text_document_position_params;
        let Some(view) = self.session.view(place.text_document.uri.as_str()).await else { return Ok(None) };
        let at = view.text.offset(from_proto::position(place.position), view.encoding);
        Ok(hover::hover(&view, at).map(|hover| to_proto::hover(hover, Scale::of(&view))))
    }

    async fn code_action(&self, params: lsp::CodeActionParams) -> Result<Option<lsp::CodeActionResponse>> {
        let Some(view) = self.session.view(params.text_document.uri.as_str()).await else { return Ok(None) };
        let place = from_proto::range(params.range, &view);
        let actions = code_actions::actions(&view, &place, &from_proto::wanted(&params.context));
        Ok(Some(actions.into_iter().map(to_proto::action).collect()))
    }

    async fn code_action_resolve(&self, mut action: lsp::CodeAction) -> Result<lsp::CodeAction> {
        if action.data.is_none() {
            return Ok(action);
        }
        let untested = from_proto::untested(&action)?;
        let change = self
            .session
            .written(untested)
            .await
            .map_err(|why| Error { message: why.into(), ..Error::content_modified() })?;
        action.edit = to_proto::workspace_edit(&change);
        Ok(action)
    }

    async fn execute_command(&self, params: lsp::ExecuteCommandParams) -> Result<Option<lsp::LSPAny>> {
        let command = from_proto::command(params)?;
        Ok(self.session.executed(command).await)
    }
}

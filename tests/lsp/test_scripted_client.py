"""The built server driven by pytest-lsp, which announces what Visual Studio Code can do."""

import asyncio
import pathlib
import time

import pytest
import pytest_asyncio
from conftest import children_of
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

KERNEL = "reduce_sum"
WHOLE = lsp.Range(lsp.Position(0, 0), lsp.Position(9999, 0))


class Editor:
    """A client with one document open."""

    def __init__(self, client: LanguageClient, path: pathlib.Path):
        self.client = client
        self.uri = path.as_uri()
        self.text = path.read_text()
        self.version = 1
        self.document = lsp.TextDocumentIdentifier(self.uri)
        self.edits: list[lsp.WorkspaceEdit] = []
        language = "toml" if path.suffix == ".toml" else "hip"
        item = lsp.TextDocumentItem(self.uri, language, self.version, self.text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def line_of(self, part: str) -> int:
        return next(number for number, line in enumerate(self.text.splitlines()) if part in line)

    def change(self, text: str):
        self.text, self.version = text, self.version + 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    async def lenses(self) -> list[str]:
        lenses = await self.client.text_document_code_lens_async(lsp.CodeLensParams(self.document))
        return [lens.command.title for lens in lenses]

    async def hints(self) -> list[str]:
        hints = await self.client.text_document_inlay_hint_async(lsp.InlayHintParams(self.document, WHOLE))
        return [hint.label for hint in hints]

    async def hover(self) -> str:
        line = self.line_of(KERNEL + "(")
        at = lsp.Position(line, self.text.splitlines()[line].index(KERNEL) + 2)
        return (await self.client.text_document_hover_async(lsp.HoverParams(self.document, at))).contents.value

    async def actions(self, *kinds: str) -> list[lsp.CodeAction]:
        at = lsp.Position(self.line_of("__shared__"), 4)
        context = lsp.CodeActionContext([], only=list(kinds) or None)
        return await self.client.text_document_code_action_async(
            lsp.CodeActionParams(self.document, lsp.Range(at, at), context)
        )

    async def begin(self, command: str) -> int:
        """Begins a job, and gives its number."""
        argument = {"uri": self.uri, "kernel": KERNEL}
        answer = await self.client.workspace_execute_command_async(
            lsp.ExecuteCommandParams(f"kernelScientist.{command}", [argument])
        )
        return answer["job"] if isinstance(answer, dict) else answer.job

    def progress(self, job: int) -> list:
        return self.client.progress_reports.get(f"kernel-scientist/job/{job}", [])

    async def end(self, job: int) -> list:
        """Waits for the end of a job's progress, and gives all of it."""
        is_over = lambda: self.progress(job) and isinstance(self.progress(job)[-1], lsp.WorkDoneProgressEnd)
        await until(is_over, "end of the job's progress", 120)
        return self.progress(job)


async def until(what, name: str, seconds: float = 30):
    """Waits until `what()` gives something true, and gives that."""
    end = time.monotonic() + seconds
    while True:
        found = what()
        found = await found if asyncio.iscoroutine(found) else found
        if found:
            return found
        assert time.monotonic() < end, f"no {name} within {seconds} s"
        await asyncio.sleep(0.03)


def answering_client() -> LanguageClient:
    """A client that answers whatever this server asks for."""
    client = make_test_lsp_client()
    client.applied = []

    @client.feature(lsp.WORKSPACE_APPLY_EDIT)
    def apply(params: lsp.ApplyWorkspaceEditParams):
        client.applied.append(params.edit)
        return lsp.ApplyWorkspaceEditResult(applied=True)

    @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def register(params: lsp.RegistrationParams):
        client.registered = [registration.method for registration in params.registrations]

    @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
    @client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(*_):
        return None

    @client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params: lsp.ShowMessageRequestParams):
        client.offered = params
        return None

    return client


@pytest_asyncio.fixture
async def client(server: str, workspace: pathlib.Path):
    """A server that is initialized, and shut down at the end."""
    config = ClientServerConfig(server_command=[server, "lsp", "--stdio"], client_factory=answering_client)
    client = await config.start()
    capabilities = client_capabilities("visual-studio-code")
    await client.initialize_session(lsp.InitializeParams(capabilities=capabilities, root_uri=workspace.as_uri()))
    yield client
    process = client._server
    await client.shutdown_session()
    await asyncio.wait_for(process.wait(), 2)
    assert process.returncode == 0
    await client.stop()


@pytest.fixture
def editor(client: LanguageClient, workspace: pathlib.Path) -> Editor:
    return Editor(client, workspace / "reduction.hip")


async def test_lenses_hints_and_hover_before_anything_was_measured(editor: Editor):
    assert await editor.lenses() == ["Time", "Suggest", "Evolve"]
    assert await editor.hints() == ["LDS 1 KiB"]
    assert "Not measured yet" in await editor.hover()


async def test_lenses_of_a_large_file_say_what_they_are_when_asked(client: LanguageClient, workspace: pathlib.Path):
    path = workspace / "large.hip"
    path.write_text("".join(f"__global__ void k{number}(float* x) {{}}\n" for number in range(60)))
    editor = Editor(client, path)
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
    assert len(lenses) == 180 and all(lens.command is None for lens in lenses)
    resolved = await client.code_lens_resolve_async(lenses[-1])
    assert (resolved.command.title, resolved.range.start.line) == ("Evolve", 59)


async def test_a_time_becomes_a_hint_and_a_line_of_the_hover(editor: Editor):
    job = await editor.begin("time")
    reports = await editor.end(job)
    assert isinstance(reports[0], lsp.WorkDoneProgressBegin) and reports[0].title == f"Time {KERNEL}"

    async def figure():
        return [hint for hint in await editor.hints() if "cpu emulation" in hint]

    (figure,) = await until(figure, "hint with a figure")
    assert not figure.startswith("stale"), figure
    assert "| as now |" in await editor.hover()


async def test_what_does_not_build_is_shown_at_its_line(editor: Editor):
    editor.change(editor.text.replace("int tid = threadIdx.x;", "int tid = threadIdx.q;"))
    await editor.end(await editor.begin("time"))
    found = await until(lambda: editor.client.diagnostics.get(editor.uri), "diagnostic")
    assert found[0].range.start.line == editor.line_of("threadIdx.q")
    assert found[0].source == "kernel-scientist" and found[0].severity == lsp.DiagnosticSeverity.Error


async def test_mistakes_in_a_benchmark_file_are_shown_in_it(client: LanguageClient, workspace: pathlib.Path):
    path = workspace / "other.bench.toml"
    path.write_text("[program]\nargz = []\n")
    editor = Editor(client, path)
    found = await until(lambda: client.diagnostics.get(editor.uri), "diagnostic")
    assert found[0].range.start == lsp.Position(1, 0)


async def test_a_hypothesis_is_applied(editor: Editor):
    async def offered():
        return [action for action in await editor.actions("refactor.rewrite.kernelScientist.apply") if action.data]

    action = (await until(offered, "hypothesis"))[0]
    assert action.edit is None, "edits are worked out when they are asked for"
    resolved = await editor.client.code_action_resolve_async(action)
    (change,) = resolved.edit.document_changes
    assert (change.text_document.uri, change.text_document.version) == (editor.uri, 1)
    before = editor.text
    lines = before.splitlines(keepends=True)

    def offset(at: lsp.Position) -> int:
        return sum(map(len, lines[: at.line])) + at.character

    text = before
    for edit in sorted(change.edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    assert text != before
    editor.change(text)
    # What was applied is code that builds and gives the right results.
    await editor.end(await editor.begin("time"))
    assert not editor.client.diagnostics.get(editor.uri)
    assert any("cpu emulation" in hint for hint in await until(editor.hints, "hint"))


async def test_an_evolution_is_followed_and_cancelled(editor: Editor):
    job = await editor.begin("evolve")

    def is_under_way():
        reports = [report for report in editor.progress(job) if isinstance(report, lsp.WorkDoneProgressReport)]
        return any("generation 1 of" in (report.message or "") and report.percentage is not None for report in reports)

    await until(is_under_way, "generation", 120)
    (state, stop) = await editor.lenses()
    assert state.startswith("Evolve: generation 1 of") and stop == "Stop"
    process = editor.client._server.pid
    start = time.monotonic()
    token = f"kernel-scientist/job/{job}"
    editor.client.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token))
    await editor.end(job)
    assert time.monotonic() - start < 1
    assert not children_of(process)
    assert await editor.lenses() == ["Time", "Suggest", "Evolve"]

//! What must never take the server down, and what must always end it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::Editor;

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_costs_one_answer() {
    use futures_util::FutureExt;
    use tower::Service;
    use tower_lsp::jsonrpc::{Request, Response};

    struct Fails;
    impl Service<Request> for Fails {
        type Response = Option<Response>;
        type Error = std::io::Error;
        type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;
        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn call(&mut self, request: Request) -> Self::Future {
            assert!(request.method() != "at/once", "at once");
            async { panic!("later") }.boxed()
        }
    }
    let mut guarded = super::super::guards::CatchPanic(Fails);
    for (method, words) in [("at/once", "at once"), ("later", "later")] {
        let answer = guarded.call(Request::build(method).id(7).finish()).await.unwrap().unwrap();
        let error = answer.error().unwrap();
        assert_eq!(error.code.code(), -32603);
        assert!(error.message.contains(words) && error.message.contains(method), "{error:?}");
        assert_eq!(guarded.call(Request::build(method).finish()).await.unwrap(), None, "notifications have no answer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_panics_with_the_state_in_its_hands_costs_one_answer() {
    let mut editor = Editor::start().await;
    let uri = editor.open("a.hip", "__global__ void k() {}\n").await;
    for _ in 0..3 {
        let answer = editor.answer("test/panic", Value::Null).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.contains("test/panic") && said.contains("as the test wants it"), "{said}");
        assert_eq!(editor.lenses(&uri).await.len(), 3, "the next request is served as ever");
    }
    editor.insert(&uri, 2, (0, 0), "__global__ void other() {}\n").await;
    let start = Instant::now();
    while editor.lenses(&uri).await.len() != 6 {
        assert!(start.elapsed() < Duration::from_secs(20), "changes are not taken any more");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_50_000_lines_is_served() {
    let mut editor = Editor::start().await;
    let kernel = "__global__ void k(float* a) {\n  __shared__ float t[8];\n\n\n\n  a[threadIdx.x] = t[0];\n\n\n\n}\n";
    let text: String = (0..5000).map(|number| kernel.replace('k', &format!("k{number}"))).collect();
    let uri = editor.open("large.hip", &text).await;
    let start = Instant::now();
    // A slow machine answers with nothing first, and asks to be asked again once the file was read.
    while editor.ask(&uri, "codeLens", json!({})).await.as_array().is_none_or(|lenses| lenses.len() != 15_000) {
        assert!(start.elapsed() < Duration::from_secs(60), "it is not read");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    editor.insert(&uri, 2, (0, 0), "// 大😀\n").await;
    let hints = editor.hints(&uri).await;
    assert_eq!(hints.len(), 5000);
    assert_eq!(hints[4999], (49_992, 23, "LDS 32 B".to_owned()), "moved along at once");
    let end = json!({ "position": { "line": 49_991, "character": 17 } });
    let hover = editor.ask(&uri, "hover", end).await;
    assert!(hover["contents"]["value"].as_str().unwrap().contains("k4999"), "{hover}");
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_changes_is_taken_in_order() {
    let mut editor = Editor::start().await;
    let uri = editor.open("a.hip", "__global__ void k() {}\n").await;
    for number in 0..10_000 {
        editor.insert(&uri, number + 2, (0, 0), &format!("// {number}\n")).await;
    }
    let start = Instant::now();
    let lenses = editor.ask(&uri, "codeLens", json!({})).await;
    assert_eq!(lenses[0]["range"]["start"], json!({ "line": 10_000, "character": 16 }));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_answers_stops_nothing() {
    let mut editor = Editor::start().await;
    editor.is_mute = true;
    let uri = editor.open("a.hip", "__global__ void k() {}\n").await;
    for _ in 0..400 {
        editor.execute("showJob", json!({ "job": 1 })).await;
        editor.execute("suggest", json!({ "uri": uri })).await;
    }
    assert!(!editor.ask(&uri, "codeLens", json!({})).await.as_array().unwrap().is_empty());
    editor.settle().await;
    editor.take_unread("window/showMessage");
    editor.take_unread("$/progress");
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_input_ends_the_server() {
    let mut editor = Editor::start().await;
    editor.open("a.hip", "__global__ void k() {}\n").await;
    let took = editor.vanish().await;
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_answered_with_an_error_and_forgotten() {
    let mut editor = Editor::start().await;
    let uri = editor.open("a.hip", "__global__ void k() {}\n").await;
    let zero = json!({ "line": 0, "character": 0 });
    for (method, params) in [
        ("textDocument/hover", json!({})),
        ("textDocument/hover", json!([1, 2])),
        ("no/such", Value::Null),
        ("workspace/executeCommand", json!({ "command": "rm -rf", "arguments": [] })),
        ("workspace/executeCommand", json!({ "command": "kernelScientist.time", "arguments": [{ "uri": 7 }] })),
        ("codeAction/resolve", json!({ "title": "x", "data": { "uri": 1 } })),
        ("codeLens/resolve", json!({ "range": { "start": zero, "end": zero }, "data": { "opening": 1 } })),
        ("codeLens/resolve", json!({ "range": { "start": zero, "end": zero }, "data": "1 fly k" })),
        ("kernelScientist/population", json!({ "uri": "untitled:Untitled-1" })),
        ("kernelScientist/status", json!({ "uri": "untitled:Untitled-1" })),
        ("kernelScientist/version", json!({ "run": 1, "of": { "candidate": 0 } })),
    ] {
        let answer = editor.answer(method, params.clone()).await;
        assert!(answer["error"]["message"].is_string(), "{method} {params}: {answer}");
    }
    editor.execute("stop", json!({ "job": 99 })).await;
    editor.execute("apply", json!({ "proposal": 99 })).await;
    assert!(editor.message(None).await.contains("not at hand"));
    editor.execute("time", json!({ "uri": uri, "kernel": "nope" })).await;
    assert!(editor.message(None).await.contains("there is no kernel nope"));
    let far = json!({ "position": { "line": 4_000_000_000u32, "character": 4_000_000_000u32 } });
    assert_eq!(editor.ask(&uri, "hover", far).await, Value::Null);
    let back = json!({ "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": 0 } });
    editor.change(&uri, 2, json!([{ "range": back, "text": "x" }])).await;
    assert_eq!(editor.lenses(&uri).await.len(), 3);
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_be_read_is_left_out() {
    let mut editor = Editor::start().await;
    for body in ["{\"jsonrpc\":", "[]", "{}", "null", "\u{fffd}", "{\"jsonrpc\":\"1.0\",\"method\":\"x\"}"] {
        editor.send_raw(&format!("Content-Length: {}\r\n\r\n{body}", body.len())).await;
    }
    editor.send_raw("X-Other: 1\r\nnoise\r\n").await;
    editor.send_raw(&format!("{}\r\n", "noise".repeat(100_000))).await;
    let uri = editor.open("a.hip", "__global__ void k() {}\n").await;
    assert_eq!(editor.lenses(&uri).await.len(), 3);
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_texts_are_served() {
    let mut editor = Editor::start().await;
    let garbage: String =
        (0..200_000u32).filter_map(|n| char::from_u32(n.wrapping_mul(2_654_435_761) % 0x11_0000)).collect();
    for (name, text) in [
        ("garbage.hip", garbage.as_str()),
        ("crlf.hip", "// 大\r\n__global__ void k() {\r\n}\r\n"),
        ("open.hip", "__global__ void k( {{{{ ((((((\n"),
        ("empty.hip", ""),
    ] {
        let uri = editor.open(name, text).await;
        editor.ask(&uri, "codeLens", json!({})).await;
        editor.hints(&uri).await;
    }
    let crlf = editor.uri("crlf.hip");
    assert_eq!(editor.lenses(&crlf).await.len(), 3);
    editor.stop().await;
}

//! Documents under edit.

use hip_syntax::{Change, Position, PositionEncoding};

use crate::lsp::analysis::Analysis;
use crate::lsp::documents::{Document, Documents, Plan, Role, Standing};

const URI: &str = "file:///w/a.hip";

fn opened(text: &str) -> Documents {
    let mut documents = Documents::default();
    documents.open(URI, "/w/a.hip".into(), Role::Source, 1, text);
    read(documents.get_mut(URI).unwrap());
    documents
}

fn read(document: &mut Document) {
    while let Some((text, edit)) = document.begin_reading() {
        document.end_reading(Some(Analysis::read(&text, edit)));
    }
}

fn insert(documents: &mut Documents, at: (u32, u32), text: &str, encoding: PositionEncoding) {
    let at = Position::new(at.0, at.1);
    documents.change(URI, 2, &[Change { range: Some(at..at), text: text.into() }], encoding);
}

#[test]
fn columns_are_counted_as_the_client_counts() {
    for (encoding, column) in [(PositionEncoding::Utf8, 7), (PositionEncoding::Utf16, 3), (PositionEncoding::Utf32, 2)]
    {
        let mut documents = opened("大😀x\r\n__global__ void k() {}\r\n");
        insert(&mut documents, (0, column), "!", encoding);
        assert_eq!(
            documents.get(URI).unwrap().text.to_string(),
            "大😀!x\r\n__global__ void k() {}\r\n",
            "{encoding:?}"
        );
    }
}

#[test]
fn edits_during_a_reading_are_carried_on() {
    let mut documents = opened("__global__ void k() {}\n");
    insert(&mut documents, (0, 0), "// one\n", PositionEncoding::Utf8);
    let (text, edit) = documents.get_mut(URI).unwrap().begin_reading().unwrap();
    assert_eq!(documents.get_mut(URI).unwrap().begin_reading().map(|_| ()), None, "one reading at a time");
    insert(&mut documents, (0, 0), "// two\n", PositionEncoding::Utf8);
    let document = documents.get_mut(URI).unwrap();
    document.end_reading(Some(Analysis::read(&text, edit)));
    assert_eq!(document.splices().len(), 1, "only the edit that was not read is left");
    assert!(!document.is_read());
    assert!(document.begin_reading().is_some(), "the newest text is read next");
}

#[test]
fn edits_plan_one_reading_until_it_begins() {
    let mut documents = opened("__global__ void k(int n) {}\n");
    assert_eq!(plan(&mut documents), Plan::Nothing, "nothing is new");
    insert(&mut documents, (1, 0), "// x", PositionEncoding::Utf16);
    assert_eq!(plan(&mut documents), Plan::Soon);
    insert(&mut documents, (1, 0), "// y", PositionEncoding::Utf16);
    assert_eq!(plan(&mut documents), Plan::Nothing, "one is due");
    let (_, edit) = documents.get_mut(URI).unwrap().begin_reading().unwrap();
    insert(&mut documents, (1, 0), "// z", PositionEncoding::Utf16);
    assert_eq!(plan(&mut documents), Plan::Nothing, "one is under way");
    documents.get_mut(URI).unwrap().end_reading(None);
    assert_eq!(plan(&mut documents), Plan::Soon, "edit {edit} could not be read, the one after it may");
}

fn plan(documents: &mut Documents) -> Plan {
    documents.get_mut(URI).unwrap().plan_reading()
}

#[test]
fn a_reading_that_failed_leaves_what_was_known() {
    let mut documents = opened("__global__ void k() {}\n");
    insert(&mut documents, (0, 0), "x", PositionEncoding::Utf8);
    let document = documents.get_mut(URI).unwrap();
    document.begin_reading().unwrap();
    document.end_reading(None);
    assert_eq!(document.analysis().unwrap().kernels.len(), 1);
    assert_eq!(document.splices().len(), 1);
}

#[test]
fn a_place_that_an_edit_took_away_is_known_to_be_lost() {
    let mut documents = opened("__global__ void k() {}\n");
    insert(&mut documents, (0, 0), "// one\n", PositionEncoding::Utf8);
    assert_eq!(documents.get(URI).unwrap().standing(), Standing::Known);
    let whole = Change { range: Some(Position::new(0, 0)..Position::new(9, 0)), text: "int a;\n".into() };
    documents.change(URI, 3, &[whole], PositionEncoding::Utf8);
    assert_eq!(documents.get(URI).unwrap().standing(), Standing::Lost);
    read(documents.get_mut(URI).unwrap());
    assert_eq!(documents.get(URI).unwrap().standing(), Standing::Known);
}

#[test]
fn nobody_waits_for_a_reading_that_failed() {
    let mut documents = Documents::default();
    documents.open(URI, "/w/a.hip".into(), Role::Source, 1, "__global__ void k() {}\n");
    let document = documents.get_mut(URI).unwrap();
    document.begin_reading().unwrap();
    assert_eq!(document.standing(), Standing::Unread);
    document.end_reading(None);
    assert_eq!(document.standing(), Standing::Known);
}

#[tokio::test]
async fn whoever_waits_is_woken_when_a_document_is_opened_anew_or_closed() {
    let mut documents = Documents::default();
    documents.open(URI, "/w/a.hip".into(), Role::Source, 1, "");
    let first = documents.get(URI).unwrap().was_read().notified_owned();
    documents.open(URI, "/w/a.hip".into(), Role::Source, 1, "");
    let second = documents.get(URI).unwrap().was_read().notified_owned();
    documents.close(URI);
    for waits in [first, second] {
        tokio::time::timeout(std::time::Duration::from_secs(5), waits).await.expect("it is woken");
    }
}

#[test]
fn documents_that_are_none_of_ours_are_left_alone() {
    let role = |language, path: &str| Role::of(language, path.as_ref());
    assert_eq!(role("hip", "/a.hip"), Some(Role::Source));
    assert_eq!(role("cpp", "/a.cpp"), Some(Role::Source));
    assert_eq!(role("cuda-cpp", "/a.cu"), Some(Role::Source));
    assert_eq!(role("plaintext", "/a.hip"), Some(Role::Source), "an editor that does not know the ending");
    assert_eq!(role("toml", "/a.bench.toml"), Some(Role::BenchmarkFile));
    assert_eq!(role("toml", "/Cargo.toml"), None);
    assert_eq!(role("python", "/a.py"), None);
}

//! Reports that are whole, cut short and forged.

use super::*;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn reading(report: &str, compares: bool) -> Reading {
    let report = report.replace('@', TOKEN);
    read(report.as_bytes(), &Expected { token: TOKEN, shapes: &[0, 2], compares })
}

fn sample(shape: usize, pair: usize, which: &str, ns: &str) -> String {
    format!(
        "@ {{\"sample\":{{\"shape\":{shape},\"pair\":{pair},\"which\":\"{which}\",\"ns\":{ns},\"counter_ns\":100.0,\
         \"processor_ns\":90,\"others_ns\":0,\"displaced\":2,\"kernels_ns\":40}}}}\n"
    )
}

const DONE: &str = "@ {\"done\":{\"right\":true}}\n";

fn whole() -> String {
    let mut text = "@ {\"machine\":{\"bytes_per_s\":1e11,\"flops_per_s\":2e11}}\n".to_owned();
    text.push_str("@ {\"cost\":{\"shape\":2,\"flops\":-1,\"bytes\":5}}\n@ {\"running\":{\"which\":\"baseline\"}}\n");
    for shape in [0, 2] {
        for pair in 0..3 {
            text.push_str(&sample(shape, pair, "baseline", "101.5"));
            text.push_str(&sample(shape, pair, "candidate", "50"));
        }
        text.push_str(&format!("@ {{\"between\":{{\"shape\":{shape},\"ns\":700,\"others_ns\":5}}}}\n"));
    }
    text + DONE
}

#[test]
fn a_whole_report_is_read() {
    let Reading::Right(transcript) = reading(&whole(), true) else { panic!() };
    assert_eq!(transcript.shapes[&0].wall[0], [101.5; 3]);
    assert_eq!(transcript.shapes[&2].wall[1], [50.0; 3]);
    assert_eq!((transcript.shapes[&2].processor[1].as_slice(), transcript.shapes[&2].displaced), (&[90.0; 3][..], 12));
    assert_eq!(transcript.shapes[&2].between, (700.0, 5.0));
    assert_eq!((transcript.shapes[&2].bytes, transcript.bytes_per_s), (5.0, 1e11));
    assert_eq!(transcript.shapes[&2].clock_ratios[1], [0.5; 3]);
}

#[test]
fn what_several_processes_measured_is_joined() {
    let Reading::Right(transcript) = reading(&whole(), true) else { panic!() };
    let later = Transcript { bytes_per_s: 0.0, ..transcript.clone() };
    let joined = Transcript::joined(&[transcript, later]);
    assert_eq!(joined.shapes[&0].wall[0], [101.5; 6]);
    assert_eq!((joined.shapes[&2].between, joined.shapes[&2].displaced), ((1400.0, 10.0), 24));
    assert_eq!((joined.shapes[&2].bytes, joined.bytes_per_s), (5.0, 1e11));
}

#[test]
fn what_the_harness_cannot_have_written_is_forged() {
    let good = whole();
    let cases = [
        good.replacen('@', "00000000000000000000000000000000", 1),
        good.clone() + "{\"done\":{\"right\":true}}\n",
        good.clone() + &sample(0, 3, "baseline", "1"),
        good.clone() + "\u{1}\u{2}\n",
        "hello\n".to_owned() + &good,
        good.replacen("\"ns\":50", "\"ns\":-50", 1),
        good.replacen("\"ns\":50", "\"ns\":1e999", 1),
        good.replacen("\"ns\":50", "\"ns\":\"50\"", 1),
        good.replacen("\"pair\":1", "\"pair\":7", 1),
        good.replacen("\"shape\":2", "\"shape\":1", 1),
        good.replacen("{\"sample\"", "{\"simple\"", 1),
        good.replacen("\"processor_ns\":90", "\"processor_ns\":-90", 1),
        good.replacen("\"displaced\":2", "\"displaced\":-2", 1),
        good.replacen("\"others_ns\":5", "\"others_ns\":-5", 1),
        good.replacen("\"kernels_ns\":40}", "\"kernels_ns\":40,\"more\":1}", 1),
        good.replacen(&sample(2, 2, "candidate", "50"), "", 1),
        DONE.to_owned(),
        "@ {\"done\":{\"right\":false}}\n".to_owned(),
        good.replacen("\"which\":\"candidate\"", "\"which\":\"reference\"", 1),
    ];
    for case in cases {
        let reading = reading(&case, true);
        assert!(matches!(reading, Reading::Forged(_)), "{case}\n{reading:?}");
    }
    assert!(matches!(reading(&whole(), false), Reading::Forged(_)), "a candidate that nobody asked for");
    let bytes = [TOKEN.as_bytes(), b" \xff\xfe\n"].concat();
    let expected = Expected { token: TOKEN, shapes: &[0], compares: false };
    assert!(matches!(read(&bytes, &expected), Reading::Forged(_)));
}

#[test]
fn a_report_without_an_end_is_cut_short_where_it_stopped() {
    let running = "@ {\"running\":{\"which\":\"candidate\",\"shape\":2}}\n";
    let expected = Reading::CutShort(Some((Which::Candidate, Some(2))));
    assert_eq!(reading(running, true), expected);
    // Half a line of the harness, as a killed process leaves it.
    assert_eq!(reading(&format!("{running}@ {{\"samp"), true), expected);
    assert_eq!(reading(&format!("{running}01234"), true), expected);
    assert_eq!(reading("", true), Reading::CutShort(None));
    assert!(matches!(reading(&format!("{running}hell"), true), Reading::Forged(_)));
}

#[test]
fn the_first_word_of_failure_counts() {
    let late =
        "@ {\"late\":{\"which\":\"candidate\",\"shape\":0,\"argument\":\"y\"}}\n@ {\"done\":{\"right\":false}}\n";
    let Reading::Failed(Event::Late { which, shape, argument }) = reading(late, true) else { panic!() };
    assert_eq!((which, shape, argument.as_str()), (Which::Candidate, 0, "y"));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), cut in 0usize..400) {
        let mut report = whole().replace('@', TOKEN).into_bytes();
        report.truncate(cut.min(report.len()));
        report.extend(bytes);
        let _ = read(&report, &Expected { token: TOKEN, shapes: &[0, 2], compares: true });
    }
}

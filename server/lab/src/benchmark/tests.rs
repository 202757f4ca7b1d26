//! Files that are right, and every mistake with its message and place.

use super::*;

const GOOD: &str = r#"
entry = { kernel = "scale<float, 4>", grid = "(n + 255) / 256", block = [64, 4], shared = "64 * sizeof(float)" }

[[argument]]
name = "x"
kind = "input"
type = "float4"
count = "n / 4"
fill = { kind = "normal", mean = 1, deviation = "0.5" }

[[argument]]
name = "y"
kind = "output"
type = "unsigned   int"
count = "n"

[[argument]]
name = "n"
kind = "scalar"
type = "int"
value = "n"

[check]
reference = """
for (int i = 0; i < n; i++) y[i] = 2 * x[i].x;
"""
rtol = 1e-3
[check.tolerance.uint]
atol = 1.0

[cost]
flops = "1.0 * n"
bytes = "8.0 * n"

[[shape]]
n = 4096
k = 2

[[shape]]
k = 3
n = 1000
held_out = true

[program]
args = ["--size", "10"]
main = "main.hip"
sources = ["other.hip"]
standard = "c++20"
"#;

fn parse(text: &str) -> Result<Benchmark, String> {
    Benchmark::parse(Path::new("/w/k.bench.toml"), text).map_err(|error| match error {
        LabError::Usage(message) => message,
        other => format!("not a usage error: {other}"),
    })
}

#[test]
fn a_file_is_read_with_its_lines() {
    let benchmark = parse(GOOD).unwrap();
    let Some(Entry::Kernel { kernel, grid, block, shared }) = &benchmark.entry else { panic!() };
    assert_eq!((kernel.text.as_str(), kernel.line), ("scale<float, 4>", 2));
    assert_eq!(grid[0], Expression { text: "(n + 255) / 256".into(), line: 2 });
    assert_eq!(block.iter().map(|size| size.text.as_str()).collect::<Vec<_>>(), ["64", "4"]);
    assert_eq!(shared.as_ref().unwrap().text, "64 * sizeof(float)");

    assert_eq!(benchmark.arguments.len(), 3);
    assert_eq!(benchmark.arguments[0].element.lanes, 4);
    let Role::Buffer { kind: Kind::Input, count, fill: Fill::Normal(mean, _) } = &benchmark.arguments[0].role else {
        panic!()
    };
    assert_eq!((count.text.as_str(), count.line, mean.text.as_str()), ("n / 4", 8, "1"));
    assert_eq!(benchmark.arguments[0].tolerance, Tolerance { relative: 1e-3, absolute: 1e-5 });
    assert_eq!(benchmark.arguments[1].element.cpp, "unsigned int");
    assert_eq!(benchmark.arguments[1].tolerance, Tolerance { relative: 0.0, absolute: 1.0 });
    assert!(matches!(&benchmark.reference, Some(Reference::Code(code)) if code.line == 25));

    assert_eq!(benchmark.parameters, ["n", "k"]);
    assert_eq!(benchmark.shapes[1].values, [1000, 3]);
    assert_eq!(benchmark.shape_name(&benchmark.shapes[1]), "n=1000 k=3");
    assert_eq!(benchmark.chosen(ShapeChoice::Shown), [0]);
    assert_eq!(benchmark.chosen(ShapeChoice::HeldOut), [1]);
    assert_eq!(benchmark.chosen(ShapeChoice::All), [0, 1]);
    assert_eq!(benchmark.program.main, Some("/w/main.hip".into()));
    assert_eq!(benchmark.program.sources, [Path::new("/w/other.hip")]);
    assert_eq!(benchmark.program.standard.as_deref(), Some("c++20"));
    assert_eq!(Benchmark::path_for(Path::new("/w/a.b.hip")), Path::new("/w/a.b.bench.toml"));
}

#[test]
fn a_file_may_only_say_how_the_program_is_run() {
    let benchmark = parse("[program]\nargs = [\"-n\", \"5\"]\n").unwrap();
    assert_eq!(benchmark.entry, None);
    assert_eq!(benchmark.program.args, ["-n", "5"]);
}

#[test]
fn every_mistake_has_its_place_and_says_what_is_right() {
    // (text to replace in the good file, replacement, what the message must hold)
    let cases: &[(&str, &str, &[&str])] = &[
        ("kind = \"input\"", "kind = \"inptu\"", &[":6:8: ", "unknown variant `inptu`", "did you mean `input`?"]),
        ("count = \"n / 4\"", "cuont = \"n / 4\"", &[":8:1: ", "`cuont`", "did you mean `count`?"]),
        ("[cost]", "[costs]", &["`costs`", "did you mean `cost`?"]),
        ("flops", "flop", &["`flop`", "did you mean `flops`?"]),
        ("type = \"float4\"", "type = \"flaot4\"", &[":7:8: ", "flaot4"]),
        ("type = \"float4\"", "type = \"flot\"", &["did you mean `float`?"]),
        ("type = \"float4\"", "type = \"std::string\"", &["cannot be filled and compared"]),
        ("name = \"y\"", "name = \"x\"", &[":12:8: ", "an argument `x` already"]),
        ("name = \"y\"", "name = \"y z\"", &["cannot name an argument"]),
        ("name = \"y\"", "name = \"ks_y\"", &["cannot name an argument"]),
        ("count = \"n / 4\"", "count = \"n / 4; abort()\"", &[":8:9: ", "holds no `;`"]),
        ("count = \"n / 4\"", "count = \"(n / 4\"", &["`(` is not closed"]),
        ("count = \"n / 4\"", "count = \"n / 4)\"", &["`)` has no `(` before it"]),
        ("count = \"n / 4\"", "count = \"n, 4\"", &["comma"]),
        ("count = \"n / 4\"", "count = \"n // 4\"", &["no comment"]),
        ("count = \"n / 4\"", "count = \"\"", &["is empty"]),
        ("count = \"n / 4\"", "count = true", &[":8:9: ", "C++ expression"]),
        ("count = \"n / 4\"", "count = inf", &["finite"]),
        ("count = \"n / 4\"\n", "", &[":4:1: ", "`x` needs a `count`"]),
        ("value = \"n\"", "", &["`n` needs a `value`"]),
        ("value = \"n\"", "value = \"n\"\ncount = 3", &[":22:9: ", "`count` is for buffers"]),
        ("count = \"n\"\n", "count = \"n\"\nvalue = 1\n", &["`value` is for scalars"]),
        ("count = \"n\"\n", "count = \"n\"\nfill = \"zeros\"\n", &["an output is poisoned", "inout"]),
        ("kind = \"normal\"", "kind = \"norml\"", &[":9:17: ", "did you mean `normal`?", "permutation"]),
        ("mean = 1", "low = 1", &["takes `mean`, `deviation`, not `low`"]),
        ("{ kind = \"normal\", mean = 1, deviation = \"0.5\" }", "\"constant\"", &["needs a value"]),
        ("{ kind = \"normal\", mean = 1, deviation = \"0.5\" }", "\"unifrom\"", &[":9:8: ", "did you mean `uniform`?"]),
        ("\"scale<float, 4>\"", "\"scale(4)\"", &[":2:20: ", "no function name"]),
        ("block = [64, 4]", "block = [1, 2, 3, 4]", &["x, y and z"]),
        ("block = [64, 4]", "block = [64, \"4;\"]", &[":2:", "holds no `;`"]),
        ("block = [64, 4], ", "", &["missing field `block`"]),
        ("rtol = 1e-3", "rtol = -1.0", &["no number from 0 up"]),
        ("rtol = 1e-3", "rtol = 1e308", &["would take any value for right"]),
        ("[check.tolerance.uint]", "[check.tolerance.unit]", &["`unit`", "did you mean `uint`?"]),
        ("y[i] = 2 * x[i].x;", "{ y[i] = 1;", &["`{` is not closed"]),
        ("k = 3\n", "", &["lacks the parameter `k`"]),
        ("k = 3\n", "k = 3\nnn = 2\n", &["no parameter `nn`", "did you mean `n`?"]),
        ("k = 3\nn = 1000", "k = 2\nn = 4096", &["in the file already"]),
        ("k = 3", "k = 2.5", &["expected i64"]),
        ("n = 4096", "n = 4096\nn = 2", &["duplicate key"]),
        ("n = 4096\nk = 2", "held_out = true", &["no parameters"]),
        ("n = 4096", "held_out = true\nn = 4096", &["no shape is shown"]),
        ("kind = \"output\"", "kind = \"input\"", &["no argument is an output"]),
        ("entry = {", "cache = \"hot\"\nentry = {", &[":2:9: ", "unknown variant `hot`", "`cold`"]),
        ("entry = {", "entry = 4 #", &[":2:9: ", "name of a host function"]),
        ("[[argument]]\nname = \"x\"", "[[argument]\nname = \"x\"", &[":4:"]),
    ];
    for (from, to, parts) in cases {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let message = parse(&text).err().unwrap_or_else(|| panic!("accepted: {to}"));
        assert!(message.starts_with("/w/k.bench.toml"), "{message}");
        for part in *parts {
            assert!(message.contains(part), "{to}\n  {message}\n  lacks {part}");
        }
    }
}

#[test]
fn what_is_missing_altogether_is_named() {
    for (text, part) in [
        ("", "the file is empty"),
        ("[[shape]]\nn = 1\n", "`entry` is missing"),
        ("entry = \"f\"\n[[shape]]\nn = 1\n", "no argument is an output"),
        ("entry = \"f\"\n[[argument]]\nname=\"y\"\nkind=\"output\"\ntype=\"int\"\ncount=1\n", "no shape is shown"),
        ("\u{0}\u{1}binary", "k.bench.toml:1:"),
    ] {
        let message = parse(text).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn the_schema_that_ships_is_the_schema_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/benchmark.schema.json");
    let now = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    if std::env::var_os("KS_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let shipped = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shipped, now, "set KS_BLESS=1 and run this test to write {}", path.display());
}

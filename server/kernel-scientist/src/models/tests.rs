//! Which models are connected, where, with whose keys and at whose cost.

use super::*;

#[test]
fn names_of_a_run_read_as_they_were_recorded() {
    let one = ModelNames::one("openai:gpt-5".parse().unwrap());
    let several = ModelNames { writer: "anthropic:claude, the large".parse().unwrap(), ..one.clone() };
    for names in [one, several] {
        assert_eq!(names.to_string().parse::<ModelNames>(), Ok(names));
    }
    assert!("catalog".parse::<ModelNames>().is_err());
    assert!("selector a:b".parse::<ModelNames>().is_err());
}

#[test]
fn a_limit_in_dollars_is_kept_or_refused() {
    let check_with = |rows: &str, model: &str, base: &str, usd: Option<f64>, expected: Result<Option<f64>, &str>| {
        let settings = format!("[scientist]\napi_key_command = \"echo sk\"\n{rows}");
        let config = Config { is_named: true, ..toml::from_str(&settings).unwrap() };
        let reach = Reach { base_url: Some(base.to_owned()), ..Reach::default() };
        let models = Models::connect(&ModelNames::one(model.parse().unwrap()), &reach, &config).unwrap();
        match (models.limit(usd), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{model}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{model}: {error}"),
            (found, _) => panic!("{model}: {found:?}"),
        }
    };
    let check = |model: &str, base: &str, usd: Option<f64>, expected| check_with("", model, base, usd, expected);
    let (far, here) = ("https://api.openai.com/v1", "http://localhost:1/v1");
    check("openai:gpt-5", far, Some(2.0), Ok(Some(2.0)));
    check("openai:gpt-5", far, None, Ok(None));
    check("openai:gpt-5", far, Some(0.0), Err("max_usd is 0"));
    check("openai:new", far, Some(2.0), Err("the price of openai:new is not known"));
    check("openai:new", far, None, Ok(None));
    check("openai:new", here, Some(0.0), Ok(None));
    // What passes questions on has the price that the user gives it.
    let row = "[[scientist.price]]\nmodel = \"new\"\ninput = 1.0\noutput = 2.0";
    check_with(row, "openai:new", here, Some(2.0), Ok(Some(2.0)));
    check_with(row, "openai:newest", here, Some(2.0), Ok(None));
    check_with(&row.replace(".0", ""), "openai:new", far, Some(2.0), Ok(Some(2.0)));
    check_with(
        "[[scientist.price]]\nmodel = \"gpt-5\"\ninput = 0\noutput = 0",
        "openai:gpt-5",
        far,
        Some(2.0),
        Ok(None),
    );
}

#[test]
fn a_folders_prices_do_not_lift_the_users_limit() {
    for (model, expected) in [("openai:gpt-5", Ok(Some(2.0))), ("openai:new", Err(()))] {
        let (_, name) = model.split_once(':').unwrap();
        let row = format!("[[scientist.price]]\nmodel = \"{name}\"\ninput = 0\noutput = 0");
        let config: Config = toml::from_str(&row).unwrap();
        let keys: OfKeys = Arc::new(|_| Some("sk-1".into()));
        let reach = Reach { keys: Some(keys), ..Reach::default() };
        let models = Models::connect(&ModelNames::one(model.parse().unwrap()), &reach, &config).unwrap();
        assert_eq!(models.limit(Some(2.0)).map_err(drop), expected, "{model}");
    }
}

#[test]
fn a_run_goes_on_where_it_was_begun_or_where_the_user_says() {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    let begun = |served_at: Option<&str>| {
        let run = notebook::NewRun {
            file: Path::new("/k/a.hip"),
            text: "x",
            kernels: &[],
            kernel: None,
            device: "cpu",
            provider: "openai:m",
            seed: 1,
            budget: Value::Null,
            settings: serde_json::json!({ "served_at": served_at }),
            program: "test",
        };
        notebook.run(notebook.start_run(&run).unwrap()).unwrap()
    };
    let config = Config { is_named: true, ..toml::from_str("[scientist]\napi_key_command = \"echo sk\"").unwrap() };
    let refused = |run: &Run, base_url: Option<&str>| {
        let reach = Reach { base_url: base_url.map(str::to_owned), ..Reach::default() };
        let models = Models::connect(&ModelNames::one("openai:m".parse().unwrap()), &reach, &config).unwrap();
        models.go_on_at(run, &reach).err()
    };
    let here = begun(Some("http://127.0.0.1:8080/v1"));
    let error = refused(&here, None).unwrap();
    let told = "with its models at http://127.0.0.1:8080/v1 and would go on at https://api.openai.com/v1";
    assert!(error.contains(told) && error.contains("--base-url"), "{error}");
    assert_eq!(refused(&here, Some("http://127.0.0.1:8080/v1/")), None);
    assert_eq!(refused(&here, Some("https://api.openai.com/v1")), None);
    assert_eq!(refused(&begun(Some("https://api.openai.com/v1")), None), None);
    assert_eq!(refused(&begun(None), None), None);
}

fn connect_with(config: &str, is_named: bool, base_url: Option<&str>) -> Result<(), String> {
    let config = Config { is_named, ..toml::from_str(config).unwrap() };
    let reach = Reach { base_url: base_url.map(str::to_owned), ..Reach::default() };
    let names = ModelNames::one("openai:m".parse().unwrap());
    Models::connect(&names, &reach, &config).map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_folders_settings_neither_get_the_key_nor_run_a_command() {
    let far = "[scientist]\nbase_url = \"https://models.example/v1\"\n";
    assert!(connect_with(far, false, None).unwrap_err().contains("only if you say so"));
    let command = "[scientist]\napi_key_command = \"touch /tmp/never\"\n";
    assert!(connect_with(command, false, None).unwrap_err().contains("name with --config"));
    let printed = "[scientist]\napi_key_command = \"echo sk-1\"\nbase_url = \"https://models.example/v1\"\n";
    assert_eq!(connect_with(printed, true, None), Ok(()));
}

/// What a provider's server hears in one question of a stage: its address by number, and the header that holds the key.
fn heard(config: &str, is_named: bool, names: &ModelNames, servers: &[&Listener; 2]) -> [Vec<String>; 2] {
    let text = config.replace("FIRST", &servers[0].url).replace("SECOND", &servers[1].url);
    let config = Config { is_named, ..toml::from_str(&text).unwrap() };
    let keys: OfKeys = Arc::new(|kind| Some(format!("sk-of-{kind}").into()));
    let reach = Reach { keys: Some(keys), attempts: Some(0), ..Reach::default() };
    let models = Models::connect(names, &reach, &config).unwrap();
    for model in models.each() {
        // It answers nobody; what it was sent is what counts.
        let _ = model.ask(&llm::Request::new("test", "", "Why?"), &mut llm::Caller::new(&|| false, &mut |_| ()));
    }
    servers.map(|server| server.keys.lock().unwrap().drain(..).collect())
}

/// A server that refuses everything and keeps the keys that it was sent.
struct Listener {
    url: String,
    keys: Arc<std::sync::Mutex<Vec<String>>>,
}

impl Listener {
    fn start() -> Self {
        use std::io::{BufRead, BufReader, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = Arc::clone(&keys);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let sent = head.iter().find_map(|line| line.find("sk-").map(|at| line[at..].to_owned()));
                kept.lock().unwrap().push(sent.unwrap_or_else(|| "no key".into()));
                let _ = stream.write_all(b"HTTP/1.1 401 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            }
        });
        Self { url, keys }
    }
}

#[test]
fn each_server_hears_its_own_models_and_no_key_that_is_not_for_it() {
    let (first, second) = (Listener::start(), Listener::start());
    let servers = [&first, &second];
    let check = |config: &str, is_named: bool, models: &str, expected: [&[&str]; 2]| {
        let names = models.parse().unwrap();
        assert_eq!(heard(&format!("[scientist]\n{config}"), is_named, &names, &servers), expected, "{config} {models}");
    };
    let both = "base_url = \"FIRST\"\nanthropic_base_url = \"SECOND\"";
    let two = "selector openai:s, designer anthropic:d, writer anthropic:d";
    check(both, true, two, [&["sk-of-openai"], &["sk-of-anthropic", "sk-of-anthropic"]]);
    check(both, true, "anthropic:m", [&[], &["sk-of-anthropic"; 3]]);
    // A folder's settings lead no key anywhere, this machine included.
    check(both, false, two, [&["no key"], &["no key"; 2]]);
    check("gemini_base_url = \"SECOND\"", false, "gemini:m", [&[], &["no key"; 3]]);
}

#[test]
fn one_address_is_for_the_models_of_one_provider() {
    let connect = |models: &str, base: &str| {
        let reach = Reach { base_url: Some(base.into()), ..Reach::default() };
        Models::connect(&models.parse().unwrap(), &reach, &Config::default()).map(drop).map_err(|e| e.to_string())
    };
    let here = "http://127.0.0.1:1/v1";
    let error = connect("selector openai:s, designer anthropic:d, writer openai:w", here).unwrap_err();
    assert!(error.contains("anthropic and openai") && error.contains("anthropic_base_url"), "{error}");
    assert_eq!(connect("selector openai:s, designer openai:d, writer openai:w", here), Ok(()));
    assert_eq!(connect("anthropic:m", here), Ok(()));
}

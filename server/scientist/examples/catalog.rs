//! What the catalog makes of HIP files: `catalog FILE...` lists what applies and what is ruled out, `catalog FILE KEY` writes
//! each draft beside the others in a folder, `catalog FILE KEY FOLDER`, and `catalog --all FILE FOLDER` those of every
//! hypothesis, a folder each.

use std::path::Path;
use std::process::ExitCode;

use lab::benchmark::Benchmark;
use scientist::catalog::Catalog;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [file, key, folder] if key.contains(':') => write(file, key, Path::new(folder)),
        [all, file, folder] if all == "--all" => write_all(file, Path::new(folder)),
        files => files.iter().try_for_each(|file| list(file)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("reading {file}: {error}"))
}

/// With the benchmark file beside a source, if there is one.
fn catalog_for(file: &str) -> Result<Catalog, String> {
    let beside = Benchmark::path_for(Path::new(file));
    let benchmark =
        beside.is_file().then(|| Benchmark::load(&beside)).transpose().map_err(|error| error.to_string())?;
    Ok(Catalog::load().fed_by(benchmark.as_ref()))
}

fn list(file: &str) -> Result<(), String> {
    let text = read(file)?;
    let catalog = catalog_for(file)?;
    for hypothesis in catalog.suggest(&text, None) {
        let drafts = match catalog.apply(&text, Some(&hypothesis.kernel), &hypothesis.key) {
            Ok(drafts) => format!("{} drafts", drafts.len()),
            Err(error) => format!("NOT WRITTEN: {error}"),
        };
        println!("{file}:{}: {} ({}; {drafts})", hypothesis.line, hypothesis.key, hypothesis.title);
    }
    for ruling in catalog.ruled_out(&text) {
        println!("{file}: ruled out, {} in {}: {}", ruling.name, ruling.kernel, ruling.reason);
    }
    Ok(())
}

fn write_all(file: &str, folder: &Path) -> Result<(), String> {
    let text = read(file)?;
    let catalog = catalog_for(file)?;
    for hypothesis in catalog.suggest_all(&text) {
        let name: String = hypothesis.key.chars().map(|c| if c == '/' { '@' } else { c }).collect();
        write(file, &hypothesis.key, &folder.join(name))?;
    }
    Ok(())
}

fn write(file: &str, key: &str, folder: &Path) -> Result<(), String> {
    let drafts = catalog_for(file)?.apply(&read(file)?, None, key).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    for (number, draft) in drafts.iter().enumerate() {
        let path = folder.join(format!("{number}.hip"));
        std::fs::write(&path, &draft.text).map_err(|error| format!("writing {}: {error}", path.display()))?;
        println!("{}: {}", path.display(), draft.report);
    }
    Ok(())
}

//! `analyze FILE`: registers, LDS and occupancy from real GPU code generation; no GPU is needed.

use std::path::PathBuf;

use lab::benchmark::Benchmark;
use lab::codegen::{Analysis, Codegen, DEFAULT_ARCH, KernelResources, Limit, NotInstantiated};
use lab::toolchain::{CompileOptions, clangd};
use lab::workbench::{ShapeChoice, ShapeForecast};
use lab::{Failure, LabError, Source};
use serde::Serialize;

use super::context::read_source;
use super::error::FailureRow;
use super::subject::{self, FeedArgs, Subject};
use super::{CliError, Context, figures, forecast};

/// Arguments of `analyze`.
#[derive(Debug, clap::Args)]
pub struct AnalyzeArgs {
    /// HIP source file.
    file: PathBuf,
    /// GPU architecture: gfx942 is MI300, gfx90a is MI200.
    #[arg(long, value_name = "ARCH", default_value = DEFAULT_ARCH)]
    arch: String,
    /// Forecast the kernels' times too, line by line; for the device of the architecture.
    #[arg(long)]
    lines: bool,
    #[command(flatten)]
    feed: FeedArgs,
    /// Include folders, macros and the standard for the compiler, after `--`: -I FOLDER, -D NAME=VALUE, -std=c++20
    /// [default: from compile_commands.json or compile_flags.txt].
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    arch: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<&'a str>,
    kernels: &'a [KernelResources],
    not_instantiated: &'a [NotInstantiated],
    /// With `--lines`: as `forecast` answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<forecast::Answer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureRow<'a>>,
}

/// Runs the command.
pub fn run(context: &Context, args: &AnalyzeArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let options = options(&source, args)?;
    let codegen = Codegen::open(&context.cache, &context.cancel)?;
    let analysis = match codegen.analyze(&source, &args.arch, &options, &context.cancel) {
        Ok(analysis) => analysis,
        Err(LabError::Code(failure)) => return Err(report_failure(context, &args.arch, failure)?),
        Err(error) => return Err(error.into()),
    };
    let lines = args.lines.then(|| lines(context, &source, args)).transpose()?;
    let account = lines.as_ref().and_then(|(subject, shapes)| Some((subject.workbench.basis()?, shapes)));
    if context.json() {
        return context.print_json(&Answer {
            forecast: account.map(|(basis, shapes)| forecast::Answer::of(basis, shapes)),
            arch: &analysis.arch,
            compiler: Some(&analysis.compiler),
            kernels: &analysis.kernels,
            not_instantiated: &analysis.not_instantiated,
            failure: None,
        });
    }
    let file = args.file.display().to_string();
    context.print(&text(&file, &analysis))?;
    match account {
        Some((basis, shapes)) => context.print(&format!("\n{}", forecast::text(&file, basis, &source, shapes))),
        None => Ok(()),
    }
}

/// The forecasts for the device of the architecture.
fn lines(context: &Context, source: &Source, args: &AnalyzeArgs) -> Result<(Subject, Vec<ShapeForecast>), CliError> {
    let device = match args.arch.as_str() {
        DEFAULT_ARCH => lab::forecast::DEFAULT,
        "gfx90a" => "mi250x",
        other => other,
    };
    let device = subject::find_forecast(context, source, device)?;
    let subject = Subject::open_on(context, source, &device, &args.feed, None)?;
    let shapes = forecast::of(context, &subject, ShapeChoice::Shown)?;
    Ok((subject, shapes))
}

/// What clangd's files and the benchmark file say, and what the user adds.
fn options(source: &Source, args: &AnalyzeArgs) -> Result<CompileOptions, CliError> {
    let here =
        std::env::current_dir().map_err(|error| CliError::Usage(format!("there is no current folder: {error}")))?;
    let beside = Benchmark::path_for(&source.path);
    let path = args.feed.benchmark.clone().or_else(|| beside.is_file().then_some(beside));
    let benchmark = path.map(|path| Benchmark::load(&path)).transpose()?;
    let of_the_benchmark = benchmark.map(|benchmark| benchmark.program.compile_options()).unwrap_or_default();
    let added = CompileOptions::from_command_line(&args.flags, &here);
    Ok(clangd::options_for(&source.path)?.with(&of_the_benchmark).with(&added))
}

fn report_failure(context: &Context, arch: &str, failure: Failure) -> Result<CliError, CliError> {
    if context.json() {
        let failure = Some(FailureRow::of(&failure));
        context.print_json(&Answer {
            arch,
            compiler: None,
            kernels: &[],
            not_instantiated: &[],
            forecast: None,
            failure,
        })?;
    }
    Ok(failure.into())
}

fn text(file: &str, analysis: &Analysis) -> String {
    if analysis.kernels.is_empty() && analysis.not_instantiated.is_empty() {
        return format!("{file}: no kernel (no __global__ function)\n");
    }
    let mut out = format!("{file} for {} ({})\n", analysis.arch, analysis.compiler);
    if !analysis.kernels.is_empty() {
        out.push_str(&figures::table(&rows(&analysis.kernels)));
    }
    if analysis.kernels.iter().any(|kernel| kernel.limited_by == Some(Limit::Lds)) {
        out.push_str(
            "  LDS bounds hold for the largest block that the code allows; __launch_bounds__ says which that is.\n",
        );
    }
    if analysis.kernels.iter().any(|kernel| kernel.dynamic_lds_bytes.is_none()) {
        out.push_str("  (+) and dynamic shared memory, which no launch in the file gives as a constant.\n");
    }
    for template in &analysis.not_instantiated {
        out.push_str(&format!(
            "  {} (line {}): a template that nothing instantiates, so it has no code\n",
            template.name, template.line
        ));
    }
    out
}

fn rows(kernels: &[KernelResources]) -> Vec<Vec<String>> {
    let heading = ["kernel", "line", "VGPR", "AGPR", "SGPR", "LDS", "scratch", "waves/SIMD", "limited by"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(kernels.iter().map(|kernel| {
        vec![
            kernel.name.clone(),
            kernel.line.to_string(),
            kernel.vgprs.to_string(),
            kernel.agprs.to_string(),
            kernel.sgprs.to_string(),
            lds(kernel),
            scratch(kernel),
            kernel.occupancy.to_string(),
            kernel.limited_by.map_or_else(String::new, |limit| limit.to_string()),
        ]
    }));
    rows
}

/// LDS, with a mark where more comes at the launch.
fn lds(kernel: &KernelResources) -> String {
    let more = if kernel.dynamic_lds_bytes.is_none() { " (+)" } else { "" };
    format!("{}{more}", bytes(kernel.lds_bytes))
}

/// `1088 B`, and `-` for none.
fn bytes(count: u32) -> String {
    if count == 0 { "-".into() } else { format!("{count} B") }
}

/// Scratch memory, with the spills that are part of it.
fn scratch(kernel: &KernelResources) -> String {
    match kernel.vgpr_spills {
        0 => bytes(kernel.scratch_bytes),
        spills => format!("{} ({spills} spills)", bytes(kernel.scratch_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str) -> KernelResources {
        KernelResources {
            name: name.into(),
            symbol: name.into(),
            file: "k.hip".into(),
            line: 3,
            vgprs: 77,
            agprs: 0,
            sgprs: 13,
            lds_bytes: 1088,
            dynamic_lds_bytes: Some(0),
            scratch_bytes: 272,
            vgpr_spills: 0,
            sgpr_spills: 0,
            wave_size: 64,
            max_block: 256,
            occupancy: 6,
            limited_by: Some(Limit::VectorRegisters),
        }
    }

    #[test]
    fn the_table_is_aligned_and_names_what_has_no_code() {
        let analysis = Analysis {
            arch: "gfx942".into(),
            compiler: "clang".into(),
            kernels: vec![
                kernel("tiled<float, 16>"),
                KernelResources { lds_bytes: 0, vgpr_spills: 4, dynamic_lds_bytes: None, ..kernel("k") },
            ],
            not_instantiated: vec![NotInstantiated { name: "never".into(), line: 9 }],
        };
        insta::assert_snapshot!(text("k.hip", &analysis), @r"
        k.hip for gfx942 (clang)
          kernel            line  VGPR  AGPR  SGPR  LDS     scratch           waves/SIMD  limited by
          tiled<float, 16>  3     77    0     13    1088 B  272 B             6           vector registers
          k                 3     77    0     13    - (+)   272 B (4 spills)  6           vector registers
          (+) and dynamic shared memory, which no launch in the file gives as a constant.
          never (line 9): a template that nothing instantiates, so it has no code
        ");
    }

    #[test]
    fn the_json_keys_are_the_documented_ones() {
        let json = serde_json::to_value(Answer {
            arch: "gfx942",
            compiler: None,
            kernels: &[kernel("k")],
            not_instantiated: &[],
            forecast: None,
            failure: None,
        })
        .unwrap();
        for key in ["name", "vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "occupancy"] {
            assert!(json["kernels"][0].get(key).is_some(), "{key}");
        }
        assert_eq!(json["arch"], "gfx942");
    }
}

//! How long a one-character change of a large file takes.
//!
//! `cargo run --release -p hip-syntax --example did_change -- [FILE]` types and deletes characters at places spread over the
//! file (8,400 lines of made-up kernels if none is given) and prints p50 and p95 of: the change itself, which is what
//! `textDocument/didChange` waits for; reading the kernels afterwards; a full parse.

use std::ops::Range;
use std::time::{Duration, Instant};

use hip_syntax::{Change, Document, Position, PositionEncoding};

const CHANGES: usize = 400;

fn main() {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(&path).unwrap_or_else(|error| {
            eprintln!("cannot read {path}: {error}; give the path of a HIP file");
            std::process::exit(2);
        }),
        None => made_up(8400),
    };
    let mut document = Document::new(&text, 0);
    let lines = document.rope().len_lines() as u32;
    println!("{lines} lines, {} bytes, {} kernels", text.len(), document.kernels().len());
    let (mut changes, mut kernels) = (Vec::new(), Vec::new());
    let mut last = 0;
    let mut postponed = 0;
    for step in 0..CHANGES {
        // A stride that is coprime to most sizes spreads the places; each pair of steps types and deletes one character.
        let line = (step as u32 / 2).wrapping_mul(7919) % lines;
        // The character goes to the fourth column, or to the end of a shorter line.
        let end = document
            .position(document.offset(Position::new(line, 4), PositionEncoding::Utf16), PositionEncoding::Utf16);
        let column = if step % 2 == 0 { end.column } else { end.column.min(last) };
        last = column;
        let (range, typed) =
            if step % 2 == 0 { (at(line, column, column), "x") } else { (at(line, column, column + 1), "") };
        let change = Change { range: Some(range), text: typed.to_owned() };
        let start = Instant::now();
        document.apply(&[change], PositionEncoding::Utf16, step as i32 + 1);
        changes.push(start.elapsed());
        postponed += usize::from(!document.syntax().tree_is_current());
        let start = Instant::now();
        std::hint::black_box(document.kernels());
        kernels.push(start.elapsed());
    }
    assert_eq!(document.rope().to_string(), text, "each typed character was deleted again");
    let full = (0..10)
        .map(|_| {
            let start = Instant::now();
            document.reparse();
            start.elapsed()
        })
        .collect();
    print("didChange", changes);
    println!("{postponed} of {CHANGES} changes left the tree to the re-parse of the next pause");
    print("kernels afterwards", kernels);
    print("full parse", full);
}

fn at(line: u32, from: u32, to: u32) -> Range<Position> {
    Position::new(line, from)..Position::new(line, to)
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let percentile = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!("{what:<20} p50 {:7.2} ms   p95 {:7.2} ms", percentile(50), percentile(95));
}

fn made_up(lines: usize) -> String {
    let mut text = String::from("#include <hip/hip_runtime.h>\n#define TILE 16\n");
    let mut number = 0;
    while text.matches('\n').count() < lines {
        text.push_str(&KERNEL.replace("NUMBER", &number.to_string()));
        number += 1;
    }
    text
}

const KERNEL: &str = "
/// Doubles and sums what it reads; NUMBER of its kind.
__device__ inline float helper_NUMBER(float value) {
    return value * 2.0f + static_cast<float>(NUMBER);
}

template <typename T, int ROWS = 4>
__global__ void __launch_bounds__(TILE * TILE) kernel_NUMBER(const T* __restrict__ input, T* output, int count) {
    __shared__ T tile[TILE][TILE + 1];
    const int column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
#pragma unroll
    for (int row = 0; row < ROWS; ++row) {
        if (column < count) {
            tile[threadIdx.y][threadIdx.x] = input[row * count + column];
        }
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += helper_NUMBER(tile[k][threadIdx.x]);
        }
        __syncthreads();
    }
    if (column < count) {
        output[column] = sum;
    }
}

void launch_NUMBER(const float* input, float* output, int count) {
    const dim3 block(TILE, TILE);
    const dim3 grid((count + TILE - 1) / TILE);
    kernel_NUMBER<float, 8><<<grid, block, 0, hipStreamDefault>>>(input, output, count);
}
";

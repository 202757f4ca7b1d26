//! A HIP program of many lines that compiles, and edits of it that keep it so.

use serde_json::{Value, json};

/// The kernel that is timed.
pub const TIMED: &str = "scale_rows";
/// The kernel that is evolved.
pub const EVOLVED: &str = "sum_tiles";
/// What an edit puts another digit before.
const CONSTANT: &str = "2.0f";

/// The program under edit.
#[derive(Clone)]
pub struct Source {
    text: String,
    /// Places of constants: line and column.
    places: Vec<(usize, usize)>,
    /// Line and column of the next kernel's name after each of them.
    kernels: Vec<(usize, usize)>,
    edits: usize,
}

/// One edit.
pub struct Edit {
    /// The document's version afterwards.
    pub version: usize,
    /// As the protocol writes it.
    pub change: Value,
}

impl Source {
    /// A program of at least so many lines.
    pub fn made_up(lines: usize) -> Self {
        let mut text = PROGRAM.to_owned();
        let mut number = 0;
        while text.matches('\n').count() < lines {
            text.push_str(&KERNEL.replace("NUMBER", &number.to_string()));
            number += 1;
        }
        let (mut places, mut kernels) = (Vec::new(), Vec::new());
        for (line, content) in text.lines().enumerate() {
            if let Some(column) = content.find(CONSTANT) {
                places.push((line, column));
            }
            if let (Some(column), true) = (content.find("kernel_"), content.contains("__global__")) {
                kernels.push((line, column));
            }
        }
        assert_eq!(places.len(), kernels.len());
        Self { text, places, kernels, edits: 0 }
    }

    /// The text before all edits.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its number of lines.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// How many kernels it has.
    pub fn kernels(&self) -> usize {
        self.kernels.len() + 2
    }

    /// Which of the places the last edit was at: two edits at each, and a stride that spreads them over the file.
    fn place(&self) -> usize {
        (self.edits.saturating_sub(1) / 2).wrapping_mul(97) % self.places.len()
    }

    /// Types a digit, or takes the last one away again.
    pub fn edit(&mut self) -> Edit {
        self.edits += 1;
        let (line, column) = self.place_of_edit();
        let types = self.edits % 2 == 1;
        let at = |character: usize| json!({ "line": line, "character": character });
        let (end, text) = if types { (column, "1") } else { (column + 1, "") };
        let change = json!({ "range": { "start": at(column), "end": at(end) }, "text": text });
        Edit { version: self.edits + 1, change }
    }

    fn place_of_edit(&self) -> (usize, usize) {
        self.places[self.place()]
    }

    /// Within the kernel after the last edit.
    pub fn last_edit(&self) -> (usize, usize) {
        let (line, _) = self.kernel_of_last_edit();
        (line + 2, 0)
    }

    /// The name of the kernel after the last edit.
    pub fn kernel_of_last_edit(&self) -> (usize, usize) {
        let (line, column) = self.kernels[self.place()];
        (line, column + 1)
    }
}

/// Two kernels that run, and a `main`.
const PROGRAM: &str = "#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define TILE 16

__global__ void scale_rows(const float* input, float* output, int count) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) {
        output[at] = input[at] * 3.0f;
    }
}

__global__ void sum_tiles(const float* input, float* output, int count) {
    __shared__ float tile[256];
    const int at = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = at < count ? input[at] : 0.0f;
    __syncthreads();
    for (int stride = 1; stride < 256; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0) {
            tile[threadIdx.x] += tile[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        output[blockIdx.x] = tile[0];
    }
}

int main() {
    const int count = 1 << 16;
    std::vector<float> values(count, 1.0f);
    float *input, *output;
    if (hipMalloc(&input, count * sizeof(float)) != hipSuccess) return 1;
    if (hipMalloc(&output, count * sizeof(float)) != hipSuccess) return 1;
    hipMemcpy(input, values.data(), count * sizeof(float), hipMemcpyHostToDevice);
    scale_rows<<<count / 256, 256>>>(input, output, count);
    sum_tiles<<<count / 256, 256>>>(input, output, count);
    hipMemcpy(values.data(), output, count * sizeof(float), hipMemcpyDeviceToHost);
    double sum = 0;
    for (int i = 0; i < count / 256; ++i) sum += values[i];
    std::printf(\"%.1f\\n\", sum);
    hipFree(input);
    hipFree(output);
    return 0;
}
";

const KERNEL: &str = "
/// Doubles and sums what it reads; NUMBER of its kind.
__device__ inline float helper_NUMBER(float value) {
    return value * 2.0f + static_cast<float>(NUMBER);
}

template <typename T, int ROWS = 4>
__global__ void __launch_bounds__(TILE * TILE) kernel_NUMBER(const T* __restrict__ input, T* output, int count) {
    __shared__ float tile[TILE][TILE + 1];
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

[[maybe_unused]] static inline void launch_NUMBER(const float* input, float* output, int count) {
    const dim3 block(TILE, TILE);
    const dim3 grid((count + TILE - 1) / TILE);
    kernel_NUMBER<float, 8><<<grid, block, 0, hipStreamDefault>>>(input, output, count);
}
";

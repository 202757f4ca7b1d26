// Times a version of one of the samples in demo/ on a card, at the shapes of its benchmark file, and checks it.
//
//   nvcc -x cu -arch=sm_90 -std=c++17 -O3 -I ../../server/lab/runtime/nvidia -DVERSION='"../../demo/sgemm.hip"' -DSGEMM demo.hip
//
// Each line is `sample rowsxcols median_us ok`. One of TRANSPOSE, SGEMM, SOFTMAX and ROW_SUM must be defined.
#include "third/bench.h"

#include VERSION

#if defined(TRANSPOSE)
static void measure(int rows, int cols, const char *shape) {
    auto in = random_floats(size_t(rows) * cols, -1, 1, 1);
    Device<float> from(in);
    Output<float> to(in.size());
    auto right = [&] {
        auto out = to.host();
        return sampled(in.size(), 1000000, [&](size_t i) { return out[i % cols * rows + i / cols] == in[i]; });
    };
    bench("transpose", shape, [&] { transpose(from, to, rows, cols); }, right);
}
static void measure_all() {
    measure(4096, 4096, "4096x4096");
    measure(1000, 1500, "1000x1500");
    measure(3000, 2000, "3000x2000");
}
#elif defined(SGEMM)
static void measure(int m, int n, int k, const char *shape) {
    auto a = random_floats(size_t(m) * k, -1, 1, 1), b = random_floats(size_t(k) * n, -1, 1, 2);
    Device<float> da(a), db(b);
    // beta is 0, so that repetitions do not add up.
    Output<float> dc(size_t(m) * n, Before::cleared);
    auto right = [&] {
        auto c = dc.host();
        return sampled(c.size(), 2000, [&](size_t i) {
            double sum = 0;
            for (int t = 0; t < k; t++) sum += double(a[i / n * k + t]) * b[size_t(t) * n + i % n];
            return near_to(c[i], 1.5 * sum, 1e-3);
        });
    };
    bench("sgemm", shape, [&] { sgemm(da, db, dc, m, n, k, 1.5f, 0.0f); }, right);
}
static void measure_all() {
    measure(1024, 1024, 1024, "1024x1024x1024");
    measure(200, 300, 250, "200x300x250");
    measure(1000, 600, 700, "1000x600x700");
}
#elif defined(SOFTMAX)
static void measure(int rows, int cols, const char *shape) {
    auto x = random_floats(size_t(rows) * cols, -4, 4, 1);
    Device<float> in(x);
    Output<float> out(x.size());
    auto right = [&] {
        auto y = out.host();
        return sampled(rows, 64, [&](size_t row) {
            const float *of = x.data() + row * cols;
            double largest = *std::max_element(of, of + cols), sum = 0;
            for (int i = 0; i < cols; i++) sum += std::exp(of[i] - largest);
            for (int i = 0; i < cols; i++)
                if (!near_to(y[row * cols + i], std::exp(of[i] - largest) / sum, 1e-4)) return false;
            return true;
        });
    };
    bench("softmax", shape, [&] { softmax(in, out, rows, cols); }, right);
}
static void measure_all() {
    measure(8192, 2048, "8192x2048");
    measure(500, 1777, "500x1777");
    measure(4000, 1500, "4000x1500");
}
#elif defined(ROW_SUM)
static void measure(int rows, int cols, const char *shape) {
    auto x = random_floats(size_t(rows) * cols, -1, 1, 1);
    Device<float> in(x);
    Output<float> out(rows);
    auto right = [&] {
        auto sums = out.host();
        return sampled(rows, 4000, [&](size_t row) {
            double sum = 0;
            for (int i = 0; i < cols; i++) sum += x[row * cols + i];
            return near_to(sums[row], sum, 1e-4);
        });
    };
    bench("row_sum", shape, [&] { row_sums(in, out, rows, cols); }, right);
}
static void measure_all() {
    measure(16384, 1024, "16384x1024");
    measure(700, 1500, "700x1500");
    measure(6000, 900, "6000x900");
}
#else
#error "define TRANSPOSE, SGEMM, SOFTMAX or ROW_SUM"
#endif

int main(int argc, char **argv) {
    read_filter(argc, argv);
    measure_all();
    return failed();
}

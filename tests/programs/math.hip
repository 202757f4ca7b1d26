// Mathematics on the device against the host's double precision; fast intrinsics within what HIP documents for them.
#include "check.h"

struct Case {
    const char *name;
    float value;
    double expected;
    double relative; // allowed error
};

// The value is kept from the compiler, so that nothing is computed while compiling.
__global__ void compute(float *out, const float *in) {
    const float x = in[0], y = in[1], z = in[2];
    int i = 0;
    out[i++] = sinf(x);
    out[i++] = cosf(x);
    out[i++] = tanf(x);
    out[i++] = expf(y);
    out[i++] = logf(x);
    out[i++] = powf(x, y);
    out[i++] = sqrtf(x);
    out[i++] = rsqrtf(x);
    out[i++] = cbrtf(x);
    out[i++] = rcbrtf(x);
    out[i++] = erff(z);
    out[i++] = erfcf(y);
    out[i++] = erfinvf(z);
    out[i++] = normcdff(y);
    out[i++] = normcdfinvf(z);
    out[i++] = tgammaf(y);
    out[i++] = lgammaf(y);
    out[i++] = hypotf(x, y);
    out[i++] = rhypotf(x, y);
    out[i++] = norm3df(x, y, z);
    out[i++] = fmaf(x, y, z);
    out[i++] = fmodf(y, z);
    out[i++] = exp10f(z);
    out[i++] = exp2f(z);
    out[i++] = log1pf(z);
    out[i++] = expm1f(z);
    out[i++] = sinpif(z);
    out[i++] = cospif(x);
    out[i++] = __expf(y);
    out[i++] = __logf(x);
    out[i++] = __log2f(x);
    out[i++] = __log10f(x);
    out[i++] = __sinf(x);
    out[i++] = __cosf(x);
    out[i++] = __tanf(x);
    out[i++] = __powf(x, y);
    out[i++] = __fdividef(x, y);
    out[i++] = __fmaf_rn(x, y, z);
    out[i++] = __frcp_rn(y);
    out[i++] = __fsqrt_rn(x);
    out[i++] = __frsqrt_rn(x);
    out[i++] = __fadd_rn(x, y);
    out[i++] = __fmul_rn(x, y);
    out[i++] = __saturatef(y) + __saturatef(-y) * 2 + __saturatef(z);
    float s, c;
    sincosf(x, &s, &c);
    out[i++] = s + 10 * c;
    __sincosf(x, &s, &c);
    out[i++] = s + 10 * c;
    sincospif(z, &s, &c);
    out[i++] = s + 10 * c;
    out[i++] = static_cast<float>(rsqrt(static_cast<double>(x)));
    out[i++] = erfcxf(y);
    out[i++] = cyl_bessel_i0f(y);
    out[i++] = fdividef(x, z);
}

int main() {
    const float inputs[3] = {0.7f, 2.3f, 0.4f};
    const double x = inputs[0], y = inputs[1], z = inputs[2], pi = std::acos(-1.0);
    const Case cases[] = {
        {"sinf", 0, std::sin(x), 1e-6},
        {"cosf", 0, std::cos(x), 1e-6},
        {"tanf", 0, std::tan(x), 1e-6},
        {"expf", 0, std::exp(y), 1e-6},
        {"logf", 0, std::log(x), 1e-6},
        {"powf", 0, std::pow(x, y), 1e-6},
        {"sqrtf", 0, std::sqrt(x), 1e-7},
        {"rsqrtf", 0, 1 / std::sqrt(x), 2e-7},
        {"cbrtf", 0, std::cbrt(x), 1e-6},
        {"rcbrtf", 0, 1 / std::cbrt(x), 1e-6},
        {"erff", 0, std::erf(z), 1e-6},
        {"erfcf", 0, std::erfc(y), 2e-6},
        {"erfinvf", 0, 0.3708071585935579, 1e-6},
        {"normcdff", 0, 0.5 * std::erfc(-y / std::sqrt(2.0)), 1e-6},
        {"normcdfinvf", 0, -0.2533471031357997, 1e-6},
        {"tgammaf", 0, std::tgamma(y), 1e-6},
        {"lgammaf", 0, std::lgamma(y), 1e-6},
        {"hypotf", 0, std::hypot(x, y), 1e-6},
        {"rhypotf", 0, 1 / std::hypot(x, y), 1e-6},
        {"norm3df", 0, std::sqrt(x * x + y * y + z * z), 1e-6},
        {"fmaf", 0, x * y + z, 1e-7},
        {"fmodf", 0, std::fmod(y, z), 1e-6},
        {"exp10f", 0, std::pow(10.0, z), 1e-6},
        {"exp2f", 0, std::exp2(z), 1e-6},
        {"log1pf", 0, std::log1p(z), 1e-6},
        {"expm1f", 0, std::expm1(z), 1e-6},
        {"sinpif", 0, std::sin(pi * z), 1e-6},
        {"cospif", 0, std::cos(pi * x), 1e-6},
        {"__expf", 0, std::exp(y), 1e-5},
        {"__logf", 0, std::log(x), 1e-5},
        {"__log2f", 0, std::log2(x), 1e-5},
        {"__log10f", 0, std::log10(x), 1e-5},
        {"__sinf", 0, std::sin(x), 1e-5},
        {"__cosf", 0, std::cos(x), 1e-5},
        {"__tanf", 0, std::tan(x), 1e-5},
        {"__powf", 0, std::pow(x, y), 1e-5},
        {"__fdividef", 0, x / y, 1e-6},
        {"__fmaf_rn", 0, x * y + z, 1e-7},
        {"__frcp_rn", 0, 1 / y, 1e-7},
        {"__fsqrt_rn", 0, std::sqrt(x), 1e-7},
        {"__frsqrt_rn", 0, 1 / std::sqrt(x), 2e-7},
        {"__fadd_rn", 0, x + y, 1e-7},
        {"__fmul_rn", 0, x * y, 1e-7},
        {"__saturatef", 0, 1 + z, 1e-7},
        {"sincosf", 0, std::sin(x) + 10 * std::cos(x), 1e-6},
        {"__sincosf", 0, std::sin(x) + 10 * std::cos(x), 1e-5},
        {"sincospif", 0, std::sin(pi * z) + 10 * std::cos(pi * z), 1e-6},
        {"rsqrt", 0, 1 / std::sqrt(x), 1e-7},
        {"erfcxf", 0, std::exp(y * y) * std::erfc(y), 1e-6},
        {"cyl_bessel_i0f", 0, 2.8296056006275859, 1e-5},
        {"fdividef", 0, x / z, 1e-6},
    };
    const size_t count = sizeof cases / sizeof *cases;
    DeviceArray<float> in(std::vector<float>(inputs, inputs + 3)), out(count);
    compute<<<1, 1>>>(out.get(), in.get());
    const auto values = out.values();
    for (size_t i = 0; i < count; ++i) {
        if (!(std::fabs(values[i] - cases[i].expected) <= cases[i].relative * std::fabs(cases[i].expected))) {
            std::fprintf(stderr, "%s gives %.9g, not %.9g\n", cases[i].name, values[i], cases[i].expected);
            return 1;
        }
    }
}

// The special functions of HIP that C's library lacks.
#include <float.h>
#include <ks/math.h>

namespace ks {

double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

/// Inverse of the normal distribution: Acklam's rational approximation, then two steps of Halley's method on erfc.
double normcdfinv(double p) {
    if (!(p >= 0 && p <= 1)) {
        return NAN;
    }
    if (p == 0 || p == 1) {
        return p == 0 ? -INFINITY : INFINITY;
    }
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    const double low = 0.02425;
    double x;
    if (p < low || p > 1 - low) {
        const double q = sqrt(-2 * log(p < low ? p : 1 - p));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        x = p < low ? x : -x;
    } else {
        const double q = p - 0.5, r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    for (int step = 0; step < 2; ++step) {
        const double error = normcdf(x) - p;
        const double u = error * sqrt(2 * M_PI) * exp(0.5 * x * x);
        x -= u / (1 + 0.5 * x * u);
    }
    return x;
}

double erfcinv(double y) { return -M_SQRT1_2 * normcdfinv(0.5 * y); }

/// Inverse of erf: from the normal distribution's, then two steps of Halley's method on erf itself, which is exact near 0.
double erfinv(double y) {
    if (!(y > -1 && y < 1)) {
        return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
    }
    double x = M_SQRT1_2 * normcdfinv(0.5 * (y + 1));
    for (int step = 0; step < 2 && fabs(x) < 5; ++step) {
        const double u = (erf(x) - y) * (0.5 * sqrt(M_PI)) * exp(x * x);
        x -= u / (1 + x * u);
    }
    return x;
}

/// exp(x^2) erfc(x), by its continued fraction where erfc would underflow.
double erfcx(double x) {
    if (x < 25) {
        return exp(x * x) * erfc(x);
    }
    double fraction = 0;
    for (int k = 20; k > 0; --k) {
        fraction = 0.5 * k / (x + fraction);
    }
    return 1 / (sqrt(M_PI) * (x + fraction));
}

/// Modified Bessel functions by their power series: all terms are positive, so nothing cancels.
static double bessel_i(int order, double x) {
    const double half = 0.5 * x, square = half * half;
    double term = order == 0 ? 1 : half, sum = term;
    for (int k = 1; k < 2000 && fabs(term) > DBL_EPSILON * 0.1 * fabs(sum); ++k) {
        term *= square / (static_cast<double>(k) * (k + order));
        sum += term;
    }
    return sum;
}
double bessel_i0(double x) { return bessel_i(0, x); }
double bessel_i1(double x) { return bessel_i(1, x); }

} // namespace ks

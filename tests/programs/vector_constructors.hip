// make_char1 .. make_ulonglong4: each element in its place, and the sizes that device and host agree on.
#include "check.h"

template <class V, class T> __host__ __device__ bool holds(const V &v, int n, T first) {
    const T *elements = reinterpret_cast<const T *>(&v);
    for (int i = 0; i < n; ++i) {
        if (elements[i] != static_cast<T>(first + i)) return false;
    }
    return true;
}
// No element is another's.
#define CHECK_TYPE(T, NAME)                                                                                            \
    good &= holds(make_##NAME##1(static_cast<T>(3)), 1, static_cast<T>(3)) && sizeof(NAME##1) == sizeof(T);                                      \
    good &= holds(make_##NAME##2(static_cast<T>(4), static_cast<T>(5)), 2, static_cast<T>(4)) && sizeof(NAME##2) == 2 * sizeof(T) && alignof(NAME##2) == 2 * sizeof(T); \
    good &= holds(make_##NAME##3(static_cast<T>(6), static_cast<T>(7), static_cast<T>(8)), 3, static_cast<T>(6)) && sizeof(NAME##3) == 3 * sizeof(T);                      \
    good &= holds(make_##NAME##4(static_cast<T>(9), static_cast<T>(10), static_cast<T>(11), static_cast<T>(12)), 4, static_cast<T>(9)) && sizeof(NAME##4) == 4 * sizeof(T);
__host__ __device__ inline bool all_hold() {
    bool good = true;
    CHECK_TYPE(signed char, char)
    CHECK_TYPE(unsigned char, uchar)
    CHECK_TYPE(short, short)
    CHECK_TYPE(unsigned short, ushort)
    CHECK_TYPE(int, int)
    CHECK_TYPE(unsigned, uint)
    CHECK_TYPE(long, long)
    CHECK_TYPE(unsigned long, ulong)
    CHECK_TYPE(long long, longlong)
    CHECK_TYPE(unsigned long long, ulonglong)
    CHECK_TYPE(float, float)
    CHECK_TYPE(double, double)
    return good;
}
__global__ void on_device(int *out) { *out = all_hold(); }

int main() {
    CHECK(all_hold());
    DeviceArray<int> out(1);
    on_device<<<1, 1>>>(out.get());
    CHECK(out.values()[0] == 1);
}

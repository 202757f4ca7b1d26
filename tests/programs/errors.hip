// Errors: codes, names and texts; what is refused; what hipGetLastError and hipPeekAtLastError remember.
#include "check.h"
#include <cstring>

__global__ void nothing(int *) {}

int main() {
    CHECK(hipGetLastError() == hipSuccess);
    CHECK(std::strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue") == 0);
    CHECK(std::strcmp(hipGetErrorString(hipErrorInvalidValue), "invalid argument") == 0);
    CHECK(std::strcmp(hipGetErrorString(hipSuccess), "no error") == 0);
    CHECK(std::strcmp(hipGetErrorString(hipErrorOutOfMemory), "out of memory") == 0);
    CHECK(hipErrorOutOfMemory == 2 && hipErrorInvalidConfiguration == 9 && hipErrorNotReady == 600);

    int *p = nullptr;
    CHECK(hipMalloc(&p, size_t(1) << 60) == hipErrorOutOfMemory && p == nullptr);
    CHECK(hipPeekAtLastError() == hipErrorOutOfMemory); // looking keeps it,
    CHECK(hipPeekAtLastError() == hipErrorOutOfMemory);
    HIP_OK(hipMalloc(&p, 400)); // success does not erase it,
    CHECK(hipGetLastError() == hipErrorOutOfMemory); // taking it does.
    CHECK(hipGetLastError() == hipSuccess);
    CHECK(hipMalloc(static_cast<int **>(nullptr), 4) == hipErrorInvalidValue);

    int host[200];
    CHECK(hipMemcpy(host, p, 401, hipMemcpyDeviceToHost) == hipErrorInvalidValue); // past the end
    CHECK(hipMemcpy(host, p + 50, 201, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
    CHECK(hipMemcpy(nullptr, p, 4, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
    CHECK(hipMemcpy(host, p, 4, static_cast<hipMemcpyKind>(77)) == hipErrorInvalidMemcpyDirection);
    CHECK(hipMemset(p, 0, 404) == hipErrorInvalidValue);
    CHECK(hipFree(p + 1) == hipErrorInvalidValue); // not where it begins
    CHECK(hipFree(host) == hipErrorInvalidValue);
    CHECK(hipHostFree(p) == hipErrorInvalidValue);
    HIP_OK(hipFree(p));
    CHECK(hipFree(p) == hipErrorInvalidValue); // twice
    CHECK(hipMemcpy(host, p, 4, hipMemcpyDeviceToHost) == hipErrorInvalidValue); // after its end
    CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
    CHECK(hipHostUnregister(host) == hipErrorHostMemoryNotRegistered);
    (void)hipGetLastError();

    nothing<<<0, 1>>>(nullptr);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    nothing<<<1, 0>>>(nullptr);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    nothing<<<1, dim3(32, 33)>>>(nullptr);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    nothing<<<1, dim3(1, 1, 1025)>>>(nullptr);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    nothing<<<dim3(1, 65536), 1>>>(nullptr);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    nothing<<<1, 1, 65537>>>(nullptr);
    CHECK(hipGetLastError() != hipSuccess);
    nothing<<<1, 1024, 65536>>>(nullptr);
    CHECK(hipGetLastError() == hipSuccess);
}

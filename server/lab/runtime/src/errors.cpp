#include "errors.h"
#include "report.h"

namespace ks {
namespace {
__thread hipError_t last_error;
} // namespace

hipError_t remember(hipError_t error) {
    if (error != hipSuccess && error != hipErrorNotReady) {
        last_error = error;
    }
    return error;
}

} // namespace ks

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipGetLastError() {
    const hipError_t error = ks::last_error;
    ks::last_error = hipSuccess;
    ks::drop_held_faults();
    return error;
}
hipError_t hipExtGetLastError() { return hipGetLastError(); }
hipError_t hipPeekAtLastError() {
    ks::drop_held_faults();
    return ks::last_error;
}

const char *hipGetErrorName(hipError_t error) {
    switch (error) {
#define KS_NAME(name, number, text)                                                                                    \
    case name: return #name;
        KS_FOR_EACH_ERROR(KS_NAME)
#undef KS_NAME
    }
    return "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error) {
    switch (error) {
#define KS_TEXT(name, number, text)                                                                                    \
    case name: return text;
        KS_FOR_EACH_ERROR(KS_TEXT)
#undef KS_TEXT
    }
    return "unknown error";
}

hipError_t hipDrvGetErrorName(hipError_t error, const char **name) {
    if (name == nullptr) {
        return hipErrorInvalidValue;
    }
    *name = hipGetErrorName(error);
    return hipSuccess;
}
hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
    if (text == nullptr) {
        return hipErrorInvalidValue;
    }
    *text = hipGetErrorString(error);
    return hipSuccess;
}
}
#pragma GCC visibility pop

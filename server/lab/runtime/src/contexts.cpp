#include "errors.h"
#include "handles.h"
#include <atomic>
#include <ks/context_api.h>
#include <ks/device_api.h>
#include <vector>

struct ihipCtx_t {
    unsigned flags;
};

namespace ks {
namespace {

Handles<ihipCtx_t> &contexts() {
    static auto *const all = new Handles<ihipCtx_t>;
    return *all;
}
hipCtx_t primary() {
    static auto *const context = contexts().add(new ihipCtx_t{hipDeviceScheduleAuto});
    return context;
}
/// References to the primary context that the program holds.
std::atomic<int> retained{0};

/// The thread's contexts; below them all lies the primary one.
thread_local std::vector<hipCtx_t> stack;
hipCtx_t current() { return stack.empty() ? primary() : stack.back(); }

bool is_context(hipCtx_t context) { return context != nullptr && contexts().contains(context); }
hipError_t check(hipDevice_t device) { return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice); }

} // namespace
} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t device) {
    if (context == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(device); error != hipSuccess) {
        return error;
    }
    *context = contexts().add(new ihipCtx_t{flags});
    stack.push_back(*context);
    return hipSuccess;
}
hipError_t hipCtxDestroy(hipCtx_t context) {
    if (!is_context(context) || context == primary()) {
        return remember(hipErrorInvalidValue);
    }
    if (!stack.empty() && stack.back() == context) {
        stack.pop_back();
    }
    if (contexts().remove(context)) {
        delete context;
    }
    return hipSuccess;
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
    if (!is_context(context)) {
        return remember(hipErrorInvalidContext);
    }
    stack.push_back(context);
    return hipSuccess;
}
hipError_t hipCtxPopCurrent(hipCtx_t *context) {
    if (stack.empty()) {
        return remember(hipErrorInvalidContext);
    }
    if (context != nullptr) {
        *context = stack.back();
    }
    stack.pop_back();
    return hipSuccess;
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
    if (context != nullptr && !is_context(context)) {
        return remember(hipErrorInvalidContext);
    }
    if (!stack.empty()) {
        stack.pop_back();
    }
    if (context != nullptr) {
        stack.push_back(context);
    }
    return hipSuccess;
}
hipError_t hipCtxGetCurrent(hipCtx_t *context) {
    if (context == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *context = current();
    return hipSuccess;
}
hipError_t hipCtxGetDevice(hipDevice_t *device) { return hipGetDevice(device); }
hipError_t hipCtxGetApiVersion(hipCtx_t, int *version) {
    if (version == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *version = 4; // As AMD's runtime says.
    return hipSuccess;
}
hipError_t hipCtxGetFlags(unsigned *flags) {
    if (flags == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *flags = current()->flags;
    return hipSuccess;
}
hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
hipError_t hipCtxGetCacheConfig(hipFuncCache_t *configuration) { return hipDeviceGetCacheConfig(configuration); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t configuration) { return hipDeviceSetCacheConfig(configuration); }
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *configuration) {
    return hipDeviceGetSharedMemConfig(configuration);
}
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig configuration) {
    return hipDeviceSetSharedMemConfig(configuration);
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device) {
    if (context == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (const hipError_t error = check(device); error != hipSuccess) {
        return error;
    }
    ++retained;
    *context = primary();
    return hipSuccess;
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
    if (const hipError_t error = check(device); error != hipSuccess) {
        return error;
    }
    if (retained > 0) {
        --retained;
    }
    return hipSuccess;
}
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
    const hipError_t error = check(device);
    return error != hipSuccess ? error : hipDeviceReset();
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned *flags, int *active) {
    if (const hipError_t error = check(device); error != hipSuccess) {
        return error;
    }
    if (flags != nullptr) {
        *flags = primary()->flags;
    }
    if (active != nullptr) {
        *active = current() == primary() || retained > 0;
    }
    return hipSuccess;
}
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned) {
    // As AMD's runtime: the primary context is always active, so its flags are set already.
    const hipError_t error = check(device);
    return error != hipSuccess ? error : remember(hipErrorContextAlreadyInUse);
}
}
#pragma GCC visibility pop

// Memory pools: books about which allocation came from which pool.
#include "allocations.h"
#include "capture.h"
#include "errors.h"
#include "handles.h"
#include "pools.h"
#include "streams.h"
#include <algorithm>
#include <ks/pool_api.h>
#include <string.h>
#include <unordered_map>

struct ihipMemPool_t {
    int follow_events = 1, opportunistic = 1, internal = 1;
    uint64_t release_threshold = 0;
    uint64_t used = 0, most_used = 0;
};

namespace ks {
namespace {

Handles<ihipMemPool_t> &pools() {
    static auto *const all = new Handles<ihipMemPool_t>;
    return *all;
}
hipMemPool_t default_pool() {
    static auto *const pool = pools().add(new ihipMemPool_t);
    return pool;
}

struct Books {
    std::mutex mutex;
    hipMemPool_t current = default_pool();
    struct Owner {
        hipMemPool_t pool;
        size_t bytes;
    };
    std::unordered_map<void *, Owner> owners;
};
Books &books() {
    static auto *const all = new Books;
    return *all;
}

hipError_t check(hipMemPool_t pool) {
    return pool != nullptr && pools().contains(pool) ? hipSuccess : remember(hipErrorInvalidValue);
}
hipError_t check(int device) { return device == 0 ? hipSuccess : remember(hipErrorInvalidDevice); }

hipError_t allocate(void **pointer, size_t bytes, hipMemPool_t pool, hipStream_t handle) {
    ihipStream_t *stream = find_stream(handle);
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    if (pointer == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (stream->capture != nullptr) {
        hipMemAllocNodeParams params{};
        auto memory = std::make_shared<GraphMemory>(bytes);
        params.poolProps = {hipMemAllocationTypePinned, hipMemHandleTypeNone, {hipMemLocationTypeDevice, 0}, nullptr, 0, {}};
        params.bytesize = bytes;
        *pointer = params.dptr = memory->get();
        return *pointer == nullptr ? hipErrorOutOfMemory : submit(handle, AllocateWork{params, std::move(memory)});
    }
    if (const hipError_t error = allocations().allocate(pointer, bytes, hipMemoryTypeDevice, 0); error != hipSuccess) {
        return error;
    }
    Books &all = books();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.owners[*pointer] = {pool, bytes};
    pool->used += bytes;
    pool->most_used = std::max(pool->most_used, pool->used);
    return hipSuccess;
}

} // namespace

void strike_out(void *pointer) {
    Books &all = books();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.owners.find(pointer);
    if (found == all.owners.end()) {
        return;
    }
    if (pools().contains(found->second.pool)) {
        found->second.pool->used -= found->second.bytes;
    }
    all.owners.erase(found);
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t ks_malloc_from_pool(void **pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    return allocate(pointer, bytes, pool, stream);
}
hipError_t ks_malloc_async(void **pointer, size_t bytes, hipStream_t stream) {
    return allocate(pointer, bytes, books().current, stream);
}
hipError_t hipFreeAsync(void *pointer, hipStream_t handle) {
    ihipStream_t *stream = find_stream(handle);
    if (pointer == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    if (stream == nullptr) {
        return remember(hipErrorContextIsDestroyed);
    }
    uintptr_t base = 0;
    const Allocation found = allocations().find(pointer, &base);
    if (found.bytes == 0 || found.type != hipMemoryTypeDevice || base != reinterpret_cast<uintptr_t>(pointer)) {
        return remember(hipErrorInvalidValue);
    }
    if (stream->capture != nullptr) {
        return submit(handle, FreeWork{pointer});
    }
    return submit(handle, CallWork{hipGraphNodeTypeMemFree, [pointer] {
                                       strike_out(pointer);
                                       return allocations().release(pointer, [](hipMemoryType) { return true; });
                                   }});
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device) {
    if (pool == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *pool = default_pool();
    return check(device);
}
hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device) {
    if (pool == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *pool = books().current;
    return check(device);
}
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
    if (const hipError_t error = check(device); error != hipSuccess) {
        return error;
    }
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    books().current = pool;
    return hipSuccess;
}
hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *properties) {
    if (pool == nullptr || properties == nullptr || properties->allocType != hipMemAllocationTypePinned ||
        properties->location.type != hipMemLocationTypeDevice) {
        return remember(hipErrorInvalidValue);
    }
    if (properties->location.id != 0) {
        return remember(hipErrorInvalidValue);
    }
    if (properties->handleTypes != hipMemHandleTypeNone) {
        return remember(hipErrorNotSupported); // Memory cannot be shared with other processes.
    }
    *pool = pools().add(new ihipMemPool_t);
    return hipSuccess;
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    if (pool == default_pool()) {
        return remember(hipErrorInvalidValue);
    }
    if (books().current == pool) {
        books().current = default_pool();
    }
    if (pools().remove(pool)) {
        delete pool;
    }
    return hipSuccess;
}
// Freed memory is given back at once: a pool never holds more than is used.
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) { return check(pool); }
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value) {
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    if (value == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    uint64_t number = 0;
    switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: memcpy(&pool->follow_events, value, sizeof(int)); return hipSuccess;
    case hipMemPoolReuseAllowOpportunistic: memcpy(&pool->opportunistic, value, sizeof(int)); return hipSuccess;
    case hipMemPoolReuseAllowInternalDependencies: memcpy(&pool->internal, value, sizeof(int)); return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: memcpy(&pool->release_threshold, value, sizeof(uint64_t)); return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
        memcpy(&number, value, sizeof number);
        if (number != 0) {
            return remember(hipErrorInvalidValue); // The mark can only be set back.
        }
        pool->most_used = pool->used;
        return hipSuccess;
    default: return remember(hipErrorInvalidValue);
    }
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void *value) {
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    if (value == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies: memcpy(value, &pool->follow_events, sizeof(int)); return hipSuccess;
    case hipMemPoolReuseAllowOpportunistic: memcpy(value, &pool->opportunistic, sizeof(int)); return hipSuccess;
    case hipMemPoolReuseAllowInternalDependencies: memcpy(value, &pool->internal, sizeof(int)); return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: memcpy(value, &pool->release_threshold, sizeof(uint64_t)); return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent: memcpy(value, &pool->used, sizeof(uint64_t)); return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh: memcpy(value, &pool->most_used, sizeof(uint64_t)); return hipSuccess;
    }
    return remember(hipErrorInvalidValue);
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc *list, size_t count) {
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    for (size_t i = 0; i < count; ++i) {
        if (list == nullptr || list[i].location.type != hipMemLocationTypeDevice) {
            return remember(hipErrorInvalidValue);
        }
        if (list[i].location.id != 0) {
            return remember(hipErrorInvalidDevice);
        }
        if (list[i].flags == hipMemAccessFlagsProtNone) {
            return remember(hipErrorInvalidValue); // The pool's own device keeps its access.
        }
    }
    return count > 0 && list != nullptr ? hipSuccess : remember(hipErrorInvalidValue);
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t pool, hipMemLocation *location) {
    if (const hipError_t error = check(pool); error != hipSuccess) {
        return error;
    }
    if (flags == nullptr || location == nullptr || location->type != hipMemLocationTypeDevice || location->id != 0) {
        return remember(hipErrorInvalidValue);
    }
    *flags = hipMemAccessFlagsProtReadWrite;
    return hipSuccess;
}
}
#pragma GCC visibility pop

#include "allocations.h"
#include "errors.h"
#include "memory_size.h"
#include "sanitizer.h"

namespace ks {
namespace {

using Ranges = std::map<uintptr_t, Allocation>;

uintptr_t address(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

Allocation lookup(const Ranges &ranges, uintptr_t at, uintptr_t *base) {
    const auto after = ranges.upper_bound(at);
    if (after == ranges.begin()) {
        return {};
    }
    const auto before = std::prev(after);
    if (at >= before->first + before->second.bytes) {
        return {};
    }
    *base = before->first;
    return before->second;
}

const char *kind_of(hipMemoryType type) {
    switch (type) {
    case hipMemoryTypeManaged: return "managed memory";
    case hipMemoryTypeHost: return "pinned host memory";
    default: return "device memory";
    }
}

} // namespace

hipError_t Allocations::allocate(void **out, size_t bytes, hipMemoryType type, unsigned flags) {
    if (out == nullptr) {
        return remember(hipErrorInvalidValue);
    }
    *out = nullptr;
    if (bytes == 0) {
        return hipSuccess; // As HIP: a null pointer, and no error.
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > total_memory() || used_ > total_memory() - bytes) {
        return remember(hipErrorOutOfMemory);
    }
    const size_t margin = sanitizer::margin(bytes);
    void *memory = arena_.allocate(bytes + 2 * margin);
    if (memory == nullptr) {
        return remember(hipErrorOutOfMemory);
    }
    memory = static_cast<char *>(memory) + margin;
    sanitizer::allocated(memory, bytes, kind_of(type));
    live_[address(memory)] = {bytes, type, flags};
    used_ += bytes;
    *out = memory;
    return hipSuccess;
}

hipError_t Allocations::release(void *pointer, bool (*accepts)(hipMemoryType)) {
    if (pointer == nullptr) {
        return hipSuccess;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(address(pointer));
    if (found == live_.end() || !accepts(found->second.type)) {
        sanitizer::freed_wrongly(pointer);
        return remember(hipErrorInvalidValue);
    }
    size_t bytes = found->second.bytes;
    used_ -= bytes;
    live_.erase(found);
    if (sanitizer::freed(pointer, bytes)) {
        pointer = sanitizer::take_released(&bytes);
    }
    if (pointer != nullptr) {
        const size_t margin = sanitizer::margin(bytes);
        arena_.release(static_cast<char *>(pointer) - margin, bytes + 2 * margin);
    }
    return hipSuccess;
}

hipError_t Allocations::add_registered(void *pointer, size_t bytes, unsigned flags) {
    if (pointer == nullptr || bytes == 0) {
        return remember(hipErrorInvalidValue);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!registered_.emplace(address(pointer), Allocation{bytes, hipMemoryTypeHost, flags}).second) {
        return remember(hipErrorHostMemoryAlreadyRegistered);
    }
    return hipSuccess;
}

hipError_t Allocations::remove_registered(void *pointer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return registered_.erase(address(pointer)) != 0 ? hipSuccess : remember(hipErrorHostMemoryNotRegistered);
}

Allocation Allocations::find(const void *pointer, uintptr_t *base) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Allocation found = lookup(live_, address(pointer), base);
    return found.bytes != 0 ? found : lookup(registered_, address(pointer), base);
}

bool Allocations::accessible(const void *pointer, size_t bytes) {
    if (pointer == nullptr) {
        return false;
    }
    uintptr_t base = 0;
    const std::lock_guard<std::mutex> lock(mutex_);
    const Allocation found = lookup(live_, address(pointer), &base);
    return found.bytes != 0 ? bytes <= base + found.bytes - address(pointer) : !arena_.owns(pointer);
}

size_t Allocations::used() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return used_;
}

Allocations &allocations() {
    // Never destroyed: static objects of the program may still free their memory.
    static Allocations *const all = new Allocations;
    return *all;
}

} // namespace ks

// One buffer argument on the device, between guard zones, with what went in and what should come out.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include <unistd.h>

#include <hip/hip_runtime.h>

#include "plan.h"
#include "random.h"
#include "report.h"

namespace ks_harness __attribute__((visibility("hidden"))) {

// Ends the process with a report where the device refuses what the harness itself needs.
inline void need(hipError_t status, const char* what) {
    if (status == hipSuccess) return;
    report("device", format("{\"call\":\"%s\",\"status\":%d,\"text\":%s}", what, static_cast<int>(status),
                            quoted(hipGetErrorString(status)).c_str()));
    _exit(71);
}

// A copy of results that code under test cannot read off the heap: it is kept under a key stream until it is compared.
class HiddenCopy {
  public:
    // Room for `bytes`, to be filled and then hidden.
    char* room(size_t bytes) {
        words_.resize((bytes + 7) / 8);
        return reinterpret_cast<char*>(words_.data());
    }
    void hide(uint64_t key) {
        key_ = key;
        apply();
    }
    const char* reveal() {
        apply();
        return reinterpret_cast<const char*>(words_.data());
    }

  private:
    void apply() {
        for (size_t index = 0; index < words_.size(); index++) words_[index] ^= mix(key_ + index * 0x9e3779b97f4a7c15u);
    }
    std::vector<uint64_t> words_;
    uint64_t key_ = 0;
};

class Buffer {
  public:
    Buffer(const Argument& argument, size_t count)
        : argument_(&argument), elements_(count * argument.lanes), bytes_(elements_ * size_of(argument.type)) {
#if !defined(KS_SANITIZE) && !defined(KS_TRACE)
        guard_ = std::clamp(bytes_ / 8, size_t{1024}, size_t{65536}) / 256 * 256;
#endif
        total_ = 2 * guard_ + shift_room + bytes_;
        void* memory = nullptr;
        need(hipMalloc(&memory, total_), "hipMalloc");
        allocation_ = static_cast<char*>(memory);
        edge_.resize(guard_ + shift_room);
    }
    Buffer(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(argument_, other.argument_);
        std::swap(elements_, other.elements_), std::swap(bytes_, other.bytes_);
        std::swap(guard_, other.guard_), std::swap(total_, other.total_), std::swap(shift_, other.shift_);
        std::swap(allocation_, other.allocation_), std::swap(poison_, other.poison_);
        std::swap(fresh_, other.fresh_), std::swap(edge_, other.edge_);
        std::swap(results_[0], other.results_[0]), std::swap(results_[1], other.results_[1]);
        return *this;
    }
    ~Buffer() {
        if (allocation_) (void)hipFree(allocation_);
    }

    const Argument& argument() const { return *argument_; }
    size_t elements() const { return elements_; }
    size_t bytes() const { return bytes_; }
    char* device() const { return allocation_ + guard_ + shift_; }
    // What the next run starts from: fresh inputs, or poison for outputs.
    const std::vector<char>& fresh() const { return fresh_; }
    HiddenCopy& result(int which) { return results_[which]; }

#ifdef KS_TRACE
    // New contents where they are read; the device's memory is the host's. Outputs stay as they were allocated.
    void renew(const FillRule& rule, Random& random) {
        if (argument_->is_read()) fill(argument_->type, device(), elements_, rule, random);
    }
#else
    // New contents, a new place within the allocation and a new poison.
    void renew(const FillRule& rule, Random& random) {
        shift_ = 256 * random.below(shift_room / 256 + 1);
        // All bits set is a NaN in every float type; -1 may be a right integer, so integers get a byte that changes.
        poison_ = is_floating(argument_->type) ? 0xff : static_cast<unsigned char>(0x55 + random.below(86));
        fresh_.resize(bytes_);
        if (argument_->is_read()) {
            fill(argument_->type, fresh_.data(), elements_, rule, random);
        } else {
            std::memset(fresh_.data(), poison_, bytes_);
        }
    }
#endif

    // Puts the fresh contents on the device and marks the guard zones.
    void upload() {
        need(hipMemset(allocation_, mark(), guard_ + shift_), "hipMemset");
        need(hipMemset(device() + bytes_, mark(), total_ - guard_ - shift_ - bytes_), "hipMemset");
        need(hipMemcpy(device(), fresh_.data(), bytes_, hipMemcpyHostToDevice), "hipMemcpy");
    }

    // Elements of `result` that still hold the poison, where `expected` does not.
    size_t unwritten(const char* result, const char* expected) const {
        const size_t size = size_of(argument_->type);
        const std::vector<char> poison(size, static_cast<char>(poison_));
        size_t count = 0;
        for (size_t at = 0; at < bytes_ && argument_->kind == Kind::output; at += size) {
            count += std::memcmp(result + at, poison.data(), size) == 0 && std::memcmp(expected + at, poison.data(), size) != 0;
        }
        return count;
    }

    void download(char* to) const { need(hipMemcpy(to, device(), bytes_, hipMemcpyDeviceToHost), "hipMemcpy"); }

    // Whether something was written outside; `offset` is in bytes from the first element, negative before it.
    bool guard_broken(long long& offset) {
        const size_t before = guard_ + shift_, after = total_ - before - bytes_;
        need(hipMemcpy(edge_.data(), allocation_, before, hipMemcpyDeviceToHost), "hipMemcpy");
        for (size_t index = before; index-- > 0;) {
            if (edge_[index] == mark()) continue;
            offset = static_cast<long long>(index) - static_cast<long long>(before);
            return true;
        }
        need(hipMemcpy(edge_.data(), device() + bytes_, after, hipMemcpyDeviceToHost), "hipMemcpy");
        for (size_t index = 0; index < after; index++) {
            if (edge_[index] == mark()) continue;
            offset = static_cast<long long>(bytes_ + index);
            return true;
        }
        return false;
    }

  private:
#if defined(KS_SANITIZE) || defined(KS_TRACE)
    // The sanitizer looks at the ends of the allocation; a trace is of arrays that begin where an allocation does.
    static constexpr size_t shift_room = 0;
#else
    static constexpr size_t shift_room = 1024;
#endif
    unsigned char mark() const { return poison_ ^ 0x39; }

    const Argument* argument_ = nullptr;
    size_t elements_ = 0, bytes_ = 0, guard_ = 0, total_ = 0, shift_ = 0;
    char* allocation_ = nullptr;
    unsigned char poison_ = 0;
    std::vector<char> fresh_;
    std::vector<unsigned char> edge_;
    HiddenCopy results_[2];
};

}  // namespace ks_harness

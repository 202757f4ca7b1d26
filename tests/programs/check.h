// What the programs here check with. The first thing that is wrong ends the program with status 1 and is named.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
#include <vector>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                               \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)
#define HIP_OK(call)                                                                                                   \
    do {                                                                                                               \
        const hipError_t status = (call);                                                                              \
        if (status != hipSuccess) {                                                                                    \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(status));             \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

/// An array on the device, and its values back on the host.
template <class T> class DeviceArray {
  public:
    explicit DeviceArray(size_t count) : count_(count) {
        HIP_OK(hipMalloc(&data_, count * sizeof(T)));
        HIP_OK(hipMemset(data_, 0, count * sizeof(T)));
    }
    explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size()) {
        HIP_OK(hipMemcpy(data_, values.data(), count_ * sizeof(T), hipMemcpyHostToDevice));
    }
    ~DeviceArray() { (void)hipFree(data_); }
    DeviceArray(const DeviceArray &) = delete;
    T *get() const { return data_; }
    std::vector<T> values() const {
        std::vector<T> result(count_);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(result.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
        return result;
    }

  private:
    T *data_ = nullptr;
    size_t count_;
};

// Arrays: elements of up to four channels in up to three dimensions, row after row without gaps.
#pragma once
#include <ks/array_types.h>
#include <mutex>
#include <optional>
#include <set>

namespace ks {

struct ElementFormat {
    hipChannelFormatKind kind;
    unsigned bits;     ///< of a channel: 8, 16 or 32
    unsigned channels; ///< 1, 2 or 4

    size_t bytes() const { return bits / 8 * channels; }
    hipChannelFormatDesc descriptor() const;
};
/// None for what is no element: unlike channels, three of them, floats of 8 bits.
std::optional<ElementFormat> element_format(const hipChannelFormatDesc &descriptor);

} // namespace ks

struct hipArray {
    ks::ElementFormat format;
    hipExtent extent; ///< as it was asked for: 0 where there is no such dimension; depth counts layers if there are any
    unsigned flags;
    char *data;

    bool layered() const { return (flags & hipArrayLayered) != 0; }
    size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
    size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
    size_t row_bytes() const { return extent.width * format.bytes(); }
    size_t bytes() const { return row_bytes() * rows() * slices(); }
};

namespace ks {

/// The arrays that exist. Failures are remembered for hipGetLastError.
class Arrays {
  public:
    hipError_t create(hipArray_t *out, const hipChannelFormatDesc *descriptor, hipExtent extent, unsigned flags);
    hipError_t destroy(hipArray_t array);
    bool exists(const hipArray *array);

  private:
    std::mutex mutex_;
    std::set<const hipArray *> live_;
};

/// The process's own.
Arrays &arrays();

} // namespace ks

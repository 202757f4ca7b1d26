// A shared object built from a version of the source with the glue that the lab appended to it.
#pragma once

#include <string>

namespace ks_harness __attribute__((visibility("hidden"))) {

using RunFunction = void (*)(void* const* arguments, const long long* shape);

// Baseline, candidate or the original: something to run.
struct Object {
    std::string name;  // baseline, candidate or reference, as reports say it
    RunFunction run = nullptr;
};

// The object built from the original source and the benchmark file. Candidates have no part in it.
struct Trusted : Object {
    // Elements of an argument.
    long long (*count)(int argument, const long long* shape) = nullptr;
    // Numbers of an argument's fill: 0 and 1 are low and high, or mean and deviation, or 0 is the constant.
    double (*fill)(int argument, int which, const long long* shape) = nullptr;
    // Value of one element for an argument filled by an expression.
    double (*element)(int argument, long long index, const long long* shape) = nullptr;
    // Work of one call: 0 flops, 1 bytes; negative where the file does not say.
    double (*cost)(int which, const long long* shape) = nullptr;
    // A part of the launch that the file asks for: 0 to 2 the grid, 3 to 5 the block, 6 bytes of shared memory. Null where
    // the entry is a host function, which launches as it likes.
    long long (*launch)(int part, const long long* shape) = nullptr;
    // The reference on host memory, or null: then the original itself is run.
    RunFunction reference = nullptr;
};

// Both return false, with the reason on stderr, where the object cannot be loaded.
bool load(const std::string& path, const char* name, Object& object);
bool load(const std::string& path, Trusted& object);

}  // namespace ks_harness

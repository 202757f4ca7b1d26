// What the harness was asked to do: one argument of its command line, lines of words.
//
//     token WORD                     every report line starts with it
//     seed N · budget_ns N · patience_ns N · half_width X · pairs LEAST MOST · flush_bytes N · sample_limit_s X
//     machine 0|1                              whether to find out what the machine can do at most
//     trusted PATH · baseline PATH · candidate PATH        shared objects; no candidate: time the baseline alone
//     argument NAME KIND TYPE LANES RTOL ATOL FILL         KIND input | output | inout | scalar, in the entry's order
//     shape INDEX VALUE...                                 parameters in the glue's order
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "element.h"

namespace ks_harness __attribute__((visibility("hidden"))) {

enum class Kind { input, output, inout, scalar };

struct Argument {
    std::string name;
    Kind kind = Kind::input;
    Type type = Type::f32;
    size_t lanes = 1;
    Tolerance tolerance;
    Fill fill = Fill::zeros;

    bool is_buffer() const { return kind != Kind::scalar; }
    bool is_read() const { return kind == Kind::input || kind == Kind::inout; }
    bool is_written() const { return kind == Kind::output || kind == Kind::inout; }
};

struct Shape {
    int index = 0;
    std::vector<long long> parameters;
};

struct Plan {
    std::string token, trusted, baseline, candidate;
    uint64_t seed = 0;
    double budget_ns = 0, half_width = 0, sample_limit_s = 60;
    double patience_ns = 0;  // multiples of this, or of the budget if that is more, may be overdrawn
    bool machine = true;
    size_t least_pairs = 6, most_pairs = 200, flush_bytes = 0;
    std::vector<Argument> arguments;
    std::vector<Shape> shapes;
};

// Reads the plan and overwrites `text`, so that code loaded later finds it neither here nor in /proc/self/cmdline.
// Returns false, with the reason on stderr, where the plan is not understood.
bool read_plan(char* text, Plan& plan);

}  // namespace ks_harness

#include "plan.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>

namespace ks_harness __attribute__((visibility("hidden"))) {
namespace {

const std::map<std::string, Kind> kinds = {
    {"input", Kind::input}, {"output", Kind::output}, {"inout", Kind::inout}, {"scalar", Kind::scalar}};

const std::map<std::string, Type> types = {
    {"f16", Type::f16}, {"bf16", Type::bf16}, {"f32", Type::f32}, {"f64", Type::f64}, {"i8", Type::i8},
    {"i16", Type::i16}, {"i32", Type::i32},   {"i64", Type::i64}, {"u8", Type::u8},   {"u16", Type::u16},
    {"u32", Type::u32}, {"u64", Type::u64},   {"bool", Type::boolean}};

const std::map<std::string, Fill> fills = {
    {"zeros", Fill::zeros},       {"ones", Fill::ones},         {"uniform", Fill::uniform},
    {"normal", Fill::normal},     {"integers", Fill::integers}, {"iota", Fill::iota},
    {"constant", Fill::constant}, {"permutation", Fill::permutation}, {"expression", Fill::expression}};

template <class T> bool look_up(const std::map<std::string, T>& names, std::istream& words, T& value) {
    std::string name;
    words >> name;
    auto found = names.find(name);
    if (found == names.end()) return false;
    value = found->second;
    return true;
}

bool read_argument(std::istream& words, Plan& plan) {
    Argument argument;
    words >> argument.name;
    if (!look_up(kinds, words, argument.kind) || !look_up(types, words, argument.type)) return false;
    words >> argument.lanes >> argument.tolerance.relative >> argument.tolerance.absolute;
    if (!look_up(fills, words, argument.fill)) return false;
    plan.arguments.push_back(argument);
    return static_cast<bool>(words);
}

bool read_shape(std::istream& words, Plan& plan) {
    Shape shape;
    if (!(words >> shape.index)) return false;
    for (long long value; words >> value;) shape.parameters.push_back(value);
    plan.shapes.push_back(shape);
    return true;
}

bool read_path(std::istream& words, std::string& path) {
    return static_cast<bool>(std::getline(words >> std::ws, path));  // a path may hold spaces
}

bool read_line(const std::string& line, Plan& plan) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "token") return static_cast<bool>(words >> plan.token);
    if (key == "seed") return static_cast<bool>(words >> plan.seed);
    if (key == "budget_ns") return static_cast<bool>(words >> plan.budget_ns);
    if (key == "patience_ns") return static_cast<bool>(words >> plan.patience_ns);
    if (key == "machine") return static_cast<bool>(words >> plan.machine);
    if (key == "half_width") return static_cast<bool>(words >> plan.half_width);
    if (key == "pairs") return static_cast<bool>(words >> plan.least_pairs >> plan.most_pairs);
    if (key == "flush_bytes") return static_cast<bool>(words >> plan.flush_bytes);
    if (key == "sample_limit_s") return static_cast<bool>(words >> plan.sample_limit_s);
    if (key == "trusted") return read_path(words, plan.trusted);
    if (key == "baseline") return read_path(words, plan.baseline);
    if (key == "candidate") return read_path(words, plan.candidate);
    if (key == "argument") return read_argument(words, plan);
    if (key == "shape") return read_shape(words, plan);
    return false;
}

}  // namespace

bool read_plan(char* text, Plan& plan) {
    std::istringstream lines(text);
    std::memset(text, 0, std::strlen(text));
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || read_line(line, plan)) continue;
        std::fprintf(stderr, "the harness does not understand this line of its plan: %s\n", line.c_str());
        return false;
    }
    return true;
}

}  // namespace ks_harness

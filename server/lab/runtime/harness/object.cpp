#include "object.h"

#include <cstdio>

#include <dlfcn.h>

namespace ks_harness __attribute__((visibility("hidden"))) {
namespace {

// Local binding: what one object defines is never used by another.
void* open_object(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) std::fprintf(stderr, "the object cannot be loaded: %s\n", dlerror());
    return handle;
}

template <class Function> bool find(void* handle, const char* symbol, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, symbol));
    if (!function) std::fprintf(stderr, "the object lacks %s\n", symbol);
    return function != nullptr;
}

}  // namespace

bool load(const std::string& path, const char* name, Object& object) {
    object.name = name;
    void* handle = open_object(path);
    return handle && find(handle, "ks_benchmark_run", object.run);
}

bool load(const std::string& path, Trusted& object) {
    object.name = "reference";
    void* handle = open_object(path);
    if (!handle) return false;
    object.reference = reinterpret_cast<RunFunction>(dlsym(handle, "ks_benchmark_reference"));
    object.launch = reinterpret_cast<decltype(object.launch)>(dlsym(handle, "ks_benchmark_launch"));
    return find(handle, "ks_benchmark_run", object.run) && find(handle, "ks_benchmark_count", object.count) &&
           find(handle, "ks_benchmark_fill", object.fill) && find(handle, "ks_benchmark_element", object.element) &&
           find(handle, "ks_benchmark_cost", object.cost);
}

}  // namespace ks_harness

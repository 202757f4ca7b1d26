#if KS_SANITIZE == 1
#include "variables.h"
#include "shadow.h"
#include <map>
#include <mutex>
#include <stdlib.h>
#include <string>
#include <string_view>

namespace ks::sanitizer {
namespace {

constexpr uintptr_t kFrameMagic = 0x41B58AB3;
/// Frames are looked for so far below an address.
constexpr uintptr_t kFarthestFrame = 256 << 10;

struct Globals {
    std::mutex mutex;
    std::map<uintptr_t, GlobalDescriptor> all;
};
Globals &globals() {
    static Globals *const it = new Globals;
    return *it;
}

/// Bytes from the variable to `address`, either way.
uintptr_t distance(uintptr_t begin, size_t bytes, uintptr_t address) {
    return address < begin ? begin - address : address < begin + bytes ? 0 : address - (begin + bytes) + 1;
}

/// The frame's lowest address: where its left redzone begins.
uintptr_t frame_of(uintptr_t address) {
    for (uintptr_t at = address / 32 * 32; at > address - kFarthestFrame; at -= 32) {
        if (shadow.code(at) == kStackLeft && *reinterpret_cast<uintptr_t *>(at) == kFrameMagic) {
            return at;
        }
    }
    return 0;
}

/// `k(float*)::tile` -> `tile`; what the optimiser appended (`tile.i.i`) is left out. An array that never changes is in
/// memory once, as `__const.k.weights`.
std::string short_name(std::string name) {
    constexpr std::string_view kConstant = "__const.";
    if (name.compare(0, kConstant.size(), kConstant) == 0) {
        const size_t function_end = name.find('.', kConstant.size());
        name = name.substr(function_end == std::string::npos ? kConstant.size() : function_end + 1);
    }
    if (const size_t scope = name.rfind("::"); scope != std::string::npos) {
        name = name.substr(scope + 2);
    }
    return name.substr(0, name.find_first_of(".:"));
}

} // namespace

void add_globals(const GlobalDescriptor *begin, const GlobalDescriptor *end) {
    Globals &all = globals();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (const GlobalDescriptor *global = begin; global != end; ++global) {
        if (global->begin % kGranule != 0) {
            continue; // A padded section: nothing that clang instruments.
        }
        all.all[global->begin] = *global;
        shadow.set(global->begin, global->bytes_with_redzone, kGlobalRedzone);
        shadow.open(global->begin, global->bytes);
    }
}

void remove_globals(const GlobalDescriptor *begin, const GlobalDescriptor *end) {
    Globals &all = globals();
    const std::lock_guard<std::mutex> lock(all.mutex);
    for (const GlobalDescriptor *global = begin; global != end; ++global) {
        all.all.erase(global->begin);
        shadow.set(global->begin, global->bytes_with_redzone, 0);
    }
}

Variable global_near(uintptr_t address) {
    Globals &all = globals();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto after = all.all.upper_bound(address);
    const GlobalDescriptor *best = nullptr;
    if (after != all.all.begin()) {
        best = &std::prev(after)->second;
    }
    if (after != all.all.end() &&
        (best == nullptr || distance(after->second.begin, after->second.bytes, address) <
                                distance(best->begin, best->bytes, address))) {
        best = &after->second;
    }
    return best == nullptr ? Variable{} : Variable{short_name(best->name), best->begin, best->bytes};
}

Variable local_near(uintptr_t address) {
    const uintptr_t frame = frame_of(address);
    if (frame == 0) {
        return {};
    }
    // "count offset size name-length name ..."; a name may carry ":line".
    char *text = *reinterpret_cast<char **>(frame + sizeof(uintptr_t));
    unsigned long count = strtoul(text, &text, 10);
    Variable best;
    for (; count > 0 && *text != 0; --count) {
        const uintptr_t offset = strtoul(text, &text, 10);
        const size_t bytes = strtoul(text, &text, 10);
        const size_t length = strtoul(text, &text, 10);
        const std::string name = short_name({text + 1, length});
        text += 1 + length;
        const uintptr_t begin = frame + offset;
        if (best.bytes == 0 || distance(begin, bytes, address) < distance(best.begin, best.bytes, address)) {
            best = {name, begin, bytes};
        }
    }
    return best;
}

} // namespace ks::sanitizer
#endif

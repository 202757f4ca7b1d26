#include "caller.h"
#include <dlfcn.h>
#include <execinfo.h>

namespace ks::sanitizer {

uintptr_t caller_of_runtime() {
    Dl_info own;
    if (dladdr(reinterpret_cast<const void *>(&caller_of_runtime), &own) == 0) {
        return 0;
    }
    void *frames[16];
    const int count = backtrace(frames, 16);
    for (int i = 0; i < count; ++i) {
        Dl_info info;
        if (dladdr(frames[i], &info) != 0 && info.dli_fbase != own.dli_fbase) {
            return reinterpret_cast<uintptr_t>(frames[i]);
        }
    }
    return 0;
}

} // namespace ks::sanitizer

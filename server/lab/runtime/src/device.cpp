#include "memory_size.h"
#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>

namespace ks {

size_t total_memory() {
    static const size_t bytes = [] {
        const size_t physical = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
        rlimit limit{};
        if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            return std::min<size_t>(physical, limit.rlim_cur);
        }
        return physical;
    }();
    return bytes;
}

} // namespace ks

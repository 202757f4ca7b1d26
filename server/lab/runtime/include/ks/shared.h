// Dynamic shared memory.
#pragma once
#pragma clang system_header
#include <ks/work_items.h>

namespace ks {

/// Converts to a pointer of any type: the declaration that follows knows which.
struct DynamicSharedPointer {
    template <class T> KS_INLINE operator T *() const { return reinterpret_cast<T *>(ks_dynamic_shared); }
};

#if defined(KS_SANITIZE) || defined(KS_TRACE)
// Ends of the section that `__shared__` names. The linker knows them where there is one, and under these names where they are
// identifiers; else the flags of the build give them.
#ifdef KS_SANITIZE
#define KS_SHARED_BEGIN ks_shared_begin
#define KS_SHARED_END ks_shared_end
/// There is such a section even where no kernel has shared memory.
static char shared_marker __attribute__((section(".ks_shared"), used));
#else
#define KS_SHARED_BEGIN __start_ks_shared
#define KS_SHARED_END __stop_ks_shared
#endif
extern "C" __attribute__((visibility("hidden"), weak)) char KS_SHARED_BEGIN[], KS_SHARED_END[];
extern "C" void ks_register_shared(char *begin, char *end);
__attribute__((constructor(102))) static void register_shared() {
    if (KS_SHARED_BEGIN != nullptr) ks_register_shared(KS_SHARED_BEGIN, KS_SHARED_END);
}
#endif

constexpr bool inside_function(const char *name) { return name[0] != 0; }

} // namespace ks

/// `extern __shared__ T name[];` inside a function. T stands in parentheses and may begin with alignas(..).
#define KS_DYNAMIC_SHARED(T, name)                                                                                     \
    static_assert(::ks::inside_function(__builtin_FUNCTION()),                                                         \
                  "dynamic shared memory at namespace scope must be declared with KS_DYNAMIC_SHARED_GLOBAL");          \
    KS_UNPAREN T *const name __attribute__((unused)) = ::ks::DynamicSharedPointer {}

#ifdef KS_TRACE
#define KS_DYNAMIC_SHARED_STORAGE
#define KS_DYNAMIC_SHARED_MODEL
#else
#define KS_DYNAMIC_SHARED_STORAGE __thread
#define KS_DYNAMIC_SHARED_MODEL __attribute__((tls_model("initial-exec")))
#endif
/// The same at namespace scope: one array for all names, as on the device.
#define KS_DYNAMIC_SHARED_GLOBAL(T, name)                                                                              \
    KS_UNPAREN T extern KS_DYNAMIC_SHARED_STORAGE name[] __asm__("ks_dynamic_shared") KS_DYNAMIC_SHARED_MODEL

#define HIP_DYNAMIC_SHARED(T, name) KS_DYNAMIC_SHARED((T), name);
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

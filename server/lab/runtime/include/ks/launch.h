// Launching a kernel: evaluate the arguments once, describe the launch, hand whole blocks to the runtime's threads.
#pragma once
#pragma clang system_header
#include <ks/api_types.h>
#include <ks/work_items.h>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace ks {

/// How work-items run: as a loop, on fibers, or by a kernel that was split at its barriers and runs the block itself.
enum class Mode { kLoop, kFibers, kBlocks };

/// What a kernel with its arguments looks like in memory, for those who keep it beyond the call that launches it.
/// Arguments are copied as bytes, as devices do.
struct BodyLayout {
    size_t bytes;
    unsigned count; ///< of the arguments
    const size_t *sizes;
    void (*find)(const void *body, const void **arguments); ///< fills in where each argument is
    const bool *numbers; ///< whether each is a number, which tells one launch of a kernel from another; null: not known
};

/// A launch as the runtime library sees it.
struct Launch {
    dim3 grid, block;
    size_t shared_bytes;
    hipStream_t stream;
    Mode mode;
    const char *kernel; ///< display name, with template arguments; lives as long as the program
    /// Runs blocks [first, last), numbered with x fastest, on the calling thread.
    void (*run_blocks)(const Launch &, uint64_t first, uint64_t last);
    const void *body;
    const BodyLayout *layout = nullptr;
    const void *function = nullptr; ///< the kernel's address, where it is known
    bool cooperative = false;       ///< whether all blocks must be there at once, and may wait for each other
    unsigned wave_size = kWaveSize; ///< of the unit that launches
};

/// Checks, runs and times a launch. Errors are left for hipGetLastError.
extern "C" hipError_t ks_launch(const Launch &launch);
/// Runs one block whose work-items begin at `entry` with their WorkItem.
extern "C" void ks_run_fibers(void (*entry)(WorkItem *));
/// The display name for a mangled `ks::Constant<&kernel>`; the result lives as long as the program.
extern "C" const char *ks_kernel_name(const char *mangled, const char *text);

/// A kernel's arguments. (std::tuple's constructors take as long to compile as a small kernel.)
template <size_t place, class T> struct Argument {
    T value;
};
template <class Places, class... Args> struct Pack;
template <size_t... places, class... Args>
struct Pack<std::index_sequence<places...>, Args...> : Argument<places, Args>... {
    template <class Taker> KS_INLINE void give(const Taker &taker) const {
        taker(static_cast<const Argument<places, Args> &>(*this).value...);
    }
};

/// A kernel with its arguments, ready to be called for one work-item.
template <class Caller, class... Args> struct Body {
    Caller caller;
    Pack<std::index_sequence_for<Args...>, Args...> arguments;
    KS_INLINE void operator()() const { arguments.give(caller); }

    static void find(const void *body, const void **out) {
        static_cast<const Body *>(body)->arguments.give([&out](const Args &...mine) { ((*out++ = &mine), ...); });
    }
    static constexpr size_t sizes[] = {sizeof(Args)..., 0};
    static constexpr bool numbers[] = {(std::is_arithmetic_v<Args> || std::is_enum_v<Args>)..., false};
};
template <class BodyType, unsigned count>
inline constexpr BodyLayout layout_of = {sizeof(BodyType), count, BodyType::sizes, &BodyType::find, BodyType::numbers};

#ifdef KS_TRACE

extern "C" {
/// Runs blocks [first, last); their work-items begin at `entry`.
void ks_trace_run(const Launch &launch, uint64_t first, uint64_t last, void (*entry)(WorkItem *));
/// The work-item begins; returns where its kernel's arguments are.
const void *ks_trace_begin(WorkItem *item);
/// The work-item that runs has ended.
[[noreturn]] void ks_trace_finish();
}

template <class BodyType> [[noreturn]] __attribute__((noinline)) void fiber_main(WorkItem *item) {
    (*static_cast<const BodyType *>(ks_trace_begin(item)))();
    ks_trace_finish();
}
template <class BodyType> void run_blocks_on_fibers(const Launch &launch, uint64_t first, uint64_t last) {
    ks_trace_run(launch, first, last, &fiber_main<BodyType>);
}

#else

/// Steps blockIdx through [first, last).
template <class F> KS_INLINE void for_each_block(const Launch &launch, uint64_t first, uint64_t last, F run) {
    gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};
    blockDim = {launch.block.x, launch.block.y, launch.block.z};
    const uint64_t row = first / launch.grid.x;
    Extent at = {static_cast<unsigned>(first % launch.grid.x), static_cast<unsigned>(row % launch.grid.y),
                 static_cast<unsigned>(row / launch.grid.y)};
    for (uint64_t number = first; number < last; ++number) {
        blockIdx = at;
        run();
        if (++at.x == launch.grid.x) {
            at.x = 0;
            if (++at.y == launch.grid.y) {
                at.y = 0;
                ++at.z;
            }
        }
    }
}

/// Work-items as a loop. The body is copied into this frame so that the compiler knows that no kernel writes to it.
/// `assume_safety` says that iterations are independent: that is what a kernel without synchronisation promises. Rows of a
/// block are often short: without interleaving, 8 or 16 work-items fill a vector.
template <class BodyType>
__attribute__((noinline)) void run_blocks_as_loops(const Launch &launch, uint64_t first, uint64_t last) {
    const BodyType body = *static_cast<const BodyType *>(launch.body);
    const Extent extent = {launch.block.x, launch.block.y, launch.block.z};
    current = ks_idle_items;
    for_each_block(launch, first, last, [&]() __attribute__((always_inline)) {
        unsigned row_start = 0;
        for (unsigned z = 0; z < extent.z; ++z) {
            threadIdx.z = z;
            for (unsigned y = 0; y < extent.y; ++y) {
                threadIdx.y = y;
                _Pragma("clang loop vectorize(assume_safety) interleave_count(1)")
                for (unsigned x = 0; x < extent.x; ++x) {
                    threadIdx.x = x;
                    threadIdx.ks_linear = row_start + x;
                    body();
                }
                row_start += extent.x;
            }
        }
    });
}

/// Kernels that run a whole block in one call.
template <class BodyType>
__attribute__((noinline)) void run_blocks_whole(const Launch &launch, uint64_t first, uint64_t last) {
    const BodyType &body = *static_cast<const BodyType *>(launch.body);
    current = ks_idle_items;
    for_each_block(launch, first, last, [&]() __attribute__((always_inline)) {
        threadIdx = {};
        body();
    });
}

/// Where a fiber begins: runs work-items one after another on this stack until one has to wait.
template <class BodyType> [[noreturn]] __attribute__((noinline)) void fiber_main(WorkItem *item) {
    const BodyType &body = *static_cast<const BodyType *>(block.body);
    for (;;) {
        current = item;
        threadIdx = item->index;
        body();
        item = finish(item);
    }
}

template <class BodyType>
__attribute__((noinline)) void run_blocks_on_fibers(const Launch &launch, uint64_t first, uint64_t last) {
    for_each_block(launch, first, last, [] { ks_run_fibers(&fiber_main<BodyType>); });
}

#endif

/// A function as a type.
template <auto kernel> struct Constant {};
/// A function's parameters.
template <class... P> struct Signature {};
struct NoConstant {};
struct NoSignature {};

/// Asked by the launch macros about the kernel's expression. A kernel that cannot be a template argument (it stands in a
/// variable) or whose type is not known without its arguments (overloads, deduced templates) makes the question
/// itself ill-formed, and the answer is No...
struct Probe {
    template <auto kernel> Constant<kernel> constant() const { return {}; }
    template <class R, class... P> Signature<P...> signature(R (*)(P...)) const { return {}; }
};
template <class Question, class No> auto answer(const Question &question) {
    if constexpr (std::is_invocable_v<const Question &, Probe>) {
        return question(Probe{});
    } else {
        return No{};
    }
}

/// A launch with its kernel and configuration known, and its arguments still to come.
template <Mode mode, class Caller> class Configured {
  public:
    Configured(Caller caller, Launch launch) : caller_(caller), launch_(launch) {}

    template <class... Args> hipError_t run(Args... arguments) {
        using BodyType = Body<Caller, Args...>;
        const BodyType body{caller_, {{std::move(arguments)}...}};
        launch_.body = &body;
        launch_.layout = &layout_of<BodyType, sizeof...(Args)>;
        launch_.mode = mode;
#ifdef KS_TRACE
        launch_.run_blocks = &run_blocks_on_fibers<BodyType>;
#else
        if constexpr (mode == Mode::kLoop) {
            launch_.run_blocks = &run_blocks_as_loops<BodyType>;
        } else if constexpr (mode == Mode::kBlocks) {
            launch_.run_blocks = &run_blocks_whole<BodyType>;
        } else {
            launch_.run_blocks = &run_blocks_on_fibers<BodyType>;
        }
#endif
        return ks_launch(launch_);
    }

  private:
    Caller caller_;
    Launch launch_;
};

/// Takes the arguments. With a known signature they convert as in a call of the kernel, once, so `0` and `NULL` may
/// stand for a pointer; else (also where default arguments complete the call) they are kept as they are.
template <Mode mode, class Caller, class S> class Arguments;
template <Mode mode, class Caller> class Arguments<mode, Caller, NoSignature> {
  public:
    explicit Arguments(Configured<mode, Caller> configured) : configured_(configured) {}
    template <class... A> void call(A &&...arguments) {
        configured_.template run<std::decay_t<A>...>(std::forward<A>(arguments)...);
    }

  private:
    Configured<mode, Caller> configured_;
};
template <Mode mode, class Caller, class... P> class Arguments<mode, Caller, Signature<P...>> {
  public:
    explicit Arguments(Configured<mode, Caller> configured) : configured_(configured) {}
    void call(P... arguments) { configured_.template run<P...>(std::forward<P>(arguments)...); }
    template <class... A, class = std::enable_if_t<sizeof...(A) != sizeof...(P)>> void call(A &&...arguments) {
        configured_.template run<std::decay_t<A>...>(std::forward<A>(arguments)...);
    }

  private:
    Configured<mode, Caller> configured_;
};

/// The kernel of a launch: how it is called and what it is called.
template <Mode mode, class Caller, class S> class Launcher {
  public:
    Launcher(Caller caller, const char *name, const void *function)
        : caller_(caller), name_(name), function_(function) {}
    auto configure(dim3 grid, dim3 block, size_t shared_bytes = 0, hipStream_t stream = nullptr) {
        Launch launch{grid, block, shared_bytes, stream, mode, name_, nullptr, nullptr, nullptr, function_};
        return Arguments<mode, Caller, S>(Configured<mode, Caller>(caller_, launch));
    }

  private:
    Caller caller_;
    const char *name_;
    const void *function_;
};

inline const void *address_of(NoConstant) { return nullptr; }
template <auto kernel> const void *address_of(Constant<kernel>) { return reinterpret_cast<const void *>(kernel); }

template <class C> const char *constant_name(const char *text) {
    if constexpr (std::is_same_v<C, NoConstant>) {
        return ks_kernel_name(nullptr, text);
    } else {
        static const char *const name = ks_kernel_name(typeid(C).name(), text);
        return name;
    }
}

template <Mode mode, class ConstantQuestion, class SignatureQuestion, class Caller>
auto launcher(const ConstantQuestion &constant, const SignatureQuestion &signature, Caller caller, const char *text) {
    using C = decltype(answer<ConstantQuestion, NoConstant>(constant));
    using S = decltype(answer<SignatureQuestion, NoSignature>(signature));
    return Launcher<mode, Caller, S>(caller, constant_name<C>(text), address_of(C{}));
}

} // namespace ks

/// `kernel<<<configuration>>>(arguments)`: all three in parentheses. CALL precedes the call in the caller's body, which
/// holds the kernel by value: it may be kept for a graph.
#define KS_LAUNCH(MODE, CALL, kernel, configuration, arguments)                                                        \
    ::ks::launcher<MODE>(                                                                                              \
        [&](auto ks_probe) -> decltype(ks_probe.template constant<kernel>()) { return {}; },                           \
        [&](auto ks_probe) -> decltype(ks_probe.signature(kernel)) { return {}; },                                     \
        [=](auto &&...ks_arguments) __attribute__((always_inline)) { CALL kernel(ks_arguments...); }, #kernel)         \
        .configure configuration.call arguments

/// For kernels that never wait for another work-item: a plain loop, with the kernel inlined.
#if defined(KS_SANITIZE) || defined(KS_TRACE)
#define KS_LAUNCH_LOOP(kernel, configuration, arguments) KS_LAUNCH_FIBERS(kernel, configuration, arguments)
#else
#define KS_LAUNCH_LOOP(kernel, configuration, arguments)                                                               \
    KS_LAUNCH(::ks::Mode::kLoop, [[clang::always_inline]], kernel, configuration, arguments)
#endif
/// For kernels that were split at their barriers.
#define KS_LAUNCH_BLOCKS(kernel, configuration, arguments)                                                             \
    KS_LAUNCH(::ks::Mode::kBlocks, , kernel, configuration, arguments)
/// For all others.
#define KS_LAUNCH_FIBERS(kernel, configuration, arguments)                                                             \
    KS_LAUNCH(::ks::Mode::kFibers, , kernel, configuration, arguments)

#define KS_LAUNCH_GGL(kernel, grid, block, shared, stream, ...)                                                        \
    KS_LAUNCH_FIBERS(kernel, (grid, block, shared, stream), (__VA_ARGS__))
#define hipLaunchKernelGGL(kernel, ...) KS_LAUNCH_GGL((kernel), __VA_ARGS__)

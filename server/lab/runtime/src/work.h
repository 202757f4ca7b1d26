// What streams and graphs run: pieces of work that can be run now, later, or again and again.
#pragma once
#include "events.h"
#include <functional>
#include <ks/graph_api.h>
#include <ks/launch.h>
#include <memory>
#include <variant>
#include <vector>

namespace ks {

struct KernelWork {
    explicit KernelWork(const Launch &launch);
    /// The same with other arguments, given by their addresses as for hipLaunchKernel.
    KernelWork with_arguments(void *const *values) const;

    Launch launch; ///< its body is `body`
    std::shared_ptr<void> body;
    std::vector<void *> arguments; ///< where in the body each is
    hipLaunchAttributeValue policy = {}, priority = {};
};
struct CopyWork {
    void *to;
    const void *from;
    size_t bytes;
    hipMemcpyKind kind;
};
struct BoxWork {
    hipMemcpy3DParms params;
};
struct FillWork {
    hipMemsetParams params;
};
struct HostWork {
    hipHostNodeParams params;
};
struct EmptyWork {};
/// Happens to the event that was there when the work was issued, even if it has been destroyed since and another one has
/// its handle.
struct RecordWork {
    explicit RecordWork(hipEvent_t event) : event(event), record(record_of(event)) {}
    hipEvent_t event;
    std::shared_ptr<EventRecord> record;
};
/// In a graph; in a stream it is a dependency.
struct WaitWork {
    hipEvent_t event;
};
struct ChildWork {
    std::shared_ptr<ihipGraph> graph; ///< its own, never another's
};

/// Memory that lives as long as a graph that allocates it.
class GraphMemory {
  public:
    explicit GraphMemory(size_t bytes);
    ~GraphMemory();
    GraphMemory(const GraphMemory &) = delete;
    void *get() const { return pointer_; }

  private:
    void *pointer_ = nullptr;
    size_t bytes_;
    unsigned tag_;
};
struct AllocateWork {
    hipMemAllocNodeParams params;
    std::shared_ptr<GraphMemory> memory;
};
struct FreeWork {
    void *pointer;
};
/// Any other call, of which a graph only needs to know the kind.
struct CallWork {
    hipGraphNodeType type;
    std::function<hipError_t()> call;
};

using Work = std::variant<KernelWork, CopyWork, BoxWork, FillWork, HostWork, EmptyWork, RecordWork, WaitWork, ChildWork,
                          AllocateWork, FreeWork, CallWork>;

hipGraphNodeType type_of(const Work &work);
/// Runs it on the calling thread. Errors are remembered.
hipError_t run(const Work &work);
/// A copy that shares nothing that can change: children of graphs are copied too.
Work copy_of(const Work &work);

/// Runs a launch that was checked.
hipError_t run_launch(const Launch &launch);
/// The limits of MI300, whose excess HIP refuses as well.
hipError_t check_launch(const Launch &launch);
/// Checks the launch of a kernel known by its address, without launching it. `out` must not be null.
hipError_t describe_launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                           std::unique_ptr<KernelWork> *out);

/// Copies and fills that were checked.
hipError_t check_copy(const void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t check_fill(const hipMemsetParams &params);
/// Copies in three dimensions, or only checks that it can be done.
hipError_t copy_box(const hipMemcpy3DParms &params, bool only_check);

} // namespace ks

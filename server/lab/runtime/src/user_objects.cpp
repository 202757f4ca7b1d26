// Objects of the program that live as long as a graph needs them.
#include "errors.h"
#include "graph.h"

struct hipUserObject {
    void *pointer;
    hipHostFn_t destroy;
    unsigned references;
};

namespace ks {
namespace {

Handles<hipUserObject> &objects() {
    static auto *const all = new Handles<hipUserObject>;
    return *all;
}
bool is_object(hipUserObject_t object) { return object != nullptr && objects().contains(object); }

} // namespace

void retain(hipUserObject_t object, unsigned count) {
    if (is_object(object)) {
        object->references += count;
    }
}
void release(hipUserObject_t object, unsigned count) {
    if (!is_object(object)) {
        return;
    }
    object->references -= count < object->references ? count : object->references;
    if (object->references == 0 && objects().remove(object)) {
        object->destroy(object->pointer);
        delete object;
    }
}

} // namespace ks

using namespace ks;

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipUserObjectCreate(hipUserObject_t *object, void *pointer, hipHostFn_t destroy, unsigned references,
                               unsigned flags) {
    if (object == nullptr || pointer == nullptr || destroy == nullptr || references == 0 || references > INT32_MAX ||
        flags != hipUserObjectNoDestructorSync) {
        return remember(hipErrorInvalidValue);
    }
    *object = objects().add(new hipUserObject{pointer, destroy, references});
    return hipSuccess;
}
hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned count) {
    if (!is_object(object) || count == 0 || count > INT32_MAX) {
        return remember(hipErrorInvalidValue);
    }
    release(object, count);
    return hipSuccess;
}
hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned count) {
    if (!is_object(object) || count == 0 || count > INT32_MAX) {
        return remember(hipErrorInvalidValue);
    }
    retain(object, count);
    return hipSuccess;
}
hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count, unsigned flags) {
    if (graph == nullptr || !graphs().contains(graph) || !is_object(object) || count == 0 || count > INT32_MAX ||
        (flags != 0 && flags != hipGraphUserObjectMove)) {
        return remember(hipErrorInvalidValue);
    }
    if (flags != hipGraphUserObjectMove) {
        retain(object, count);
    }
    graph->objects[object] += count;
    return hipSuccess;
}
hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned count) {
    if (graph == nullptr || !graphs().contains(graph) || !is_object(object) || count == 0 || count > INT32_MAX) {
        return remember(hipErrorInvalidValue);
    }
    const auto held = graph->objects.find(object);
    if (held == graph->objects.end()) {
        return remember(hipErrorInvalidValue);
    }
    const unsigned released = count < held->second ? count : held->second;
    held->second -= released;
    if (held->second == 0) {
        graph->objects.erase(held);
    }
    release(object, released);
    return hipSuccess;
}
}
#pragma GCC visibility pop

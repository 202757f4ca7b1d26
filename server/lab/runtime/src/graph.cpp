#include "graph.h"
#include "errors.h"
#include <algorithm>
#include <atomic>
#include <queue>
#include <set>
#include <stdio.h>
#include <string>
#include <unordered_map>
#include <utility>

namespace ks {
namespace {

/// Graphs that the program has created and not destroyed.
class Owned {
  public:
    void add(std::shared_ptr<ihipGraph> graph) {
        const std::lock_guard<std::mutex> lock(mutex_);
        graphs_[graph.get()] = std::move(graph);
    }
    bool remove(hipGraph_t graph) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return graphs_.erase(graph) != 0;
    }

  private:
    std::mutex mutex_;
    std::unordered_map<hipGraph_t, std::shared_ptr<ihipGraph>> graphs_;
};
Owned &owned() {
    static auto *const all = new Owned;
    return *all;
}

uint64_t next_id() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

void erase(std::vector<hipGraphNode *> &from, const hipGraphNode *node) {
    from.erase(std::remove(from.begin(), from.end(), node), from.end());
}

/// Gives a list the way the API does: its size if nobody wants the list, else as much as fits, the rest null.
template <class T> hipError_t give_list(const std::vector<T> &found, T *out, size_t *count) {
    if (out == nullptr) {
        *count = found.size();
        return hipSuccess;
    }
    for (size_t i = 0; i < *count; ++i) {
        out[i] = i < found.size() ? found[i] : T{};
    }
    *count = std::min(*count, found.size());
    return hipSuccess;
}

/// Whether the lists name `count` pairs of the graph's nodes.
bool are_edges(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count) {
    if (graph == nullptr || !graphs().contains(graph) || (count != 0 && (from == nullptr || to == nullptr))) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        const bool known = from[i] != nullptr && to[i] != nullptr && from[i] != to[i] && nodes().contains(from[i]) &&
                           nodes().contains(to[i]);
        if (!known || from[i]->graph != graph || to[i]->graph != graph) {
            return false;
        }
    }
    return true;
}

bool has_edge(const hipGraphNode *from, const hipGraphNode *to) {
    return std::find(from->after.begin(), from->after.end(), to) != from->after.end();
}

/// Whether each of these edges is there (or none is) and is named once: what is to be changed must be known to be possible
/// before the first change.
bool are_all(bool there, const hipGraphNode_t *from, const hipGraphNode_t *to, size_t count) {
    std::set<std::pair<hipGraphNode_t, hipGraphNode_t>> named;
    for (size_t i = 0; i < count; ++i) {
        if (has_edge(from[i], to[i]) != there || !named.insert({from[i], to[i]}).second) {
            return false;
        }
    }
    return true;
}

const char *const kTypeNames[] = {"kernel",       "memcpy",        "memset",          "host",        "graph",
                                  "empty",        "event wait",    "event record",    "signal",      "wait",
                                  "memory alloc", "memory free",   "memcpy from symbol", "memcpy to symbol"};

void print_dot(FILE *file, const ihipGraph &graph) {
    std::unordered_map<const hipGraphNode *, size_t> numbers;
    fprintf(file, "digraph dot {\n");
    for (const auto &node : graph.nodes) {
        const size_t number = numbers.size();
        numbers[node.get()] = number;
        const auto *kernel = std::get_if<KernelWork>(&node->work);
        fprintf(file, "  node_%zu [shape=box, label=\"%zu: %s%s%s\"];\n", number, number,
                kTypeNames[type_of(node->work)], kernel != nullptr ? " " : "",
                kernel != nullptr ? kernel->launch.kernel : "");
    }
    for (const auto &node : graph.nodes) {
        for (const hipGraphNode *next : node->after) {
            fprintf(file, "  node_%zu -> node_%zu;\n", numbers[node.get()], numbers[next]);
        }
    }
    fprintf(file, "}\n");
}

} // namespace

Handles<ihipGraph> &graphs() {
    static auto *const all = new Handles<ihipGraph>;
    return *all;
}
Handles<hipGraphNode> &nodes() {
    static auto *const all = new Handles<hipGraphNode>;
    return *all;
}
void keep_for_program(std::shared_ptr<ihipGraph> graph) { owned().add(std::move(graph)); }

hipError_t add_node(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count, Work work) {
    if (out == nullptr || graph == nullptr || !graphs().contains(graph) || (before == nullptr && count != 0)) {
        return remember(hipErrorInvalidValue);
    }
    std::vector<hipGraphNode *> dependencies;
    for (size_t i = 0; i < count; ++i) {
        const bool known = before[i] != nullptr && nodes().contains(before[i]) && before[i]->graph == graph;
        if (!known || std::find(dependencies.begin(), dependencies.end(), before[i]) != dependencies.end()) {
            return remember(hipErrorInvalidValue);
        }
        dependencies.push_back(before[i]);
    }
    *out = graph->add(std::move(work), dependencies);
    return hipSuccess;
}

} // namespace ks

using namespace ks;

hipGraphNode::hipGraphNode(ihipGraph *in, ks::Work what) : id(ks::next_id()), graph(in), work(std::move(what)) {
    ks::nodes().add(this);
}
hipGraphNode::~hipGraphNode() { ks::nodes().remove(this); }

ihipGraph::ihipGraph() { graphs().add(this); }
ihipGraph::~ihipGraph() {
    graphs().remove(this);
    for (const auto &[object, count] : objects) {
        release(object, count);
    }
}

hipGraphNode *ihipGraph::add(ks::Work work, const std::vector<hipGraphNode *> &before) {
    nodes.push_back(std::make_unique<hipGraphNode>(this, std::move(work)));
    hipGraphNode *node = nodes.back().get();
    node->before = before;
    for (hipGraphNode *earlier : before) {
        earlier->after.push_back(node);
    }
    return node;
}

void ihipGraph::remove(hipGraphNode *node) {
    for (hipGraphNode *earlier : node->before) {
        erase(earlier->after, node);
    }
    for (hipGraphNode *later : node->after) {
        erase(later->before, node);
    }
    nodes.erase(std::find_if(nodes.begin(), nodes.end(), [node](const auto &mine) { return mine.get() == node; }));
}

std::vector<hipGraphNode *> ihipGraph::order() const {
    std::unordered_map<const hipGraphNode *, size_t> numbers;
    std::vector<size_t> missing;
    std::priority_queue<size_t, std::vector<size_t>, std::greater<size_t>> ready;
    for (const auto &node : nodes) {
        const size_t number = missing.size();
        numbers[node.get()] = number;
        missing.push_back(node->before.size());
        if (node->before.empty()) {
            ready.push(number);
        }
    }
    std::vector<hipGraphNode *> sorted;
    while (!ready.empty()) {
        hipGraphNode *node = nodes[ready.top()].get();
        ready.pop();
        sorted.push_back(node);
        for (const hipGraphNode *next : node->after) {
            const size_t number = numbers[next];
            if (--missing[number] == 0) {
                ready.push(number);
            }
        }
    }
    return sorted;
}

std::shared_ptr<ihipGraph> ihipGraph::clone() const {
    auto copy = std::make_shared<ihipGraph>();
    std::unordered_map<const hipGraphNode *, hipGraphNode *> copies;
    for (const auto &node : nodes) {
        hipGraphNode *made = copy->add(copy_of(node->work), {});
        made->original = node.get();
        made->enabled = node->enabled;
        copies[node.get()] = made;
    }
    for (const auto &node : nodes) {
        for (const hipGraphNode *earlier : node->before) {
            copies[node.get()]->before.push_back(copies[earlier]);
        }
        for (const hipGraphNode *later : node->after) {
            copies[node.get()]->after.push_back(copies[later]);
        }
    }
    for (const auto &[object, count] : objects) {
        retain(object, count);
        copy->objects[object] = count;
    }
    copy->original = this;
    return copy;
}

hipError_t ihipGraph::run() const {
    hipError_t first = hipSuccess;
    for (const hipGraphNode *node : order()) {
        const hipError_t error = node->enabled ? ks::run(node->work) : hipSuccess;
        first = first != hipSuccess ? first : error;
    }
    return first;
}

bool ihipGraph::has_memory_nodes() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const auto &node) {
        return std::holds_alternative<AllocateWork>(node->work) || std::holds_alternative<FreeWork>(node->work);
    });
}

#pragma GCC visibility push(default)
extern "C" {

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
    if (graph == nullptr || flags != 0) {
        return remember(hipErrorInvalidValue);
    }
    auto made = std::make_shared<ihipGraph>();
    *graph = made.get();
    keep_for_program(std::move(made));
    return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
    return owned().remove(graph) ? hipSuccess : remember(hipErrorInvalidValue);
}
hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t graph) {
    if (clone == nullptr || graph == nullptr || !graphs().contains(graph)) {
        return remember(hipErrorInvalidValue);
    }
    if (graph->has_memory_nodes()) {
        return remember(hipErrorNotSupported);
    }
    auto made = graph->clone();
    *clone = made.get();
    keep_for_program(std::move(made));
    return hipSuccess;
}
hipError_t hipGraphNodeFindInClone(hipGraphNode_t *node, hipGraphNode_t original, hipGraph_t clone) {
    if (node == nullptr || original == nullptr || clone == nullptr || !graphs().contains(clone)) {
        return remember(hipErrorInvalidValue);
    }
    for (const auto &mine : clone->nodes) {
        if (mine->original == original) {
            *node = mine.get();
            return hipSuccess;
        }
    }
    return remember(hipErrorInvalidValue);
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                   size_t count) {
    if (!are_edges(graph, from, to, count) || !are_all(false, from, to, count)) {
        return remember(hipErrorInvalidValue);
    }
    for (size_t i = 0; i < count; ++i) {
        from[i]->after.push_back(to[i]);
        to[i]->before.push_back(from[i]);
    }
    return hipSuccess;
}
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                      size_t count) {
    if (!are_edges(graph, from, to, count) || !are_all(true, from, to, count)) {
        return remember(hipErrorInvalidValue);
    }
    for (size_t i = 0; i < count; ++i) {
        erase(from[i]->after, to[i]);
        erase(to[i]->before, from[i]);
    }
    return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *out, size_t *count) {
    if (graph == nullptr || count == nullptr || !graphs().contains(graph)) {
        return remember(hipErrorInvalidValue);
    }
    std::vector<hipGraphNode_t> found;
    for (const auto &node : graph->nodes) {
        found.push_back(node.get());
    }
    return give_list(found, out, count);
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *out, size_t *count) {
    if (graph == nullptr || count == nullptr || !graphs().contains(graph)) {
        return remember(hipErrorInvalidValue);
    }
    std::vector<hipGraphNode_t> found;
    for (const auto &node : graph->nodes) {
        if (node->before.empty()) {
            found.push_back(node.get());
        }
    }
    return give_list(found, out, count);
}
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, size_t *count) {
    if (graph == nullptr || count == nullptr || !graphs().contains(graph) || (from == nullptr) != (to == nullptr)) {
        return remember(hipErrorInvalidValue);
    }
    std::vector<hipGraphNode_t> begins, ends;
    for (const auto &node : graph->nodes) {
        for (hipGraphNode_t next : node->after) {
            begins.push_back(node.get());
            ends.push_back(next);
        }
    }
    size_t same = *count;
    (void)give_list(begins, from, count);
    return give_list(ends, to, &same);
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *out, size_t *count) {
    if (node == nullptr || count == nullptr || !nodes().contains(node)) {
        return remember(hipErrorInvalidValue);
    }
    return give_list(node->before, out, count);
}
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *out, size_t *count) {
    if (node == nullptr || count == nullptr || !nodes().contains(node)) {
        return remember(hipErrorInvalidValue);
    }
    return give_list(node->after, out, count);
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
    if (node == nullptr || type == nullptr || !nodes().contains(node)) {
        return remember(hipErrorInvalidValue);
    }
    *type = type_of(node->work);
    return hipSuccess;
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
    if (node == nullptr || !nodes().contains(node)) {
        return remember(hipErrorInvalidValue);
    }
    if (std::holds_alternative<AllocateWork>(node->work) || std::holds_alternative<FreeWork>(node->work)) {
        return remember(hipErrorNotSupported);
    }
    node->graph->remove(node);
    return hipSuccess;
}
hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned) {
    if (graph == nullptr || path == nullptr || !graphs().contains(graph)) {
        return remember(hipErrorInvalidValue);
    }
    FILE *file = fopen(path, "w");
    if (file == nullptr) {
        return remember(hipErrorOperatingSystem);
    }
    print_dot(file, *graph);
    return fclose(file) == 0 ? hipSuccess : remember(hipErrorOperatingSystem);
}
}
#pragma GCC visibility pop

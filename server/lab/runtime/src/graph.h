// Graphs and their nodes.
#pragma once
#include "handles.h"
#include "work.h"
#include <map>

struct hipGraphNode {
    hipGraphNode(ihipGraph *in, ks::Work what);
    ~hipGraphNode();
    hipGraphNode(const hipGraphNode &) = delete;

    const uint64_t id; ///< unlike its address never another node's
    ihipGraph *graph;
    ks::Work work;
    std::vector<hipGraphNode *> before, after; ///< what it depends on, and what depends on it
    hipGraphNode *original = nullptr;          ///< of which it was cloned
    bool enabled = true;                       ///< whether it does anything at a launch
};

struct ihipGraph {
    ihipGraph();
    ~ihipGraph();
    ihipGraph(const ihipGraph &) = delete;

    hipGraphNode *add(ks::Work work, const std::vector<hipGraphNode *> &before);
    void remove(hipGraphNode *node);
    /// Each node after all that it depends on, else in the order of creation. Shorter than `nodes` if there is a cycle.
    std::vector<hipGraphNode *> order() const;
    std::shared_ptr<ihipGraph> clone() const;
    /// Runs all nodes; the first error.
    hipError_t run() const;
    bool has_memory_nodes() const;

    std::vector<std::unique_ptr<hipGraphNode>> nodes; ///< in the order of their creation
    const ihipGraph *original = nullptr;
    std::map<hipUserObject_t, unsigned> objects; ///< references that the graph holds
    bool instantiated = false;
};

/// A graph that can be launched: a copy, so that the graph it was made of may change.
struct hipGraphExec {
    std::shared_ptr<ihipGraph> graph;
    std::map<uint64_t, hipGraphNode *> copies; ///< by the id of the node, in the graph that it was made of
    unsigned long long flags;
};

namespace ks {

Handles<ihipGraph> &graphs();
Handles<hipGraphNode> &nodes();
Handles<hipGraphExec> &execs();
/// The program owns the graph until hipGraphDestroy.
void keep_for_program(std::shared_ptr<ihipGraph> graph);

/// Adds a node as the API's functions do, checking what they are given.
hipError_t add_node(hipGraphNode_t *out, hipGraph_t graph, const hipGraphNode_t *before, size_t count, Work work);
/// The work of a node of the kind asked for, or null. The second form: in an executable graph, of its copy of the node.
template <class Kind> Kind *work_of(hipGraphNode_t node) {
    return node != nullptr && nodes().contains(node) ? std::get_if<Kind>(&node->work) : nullptr;
}
hipGraphNode_t copy_in(hipGraphExec_t exec, hipGraphNode_t node);
template <class Kind> Kind *work_of(hipGraphExec_t exec, hipGraphNode_t node) {
    return work_of<Kind>(copy_in(exec, node));
}

/// Bytes that graphs' own allocations take have grown by `change`.
void graph_memory_changed(int64_t change);
void retain(hipUserObject_t object, unsigned count);
void release(hipUserObject_t object, unsigned count);

} // namespace ks

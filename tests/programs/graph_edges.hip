// Edges of graphs: a call that cannot do all of its changes does none.
#include "check.h"
#include <algorithm>
#include <set>
#include <utility>

using Edge = std::pair<hipGraphNode_t, hipGraphNode_t>;

static std::set<Edge> edges_of(hipGraph_t graph) {
    size_t count = 0;
    HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
    std::vector<hipGraphNode_t> from(count + 1), to(count + 1);
    if (count > 0) HIP_OK(hipGraphGetEdges(graph, from.data(), to.data(), &count));
    std::set<Edge> edges;
    for (size_t i = 0; i < count; ++i) edges.insert({from[i], to[i]});
    CHECK(edges.size() == count);
    return edges;
}

static hipError_t add(hipGraph_t graph, const std::vector<Edge> &edges) {
    std::vector<hipGraphNode_t> from, to;
    for (const Edge &edge : edges) from.push_back(edge.first), to.push_back(edge.second);
    return hipGraphAddDependencies(graph, from.data(), to.data(), edges.size());
}
static hipError_t remove(hipGraph_t graph, const std::vector<Edge> &edges) {
    std::vector<hipGraphNode_t> from, to;
    for (const Edge &edge : edges) from.push_back(edge.first), to.push_back(edge.second);
    return hipGraphRemoveDependencies(graph, from.data(), to.data(), edges.size());
}

static std::vector<int> order;
template <int number> void note(void *) { order.push_back(number); }

int main() {
    hipGraph_t graph, other;
    HIP_OK(hipGraphCreate(&graph, 0));
    HIP_OK(hipGraphCreate(&other, 0));
    hipGraphNode_t a, b, c, d, stranger;
    hipHostNodeParams params = {note<0>, nullptr};
    HIP_OK(hipGraphAddHostNode(&a, graph, nullptr, 0, &params));
    params.fn = note<1>;
    HIP_OK(hipGraphAddHostNode(&b, graph, nullptr, 0, &params));
    params.fn = note<2>;
    HIP_OK(hipGraphAddHostNode(&c, graph, nullptr, 0, &params));
    params.fn = note<3>;
    HIP_OK(hipGraphAddHostNode(&d, graph, nullptr, 0, &params));
    HIP_OK(hipGraphAddEmptyNode(&stranger, other, nullptr, 0));

    HIP_OK(add(graph, {{d, c}, {c, b}}));
    const std::set<Edge> kept = {{d, c}, {c, b}};
    CHECK(edges_of(graph) == kept);
    // The last of each list cannot be done.
    CHECK(add(graph, {{b, a}, {d, c}}) == hipErrorInvalidValue);
    CHECK(add(graph, {{b, a}, {b, a}}) == hipErrorInvalidValue);
    CHECK(add(graph, {{b, a}, {a, a}}) == hipErrorInvalidValue);
    CHECK(add(graph, {{b, a}, {c, stranger}}) == hipErrorInvalidValue);
    CHECK(add(graph, {{b, a}, {c, nullptr}}) == hipErrorInvalidValue);
    CHECK(edges_of(graph) == kept);
    CHECK(remove(graph, {{d, c}, {b, a}}) == hipErrorInvalidValue);
    CHECK(remove(graph, {{d, c}, {d, c}}) == hipErrorInvalidValue);
    CHECK(remove(graph, {{d, c}, {c, d}}) == hipErrorInvalidValue);
    CHECK(edges_of(graph) == kept);
    size_t count = 9;
    HIP_OK(hipGraphNodeGetDependencies(c, nullptr, &count));
    CHECK(count == 1);
    HIP_OK(hipGraphNodeGetDependentNodes(b, nullptr, &count));
    CHECK(count == 0);

    // What is left is what is run.
    HIP_OK(add(graph, {{b, a}}));
    hipGraphExec_t exec;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(exec, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK((order == std::vector<int>{3, 2, 1, 0}));
    HIP_OK(remove(graph, {{d, c}, {c, b}, {b, a}}));
    CHECK(edges_of(graph).empty());
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
    HIP_OK(hipGraphDestroy(other));
}

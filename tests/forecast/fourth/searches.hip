// Work that the data decide: a step through a graph, and the nearest sphere on a ray.
#include "../third/bench.h"

// ---------------------------------------------------------------- a step of a breadth-first search
typedef unsigned char Byte;
static const int FRONTIER = 3, UNSEEN = 255;

struct Graph {
    const int *begin, *to;
    const Byte *level;
};
/// Marks what a node leads to and is not seen yet; `lane` of `lanes` work-items takes its share.
static __device__ __forceinline__ void expand(Graph g, int node, int lane, int lanes, Byte *__restrict__ next) {
    for (int e = g.begin[node] + lane; e < g.begin[node + 1]; e += lanes) {
        int to = g.to[e];
        if (g.level[to] == UNSEEN) next[to] = 1;
    }
}
__global__ void frontier_nodes(Graph g, Byte *__restrict__ next) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (g.level[node] == FRONTIER) expand(g, node, 0, 1, next);
}
__global__ void frontier_nodes_32(Graph g, Byte *__restrict__ next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (g.level[i / 32] == FRONTIER) expand(g, i / 32, i % 32, 32, next);
}
// A list of the frontier's nodes, LANES work-items for each.
template <int LANES>
__global__ void frontier_list(Graph g, const int *__restrict__ list, int length, Byte *__restrict__ next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / LANES < length) expand(g, list[i / LANES], i % LANES, LANES, next);
}
// The other way round: each node that is not seen yet looks for one that leads to it, and stops at the first.
__global__ void frontier_pull(Graph back, Byte *__restrict__ next) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (back.level[node] != UNSEEN) return;
    for (int e = back.begin[node]; e < back.begin[node + 1]; e++)
        if (back.level[back.to[e]] == FRONTIER) {
            next[node] = 1;
            return;
        }
}
static void frontier_family() {
    if (!wanted("frontier")) return;
    const int n = SIZE(1 << 20, 1 << 11);
    Random random(1);
    std::vector<int> begin(n + 1), to, back_begin(n + 1), list;
    std::vector<Byte> level(n), expected(n);
    for (int v = 0; v < n; v++) {
        unsigned draw = random.below(64), degree = draw == 0 ? 64 + random.below(384) : random.below(9);
        for (unsigned e = 0; e < degree; e++) to.push_back((int)random.below(n));
        begin[v + 1] = (int)to.size();
        unsigned where = random.below(10);
        level[v] = (Byte)(where == 0 ? FRONTIER : where < 4 ? where - 1 : UNSEEN);
        if (where == 0) list.push_back(v);
    }
    for (int t : to) back_begin[t + 1]++;
    for (int v = 0; v < n; v++) back_begin[v + 1] += back_begin[v];
    std::vector<int> place(back_begin.begin(), back_begin.end() - 1), from(to.size());
    for (int v = 0; v < n; v++)
        for (int e = begin[v]; e < begin[v + 1]; e++) {
            from[place[to[e]]++] = v;
            if (level[v] == FRONTIER && level[to[e]] == UNSEEN) expected[to[e]] = 1;
        }
    Device<int> d_begin(begin), d_to(to), d_back_begin(back_begin), d_from(from), d_list(list);
    Device<Byte> d_level(level);
    Output<Byte> next(n, Before::cleared);
    auto check = [&] { return next.host() == expected; };
    Graph g{d_begin, d_to, d_level}, back{d_back_begin, d_from, d_level};
    const int length = (int)list.size();
    dim3 block(256);
    bench("frontier", "nodes", [&] { frontier_nodes<<<dim3(n / 256), block>>>(g, next); }, check);
    bench("frontier", "nodes_32", [&] { frontier_nodes_32<<<dim3(n / 8), block>>>(g, next); }, check);
    bench("frontier", "list", [&] { frontier_list<1><<<dim3(div_up(length, 256)), block>>>(g, d_list, length, next); },
          check);
    bench("frontier", "list_8", [&] { frontier_list<8><<<dim3(div_up(length, 32)), block>>>(g, d_list, length, next); },
          check);
    bench("frontier", "list_32", [&] { frontier_list<32><<<dim3(div_up(length, 8)), block>>>(g, d_list, length, next); },
          check);
    bench("frontier", "pull", [&] { frontier_pull<<<dim3(n / 256), block>>>(back, next); }, check);
}

// ---------------------------------------------------------------- where each ray first meets one of 128 spheres
static const int SPHERES = 128;
static const float NOWHERE = 1e9f;
__constant__ float4 sphere_constants[SPHERES];

struct Ray {
    float ox, oy, oz, dx, dy, dz;
};
/// Rays by component: n of each.
static __device__ __forceinline__ Ray ray_at(const float *__restrict__ rays, int i, int n) {
    return {rays[i], rays[n + i], rays[2 * n + i], rays[3 * n + i], rays[4 * n + i], rays[5 * n + i]};
}
static __device__ __forceinline__ float meet(const Ray &r, float4 s, float nearest) {
    float x = s.x - r.ox, y = s.y - r.oy, z = s.z - r.oz;
    float along = x * r.dx + y * r.dy + z * r.dz;
    float inside = along * along - (x * x + y * y + z * z) + s.w * s.w;
    if (inside > 0) {
        float t = along - sqrtf(inside);
        if (t > 0 && t < nearest) nearest = t;
    }
    return nearest;
}
// The root is taken for all; what does not meet is put away by a selection.
static __device__ __forceinline__ float meet_selected(const Ray &r, float4 s, float nearest) {
    float x = s.x - r.ox, y = s.y - r.oy, z = s.z - r.oz;
    float along = x * r.dx + y * r.dy + z * r.dz;
    float inside = along * along - (x * x + y * y + z * z) + s.w * s.w;
    float t = along - sqrtf(fmaxf(inside, 0.0f));
    return fminf(nearest, inside > 0 && t > 0 ? t : NOWHERE);
}
__global__ void rays_global(const float *__restrict__ rays, const float4 *__restrict__ spheres,
                            float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Ray r = ray_at(rays, i, n);
    float nearest = NOWHERE;
    for (int s = 0; s < SPHERES; s++) nearest = meet(r, spheres[s], nearest);
    out[i] = nearest;
}
// The spheres by component, each with four loads.
__global__ void rays_components(const float *__restrict__ rays, const float *__restrict__ spheres,
                                float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Ray r = ray_at(rays, i, n);
    float nearest = NOWHERE;
    for (int s = 0; s < SPHERES; s++)
        nearest = meet(r, make_float4(spheres[s], spheres[SPHERES + s], spheres[2 * SPHERES + s], spheres[3 * SPHERES + s]),
                       nearest);
    out[i] = nearest;
}
template <bool SELECTED> __global__ void rays_constant(const float *__restrict__ rays, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Ray r = ray_at(rays, i, n);
    float nearest = NOWHERE;
#pragma unroll 4
    for (int s = 0; s < SPHERES; s++)
        nearest = SELECTED ? meet_selected(r, sphere_constants[s], nearest) : meet(r, sphere_constants[s], nearest);
    out[i] = nearest;
}
// RAYS rays a work-item, the spheres in LDS.
template <int RAYS>
__global__ void rays_lds(const float *__restrict__ rays, const float4 *__restrict__ spheres, float *__restrict__ out,
                         int n) {
    __shared__ float4 tile[SPHERES];
    int t = threadIdx.x, i = blockIdx.x * 256 * RAYS + t;
    if (t < SPHERES) tile[t] = spheres[t];
    __syncthreads();
    Ray r[RAYS];
    float nearest[RAYS];
#pragma unroll
    for (int k = 0; k < RAYS; k++) r[k] = ray_at(rays, i + k * 256, n), nearest[k] = NOWHERE;
    for (int s = 0; s < SPHERES; s++) {
        float4 sphere = tile[s];
#pragma unroll
        for (int k = 0; k < RAYS; k++) nearest[k] = meet_selected(r[k], sphere, nearest[k]);
    }
#pragma unroll
    for (int k = 0; k < RAYS; k++) out[i + k * 256] = nearest[k];
}
// 32 work-items for a ray, four spheres each.
__global__ void rays_shared(const float *__restrict__ rays, const float4 *__restrict__ spheres,
                            float *__restrict__ out, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    Ray r = ray_at(rays, i, n);
    float nearest = NOWHERE;
#pragma unroll
    for (int s = lane; s < SPHERES; s += 32) nearest = meet_selected(r, spheres[s], nearest);
#pragma unroll
    for (int by = 16; by > 0; by /= 2) nearest = fminf(nearest, __shfl_xor(nearest, by, 32));
    if (lane == 0) out[i] = nearest;
}
static void rays_family() {
    if (!wanted("spheres")) return;
    const int n = SIZE(1 << 20, 1 << 10);
    Random random(2);
    std::vector<float4> spheres(SPHERES);
    std::vector<float> components(SPHERES * 4), rays((size_t)n * 6);
    for (int s = 0; s < SPHERES; s++) {
        float x = random.uniform(-10, 10), y = random.uniform(-10, 10), z = random.uniform(5, 30);
        spheres[s] = make_float4(x, y, z, random.uniform(0.3f, 1.2f));
        components[s] = x, components[SPHERES + s] = y, components[2 * SPHERES + s] = z;
        components[3 * SPHERES + s] = spheres[s].w;
    }
    for (int i = 0; i < n; i++) {
        float dx = random.uniform(-0.4f, 0.4f), dy = random.uniform(-0.4f, 0.4f);
        float scale = 1 / std::sqrt(1 + dx * dx + dy * dy);
        rays[i] = random.uniform(-1, 1), rays[(size_t)n + i] = random.uniform(-1, 1), rays[2 * (size_t)n + i] = 0;
        rays[3 * (size_t)n + i] = dx * scale, rays[4 * (size_t)n + i] = dy * scale, rays[5 * (size_t)n + i] = scale;
    }
    CK(hipMemcpyToSymbol(HIP_SYMBOL(sphere_constants), spheres.data(), sizeof(float4) * SPHERES));
    Device<float> d_rays(rays), d_components(components);
    Device<float4> d_spheres(spheres);
    Output<float> out(n);
    // A ray that only just meets or misses a sphere may do either: the rounding decides.
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 10000, [&](size_t i) {
            double o[3], d[3], surely = NOWHERE;
            for (int c = 0; c < 3; c++) o[c] = rays[c * (size_t)n + i], d[c] = rays[(c + 3) * (size_t)n + i];
            bool known = got[i] == NOWHERE;
            for (const float4 &s : spheres) {
                double x = s.x - o[0], y = s.y - o[1], z = s.z - o[2], along = x * d[0] + y * d[1] + z * d[2];
                double inside = along * along - (x * x + y * y + z * z) + (double)s.w * s.w;
                if (inside < -1e-3) continue;
                double t = along - std::sqrt(std::max(inside, 0.0));
                if (t <= 0) continue;
                known |= std::fabs(t - got[i]) < (inside < 1e-3 ? 0.1 : 1e-3);
                if (inside > 1e-3) surely = std::min(surely, t);
            }
            return known && got[i] <= surely + 1e-3;
        });
    };
    dim3 grid(n / 256), block(256);
    bench("spheres", "global", [&] { rays_global<<<grid, block>>>(d_rays, d_spheres, out, n); }, check);
    bench("spheres", "components", [&] { rays_components<<<grid, block>>>(d_rays, d_components, out, n); }, check);
    bench("spheres", "constant", [&] { rays_constant<false><<<grid, block>>>(d_rays, out, n); }, check);
    bench("spheres", "constant_selected", [&] { rays_constant<true><<<grid, block>>>(d_rays, out, n); }, check);
    bench("spheres", "lds_four_rays", [&] { rays_lds<4><<<dim3(n / 1024), block>>>(d_rays, d_spheres, out, n); }, check);
    bench("spheres", "shared_rays", [&] { rays_shared<<<dim3(n / 8), block>>>(d_rays, d_spheres, out, n); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    frontier_family();
    rays_family();
    return failed();
}

#!/usr/bin/env python3
"""Counts what functions cost on AMD's devices: instructions of the code that clang generates, times the rate of each.

    counted.py gfx942                       prints the tables
    counted.py gfx942 mi300x.toml ...       says where tables that are kept differ from them; 1 if any does

Needs clang-19, the HIP headers and AMD's device libraries (--device-libraries, where clang does not find them itself).
Each function is compiled in a kernel that loads its arguments and stores its result. Loads, stores, waits for them and
moves of constants, which a loop keeps in registers, do not count; scalar instructions count for the latency alone.
"""
import argparse, re, subprocess, sys, tempfile, tomllib
from pathlib import Path

FLOAT_1 = """sqrtf rsqrtf expf exp2f exp10f expm1f logf log2f log10f log1pf sinf cosf tanf sinpif cospif asinf acosf atanf sinhf coshf
tanhf asinhf acoshf atanhf erff erfcf erfinvf erfcinvf erfcxf normcdff normcdfinvf cbrtf rcbrtf tgammaf lgammaf j0f j1f y0f y1f
cyl_bessel_i0f cyl_bessel_i1f floorf ceilf truncf roundf rintf logbf __expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf
__frsqrt_rn __frcp_rn __fsqrt_rn""".split()
FLOAT_2 = "powf __powf fmodf remainderf atan2f hypotf fdimf fdividef nextafterf rhypotf __fdividef __fdiv_rn".split()
HALF_1 = "exp exp2 exp10 log log2 log10 sin cos sqrt rsqrt floor ceil trunc rint".split()

# Functions whose code has several ways: the one that is taken by ordinary arguments is the shortest ...
SHORTEST = {"sinf": "arguments below 2^17", "sin": "moderate arguments", "powf": "finite values"}
SHORTEST |= dict.fromkeys(["cosf", "tanf", "sincosf"], SHORTEST["sinf"])
SHORTEST |= dict.fromkeys(["cos", "tan", "sincos"], SHORTEST["sin"])
SHORTEST |= dict.fromkeys(["pow", "__powf"], SHORTEST["powf"])
# ... or values of one wave differ, so that it takes both ...
BOTH = "tanhf erff erf asin acos".split()
# ... or there is a loop, of which one turn counts. Of all others half of the code counts, and is called assumed.
LOOP = "fmodf fmod remainderf remainder".split()

QUARTER_RATE = re.compile(r"v_(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)_f(16|32|64)")
CONSTANT = re.compile(r"(v_mov_b32|s_mov_b(32|64))\S* \S+ (0x[0-9a-f]+|-?\d+)$")
UNCOUNTED = re.compile(r"s_waitcnt|s_load_|s_endpgm|(global|flat|scratch|buffer)_")


def functions():
    """Name -> (type of the result, types of the arguments, expression)."""
    found = {name: ("float", ["float"], f"{name}(a)") for name in FLOAT_1}
    found |= {name: ("float", ["float"] * 2, f"{name}(a,b)") for name in FLOAT_2}
    without_suffix = [name[:-1] for name in FLOAT_1 if not name.startswith("__")]
    found |= {name: ("double", ["double"], f"{name}(a)") for name in without_suffix}
    two = [name[:-1] for name in FLOAT_2 if name.endswith("f") and not name.startswith("__") and name != "fdividef"]
    found |= {name: ("double", ["double"] * 2, f"{name}(a,b)") for name in two}
    found |= {f"{name}_f16": ("_Float16", ["_Float16"], f"__ocml_{name}_f16(a)") for name in HALF_1}
    found |= {f"ldexp{end}": (kind, [kind, "int"], f"ldexp{end}(a,b)") for end, kind in (("f", "float"), ("", "double"))}
    found |= {f"powi{end}": (kind, [kind, "int"], f"__ocml_pown_{bits}(a,b)")
              for end, kind, bits in (("f", "float", "f32"), ("", "double", "f64"))}
    found |= {"sincosf": ("float2", ["float"], "two(a)"), "sincos": ("double2", ["double"], "two(a)"),
              "__sincosf": ("float2", ["float"], "two_fast(a)")}
    return found


def source(kernels):
    lines = ["#include <hip/hip_runtime.h>"]
    lines += [f'extern "C" __device__ _Float16 __ocml_{name}_f16(_Float16);' for name in HALF_1]
    lines += ["static __device__ float2 two(float x) { float2 r; sincosf(x, &r.x, &r.y); return r; }",
              "static __device__ double2 two(double x) { double2 r; sincos(x, &r.x, &r.y); return r; }",
              "static __device__ float2 two_fast(float x) { float2 r; __sincosf(x, &r.x, &r.y); return r; }"]
    for number, (result, kinds, expression) in enumerate(kernels.values()):
        parameters = "".join(f", const {kind}* __restrict__ p{at}" for at, kind in enumerate(kinds))
        loads = "".join(f"{kind} {'abcd'[at]} = p{at}[i]; " for at, kind in enumerate(kinds))
        lines.append(f'extern "C" __global__ void k{number}({result}* __restrict__ o{parameters}) '
                     f"{{ int i = threadIdx.x; {loads}o[i] = {expression}; }}")
    return "\n".join(lines) + "\n"


class Block:
    """A stretch of code up to a branch."""

    def __init__(self, name):
        self.name, self.counts, self.jump, self.masks, self.ends, self.calls = name, [0, 0, 0, 0], None, [], False, False

    def add(self, line, first):
        op = line.split()[0]
        instructions, cycles, latency, slow = 0, 0, 0, 0
        if op.startswith("v_"):
            # The offset of the arguments is no part of the function.
            offset = first and re.match(r"v_lshlrev_b32\S* v\d+, \d, v0$", line)
            if not CONSTANT.match(line) and not offset:
                slow = int(bool(QUARTER_RATE.match(op)))
                instructions, cycles = 1, 16 if slow else 4
                latency = cycles
        elif op == "s_nop":
            latency = 4 * (int(line.split()[1]) + 1)
        elif op.startswith("s_") and not UNCOUNTED.match(op) and not CONSTANT.match(line):
            latency = 4
        self.ends |= op == "s_endpgm"
        self.calls |= op == "s_swappc_b64"
        mask = re.match(r"s_(and|andn2|or)_saveexec_b64 (s\[\d+:\d+\])", line)
        if mask:
            self.masks.append((mask[1] == "and", mask[2]))
        if op.startswith("s_cbranch") or op == "s_branch":
            self.jump = (op, line.split()[-1])
        self.counts = [old + new for old, new in zip(self.counts, (instructions, cycles, latency, slow))]


def blocks(body):
    found, waited = [Block("entry")], False
    for line in body.splitlines():
        line = line.split(";")[0].strip()
        if line.startswith(".LBB"):
            found.append(Block(line.rstrip(":")))
        elif line and not line.startswith("."):
            waited |= line.startswith("s_waitcnt vmcnt")
            found[-1].add(line, found[-1].name == "entry" and not waited)
            if found[-1].jump:
                found.append(Block(found[-1].name + "+"))
    return found


def shortest(found):
    """The cheapest way that a wave of equal work-items can take: of two sides of a condition it takes one."""
    place = {block.name: at for at, block in enumerate(found)}
    best = None

    def go(at, seen, taken, counts):
        nonlocal best
        while at < len(found) and at not in seen and (best is None or counts[1] < best[1]):
            block, seen = found[at], seen | {at}
            counts = [old + new for old, new in zip(counts, block.counts)]
            if block.ends:
                best = counts if best is None or counts[1] < best[1] else best
                return
            if block.jump is None:
                at += 1
                continue
            op, target = block.jump
            if op == "s_branch":
                at = place[target]
            elif "exec" in op and block.masks and not block.masks[-1][0] and block.masks[-1][1] in taken:
                at = place[target] if taken[block.masks[-1][1]] else at + 1
            else:
                register = block.masks[-1][1] if "exec" in op and block.masks else None
                go(at + 1, seen, taken | ({register: True} if register else {}), counts)
                taken = taken | ({register: False} if register else {})
                at = place[target]

    go(0, frozenset(), {}, [0, 0, 0, 0])
    return best


def cost(name, found, arch):
    """Cycles, instructions, latency, source."""
    counted = f"counted: {arch} code by clang 19"
    total = [sum(counts) for counts in zip(*(block.counts for block in found))]
    instructions, cycles, latency, slow = total
    if any(block.calls for block in found):
        return 1200, 300, 1300, "assumed: its code calls another function; as long as the longest that were counted"
    if len(found) == 1 or name in BOTH:
        note = "" if len(found) == 1 else ": both ways, as values of a wave differ"
    elif name in SHORTEST:
        instructions, cycles, latency, slow = shortest(found)
        note = f": the way for {SHORTEST[name]}"
    elif name in LOOP:
        note = ": one turn of its loop"
    else:
        half = f"assumed: half of the {arch} code by clang 19, which takes different ways for different arguments"
        return cycles // 2, cycles // 4 // 2, (cycles + cycles // 8) // 2, half
    if slow:
        note += f", {slow} of {instructions} instructions at a quarter of the rate"
    return cycles, instructions, latency, counted + note


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("arch")
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--device-libraries")
    arguments = parser.parse_args()
    kernels = functions()
    with tempfile.TemporaryDirectory() as folder:
        text, assembly = Path(folder, "functions.hip"), Path(folder, "functions.s")
        text.write_text(source(kernels))
        command = ["clang-19", "-x", "hip", "--offload-device-only", f"--offload-arch={arguments.arch}", "-O3", "-S"]
        if arguments.device_libraries:
            command.append(f"--rocm-device-lib-path={arguments.device_libraries}")
        subprocess.run([*command, "-D__HIP_PLATFORM_AMD__", str(text), "-o", str(assembly)], check=True)
        code = assembly.read_text()
    costs = {}
    for number, name in enumerate(kernels):
        body = re.search(rf"^k{number}:.*?\n(.*?)\.section", code, re.S | re.M)[1]
        costs[name] = cost(name, blocks(body), arguments.arch)
    different = 0
    for table in arguments.tables:
        kept = tomllib.loads(table.read_text())["function"]
        for name, (cycles, instructions, latency, origin) in costs.items():
            entry = kept.get(name)
            expected = {"cycles": cycles, "instructions": instructions, "latency": latency, "source": origin}
            if entry is None or any(entry[key] != value for key, value in expected.items()):
                different += 1
                print(f"{table}: {name}: {entry} is kept, {expected} was counted")
    if not arguments.tables:
        for name, (cycles, instructions, latency, origin) in costs.items():
            print(f'[function.{name}]\ncycles = {cycles}\ninstructions = {instructions}\nlatency = {latency}\nsource = "{origin}"\n')
    return int(different > 0)


sys.exit(main())

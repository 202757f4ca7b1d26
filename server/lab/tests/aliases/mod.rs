//! Kernels made at random whose variables have several names: pointers, references, members, captures, macros.
//!
//! None has a race, and none does what C++ leaves open (signed overflow is defined by `-fwrapv`). Other work-items' values are read
//! from `s` and `pairs` between two barriers only; a work-item's own place in them is a variable like any other.

use std::fmt::Write as _;

/// What every kernel may use.
pub const PRELUDE: &str = r"#include <cstdio>
#include <hip/hip_runtime.h>
struct Pair {
    int a;
    int b[2];
    __device__ int sum() const { return a + 3 * b[0] - b[1]; }
    __device__ Pair &grow(int x) { a += x; b[x & 1] ^= x; return *this; }
    __device__ int *place(int k) { return k & 1 ? &a : b; }
};
struct View {
    int *base;
    __device__ int &operator[](int k) const { return base[k & 3]; }
};
struct Ref {
    int &r;
};
__device__ int mix(int x) { return (int)((unsigned)x * 2654435761u >> 9); }
__device__ void bump(int &x, int by) { x += by; }
__device__ int &pick(int &a, int &b, int c) { return c & 1 ? a : b; }
__device__ int *step(int *p) { return p; }
__device__ void put(int *p, int v) { *p += v; }
__device__ Pair made(int x) { return Pair{x, {x ^ 5, x + 7}}; }
__device__ void refill(Pair &p, int v) { p.a = v; p.b[1] -= v; }
template <class T> __device__ T twice(T x) { return x + x; }
template <class F> __device__ int apply(F f, int x) { return f(x) + 1; }
#define ADD(x, y) ((x) += (y))
#define SWAP(x, y) do { int swapped = (x); (x) = (y); (y) = swapped; } while (0)
#define TWICE(x) ((x) + (x))
#define OWN s[t]
constexpr int kSeven = 7;
enum { kFour = 4 };
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `int`, may be changed.
    Int,
    /// `int`, may be read.
    Value,
    /// The same for the block, may be read.
    Uniform,
    /// The same for the block, may be changed where all work-items are.
    Counter,
    Array,
    Grid,
    Pointer,
    Pointers,
    Pair,
    PairPointer,
    View,
    Ref,
}

/// One kernel.
pub struct Generator {
    state: u64,
    text: String,
    count: u32,
    /// What is known, in the order of declaration: the later dies sooner.
    scope: Vec<(String, Kind)>,
    /// Names that are free again.
    dead: Vec<String>,
    returns: u32,
    /// It may hold what no split is made of: called parameters, operators of the file's types.
    wild: bool,
}

impl Generator {
    /// The kernel `name` for this seed.
    pub fn kernel(seed: u64, name: &str) -> String {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let scope = [
            ("t", Kind::Value),
            ("n", Kind::Uniform),
            ("m", Kind::Uniform),
            ("r", Kind::Int),
            ("first", Kind::Int),
            ("second", Kind::Value),
        ];
        let scope = scope.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let mut made = Self { state, text: String::new(), count: 0, scope, dead: Vec::new(), returns: 0, wild: false };
        for _ in 0..20 {
            made.below(2);
        }
        made.wild = made.one_in(8);
        let _ = write!(
            made.text,
            "__global__ void {name}(int *out, int n, int m) {{\n__shared__ int s[64];\n__shared__ Pair pairs[64];\n\
             const int t = threadIdx.x + threadIdx.y * blockDim.x;\nint r = mix(t), first = n, second = m;\ns[t] = t; pairs[t] = made(t);\n"
        );
        for _ in 0..8 + made.below(8) {
            made.statement(3, true, false);
        }
        let sum: String = made.scope.iter().map(|(name, kind)| format!(" * 31 + {}", seen(name, *kind))).collect();
        let _ = writeln!(made.text, "out[blockIdx.x * 64 + t] = r{sum};\n}}");
        made.text
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % limit
    }

    fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    fn any<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    /// A name that is not in use, sometimes one that was before.
    fn name(&mut self) -> String {
        if !self.dead.is_empty() && self.one_in(3) {
            let at = self.below(self.dead.len());
            return self.dead.swap_remove(at);
        }
        self.count += 1;
        format!("v{}", self.count)
    }

    fn declare(&mut self, kind: Kind, make: impl FnOnce(&mut Self, &str) -> String) {
        let name = self.name();
        let text = make(self, &name);
        let _ = writeln!(self.text, "{text};");
        self.scope.push((name, kind));
    }

    fn pick(&mut self, kinds: &[Kind]) -> Option<String> {
        let all: Vec<String> =
            self.scope.iter().filter(|(_, kind)| kinds.contains(kind)).map(|(name, _)| name.clone()).collect();
        (!all.is_empty()).then(|| all[self.below(all.len())].clone())
    }

    fn int(&mut self) -> String {
        self.pick(&[Kind::Int]).unwrap_or_else(|| "r".into())
    }

    /// Something that can be assigned to; it has no side effects.
    fn place(&mut self) -> String {
        let simple = self.int();
        let other = self.int();
        let index = self.value(1);
        let picked = |generator: &mut Self, kind: Kind| generator.pick(&[kind]);
        match self.below(16) {
            0 | 1 => picked(self, Kind::Array).map(|name| format!("{name}[({index}) & 3]")),
            2 => picked(self, Kind::Grid).map(|name| format!("{name}[({index}) & 1][1]")),
            3 | 4 => picked(self, Kind::Pointer).map(|name| format!("*{name}")),
            5 => picked(self, Kind::Pointers).map(|name| format!("*{name}[({index}) & 1]")),
            6 => picked(self, Kind::Pair).map(|name| format!("{name}.a")),
            7 => picked(self, Kind::Pair).map(|name| format!("{name}.b[({index}) & 1]")),
            8 => picked(self, Kind::PairPointer).map(|name| format!("{name}->b[0]")),
            9 => picked(self, Kind::View).map(|name| format!("{name}[{index}]")),
            10 => picked(self, Kind::Ref).map(|name| format!("{name}.r")),
            11 => Some(format!("pick({simple}, {other}, {index})")),
            12 => Some(format!("(({index}) & 1 ? {simple} : {other})")),
            13 => Some(self.any(&["s[t]", "OWN", "pairs[t].a"]).to_owned()),
            _ => None,
        }
        .unwrap_or(simple)
    }

    /// An address of an `int` that is known here.
    fn address(&mut self) -> String {
        let place = self.place();
        let index = self.value(1);
        let found = match self.below(8) {
            0 => self.pick(&[Kind::Array]).map(|name| format!("{name} + (({index}) & 3)")),
            1 => self.pick(&[Kind::Array]),
            2 => self.pick(&[Kind::Pair]).map(|name| format!("{name}.b")),
            3 => self.pick(&[Kind::Pair]).map(|name| format!("{name}.place({index})")),
            4 => self.pick(&[Kind::Pointer]),
            5 => Some(format!("step(&{place})")),
            6 => Some("s + t".into()),
            _ => None,
        };
        found.unwrap_or_else(|| format!("&{place}"))
    }

    /// A value; reading it changes nothing.
    fn value(&mut self, depth: u32) -> String {
        // What is in the headers of loops is mostly left alone, or few kernels would be split.
        let known = match self.below(24) {
            0 => self.pick(&[Kind::Uniform, Kind::Counter]),
            _ => self.pick(&[Kind::Int, Kind::Value]),
        };
        let known = known.unwrap_or_else(|| "t".into());
        if depth == 0 {
            return if self.one_in(3) { (1 + self.below(9)).to_string() } else { known };
        }
        let inner = self.value(depth - 1);
        match self.below(20) {
            0 | 1 => self.one_of_scope(),
            2 => format!("mix({inner})"),
            3 | 4 => format!("({inner} & 1 ? {known} : {})", self.value(depth - 1)),
            5 => format!("TWICE({inner})"),
            6 => "s[t]".into(),
            7 => format!("made({inner}).sum()"),
            8 => format!("[&] {{ return {inner} + {known}; }}()"),
            9 if self.wild => format!("apply([=](int z) {{ return z ^ {known}; }}, {inner})"),
            10 => format!("twice({inner})"),
            11 => format!("({inner} - kSeven)"),
            12 => format!("({known} * kFour)"),
            13 => known,
            _ => format!("({inner} {} {})", self.any(&["+", "-", "^", "&"]), self.value(depth - 1)),
        }
    }

    fn one_of_scope(&mut self) -> String {
        let at = self.below(self.scope.len());
        match self.scope[at].clone() {
            (_, Kind::Uniform) => "second".into(),
            (name, kind) => seen(&name, kind),
        }
    }

    /// A value that is the same for the block.
    fn uniform_value(&mut self) -> String {
        let one = self.pick(&[Kind::Uniform, Kind::Counter]).unwrap_or_else(|| "n".into());
        let other = self.pick(&[Kind::Uniform, Kind::Counter]).unwrap_or_else(|| "m".into());
        match self.below(6) {
            0 => one,
            1 => format!("{one} + {other}"),
            2 => format!("({one} & 1 ? {other} : {})", self.below(5)),
            3 => format!("{one} * {}", 1 + self.below(3)),
            4 => format!("{one} - {other} + (int)blockIdx.x"),
            _ => format!("{one} ^ {}", self.below(4)),
        }
    }

    /// A block of statements between braces; what it declares dies.
    fn block(&mut self, depth: u32, uniform: bool, in_loop: bool) {
        let known = self.scope.len();
        self.statements(depth, uniform, in_loop);
        self.leave(known);
    }

    fn statements(&mut self, depth: u32, uniform: bool, in_loop: bool) {
        for _ in 0..1 + self.below(4) {
            self.statement(depth, uniform, in_loop);
        }
    }

    fn leave(&mut self, known: usize) {
        let gone: Vec<String> = self.scope.drain(known..).map(|(name, _)| name).collect();
        let is_free = |name: &String| name.starts_with('v') && !self.scope.iter().any(|(other, _)| other == name);
        let free: Vec<String> = gone.into_iter().filter(is_free).collect();
        self.dead.extend(free);
    }

    /// With `uniform` all work-items that have not returned come here together.
    fn statement(&mut self, depth: u32, uniform: bool, in_loop: bool) {
        if uniform && self.one_in(2) {
            return self.uniform_statement(depth, in_loop);
        }
        match self.below(12) {
            0..=4 => self.declaration(),
            5 if depth > 0 => self.branch(depth, in_loop && !uniform),
            6 if depth > 0 => self.turns(depth),
            7 if in_loop && !uniform => {
                let (condition, jump) = (self.value(1), self.any(&["break", "continue"]));
                let _ = writeln!(self.text, "if (({condition}) % 5 == 1) {jump};");
            }
            8 if self.returns < 2 && self.one_in(4) => {
                self.returns += 1;
                let (value, who) = (self.value(1), self.below(13));
                let _ = writeln!(self.text, "if (t % 13 == {who}) {{ out[blockIdx.x * 64 + t] = {value}; return; }}");
            }
            9 => self.lambda(),
            _ => self.change(),
        }
    }

    fn declaration(&mut self) {
        let (value, other) = (self.value(2), self.value(1));
        match self.below(16) {
            0 | 1 => self.declare(Kind::Int, |_, name| format!("int {name} = {value}")),
            2 => self.declare(Kind::Value, |made, name| {
                format!("{} {name} = {value}", made.any(&["const int", "const auto", "unsigned short", "auto"]))
            }),
            3 => self.declare(Kind::Array, |_, name| format!("int {name}[4] = {{{value}, {other}}}")),
            4 => self.declare(Kind::Grid, |_, name| format!("int {name}[2][2] = {{{{{value}, {other}}}}}")),
            5 | 6 => self.declare(Kind::Pointer, |made, name| {
                let (ty, address) = (made.any(&["int *", "auto *", "auto ", "int *const "]), made.address());
                format!("{ty}{name} = {address}")
            }),
            7 | 8 => self.declare(Kind::Int, |made, name| {
                let (ty, place) = (made.any(&["int", "auto"]), made.place());
                format!("{ty} &{name} = {place}")
            }),
            9 => self.declare(Kind::Pointers, |made, name| {
                format!("int *{name}[2] = {{{}, {}}}", made.address(), made.address())
            }),
            10 => self.declare(Kind::Pair, |_, name| format!("Pair {name} = made({value})")),
            11 => self.declare(Kind::Pair, |_, name| format!("Pair {name}{{{value}, {{{other}, t}}}}")),
            12 => match self.pick(&[Kind::Pair]) {
                Some(pair) => self.declare(Kind::Pair, |_, name| format!("Pair &{name} = {pair}")),
                None => self.declare(Kind::Pair, |_, name| format!("auto {name} = made({value})")),
            },
            13 => {
                let pair = self.pick(&[Kind::Pair]).unwrap_or_else(|| "pairs[t]".into());
                self.declare(Kind::PairPointer, |_, name| format!("Pair *{name} = &{pair}"));
            }
            14 => match self.pick(&[Kind::Array]) {
                Some(array) if self.wild => self.declare(Kind::View, |_, name| format!("View {name}{{{array}}}")),
                _ => self.declare(Kind::Value, |_, name| format!("const int {name} = {value}")),
            },
            _ => {
                let target = self.int();
                self.declare(Kind::Ref, |_, name| format!("Ref {name}{{{target}}}"));
            }
        }
    }

    /// A statement that changes something.
    fn change(&mut self) {
        let (place, other, value) = (self.place(), self.place(), self.value(2));
        let (one, two) = (self.int(), self.int());
        let operator = self.any(&["=", "+=", "^=", "-="]);
        let text = match self.below(16) {
            0 => format!("bump({place}, {value})"),
            1 => format!("put({}, {value})", self.address()),
            2 => format!("ADD({place}, {value})"),
            3 => format!("SWAP({place}, {other})"),
            4 => format!("{place} {operator} ({value}) & 1 ? {one}++ : --{two}"),
            5 => format!("({value}) & 1 ? void({one} += 3) : bump({two}, {value})"),
            6 => format!("{place} = (({one} += {value}), {two})"),
            7 => match self.pick(&[Kind::Pair]) {
                Some(pair) => format!("{pair}.grow({value}).b[1] {operator} {value}"),
                None => format!("++{place}"),
            },
            8 => match self.pick(&[Kind::Pair]) {
                Some(pair) => format!("refill({pair}, {value})"),
                None => format!("({place})--"),
            },
            9 => match (self.pick(&[Kind::Pair]), self.pick(&[Kind::PairPointer])) {
                (Some(pair), Some(pointer)) => format!("*{pointer} = {pair}"),
                _ => format!("std::swap({one}, {two})"),
            },
            10 => format!("*step(&{one}) {operator} {value}"),
            11 => format!("[&] {{ {one} {operator} {value}; }}()"),
            12 => format!("for (int &e : s) if (&e == &s[t]) e {operator} {value}"),
            _ => format!("{place} {operator} {value}"),
        };
        let _ = writeln!(self.text, "{text};");
    }

    /// A lambda that is called where it is made.
    fn lambda(&mut self) {
        let (name, target, value) = (self.name(), self.int(), self.value(1));
        let capture = match self.below(4) {
            0 => format!("[&{target}, this_one = {value}](int z) {{ {target} += z ^ this_one; return z; }}"),
            1 => format!("[p = &{target}](int z) {{ *p -= z; return *p; }}"),
            2 => format!("[=](int z) mutable {{ z += {value}; return z + t; }}"),
            _ => format!("[&](int z) {{ {target} ^= z + {value}; return {target}; }}"),
        };
        let (result, argument) = (self.place(), self.value(1));
        let _ = writeln!(self.text, "{{ auto {name} = {capture}; {result} = {name}({argument}); }}");
        self.dead.push(name);
    }

    /// A branch that each work-item takes or not.
    fn branch(&mut self, depth: u32, in_loop: bool) {
        let condition = self.value(1);
        if self.one_in(4) {
            let _ = writeln!(self.text, "switch (({condition}) & 3) {{\ncase 0: {{");
            self.block(depth - 1, false, false);
            self.text.push_str("break; }\ncase 1: {\n");
            self.block(depth - 1, false, false);
            self.text.push_str("}\ndefault: {\n");
            self.block(depth - 1, false, false);
            return self.text.push_str("}\n}\n");
        }
        let hidden = self.pick(&[Kind::Int]).filter(|_| self.one_in(4));
        let _ = writeln!(self.text, "if (({condition}) % 3 == 0) {{");
        if let Some(name) = hidden {
            let value = self.value(0);
            let value = if value == name { "t".into() } else { value };
            let _ = writeln!(self.text, "int {name} = {value} + 1; {name} += 2; s[t] ^= {name};");
        }
        self.block(depth - 1, false, in_loop);
        if self.one_in(2) {
            self.text.push_str("} else {\n");
            self.block(depth - 1, false, in_loop);
        }
        self.text.push_str("}\n");
    }

    /// A loop that each work-item takes for itself.
    fn turns(&mut self, depth: u32) {
        let (name, known) = (self.name(), self.scope.len());
        if let Some(array) = self.pick(&[Kind::Array]).filter(|_| self.one_in(3)) {
            let ty = self.any(&["int &", "int", "const int &", "auto &"]);
            let _ = writeln!(self.text, "for ({ty} {name} : {array}) {{");
        } else {
            let head = self.any(&["++", "1 +"]);
            let head = if head == "++" { format!("++{name}") } else { format!("{name} = {name} + 1") };
            let _ = writeln!(self.text, "for (int {name} = 0; {name} < (t & 3); {head}) {{");
        }
        self.scope.push((name, Kind::Value));
        self.block(depth - 1, false, true);
        self.leave(known);
        self.text.push_str("}\n");
    }

    fn uniform_statement(&mut self, depth: u32, in_loop: bool) {
        match self.below(10) {
            0 | 1 if depth > 0 => self.uniform_loop(depth),
            2 if depth > 0 => {
                let condition = self.uniform_value();
                let _ = writeln!(self.text, "if ({condition} > {}) {{", self.count % 5);
                self.block(depth - 1, true, in_loop);
                if self.one_in(2) {
                    self.text.push_str("} else {\n");
                    self.block(depth - 1, true, in_loop);
                }
                self.text.push_str("}\n");
            }
            3 if depth > 0 => {
                let known = self.scope.len();
                self.text.push_str("{\n");
                self.statements(depth - 1, true, in_loop);
                self.exchange();
                self.leave(known);
                self.text.push_str("}\n");
            }
            4 => {
                let value = self.uniform_value();
                self.declare(Kind::Counter, |made, name| format!("{} {name} = {value}", made.any(&["int", "auto"])));
            }
            5 => {
                let value = self.uniform_value();
                if let Some(name) = self.pick(&[Kind::Counter]) {
                    let _ = writeln!(self.text, "{name} = ({value}) & 15;");
                }
            }
            6 if in_loop => {
                let (condition, jump) = (self.uniform_value(), self.any(&["break", "continue"]));
                let _ = writeln!(self.text, "if ({condition} == {}) {jump};", self.count % 4);
            }
            _ => self.exchange(),
        }
    }

    /// Values of other work-items.
    fn exchange(&mut self) {
        let (value, offset, name) = (self.value(1), self.value(1), self.name());
        let lines = match self.below(6) {
            0 => format!("s[t] = {value};\n__syncthreads();\nint {name} = s[(t + ({offset})) & 63];"),
            1 => format!("int {name};\ns[t] ^= {value};\n__syncthreads();\n{name} = s[63 - t];"),
            2 => format!(
                "int *slots_{name}[2] = {{&s[t], &s[(t + 5) & 63]}};\n*slots_{name}[0] = {value};\n__syncthreads();\n\
                 int {name} = *slots_{name}[1];"
            ),
            3 => format!("pairs[t] = made({value});\n__syncthreads();\nint {name} = pairs[(t * 3) & 63].sum();"),
            4 => format!("int &slot_{name} = s[t];\nslot_{name} += {value};\n__syncthreads();\nint {name} = s[t ^ 1];"),
            _ => format!(
                "int *slot_{name} = s;\nslot_{name} += t;\n*slot_{name} -= {value};\n__syncthreads();\n\
                 int {name} = s[(({offset}) & 63)];"
            ),
        };
        let _ = writeln!(self.text, "{lines}\n__syncthreads();");
        self.scope.push((name, Kind::Int));
    }

    fn uniform_loop(&mut self, depth: u32) {
        let (name, other, known) = (self.name(), self.name(), self.scope.len());
        let bound = self.any(&["n", "m", "3", "n + 1"]);
        let step = 1 + self.below(2);
        let mut close = "}\n".to_owned();
        let head = match self.below(6) {
            0 => format!("int {name} = 0;\nwhile ({name} < {bound}) {{\n{name} += {step};"),
            1 => format!("for (int {name} = {bound}; {name} > 0; {name} -= {step}) {{"),
            2 => {
                self.scope.push((other.clone(), Kind::Uniform));
                format!("for (int {name} = 0, {other} = {bound}; {name} < {other}; ++{name}, --{other}) {{")
            }
            3 => {
                close = format!("}} while ({name} < {bound});\n");
                format!("int {name} = 0;\ndo {{\n{name} += {step};")
            }
            _ => format!("for (int {name} = 0; {name} < {bound}; {name} += {step}) {{"),
        };
        let _ = writeln!(self.text, "{head}\nconst int copy_{name} = {name};");
        self.scope.extend([(name.clone(), Kind::Uniform), (format!("copy_{name}"), Kind::Value)]);
        self.statements(depth - 1, true, true);
        self.exchange();
        self.leave(known);
        self.text.push_str(&close);
        // `while` and `do` leave their counter behind; nothing uses that name again.
        self.dead.clear();
    }
}

/// The value of a variable of that kind.
fn seen(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Int | Kind::Value | Kind::Uniform | Kind::Counter => name.to_owned(),
        Kind::Array => format!("({name}[0] - {name}[3])"),
        Kind::Grid => format!("({name}[0][1] - {name}[1][1])"),
        Kind::Pointer => format!("*{name}"),
        Kind::Pointers => format!("(*{name}[0] ^ *{name}[1])"),
        Kind::Pair => format!("{name}.sum()"),
        Kind::PairPointer => format!("{name}->sum()"),
        Kind::View => format!("{name}[2]"),
        Kind::Ref => format!("{name}.r"),
    }
}

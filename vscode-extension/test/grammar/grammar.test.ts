// The HIP grammar on top of the editor's own C++ grammar: the words of HIP have their scopes wherever they stand, comments and strings
// keep theirs, and what is C++ stays what it is in C++.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { suite, test } from "node:test";
import * as oniguruma from "vscode-oniguruma";
import * as textmate from "vscode-textmate";

const require = createRequire(`${process.cwd()}/package.json`);

async function grammar(scope: string): Promise<textmate.IGrammar> {
  await loaded;
  const files: Record<string, string> = {
    "source.hip": "syntaxes/hip.tmLanguage.json",
    "source.cpp": require.resolve("tm-grammars/grammars/cpp.json"),
    "source.c": require.resolve("tm-grammars/grammars/c.json"),
    "source.cpp.embedded.macro": require.resolve("tm-grammars/grammars/cpp-macro.json"),
  };
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({ createOnigScanner: (sources) => new oniguruma.OnigScanner(sources), createOnigString: (text) => new oniguruma.OnigString(text) }),
    loadGrammar: (name) => {
      const file = files[name];
      return Promise.resolve(file === undefined ? null : textmate.parseRawGrammar(readFileSync(file, "utf8"), file));
    },
  });
  const found = await registry.loadGrammar(scope);
  assert.ok(found !== null, `${scope} cannot be read`);
  return found;
}

const loaded = oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));

interface Token {
  line: number;
  text: string;
  scopes: string[];
}

async function tokens(scope: string, text: string): Promise<Token[]> {
  const found = await grammar(scope);
  let stack = textmate.INITIAL;
  return text.split("\n").flatMap((line, index) => {
    const { tokens, ruleStack } = found.tokenizeLine(line, stack);
    stack = ruleStack;
    return tokens.map(({ startIndex, endIndex, scopes }) => ({ line: index + 1, text: line.slice(startIndex, endIndex), scopes }));
  });
}

const SAMPLE = readFileSync("test/grammar/sample.hip", "utf8");

void suite("the HIP grammar", () => {
  void test("the words of HIP have their scopes", async () => {
    const found = await tokens("source.hip", SAMPLE);
    const check = (line: number, word: string, scope: string): void => {
      const here = found.filter((token) => token.line === line && token.text.trim() === word);
      assert.ok(here.length > 0, `line ${line}: no token ${word} in ${found.filter((token) => token.line === line).map(({ text }) => text).join("|")}`);
      for (const token of here) assert.equal(token.scopes.at(-1), scope, `line ${line}: ${word}: ${token.scopes.join(" ")}`);
    };
    const line = (text: string): number => SAMPLE.split("\n").findIndex((line) => line.includes(text)) + 1;
    check(line("void scale"), "__global__", "storage.modifier.function.hip");
    check(line("void scale"), "__launch_bounds__", "storage.modifier.hip");
    check(line("void scale"), "__restrict__", "storage.modifier.hip");
    check(line("float tile"), "__shared__", "storage.modifier.memory.hip");
    check(line("char dynamic"), "__shared__", "storage.modifier.memory.hip");
    check(line("int i = blockIdx"), "threadIdx", "variable.language.index.hip");
    check(line("int i = blockIdx"), "x", "variable.other.property.cpp");
    check(line("__syncthreads"), "__syncthreads", "keyword.control.barrier.hip");
    check(line("__shfl_down"), "__shfl_down", "support.function.intrinsic.hip");
    check(line("make_float4"), "float4", "support.type.vector.hip");
    check(line("mfma"), "__builtin_amdgcn_mfma_f32_32x32x8f16", "support.function.builtin.amdgcn.hip");
    check(line("atomicAdd"), "atomicAdd", "support.function.intrinsic.atomic.hip");
    check(line("atomicAdd"), "warpSize", "variable.language.warp-size.hip");
    check(line("square(float"), "__device__", "storage.modifier.function.hip");
    check(line("hipMalloc"), "hipError_t", "support.type.hip");
    check(line("hipMalloc"), "hipMalloc", "support.function.hip");
    check(line("hipSuccess"), "hipSuccess", "support.constant.hip");
    check(line("hipMemcpy("), "hipMemcpyDeviceToDevice", "support.constant.hip");
    check(line("scale<float"), "<<<", "punctuation.section.launch.begin.hip");
    check(line("scale<float"), ">>>", "punctuation.section.launch.end.hip");
    check(line("scale<float"), "dim3", "support.type.hip");
    check(line("plain<<<"), "plain", "entity.name.function.call.launch.hip");
    check(line("plain<<<"), ">>>", "punctuation.section.launch.end.hip");
    check(line("hipLaunchKernelGGL"), "hipLaunchKernelGGL", "support.function.launch.hip");
  });

  void test("comments and strings hold no words of HIP", async () => {
    const found = await tokens("source.hip", SAMPLE);
    const inside = found.filter(({ scopes }) => scopes.some((scope) => scope.startsWith("comment") || scope.startsWith("string")));
    assert.ok(inside.some(({ text }) => text.includes("__global__")) && inside.some(({ text }) => text.includes("__shared__")));
    for (const { text, scopes } of inside) assert.ok(!scopes.some((scope) => scope.endsWith(".hip") && scope !== "source.hip"), `${text}: ${scopes.join(" ")}`);
  });

  void test("C++ without words of HIP is what it is in C++", async () => {
    const text = "#include <vector>\n// note\nnamespace a { template <class T> struct B : C<T> { int x = 1 >> 2; void f() const { return g(x << 3, \"s\"); } }; }\n";
    const own = (scopes: string[]): string[] => scopes.map((scope) => (scope === "source.hip" ? "source.cpp" : scope));
    const [hip, cpp] = await Promise.all([tokens("source.hip", text), tokens("source.cpp", text)]);
    assert.deepEqual(hip.map((token) => ({ ...token, scopes: own(token.scopes) })), cpp);
  });

  void test("a launch does not swallow what comes after it", async () => {
    const found = await tokens("source.hip", SAMPLE);
    const last = found.filter(({ text }) => text === "return").at(-1);
    assert.equal(last?.scopes.at(-1), "keyword.control.return.cpp");
    const loop = found.find(({ text }) => text === "for");
    assert.equal(loop?.scopes.at(-1), "keyword.control.for.cpp");
  });
});

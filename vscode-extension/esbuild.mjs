// Bundles the extension and the panel's page: `node esbuild.mjs [--watch | --tests]`.
// The bundles together stay under one megabyte, which is part of what an editor waits for at the start.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import esbuild from "esbuild";

const LIMIT_BYTES = 1_000_000;

const host = {
  entryPoints: { extension: "src/extension.ts" },
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  outdir: "dist",
  minify: true,
  // Names of functions and classes stay: they are what a stack trace in a report says.
  keepNames: true,
  legalComments: "none",
};
const page = {
  entryPoints: { panel: "src/panel/webview/main.tsx" },
  jsx: "automatic",
  jsxImportSource: "preact",
  bundle: true,
  platform: "browser",
  target: "es2022",
  format: "iife",
  outdir: "dist",
  minify: true,
  legalComments: "none",
};
const bundles = existsSync("src/panel/webview/main.tsx") ? [host, page] : [host];

if (process.argv.includes("--tests")) {
  rmSync("target/unit", { recursive: true, force: true });
  // Only pure parts are tested here: what needs the editor's API is tested in the editor.
  await esbuild.build({
    ...host,
    entryPoints: readdirSync("test", { recursive: true }).filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`),
    outdir: "target/unit",
    entryNames: "[name]",
    minify: false,
    // What is sent to a page to run there can use nothing of ours.
    keepNames: false,
    sourcemap: "inline",
    external: ["playwright-core", "vscode-oniguruma", "vscode-textmate"],
    alias: { vscode: "./test/noEditor.ts" },
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "error",
  });
} else if (process.argv.includes("--watch")) {
  for (const bundle of bundles) await (await esbuild.context({ ...bundle, minify: false, sourcemap: true })).watch();
} else {
  rmSync("dist", { recursive: true, force: true });
  for (const bundle of bundles) await esbuild.build(bundle);
  const sizes = readdirSync("dist").map((name) => ({ file: `dist/${name}`, bytes: statSync(`dist/${name}`).size }));
  for (const { file, bytes } of sizes) console.log(`${file}: ${(bytes / 1000).toFixed(0)} kB`);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > LIMIT_BYTES) {
    console.error(`The bundles have ${total} bytes together; ${LIMIT_BYTES} is the limit.`);
    process.exit(1);
  }
}

// Makes the package: `node package.mjs [--server PROGRAM] [--out FILE]`. Nothing is downloaded.
// With a server's program the package is for this machine's platform and carries it; without one it looks for it on the PATH.
import { spawnSync } from "node:child_process";
import { cpSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { server: { type: "string" }, out: { type: "string", default: "kernel-scientist.vsix" } } });
const platform = `${process.platform}-${process.arch}`;

rmSync("bin", { recursive: true, force: true });
if (values.server !== undefined) {
  const program = process.platform === "win32" ? "kernel-scientist.exe" : "kernel-scientist";
  mkdirSync(`bin/${platform}`, { recursive: true });
  copyFileSync(values.server, `bin/${platform}/${program}`);
  // Debug information is for who builds it.
  spawnSync("strip", [`bin/${platform}/${program}`]);
}
for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(`../${licence}`, licence);
// What the repository has once is not kept twice.
cpSync("../schemas", "schemas", { recursive: true });
mkdirSync("sample", { recursive: true });
for (const file of ["transpose.hip", "transpose.bench.toml"]) cpSync(`../demo/${file}`, `sample/${file}`);

run("node", ["esbuild.mjs"]);
const target = values.server === undefined ? [] : ["--target", platform];
run("node", ["node_modules/@vscode/vsce/vsce", "package", "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", "--skip-license", ...target, "--out", values.out]);

function run(program, args) {
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

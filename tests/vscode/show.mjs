// Opens the extension on copies of the demo's kernels in Visual Studio Code in the browser, until it is interrupted.
// Usage: show.mjs PACKAGE [PORT]
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { EDITORS, ROOT, startHost } from "./host.mjs";

const [, , file, port] = process.argv;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kernel-scientist-demo-"));
fs.cpSync(path.join(ROOT, "demo"), folder, { recursive: true });
for (const name of fs.readdirSync(folder).filter((name) => name.endsWith(".toml"))) {
  // The schema lies elsewhere now, and the extension brings it.
  const text = fs.readFileSync(path.join(folder, name), "utf8");
  fs.writeFileSync(path.join(folder, name), text.replace(/^#:schema .*\n/, ""));
}
const host = await startHost({ editor: EDITORS.recent, folder, packages: [path.resolve(file)], port: Number(port ?? 8137) });
console.log(`Open ${host.url([path.join(folder, "transpose.hip")])}\nin a browser. The kernels are copies in ${folder}. Ctrl-C ends it.`);

let isEnding = false;
const end = async () => {
  // Who is impatient sends a second one.
  if (isEnding) return;
  isEnding = true;
  await host.stop();
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(0);
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);

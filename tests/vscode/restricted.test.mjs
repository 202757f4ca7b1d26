// A folder that is not trusted, and a package without a server that can be started.
import assert from "node:assert/strict";
import { test } from "node:test";
import { within, workspace } from "./editor.mjs";
import { below } from "./host.mjs";

test("in a folder that is not trusted kernels are shown, and nothing is built, run or sent", async () => {
  await within({ folder: workspace(), files: ["transpose.hip"], trusts: false }, "not trusted", async (window) => {
    await window.lens("Time").waitFor();
    await window.lens("Time").click();
    await window.message("not trusted, so nothing in it is built, run or sent to a model").waitFor();
    await window.picture("14 not trusted");
    const [server] = window.servers();
    assert.deepEqual(below(server.pid), []);
    assert.equal(await window.line("forecast").count(), 0);
    // Once the user trusts it, all is there without a restart.
    await window.press("not trusted", "Manage Workspace Trust");
    await window.page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).first().click();
    await window.command("View: Close Editor");
    await window.line("forecast").waitFor();
    assert.deepEqual(window.servers().map(({ pid }) => pid), [server.pid]);
  });
});

test("a server that cannot be started is told with the way to the setting, once", async () => {
  const settings = { "kernelScientist.server.path": "/nowhere/kernel-scientist" };
  await within({ folder: workspace(), files: ["transpose.hip"], settings }, "no server", async (window) => {
    await window.message("cannot be started: the setting kernelScientist.server.path names /nowhere/kernel-scientist").waitFor();
    assert.equal(await window.page.locator(".notification-toast").count(), 1);
    await window.pictures("15 no server");
    await window.press("cannot be started", "Open Setting");
    await window.page.locator(".settings-editor", { hasText: "Server: Path" }).waitFor();
    assert.deepEqual(window.servers(), []);
  });
});

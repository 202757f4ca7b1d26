// A sample is opened: lenses and hints are there, Time brings a figure, hovering shows its history.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, workspace } from "./editor.mjs";

let window;
before(async () => {
  window = await open({ folder: workspace(), files: ["transpose.hip"] });
});
after(async () => {
  const { errors, left, outside } = await window.close();
  assert.deepEqual({ errors, left, outside }, { errors: [], left: [], outside: [] });
});

const see = (name, steps) => test(name, () => window.test(name, steps));

see("lenses stand over the kernel", async () => {
  for (const title of ["Time", "Suggest", "Evolve"]) await window.lens(title).waitFor();
  await window.picture("lenses");
});

see("Time brings a figure", async () => {
  await window.lens("Time").click();
  await window.line("forecast").waitFor();
  await window.picture("time");
});

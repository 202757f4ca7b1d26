// Times of all kernels of a file.

import type { Client } from "../client";
import { Commands, type FileKernels, Methods, type Plan } from "../protocol";
import type { Target } from "./target";

/** Times all kernels of a file: in one run where a program or a benchmark file feeds them, else each for itself. */
export async function timeAll(client: Client, target: Target): Promise<void> {
  const [file] = await client.request<FileKernels[]>(Methods.kernels, { uris: [target.uri] });
  const kernels = [...new Set(file?.kernels.map(({ name }) => name))];
  // A signature feeds one kernel alone.
  if (kernels.length < 2 || file?.has_benchmark === true || (await client.request<Plan>(Methods.plan, target)).fed_by !== "signature") {
    await client.execute(Commands.time, target);
    return;
  }
  await Promise.all(kernels.map((kernel) => client.execute(Commands.time, { uri: target.uri, kernel })));
}

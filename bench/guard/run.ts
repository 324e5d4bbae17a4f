/** `npm run bench -- guard`: fails if a figure that noise hardly moves exceeds its committed limit. See ../README.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Harness } from "../load/harness.ts";
import { measureHeap } from "../machine/measure-heap.ts";
import { runProgram } from "../machine/run-program.ts";
import { startWithLimits } from "../targets/gateway.ts";
import { type Accepted, acceptFigures, type Figures, findLosses, renderFigures } from "./compare.ts";
import { measureMemory } from "./measure-memory.ts";
import { measureSize } from "./measure-size.ts";
import { measureStartWork } from "./measure-start-work.ts";
import { measureWork } from "./measure-work.ts";

/** Small requests between the two readings of live memory. */
const SLOPE_REQUESTS = 200_000;
const LIMITS = join(import.meta.dir, "limits.json");

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { accept: { type: "boolean", default: false } } });
  const figures = await measure();
  if (values.accept) {
    const accepted = acceptFigures(figures, new Date().toISOString().slice(0, 10));
    await Bun.write(LIMITS, `${JSON.stringify(accepted, null, 2)}\n`);
  }
  const accepted = JSON.parse(readFileSync(LIMITS, "utf8")) as Accepted;
  console.log(renderFigures(figures, accepted));
  const losses = findLosses(figures, accepted);
  if (losses.length === 0) return;
  throw new Error(
    `Too much: ${losses.join(", ")}. If the loss is worth it: npm run bench -- guard --accept, with the reason in the commit.`,
  );
}

async function measure(): Promise<Figures> {
  const harness = await Harness.start();
  const heap = await measureHeap(harness, (environment) =>
    startWithLimits(harness.upstreamPort, environment),
  );
  const figures = {
    "allocated.small": heap.small,
    "allocated.stream": heap.stream,
    ...(await measureMemory(harness, SLOPE_REQUESTS)),
    ...(await measureWork(harness)),
    ...(await measureStartWork()),
    ...measureSize(),
  };
  await harness.stop();
  return figures;
}

await runProgram(main);

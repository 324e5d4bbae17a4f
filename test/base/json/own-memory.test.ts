import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { fields, LEAF, memberOf, scanJson, stringOf } from "../../../src/base/json/scan.ts";

const BODIES = 500;
const BODY_BYTES = 20_000;
const SHAPE = fields({ model: LEAF });

/** Reads one value of a body to which nothing refers afterwards. */
function readModel(number: number): string | undefined {
  const body = JSON.stringify({ model: `vendor/model-${number}`, padding: "x".repeat(BODY_BYTES) });
  const text = Buffer.from(body).toString("latin1");
  return stringOf(text, memberOf(scanJson(text, SHAPE), "model"));
}

/** Returns the bytes of texts and buffers that are in use. */
function readBytesInUse(): number {
  Bun.gc(true);
  return heapStats().extraMemorySize;
}

test("a value that is read from a large body does not keep the whole body in memory", () => {
  const before = readBytesInUse();
  const models = Array.from({ length: BODIES }, (_, number) => readModel(number));
  const kept = readBytesInUse() - before;
  expect(models.at(-1)).toBe(`vendor/model-${BODIES - 1}`);
  // All bodies together are ten times as large.
  expect(kept).toBeLessThan((BODIES * BODY_BYTES) / 10);
});

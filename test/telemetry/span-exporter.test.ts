import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { encodeOrigin } from "../../src/telemetry/otlp/json.ts";
import { SpanExporter } from "../../src/telemetry/otlp/span-exporter.ts";
import { TextBuffer } from "../../src/telemetry/otlp/text-buffer.ts";

import { waitFor } from "../support/event-loop.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const BATCH_SPANS = 512;
const MAX_WAITING_SPANS = 8_192;

/** A collector that answers once the test releases it. */
function startSlowCollector() {
  const released = Promise.withResolvers<void>();
  const names: string[][] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { resourceSpans } = (await request.json()) as {
        resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
      };
      names.push((resourceSpans[0]?.scopeSpans[0]?.spans ?? []).map(({ name }) => name));
      await released.promise;
      return Response.json({});
    },
  });
  return { server, names, release: released.resolve };
}

describe("an exporter of spans", () => {
  let collector: ReturnType<typeof startSlowCollector>;
  let clock: TestClock;
  let exporter: SpanExporter;
  let counts: { taken: number; dropped: number };
  beforeEach(() => {
    collector = startSlowCollector();
    clock = createTestClock();
    counts = { taken: 0, dropped: 0 };
    const url = `http://127.0.0.1:${collector.server.port}/v1/traces`;
    exporter = new SpanExporter(
      {
        settings: { url, headers: {}, timeoutMs: 60_000, isGzipped: false },
        clock,
        random: createSystemRandom(),
        stopped: new AbortController().signal,
      },
      encodeOrigin({ "service.name": "é" }, "1"),
      {
        onTaken(count) {
          counts.taken += count;
        },
        onDropped(count) {
          counts.dropped += count;
        },
      },
    );
  });
  afterEach(() => collector.server.stop(true));

  const addMany = (count: number, name = "ü".repeat(100)) => {
    for (let index = 0; index < count; index++) exporter.add(JSON.stringify({ name }), 1);
  };

  test("drops and counts spans beyond its bound while a post is under way, and sends all others in order", async () => {
    addMany(BATCH_SPANS, "first");
    await waitFor(() => (collector.names.length === 1 ? true : null));
    addMany(MAX_WAITING_SPANS - 1, "later");
    exporter.add('{"name":"x"},{"name":"x"}', 2);
    exporter.add('{"name":"last"}', 1);
    expect(counts).toEqual({ taken: 0, dropped: 2 });
    collector.release();
    await exporter.flush();
    await waitFor(() => (counts.taken === BATCH_SPANS + MAX_WAITING_SPANS ? true : null));
    expect(counts.dropped).toBe(2);
    expect(collector.names.map((names) => names.length)).toEqual(Array(17).fill(BATCH_SPANS));
    expect(collector.names[0]?.[0]).toBe("first");
    expect(collector.names.at(-1)?.at(-1)).toBe("last");
  });

  test("sends few spans after five seconds, also those that were added during a post", async () => {
    collector.release();
    addMany(1, "a");
    clock.advance(5_000);
    addMany(1, "b");
    await waitFor(() => (counts.taken === 1 ? true : null));
    clock.advance(5_000);
    await waitFor(() => (counts.taken === 2 ? true : null));
    expect(collector.names).toEqual([["a"], ["b"]]);
  });
});

describe("a text buffer", () => {
  test("grows, and has every character of the texts", () => {
    const buffer = new TextBuffer(1);
    const texts = ["a", "é", "", "漢".repeat(1_000), "😀", "z".repeat(5_000)];
    for (const text of texts) buffer.append(text);
    expect(buffer.read().toString()).toBe(texts.join(""));
  });
});

import { describe, expect, test } from "bun:test";
import { nextTurn } from "../../src/base/time/next-turn.ts";
import { ShadowTraffic } from "../../src/core/extensions/shadow/shadow-traffic.ts";
import type { GenerationCall } from "../../src/core/generation/call/call.ts";
import type { AdmittedGeneration, ExtensionPoints } from "../../src/core/generation/call/extension.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createTestClock } from "../support/test-clock.ts";

function start(seed = 1) {
  const seeded = createSeededRandom(seed);
  const calls: GenerationCall[] = [];
  const lines: string[] = [];
  const random = { bytes: (length: number) => Uint8Array.from({ length }, () => seeded.below(256)) };
  const traffic = new ShadowTraffic({
    clock: createTestClock(),
    random,
    log: { warn: (event: string) => lines.push(event) },
    findPayer: () => ({ account: {}, key: {} }) as never,
    generate: (call) => {
      calls.push(call);
      return new Promise(() => {});
    },
  });
  return { traffic, calls, lines };
}

const BODY = Buffer.from('{"model":"trial","messages":[{"role":"user","content":"Hi"}],"models":["b"]}');

/** Returns a body of exactly this many bytes. */
function bodyOf(bytes: number): Buffer {
  const begin = '{"model":"trial","messages":[{"role":"user","content":"';
  const end = '"}]}';
  return Buffer.from(begin + "x".repeat(bytes - begin.length - end.length) + end);
}

/** The request at the gate. */
const GATED = { readBody: () => BODY, readAppliedBody: () => BODY };

function generationOf(share: number, id = "gen_1"): AdmittedGeneration {
  const call = {
    requestId: "req",
    principal: { kind: "anonymous" },
    request: { api: "chat.completions", isText: { body: true, answer: true } },
    route: "/",
  };
  const shadow = { model: "acme/shadow", share };
  return { id, call, shadow, zeroRetention: false, namedRoutes: [] } as never;
}

/** Lets a generation answer. */
async function answer(points: ExtensionPoints | null): Promise<void> {
  await points?.beforeRoute?.(GATED);
  points?.onText?.(new Uint8Array(1));
  points?.onText?.(new Uint8Array(1));
  points?.onSettled?.({} as never, null);
  await nextTurn();
  await nextTurn();
}

describe("shadow traffic", () => {
  test("copies the share of requests that it is to copy", () => {
    const { traffic } = start();
    const count = 20_000;
    let copied = 0;
    for (let at = 0; at < count; at++) if (traffic.attach(generationOf(0.1)) !== null) copied += 1;
    expect(Math.abs(copied - count * 0.1)).toBeLessThan(5 * Math.sqrt(count * 0.1 * 0.9));
  });

  test("takes no part in a generation without a shadow", () => {
    const { traffic } = start();
    expect(traffic.attach({ ...generationOf(1), shadow: null })).toBeNull();
  });

  test("sends one copy when the answer begins, for the shadow's model and without fallbacks", async () => {
    const { traffic, calls } = start();
    const points = traffic.attach(generationOf(1));
    await points?.beforeRoute?.(GATED);
    expect(calls).toHaveLength(0);
    await answer(points);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      shadowOf: "gen_1",
      requestId: "req",
      request: { model: "acme/shadow", fallbackModels: [] },
    });
  });

  test("sends nothing if there is no answer", async () => {
    const { traffic, calls } = start();
    const points = traffic.attach(generationOf(1));
    await points?.beforeRoute?.(GATED);
    points?.onSettled?.({} as never, null);
    points?.onText?.(new Uint8Array(1));
    await nextTurn();
    expect(calls).toHaveLength(0);
  });

  test("runs at most 32 copies, counts those that it drops, and warns once", async () => {
    const { traffic, calls, lines } = start();
    for (let at = 0; at < 40; at++) await answer(traffic.attach(generationOf(1, `gen_${at}`)));
    expect(calls).toHaveLength(32);
    expect(traffic.counts).toEqual({ sent: 32, dropped: 8 });
    expect(lines).toHaveLength(1);
  });

  test("drops copies of answers that begin while too many run", async () => {
    const { traffic, calls } = start();
    const waiting = Array.from({ length: 40 }, () => traffic.attach(generationOf(1)));
    for (const points of waiting) await answer(points);
    expect(calls).toHaveLength(32);
    expect(traffic.counts.dropped).toBe(8);
  });

  test("keeps up to 64 MiB of bodies, and has room again when an answer has ended", async () => {
    const { traffic, calls } = start();
    const most = { ...GATED, readAppliedBody: () => bodyOf(64 * 1024 * 1024) };
    for (const id of ["gen_1", "gen_2"]) {
      const first = traffic.attach(generationOf(1, id));
      await first?.beforeRoute?.(most);
      await answer(traffic.attach(generationOf(1)));
      // It has failed before its answer began.
      first?.onSettled?.({} as never, null);
    }
    expect(calls).toEqual([]);
    expect(traffic.counts).toEqual({ sent: 0, dropped: 2 });
    await answer(traffic.attach(generationOf(1)));
    expect(traffic.counts).toEqual({ sent: 1, dropped: 2 });
  });

  test("copies no body of more than 64 MiB", async () => {
    const { traffic } = start();
    const points = traffic.attach(generationOf(1));
    await points?.beforeRoute?.({ ...GATED, readAppliedBody: () => bodyOf(64 * 1024 * 1024 + 1) });
    await answer(traffic.attach(generationOf(1)));
    expect(traffic.counts).toEqual({ sent: 1, dropped: 1 });
  });

  test("cancels what runs when it is stopped, and sends nothing more", async () => {
    const { traffic, calls } = start();
    const waiting = traffic.attach(generationOf(1));
    await answer(traffic.attach(generationOf(1)));
    traffic.stop();
    expect(calls[0]?.readClientSignal().aborted).toBe(true);
    expect(traffic.attach(generationOf(1))).toBeNull();
    await answer(waiting);
    expect(calls).toHaveLength(1);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ABORT_WATCH_DELAY_MS, postRawChat } from "../support/clients/raw-client.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { postChat } from "../support/gateway/gateway.ts";
import {
  closing,
  documentOf,
  opening,
  type Play,
  textOf,
  type VendorCall,
} from "../support/vendors/vendor.ts";
import { fetchRecord, PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(() => {
  vendors.reset();
  vendors.gateway.log.length = 0;
});

const messages = [{ role: "user", content: PROMPT }];

/**
 * Disconnects, and waits until the vendor's connection is closed. The clock stands still meanwhile, so that no
 * timer can end the request.
 */
async function disconnectWithClockStopped(leave: () => void, call: VendorCall): Promise<void> {
  vendors.clock.advance(ABORT_WATCH_DELAY_MS);
  const left = vendors.clock.now();
  leave();
  await call.connection.closed;
  expect(vendors.clock.now()).toBe(left);
}

/** Returns the record of the only generation of this test, once it has ended. */
async function settledRecord(): Promise<Readonly<Record<string, unknown>>> {
  const { gateway } = vendors;
  const id = await waitFor(
    () => gateway.log.find(({ fields }) => fields["outcome"] !== undefined)?.fields["generation_id"] ?? null,
  );
  return fetchRecord(gateway, String(id));
}

const beginSpeaking: Play = async (call) => {
  await call.begin();
  await call.events(...opening("Alpha one"), textOf(" two"));
  await call.gate();
};

describe("a client that disconnects", () => {
  for (const stream of [true, false]) {
    const what = stream ? "the first token of a stream" : "an answer that is not streamed";
    test(`before ${what} ends the upstream call, and no other vendor is called`, async () => {
      const { a, b, gateway } = vendors;
      a.perform((call) => call.gate());
      const client = await postRawChat(gateway, { model: "acme/both", stream, messages });
      const call = await a.call(0);
      await call.atGate;
      await disconnectWithClockStopped(() => client.disconnect(), call);
      const record = await settledRecord();
      expect(record).toMatchObject({
        outcome: "cancelled",
        cancelled: true,
        error_type: null,
        tokens_completion: 0,
        total_cost_nanodollars: 0,
      });
      expect(record["attempts"]).toHaveLength(1);
      expect(b.calls).toHaveLength(0);
    });
  }

  test("in the middle of a document ends the upstream call", async () => {
    const { a, gateway } = vendors;
    a.perform(async (call) => {
      await call.begin();
      await call.piece(JSON.stringify(documentOf("Alpha")).slice(0, 40));
      await call.gate();
    });
    const client = await postRawChat(gateway, { model: "acme/both", messages });
    const call = await a.call(0);
    await call.atGate;
    await disconnectWithClockStopped(() => client.disconnect(), call);
    // The vendor has begun to answer, so that it charges the prompt.
    expect(await settledRecord()).toMatchObject({
      outcome: "cancelled",
      tokens_prompt: 11,
      tokens_completion: 0,
      total_cost_nanodollars: 11_000,
    });
  });

  test("in the middle of a stream ends the upstream call, and is charged for the output so far", async () => {
    const { a, gateway } = vendors;
    a.perform(beginSpeaking);
    const client = await postRawChat(gateway, { model: "acme/both", stream: true, messages });
    await client.waitForText(" two");
    const call = await a.call(0);
    await disconnectWithClockStopped(() => client.disconnect(), call);
    const promptTokens = Math.ceil(PROMPT.length / 4);
    const completionTokens = Math.ceil("Alpha one two".length / 4);
    expect(await settledRecord()).toMatchObject({
      outcome: "cancelled",
      error_type: null,
      status: 200,
      provider_name: "vendor-a",
      estimated: true,
      tokens_prompt: promptTokens,
      tokens_completion: completionTokens,
      total_cost_nanodollars: promptTokens * 1_000 + completionTokens * 2_000,
    });
  });

  test("while the upstream is sending ends the upstream call", async () => {
    const { a, gateway } = vendors;
    a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      let isOpen = true;
      void call.connection.closed.then(() => {
        isOpen = false;
      });
      while (isOpen) {
        await call.events(textOf(" on"));
        await turnEventLoop(1);
      }
    });
    const client = await postRawChat(gateway, { model: "acme/both", stream: true, messages });
    await client.waitForText(" on");
    await disconnectWithClockStopped(() => client.disconnect(), await a.call(0));
    expect(await settledRecord()).toMatchObject({ outcome: "cancelled", estimated: true });
  });

  test("before its stream begins and before the gateway watches its connection ends the upstream call when the stream begins", async () => {
    const { a, gateway } = vendors;
    a.perform(async (call) => {
      await call.gate();
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
    });
    const client = await postRawChat(gateway, { model: "acme/both", stream: true, messages });
    const call = await a.call(0);
    await call.atGate;
    client.disconnect();
    await client.closed;
    // Enough turns for the gateway to notice the disconnect.
    await turnEventLoop();
    call.openGate();
    await call.connection.closed;
    expect(await settledRecord()).toMatchObject({ outcome: "cancelled" });
  });

  test("just before the gateway stops and before it watches the connection is recorded", async () => {
    const stopping = await startTwoVendors();
    stopping.a.perform((call) => call.gate());
    const client = await postRawChat(stopping.gateway, { model: "acme/both", messages });
    await (await stopping.a.call(0)).atGate;
    client.disconnect();
    await client.closed;
    await stopping.stop();
    expect(stopping.gateway.log.map(({ fields }) => fields["outcome"]).filter(Boolean)).toEqual([
      "cancelled",
    ]);
  });

  test("through an SDK's abort signal ends the upstream call", async () => {
    const { a, gateway } = vendors;
    a.perform(beginSpeaking);
    const abort = new AbortController();
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/both", stream: true, messages }),
      signal: abort.signal,
    });
    await response.body!.getReader().read();
    await disconnectWithClockStopped(() => abort.abort(), await a.call(0));
    expect(await settledRecord()).toMatchObject({ outcome: "cancelled" });
  });
});

/** Returns whether the promise is still pending after enough turns of the event loop to settle it. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  const close = () => {
    isOpen = false;
  };
  promise.then(close, close);
  await turnEventLoop();
  return isOpen;
}

describe("a client that waits", () => {
  test("receives nothing until the status is known, however long that takes", async () => {
    const { a, clock, gateway } = vendors;
    a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("").slice(0, 1));
      await call.gate();
      await call.events(textOf("Alpha"), ...closing());
      await call.end();
    });
    const pending = postChat(gateway, { model: "acme/both", stream: true, messages });
    const call = await a.call(0);
    await call.atGate;
    clock.advance(60_000);
    expect(await isPending(pending)).toBe(true);
    call.openGate();
    expect(await (await pending).text()).toMatch(/^data: /);
  });

  test("receives a comment after 10 s of silence, and another one every 10 s", async () => {
    const { a, clock, gateway } = vendors;
    a.perform(async (call) => {
      await beginSpeaking(call);
      await call.events(...closing());
      await call.end();
    });
    const response = await postChat(gateway, { model: "acme/both", stream: true, messages });
    const reader = response.body!.getReader();
    const nextText = async () => Buffer.from((await reader.read()).value ?? []).toString("utf8");
    expect(await nextText()).toContain("Alpha one");
    await (await a.call(0)).atGate;
    await turnEventLoop();
    const first = nextText();
    clock.advance(9_999);
    // Anything left from the first read would have arrived by now.
    const rest = (await isPending(first)) ? "" : await first;
    expect(rest).not.toContain("keep-alive");
    const second = rest === "" ? first : nextText();
    clock.advance(1);
    expect(await second).toBe(": keep-alive\n\n");
    const third = nextText();
    clock.advance(9_999);
    expect(await isPending(third)).toBe(true);
    clock.advance(1);
    expect(await third).toBe(": keep-alive\n\n");
    (await a.call(0)).openGate();
    let end = "";
    for (let text = await nextText(); text !== ""; text = await nextText()) end += text;
    expect(end).toEndWith("data: [DONE]\n\n");
  });
});

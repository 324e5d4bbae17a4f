import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Exchange, Transport, UpstreamResponse } from "../../src/core/deployments/transport.ts";
import type { Extension } from "../../src/core/generation/call/extension.ts";
import type { TokenCounter } from "../../src/core/generation/memory/token-counter.ts";
import { createHealth, type Health } from "../../src/core/routing/health/health.ts";
import { createHttp1Transport } from "../../src/providers/http1/transport.ts";
import { dialRaw, type RawClient } from "../support/clients/raw-client.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { scrape } from "../support/servers/scrape.ts";
import {
  closing,
  documentOf,
  opening,
  type Play,
  startVendor,
  textOf,
  USAGE,
  type Vendor,
} from "../support/vendors/vendor.ts";

/** Does something at one step of a request. A step is a call of a part that a request works with. */
class Steps {
  /** The steps since the last `begin`. */
  count = 0;
  private at = 0;
  private act: () => void = () => {};

  /** Calls `act` at step number `at`, and at no other one. */
  begin(at: number, act: () => void): void {
    this.count = 0;
    this.at = at;
    this.act = act;
  }

  take(): void {
    this.count += 1;
    if (this.count === this.at) this.act();
  }
}

const steps = new Steps();

/** A transport of which every call and every read is a step. */
function stepping(transport: Transport): Transport {
  const watch = (response: UpstreamResponse): UpstreamResponse => {
    steps.take();
    return {
      status: response.status,
      header: (name) => response.header(name),
      async read() {
        steps.take();
        const piece = await response.read();
        steps.take();
        // The gateway learns in a later turn of the event loop that its client has left.
        await turnEventLoop(3);
        return piece;
      },
    };
  };
  return {
    open(request) {
      steps.take();
      const exchange: Exchange = transport.open(request);
      return { response: exchange.response.then(watch), cancel: () => exchange.cancel() };
    },
    close: () => transport.close(),
  };
}

/** Health of which every call is a step. */
function steppingHealth(health: Health): Health {
  return new Proxy(health, {
    get(target, name) {
      const member = target[name as keyof Health] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        steps.take();
        return member.apply(target, args);
      };
    },
  });
}

/** An extension all of whose points are steps. */
const extension: Extension = {
  name: "steps",
  attach() {
    steps.take();
    return {
      async beforeRoute() {
        await turnEventLoop(2);
        steps.take();
        await turnEventLoop(2);
        return { kind: "continue" };
      },
      beforeAttempt() {
        steps.take();
        return null;
      },
      onAttempt: () => steps.take(),
      onText: () => steps.take(),
      onSettled: () => steps.take(),
      onAbandoned: () => steps.take(),
    };
  },
};

/** A counter of tokens of which every call is a step. */
const tokenCounter: TokenCounter = {
  async count(texts) {
    await turnEventLoop(2);
    steps.take();
    await turnEventLoop(2);
    return texts.map((text) => Math.ceil(text.length / 4));
  },
  close() {},
};

const answerAnything: Play = async (call) => {
  if (call.head.includes("/embeddings")) {
    const data = [{ object: "embedding", index: 0, embedding: [1, 2] }];
    return call.respond(200, { object: "list", model: "up", data, usage: USAGE });
  }
  if (!call.isStream) return call.respond(200, documentOf("Alpha one two"));
  await call.begin();
  for (const event of [...opening("Alpha one"), textOf(" two"), textOf(" three"), ...closing()]) {
    await call.events(event);
    // The gateway relays this event before the next one is sent.
    await turnEventLoop(12);
  }
  await call.end();
};

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor(answerAnything);
  const prices = `prices: {prompt: "0.000001", completion: "0.000002"}`;
  gateway = await startTestGateway({
    transport: stepping(createHttp1Transport({ clock: systemClock })),
    health: steppingHealth(createHealth()),
    extensions: [extension],
    tokenCounter,
    repeats: 0,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models:
      - {id: acme/model, name: up, context_length: 8192, ${prices}}
      - {id: acme/vectors, name: up, output: embedding, context_length: 8192, prices: {prompt: "0.000001", completion: "0"}}
limits: {per_key: {concurrent: 1}}
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});
afterEach(() => steps.begin(0, () => {}));

const messages = [{ role: "user", content: "Hello!" }];
const chat = { model: "acme/model", messages };

/** Requests whose steps differ: path, body, and further header lines. */
const REQUESTS: readonly (readonly [string, string, unknown, ...string[]])[] = [
  ["a streamed chat", "/chat/completions", { ...chat, stream: true }],
  ["a whole chat", "/chat/completions", chat],
  ["a streamed message", "/messages", { ...chat, max_tokens: 100, stream: true }],
  ["a whole response", "/responses", { model: "acme/model", input: "Hello!" }],
  ["an embedding", "/embeddings", { model: "acme/vectors", input: "Hello!" }],
  ["a count of tokens", "/messages/count_tokens", chat],
  ["a repeatable chat", "/chat/completions", { ...chat, stream: true }, "idempotency-key: REPEAT"],
];

let repeats = 0;

async function send(path: string, body: unknown, lines: readonly string[]): Promise<RawClient> {
  const client = await dialRaw(gateway);
  const text = JSON.stringify(body);
  const head = [
    `POST /v1${path} HTTP/1.1`,
    `host: ${new URL(gateway.url).host}`,
    `authorization: Bearer ${gateway.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
    ...lines.map((line) => line.replace("REPEAT", `repeat-${++repeats}`)),
  ];
  client.send(`${head.join("\r\n")}\r\n\r\n${text}`);
  return client;
}

/** Waits until requests hold nothing: no place, memory or money, and no share of a limit. */
async function expectNothingHeld(what: string): Promise<void> {
  steps.begin(0, () => {});
  await eventually(
    `nothing is held after ${what}`,
    async () => {
      const metrics = await scrape(gateway);
      const held = ["gateway_inflight", "gateway_body_memory_bytes", "gateway_holds_usd"];
      return held.every((name) => metrics.value(name) === 0);
    },
    5_000,
  );
  const next = await postChat(gateway, chat);
  expect([what, next.status, await next.text()]).toEqual([what, 200, expect.stringContaining("Alpha")]);
}

/** Sends the request again and again, so that `act` is called at each of its steps in turn. */
async function actAtEachStep(
  [name, path, body, ...lines]: (typeof REQUESTS)[number],
  act: (client: RawClient) => void,
): Promise<number> {
  for (let at = 1; ; at++) {
    const client = await send(path, body, lines);
    steps.begin(at, () => act(client));
    await client.closed;
    const { count } = steps;
    await expectNothingHeld(`step ${at} of ${name}`);
    // The steps after the one at which something was done may be fewer, but not those before.
    if (count < at) return at - 1;
  }
}

describe("whatever happens at any step, everything that the request holds is released:", () => {
  test.each(REQUESTS)("%s that fails", async (...request) => {
    const all = await actAtEachStep(request, () => {
      throw new Error("a part of the gateway fails");
    });
    expect(all).toBeGreaterThan(request[1] === "/messages/count_tokens" ? 0 : 8);
  });

  test.each(REQUESTS)("%s whose client leaves", async (...request) => {
    const all = await actAtEachStep(request, (client) => client.disconnect());
    expect(all).toBeGreaterThan(request[1] === "/messages/count_tokens" ? 0 : 8);
  });
});

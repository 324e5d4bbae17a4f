import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { ABORT_WATCH_DELAY_MS, postRawChat } from "../../support/clients/raw-client.ts";
import { waitFor } from "../../support/event-loop.ts";
import { postChat } from "../../support/gateway/gateway.ts";
import {
  chunkOf,
  documentOf,
  healthy,
  opening,
  type Play,
  textOf,
  USAGE,
} from "../../support/vendors/vendor.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(async () => {
  vendors.reset();
  // Long enough that the health of earlier tests is forgotten.
  vendors.clock.leap(1_200_000);
});

interface EndpointHealth {
  readonly tag: string;
  readonly health: string;
  readonly uptime: number | null;
  readonly latency_ms: Readonly<Record<string, number>> | null;
  readonly throughput: Readonly<Record<string, number>> | null;
  readonly requests: number;
}

async function fetchHealth(tag: string, model = "acme/alone"): Promise<EndpointHealth> {
  const response = await fetch(`${vendors.gateway.base}/models/${model}/endpoints`);
  const { data } = (await response.json()) as { data: { endpoints: EndpointHealth[] } };
  return data.endpoints.find((endpoint) => endpoint.tag === tag)!;
}

async function ask(stream: boolean): Promise<void> {
  const messages = [{ role: "user", content: "Hi" }];
  await (await postChat(vendors.gateway, { model: "acme/alone", stream, messages })).text();
}

const rejectWith =
  (status: number, code = ""): Play =>
  (call) =>
    call.respond(status, { error: { message: "No.", code } });
const breakOff: Play = async (call) => {
  await call.begin();
  if (call.isStream) await call.events(...opening("Half"));
  call.connection.reset();
};
const emptyStream: Play = async (call) => {
  if (!call.isStream) return call.respond(200, "");
  await call.begin();
  await call.end();
};

const GOOD = { requests: 1, uptime: 1, health: "ok" };
const BAD = { requests: 1, uptime: 0, health: "degraded" };
const NOTHING = { requests: 0, uptime: null, health: "unknown" };

describe("the health of a model endpoint after one attempt at a vendor", () => {
  const cases: readonly (readonly [string, Play, object])[] = [
    ["that answers", healthy("Alpha"), GOOD],
    ["that returns 500", rejectWith(500), BAD],
    ["that is overloaded", rejectWith(503), BAD],
    ["that does not know the model", rejectWith(404), BAD],
    ["that resets the connection", (call) => call.connection.reset(), BAD],
    ["that breaks off in the middle", breakOff, BAD],
    ["that returns an empty body", emptyStream, BAD],
    [
      "that returns 500 inside of a response with status 200",
      (call) => call.respond(200, { error: { message: "No.", code: 500 } }),
      BAD,
    ],
    ["that rejects the request", rejectWith(400), NOTHING],
    ["that reports a too long prompt", rejectWith(400, "context_length_exceeded"), NOTHING],
    ["that returns 429", rejectWith(429), NOTHING],
    ["that rejects the key", rejectWith(401), NOTHING],
    ["that is out of credit", rejectWith(402), NOTHING],
  ];
  for (const stream of [true, false]) {
    test.each(cases)(
      `%s, ${stream ? "streamed" : "not streamed"}, is recorded`,
      async (_, play, expected) => {
        vendors.a.perform(play);
        await ask(stream);
        expect(await fetchHealth("vendor-a")).toMatchObject(expected);
      },
    );
  }

  for (const speaks of [false, true]) {
    test(`whose client leaves ${speaks ? "in the middle of the answer" : "before the answer"} is unchanged`, async () => {
      const { a, gateway } = vendors;
      gateway.log.length = 0;
      a.perform(async (call) => {
        if (speaks) {
          await call.begin();
          await call.events(...opening("Half"));
        }
        await call.gate();
      });
      const messages = [{ role: "user", content: "Hi" }];
      const client = await postRawChat(gateway, { model: "acme/alone", stream: true, messages });
      await (await a.call(0)).atGate;
      if (speaks) await client.waitForText("Half");
      vendors.clock.advance(ABORT_WATCH_DELAY_MS);
      client.disconnect();
      await waitFor(() => gateway.log.find(({ fields }) => fields["outcome"] === "cancelled") ?? null);
      expect(await fetchHealth("vendor-a")).toMatchObject(NOTHING);
    });
  }
});

test("a model endpoint is down after five failures, degraded while half open, and healthy again after two answers", async () => {
  const { a, clock } = vendors;
  a.perform(rejectWith(500));
  for (let time = 0; time < 5; time++) await ask(true);
  expect(await fetchHealth("vendor-a")).toMatchObject({ health: "down", requests: 5, uptime: 0 });
  clock.advance(5_000);
  expect(await fetchHealth("vendor-a")).toMatchObject({ health: "degraded" });
  a.perform(healthy("Alpha"));
  await ask(true);
  expect(await fetchHealth("vendor-a")).toMatchObject({ health: "degraded" });
  await ask(false);
  expect(await fetchHealth("vendor-a")).toMatchObject({ health: "unknown", requests: 0 });
  await ask(false);
  expect(await fetchHealth("vendor-a")).toMatchObject(GOOD);
  expect(await fetchHealth("vendor-b", "acme/both")).toMatchObject(NOTHING);
});

test("latency is measured until the first token, and throughput from the tokens after it", async () => {
  const { a, clock } = vendors;
  a.perform(async (call) => {
    clock.advance(400);
    await call.begin();
    await call.events(...opening("Alpha"), textOf(" one"));
    await call.gate();
    const usage = { ...USAGE, completion_tokens: 100 };
    await call.events(chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage }, "[DONE]");
    await call.end();
  });
  for (let time = 0; time < 3; time++) {
    const response = await postChat(vendors.gateway, {
      model: "acme/alone",
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    const call = await a.call(time);
    await call.atGate;
    clock.advance(2_000);
    call.openGate();
    await response.text();
  }
  const { latency_ms, throughput } = await fetchHealth("vendor-a");
  for (const share of ["p50", "p90", "p99"]) {
    expect(latency_ms?.[share]).toBeWithin(360, 440);
    expect(throughput?.[share]).toBeWithin(45, 55);
  }
  a.perform((call) => call.respond(200, documentOf("x".repeat(1_000))));
  await ask(false);
  expect((await fetchHealth("vendor-a")).throughput).toEqual(throughput);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { createAccountTools } from "../support/gateway/management.ts";
import { findLedgerProblems, manage } from "../support/money.ts";
import { chunkOf, startVendor, USAGE, type Vendor } from "../support/vendors/vendor.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Failures of the start of a server are no failures of the test. */
const START_MS = 90_000;

describe.skipIf(POSTGRES_BIN === null)("a background response of one of two gateways", () => {
  let server: TestPostgres;
  let vendor: Vendor;
  let shared: SharedGateways;
  let first: TestGateway;
  let second: TestGateway;
  let key: string;

  beforeAll(async () => {
    server = await startTestPostgres();
    vendor = startVendor();
    shared = shareDatabase(await server.createMigratedDatabase());
    const yaml = `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`;
    first = await shared.start("first", { yaml });
    second = await shared.start("second", { yaml });
    const tools = createAccountTools(first);
    const account = await tools.user();
    key = await tools.key(account);
    await manage(first, `/accounts/${account}/credits`, { amount: 10 });
  }, START_MS);
  afterAll(async () => {
    expect(await findLedgerProblems(first)).toEqual([]);
    await shared?.clear();
    vendor?.stop();
    await server?.remove();
  });
  beforeEach(() =>
    vendor.perform(async (one) => {
      await one.begin();
      await one.events(chunkOf({ content: "Alpha" }));
      await one.gate();
      await one.events(
        chunkOf({ content: " Beta" }),
        chunkOf({}, "stop"),
        { choices: [], usage: USAGE },
        "[DONE]",
      );
      await one.end();
    }),
  );

  const send = (at: TestGateway, path: string, body?: object) =>
    fetch(at.base + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const read = async (at: TestGateway, id: string): Promise<Answered> =>
    (await send(at, `/responses/${id}`)).json() as Promise<Answered>;
  const begin = async (): Promise<string> => {
    const body = { model: "acme/model", input: "Hi", background: true };
    const response = await send(first, "/responses", body);
    const { id, status } = (await response.json()) as Answered;
    expect([response.status, status]).toEqual([200, "in_progress"]);
    return id;
  };

  test("is streamed from any number on by the other gateway, while it runs and afterwards", async () => {
    const id = await begin();
    expect(await read(second, id)).toMatchObject({ id, status: "in_progress", background: true });
    const [call] = vendor.calls.slice(-1);
    await call?.atGate;
    const live = await send(second, `/responses/${id}?stream=true&starting_after=1`);
    call?.openGate();
    const events = await readEvents(live);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at + 2));
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { id, status: "completed" },
    });
    const again = await readEvents(await send(second, `/responses/${id}?stream=true&starting_after=1`));
    expect(again).toEqual(events);
    expect(await read(second, id)).toEqual(await read(first, id));
    expect(vendor.calls).toHaveLength(1);
  });

  test("is cancelled by the other gateway, which ends the work of the vendor", async () => {
    const id = await begin();
    const [call] = vendor.calls.slice(-1);
    await call?.atGate;
    const cancelled = await (await send(second, `/responses/${id}/cancel`, {})).json();
    expect(cancelled).toMatchObject({ id, status: "cancelled" });
    await call?.connection.closed;
    expect((await read(first, id)).usage.cost).toBeGreaterThan(0);
  });

  test("with an Idempotency-Key is returned by the other gateway when its request is repeated there, while it runs and afterwards", async () => {
    const repeat = async (at: TestGateway): Promise<Answered> => {
      const response = await fetch(`${at.base}/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "idempotency-key": "job-1" },
        body: JSON.stringify({ model: "acme/model", input: "Hi", background: true }),
      });
      return response.json() as Promise<Answered>;
    };
    const { id } = await repeat(first);
    expect(await repeat(second)).toMatchObject({ id, status: "in_progress" });
    const [call] = vendor.calls.slice(-1);
    call?.openGate();
    await eventually("the response has ended", async () => (await read(second, id)).status === "completed");
    expect(await repeat(second)).toEqual(await read(first, id));
    expect(vendor.calls).toHaveLength(1);
  });
});

interface Answered {
  readonly id: string;
  readonly status: string;
  readonly usage: { readonly cost: number };
}

interface ReadEvent {
  readonly type: string;
  readonly sequence_number: number;
}

async function readEvents(response: Response): Promise<readonly ReadEvent[]> {
  const pieces = (await response.text()).split("\n\n").filter((piece) => piece.startsWith("event: "));
  return pieces.map((piece) => JSON.parse(piece.slice(piece.indexOf("data: ") + "data: ".length)));
}

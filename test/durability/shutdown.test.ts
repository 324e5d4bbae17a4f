import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { waitFor } from "../support/event-loop.ts";
import {
  fetchGeneration,
  type GatewayProcess,
  makeSite,
  postChatTo,
  type Site,
} from "../support/gateway-process.ts";
import { closing, healthy, opening, type Play, startVendor, textOf, type Vendor } from "../support/vendor.ts";

let vendor: Vendor;
let site: Site;
let running: GatewayProcess | null;

beforeEach(() => {
  vendor = startVendor(healthy("Alpha"));
  running = null;
});
afterEach(async () => {
  await running?.kill();
  vendor.stop();
  site.remove();
});

async function start(drainMs: number): Promise<GatewayProcess> {
  site = makeSite(`
server: {drain_ms: ${drainMs}}
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    api_keys: ["sk-vendor-a-0123456789abcdef"]
    models: [{id: acme/model, prices: {prompt: "0.000001", completion: "0.000002"}}]
`);
  running = await site.start();
  return running;
}

const messages = [{ role: "user", content: "Hello!" }];

const speakThenWait: Play = async (call) => {
  if (!call.isStream) return call.gate();
  await call.begin();
  await call.events(...opening("Alpha"));
  await call.gate();
  await call.events(textOf(" two"), ...closing());
  await call.end();
};

/** A stream whose client has its first words. */
async function openStream(gateway: GatewayProcess) {
  const response = await postChatTo(gateway, { model: "acme/model", stream: true, messages });
  const reader = response.body!.getReader();
  await reader.read();
  const readRest = async (): Promise<string> => {
    let text = "";
    for (let next = await reader.read(); !next.done; next = await reader.read())
      text += Buffer.from(next.value).toString("utf8");
    return text;
  };
  return { id: response.headers.get("x-gateway-generation-id") as string, readRest };
}

/** Waits until nobody accepts connections there. */
async function untilRefused(gateway: GatewayProcess): Promise<void> {
  await waitFor(() =>
    fetch(`${gateway.url}/healthz`, { keepalive: false, headers: { connection: "close" } }).then(
      () => null,
      () => true,
    ),
  );
}

describe("a gateway that is told to stop", () => {
  test("lets open streams end, refuses new connections, leaves an empty journal and exit code 0", async () => {
    vendor.perform(speakThenWait);
    const gateway = await start(30_000);
    const stream = await openStream(gateway);
    const exited = gateway.terminate();
    await untilRefused(gateway);
    (await vendor.call(0)).letGoOn();
    expect(await stream.readRest()).toEndWith("data: [DONE]\n\n");
    expect(await exited).toBe(0);
    expect(site.journalFiles()).toEqual([]);
    running = await site.start(gateway.key);
    expect(await fetchGeneration(running, stream.id)).toMatchObject({
      outcome: "completed",
      total_cost_nanodollars: 20_000,
    });
  });

  test("cuts what is still open after its drain time: streams with an error event, others with 503", async () => {
    vendor.perform(speakThenWait);
    const gateway = await start(300);
    const stream = await openStream(gateway);
    const whole = postChatTo(gateway, { model: "acme/model", messages });
    await (await vendor.call(1)).atGate;
    const exited = gateway.terminate();
    const rest = await stream.readRest();
    expect(rest).not.toContain("[DONE]");
    const last = JSON.parse(rest.trimEnd().split("data: ").at(-1) as string);
    expect(last).toMatchObject({
      error: { type: "unavailable", code: 503 },
      choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
    });
    const answer = await whole;
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(((await answer.json()) as { error_type: string }).error_type).toBe("unavailable");
    expect(await exited).toBe(0);
    expect(site.journalFiles()).toEqual([]);
    running = await site.start(gateway.key);
    expect(await fetchGeneration(running, stream.id)).toMatchObject({
      outcome: "failed",
      error_type: "unavailable",
      estimated: true,
    });
  });

  test("does not wait for connections on which nobody asks anything", async () => {
    const gateway = await start(30_000);
    // Its connection stays open for the next request.
    await (await postChatTo(gateway, { model: "acme/model", messages })).text();
    expect(await gateway.terminate()).toBe(0);
  });
});

test("of two gateways on one data directory the second says that the first is there, and stops", async () => {
  const gateway = await start(30_000);
  const { exitCode, printed } = await site.startInVain();
  expect(exitCode).toBe(1);
  expect(printed).toContain("another gateway is running on");
  expect(printed).toContain("GATEWAY_DATA_DIR");
  expect(printed).not.toContain("    at ");
  expect((await postChatTo(gateway, { model: "acme/model", messages })).status).toBe(200);
});

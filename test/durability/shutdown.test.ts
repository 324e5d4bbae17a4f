import { afterEach, describe, expect, test } from "bun:test";
import { waitFor } from "../support/event-loop.ts";
import {
  fetchGeneration,
  type GatewayProcess,
  postChatTo,
  type Site,
} from "../support/gateway/gateway-process.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { closing, opening, type Play, textOf, type Vendor } from "../support/vendors/vendor.ts";
import { makeVendorSite, type VendorSite } from "./vendor-site.ts";

let place: VendorSite;
let vendor: Vendor;
let site: Site;

/** Creates a site whose gateways have this drain time. */
function prepare(drainMs: number): void {
  place = makeVendorSite(`server: {drain_ms: ${drainMs}, drain_notice_ms: 100}`);
  ({ vendor, site } = place);
}
afterEach(() => place.clear());

const messages = [{ role: "user", content: "Hello!" }];

const speakThenWait: Play = async (call) => {
  if (!call.isStream) return call.gate();
  await call.begin();
  await call.events(...opening("Alpha"));
  await call.gate();
  await call.events(textOf(" two"), ...closing());
  await call.end();
};

/** Opens a stream whose client has received its first text. */
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

/** Waits until the gateway accepts no connections. */
async function untilRefused(gateway: GatewayProcess): Promise<void> {
  await waitFor(() =>
    fetch(`${gateway.url}/healthz`, { keepalive: false, headers: { connection: "close" } }).then(
      () => null,
      () => true,
    ),
  );
}

describe.skipIf(!RUNS_SLOW_TESTS)("a gateway that is shutting down", () => {
  test("open streams end, new connections are refused, the journal is empty afterwards, and the exit code is 0", async () => {
    prepare(30_000);
    vendor.perform(speakThenWait);
    const gateway = await place.start();
    const stream = await openStream(gateway);
    const exited = gateway.terminate();
    await untilRefused(gateway);
    (await vendor.call(0)).openGate();
    expect(await stream.readRest()).toEndWith("data: [DONE]\n\n");
    expect(await exited).toBe(0);
    expect(site.journalFiles()).toEqual([]);
    const next = await place.start(gateway.key);
    expect(await fetchGeneration(next, stream.id)).toMatchObject({
      outcome: "completed",
      total_cost_nanodollars: 20_000,
    });
  });

  test("answers that are open after the drain time are cancelled: streams with an error event, others with 503", async () => {
    prepare(300);
    vendor.perform(speakThenWait);
    const gateway = await place.start();
    const stream = await openStream(gateway);
    const whole = postChatTo(gateway, { model: "acme/model", messages });
    await (await vendor.call(1)).atGate;
    const exited = gateway.terminate();
    const rest = await stream.readRest();
    expect(rest).not.toContain("[DONE]");
    const last = JSON.parse(rest.trimEnd().split("data: ").at(-1) as string);
    expect(last).toMatchObject({ error: { type: "unavailable", code: 503 } });
    expect(last).not.toHaveProperty("choices");
    const answer = await whole;
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(((await answer.json()) as { error_type: string }).error_type).toBe("unavailable");
    expect(await exited).toBe(0);
    expect(site.journalFiles()).toEqual([]);
    const next = await place.start(gateway.key);
    expect(await fetchGeneration(next, stream.id)).toMatchObject({
      outcome: "failed",
      error_type: "unavailable",
      estimated: true,
    });
  });

  test("the shutdown does not wait for idle connections", async () => {
    prepare(30_000);
    const gateway = await place.start();
    // Its connection stays open for the next request.
    await (await postChatTo(gateway, { model: "acme/model", messages })).text();
    expect(await gateway.terminate()).toBe(0);
  });
});

test.skipIf(!RUNS_SLOW_TESTS)(
  "a second gateway on the same data directory reports that another one is running, and exits",
  async () => {
    prepare(30_000);
    const gateway = await place.start();
    const { exitCode, printed } = await site.startExpectingFailure();
    expect(exitCode).toBe(1);
    expect(printed).toContain("another gateway is running on");
    expect(printed).toContain("GATEWAY_DATA_DIR");
    expect(printed).not.toContain("    at ");
    expect((await postChatTo(gateway, { model: "acme/model", messages })).status).toBe(200);
  },
);

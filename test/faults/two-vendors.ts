import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestHealth } from "../support/gateway/test-health.ts";
import { type RawServer, startRawServer } from "../support/servers/raw-server.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

export const KEY_A = "sk-vendor-a-0123456789abcdef";
export const KEY_B = "sk-vendor-b-0123456789abcdef";
/** Occurs in every prompt; no log may contain it. */
export const PROMPT = "No one but the vendor may read this: 7391.";

/** A gateway under a test clock with a cheap vendor, `vendor-a`, and an expensive one, `vendor-b`. */
export interface TwoVendors {
  readonly gateway: TestGateway;
  readonly clock: TestClock;
  readonly a: Vendor;
  readonly b: Vendor;
  /** Accepts connections and sends nothing, not even in a TLS handshake. */
  readonly mute: RawServer;
  /** Makes both vendors healthy, closes idle connections and clears all cooldowns. */
  reset(): void;
  stop(): Promise<void>;
}

/** No process listens on this port. */
const REFUSED = "http://127.0.0.1:1/v1";
/** Twice as long as idle connections are kept, and longer than every cooldown. Milliseconds. */
const COOLDOWN_MS = 121_000;

/**
 * Starts the gateway and its vendors. Models: `acme/alone` at vendor-a; `acme/both` at vendor-a, then vendor-b;
 * `acme/down-alone` and `acme/down-both` likewise with a vendor that refuses connections; `acme/mute-…` with
 * one that accepts and never answers.
 */
export async function startTwoVendors(yaml = ""): Promise<TwoVendors> {
  const clock = createTestClock();
  const health = createTestHealth();
  const a = startVendor(healthy("Alpha"));
  const b = startVendor(healthy("Beta"));
  const mute = startRawServer(() => {});
  const gateway = await startTestGateway({
    clock,
    health: health.health,
    yaml: `
providers:
  vendor-a: {base_url: "${a.baseUrl}", api_keys: ["${KEY_A}"], models: [${[CHEAP("acme/alone"), CHEAP("acme/both")]}]}
  vendor-b: {base_url: "${b.baseUrl}", api_keys: ["${KEY_B}"], models: [${[EXPENSIVE("acme/both"), EXPENSIVE("acme/down-both"), EXPENSIVE("acme/mute-both")]}]}
  vendor-down: {base_url: "${REFUSED}", api_keys: ["${KEY_A}"], models: [${[CHEAP("acme/down-alone"), CHEAP("acme/down-both")]}]}
  vendor-mute: {base_url: "https://127.0.0.1:${mute.port}/v1", api_keys: ["${KEY_A}"], models: [${[CHEAP("acme/mute-alone"), CHEAP("acme/mute-both")]}]}
${yaml}`,
  });
  return {
    gateway,
    clock,
    a,
    b,
    mute,
    reset() {
      a.perform(healthy("Alpha"));
      b.perform(healthy("Beta"));
      health.reset();
      clock.leap(COOLDOWN_MS);
    },
    async stop() {
      await gateway.stop();
      a.stop();
      b.stop();
      mute.stop();
    },
  };
}

const model = (prompt: string, completion: string) => (id: string) =>
  `{id: ${id}, name: up, context_length: 8192, prices: {prompt: "${prompt}", completion: "${completion}"}}`;
const CHEAP = model("0.000001", "0.000002");
const EXPENSIVE = model("0.00001", "0.00002");

/** The cost of the vendors' usage at each vendor, in nanodollars. */
export const COST = { "vendor-a": 20_000, "vendor-b": 200_000 } as const;

/** Returns the record of a generation, as its caller sees it. */
export async function fetchRecord(
  gateway: TestGateway,
  id: string,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${gateway.base}/generation?id=${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

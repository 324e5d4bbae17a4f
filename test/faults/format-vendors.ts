import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestHealth } from "../support/gateway/test-health.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { SCRIPTS } from "../support/vendors/scripts/all-scripts.ts";
import { healthyBehavior, type VendorScript } from "../support/vendors/scripts/vendor-script.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { KEY_A, KEY_B } from "./two-vendors.ts";

/** A gateway under a test clock, with a cheap and an expensive vendor that speak any format. */
export interface FormatVendors {
  readonly gateway: TestGateway;
  readonly clock: TestClock;
  readonly first: Vendor;
  readonly second: Vendor;
  /** Makes both healthy, the second in the other format for this one, and clears all cooldowns. */
  reset(format: FormatName): void;
  stop(): Promise<void>;
}

/** The format of the second vendor, by the format of the first. */
const STAND_INS: Readonly<Record<FormatName, FormatName>> = {
  "openai-chat": "anthropic-messages",
  "openai-responses": "gemini",
  "anthropic-messages": "gemini",
  gemini: "anthropic-messages",
  "bedrock-converse": "openai-responses",
  "cohere-chat": "openai-chat",
};

/** Returns the script of the second vendor for a format of the first. */
export function standInOf(format: FormatName): VendorScript {
  return SCRIPTS[STAND_INS[format]];
}

const REST_MS = 121_000;
const DOWN = "http://127.0.0.1:1/v1";

/**
 * Starts the gateway and its vendors. Models for each format: `acme/FORMAT-alone` at `first-FORMAT`;
 * `acme/FORMAT-both` also at `second-…` in the stand-in's format; `acme/FORMAT-down-alone` and `-down-both`
 * likewise with a vendor that refuses connections.
 */
export async function startFormatVendors(): Promise<FormatVendors> {
  const clock = createTestClock();
  const health = createTestHealth();
  const first = startVendor();
  const second = startVendor();
  const yaml = `providers:\n${FORMAT_NAMES.flatMap((format) => rowsOf(format, first, second)).join("\n")}\n`;
  const gateway = await startTestGateway({ clock, health: health.health, yaml });
  return {
    gateway,
    clock,
    first,
    second,
    reset(format) {
      first.perform(healthyBehavior(SCRIPTS[format], "Alpha"));
      second.perform(healthyBehavior(standInOf(format), "Beta"));
      health.reset();
      clock.leap(REST_MS);
    },
    async stop() {
      await gateway.stop();
      first.stop();
      second.stop();
    },
  };
}

function rowsOf(format: FormatName, first: Vendor, second: Vendor): string[] {
  const replacedFormats = FORMAT_NAMES.filter((other) => STAND_INS[other] === format);
  const alsoServed = replacedFormats.flatMap((other) => [`acme/${other}-both`, `acme/${other}-down-both`]);
  const row = (name: string, url: string, key: string, ids: readonly string[], isCheap: boolean) =>
    ids.length === 0
      ? []
      : [
          `  ${name}-${format}: {format: ${format}, auth: bearer, base_url: "${url}", api_keys: ["${key}"], models: [${ids.map((id) => modelOf(id, isCheap)).join(", ")}]}`,
        ];
  const variants = ["alone", "both"];
  return [
    ...row(
      "first",
      first.baseUrl,
      KEY_A,
      variants.map((vendorCount) => `acme/${format}-${vendorCount}`),
      true,
    ),
    ...row(
      "down",
      DOWN,
      KEY_A,
      variants.map((vendorCount) => `acme/${format}-down-${vendorCount}`),
      true,
    ),
    ...row("second", second.baseUrl, KEY_B, alsoServed, false),
  ];
}

function modelOf(id: string, isCheap: boolean): string {
  const [prompt, completion] = isCheap ? ["0.000001", "0.000002"] : ["0.00001", "0.00002"];
  return `{id: ${id}, name: up, context_length: 8192, prices: {prompt: "${prompt}", completion: "${completion}"}}`;
}

/** The cost of the scripted usage at each vendor, in nanodollars. */
export const SCRIPTED_COST = { first: 20_000, second: 200_000 } as const;

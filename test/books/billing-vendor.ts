import {
  chunkOf,
  documentOf,
  opening,
  startVendor,
  textOf,
  type VendorCall,
} from "../support/vendors/vendor.ts";
import { HOSTILE_PLANS, type HostilePlan, playHostile } from "./hostile-answers.ts";
import { HOSTILE, PROVIDERS, type ProviderSlug } from "./prices.ts";

/**
 * What a request asks of the vendor: an immediate or slow answer; a stream that continues
 * until its client stops reading; one that breaks off; a rejection; a rejection by vendor-a that vendor-b answers.
 */
const HONEST_PLANS = ["quick", "spaced", "endless", "broken", "refused", "elsewhere"] as const;
const PLANS = [...HONEST_PLANS, ...HOSTILE_PLANS] as const;
export type PlanName = (typeof PLANS)[number];

/** Whether a vendor with this plan is hostile. */
export function isHostile(plan: PlanName): plan is HostilePlan {
  return (HOSTILE_PLANS as readonly string[]).includes(plan);
}

/** One request that reached the vendor. */
export interface BillEntry {
  readonly serial: number;
  readonly provider: ProviderSlug;
  /** When it arrived, milliseconds since the epoch. */
  readonly arrivedAt: number;
  /** When it was answered or given up; `null` before. */
  endedAt: number | null;
  usage: { readonly promptTokens: number; readonly completionTokens: number };
  /** Whether it was answered completely, or is about to be, and its usage is billed. */
  isBilled: boolean;
}

/** A vendor that keeps its own bill. */
export interface BillingVendor {
  /** The base URL under one of its names. */
  baseUrl(provider: ProviderSlug): string;
  readonly bill: readonly BillEntry[];
  stop(): void;
}

/** The number of different counts of prompt tokens, and the greatest of them. */
const PROMPTS = 500;
/** The maximum of tokens in any answer, for requests to ask for. */
export const MAX_TOKENS = 200;
/** The number of serial numbers with distinct usage. */
export const SERIALS = PROMPTS * MAX_TOKENS;

/** The usage of a request. Those of `SERIALS` consecutive requests are different, so that a record identifies its request. */
export function usageOf(serial: number): BillEntry["usage"] {
  return {
    promptTokens: 1 + (serial % PROMPTS),
    completionTokens: 1 + (Math.floor(serial / PROMPTS) % MAX_TOKENS),
  };
}

/**
 * The minimum number of words of a prompt, of four bytes each. A gateway holds money for one token per two bytes. An honest vendor must not
 * count more tokens, because a gateway can charge them only while it reaches the store of balances.
 */
const MIN_WORDS = PROMPTS / 2;

/** The text of a request's message. Its bytes grow by four with `size`, and an estimate of its tokens by one. */
export function writePrompt(serial: number, plan: PlanName, size: number): string {
  return `${String(serial).padStart(6, "0")} ${plan.padEnd(9)} ${"pad ".repeat(MIN_WORDS + size)}`;
}

/** Starts the vendor. */
export function startBillingVendor(): BillingVendor {
  const entries: BillEntry[] = [];
  const vendor = startVendor(async (call) => {
    const { serial, plan } = readPrompt(call);
    const provider = [...PROVIDERS, HOSTILE].find((slug) =>
      call.head.startsWith(`POST /${slug}/`),
    ) as ProviderSlug;
    const entry: BillEntry = {
      serial,
      provider,
      arrivedAt: Date.now(),
      endedAt: null,
      usage: usageOf(serial),
      isBilled: false,
    };
    entries.push(entry);
    const bill = (usage: BillEntry["usage"]): void => void Object.assign(entry, { usage, isBilled: true });
    const play = isHostile(plan) ? playHostile(plan, call, serial, bill) : PLAY[plan](call, entry);
    await play.finally(() => {
      entry.endedAt = Date.now();
    });
  });
  return {
    baseUrl: (provider) => vendor.baseUrl.replace(/\/v1$/, `/${provider}/v1`),
    bill: entries,
    stop: vendor.stop,
  };
}

type Play = (call: VendorCall, entry: BillEntry) => Promise<void>;

const PLAY: Readonly<Record<(typeof HONEST_PLANS)[number], Play>> = {
  quick: (call, entry) => answer(call, entry, 0),
  spaced: (call, entry) => answer(call, entry, SPACE_MS),
  async endless(call) {
    await call.begin();
    if (!call.isStream) return call.gate();
    await call.events(...opening("Go"));
    for (let piece = 0; piece < ENDLESS_PIECES && !(await isClosed(call, ENDLESS_MS)); piece++) {
      await call.events(textOf(" on"));
    }
    return call.gate();
  },
  async broken(call) {
    await call.begin();
    if (call.isStream) await call.events(...opening("Go"), textOf(" on"));
    call.connection.end();
  },
  refused: (call) => refuse(call),
  elsewhere: (call, entry) => (entry.provider === "vendor-a" ? refuse(call) : answer(call, entry, 0)),
};

const SPACE_MS = 6;
const ENDLESS_MS = 40;
/** As many pieces as fit into `MAX_TOKENS` when tokens are estimated from the text. */
const ENDLESS_PIECES = 150;

async function answer(call: VendorCall, entry: BillEntry, spaceMs: number): Promise<void> {
  const usage = {
    prompt_tokens: entry.usage.promptTokens,
    completion_tokens: entry.usage.completionTokens,
    total_tokens: entry.usage.promptTokens + entry.usage.completionTokens,
  };
  if (spaceMs > 0) await Bun.sleep(spaceMs);
  if (!call.isStream) {
    // From here on the vendor bills the request, whether its client is still connected or not.
    entry.isBilled = true;
    return call.respond(200, documentOf("Gone", { usage }));
  }
  await call.begin();
  await call.events(...opening("Go"));
  for (let piece = 0; piece < 4; piece++) {
    if (spaceMs > 0) await Bun.sleep(spaceMs);
    await call.events(textOf(" on"));
  }
  entry.isBilled = true;
  await call.events(chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage }, "[DONE]");
  await call.end();
}

function refuse(call: VendorCall): Promise<void> {
  return call.respond(500, { error: { message: "out of order", type: "server_error" } });
}

async function isClosed(call: VendorCall, withinMs: number): Promise<boolean> {
  return Promise.race([call.connection.closed.then(() => true), Bun.sleep(withinMs).then(() => false)]);
}

function readPrompt({ body }: VendorCall): { serial: number; plan: PlanName } {
  const text = JSON.stringify(body["messages"]);
  const found = new RegExp(`(\\d{6}) (${PLANS.join("|")})`).exec(text);
  if (found === null) throw new Error(`a request that no client sent has reached the vendor: ${text}`);
  return { serial: Number(found[1]), plan: found[2] as PlanName };
}

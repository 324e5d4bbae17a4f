import { startTestGateway } from "../support/gateway/gateway.ts";
import { createTestClock } from "../support/test-clock.ts";
import { answerCached, createPromptCache } from "../support/vendors/prompt-cache.ts";
import { startRecordingVendor } from "../support/vendors/recording-vendor.ts";
import type { ConversationClass } from "./conversations.ts";

const MODEL = "anthropic/claude-sonnet-4.5";
const MIN_TOKENS = 1_024;
/** US dollars per million tokens: https://platform.claude.com/docs/en/about-claude/pricing (2026-11-28). */
const [PLAIN, READ, WRITE] = [3, 0.3, 3.75];

/** What the prompts of a class cost, in US dollars. */
export interface ClassCost {
  readonly name: string;
  readonly isAgent: boolean;
  readonly requests: number;
  /** Without marks. */
  readonly plain: number;
  /** With the gateway's marks. */
  readonly marked: number;
}

/** Returns by what share marks change the cost of prompts: -0.5 halves it. */
export function changeOf({ plain, marked }: Pick<ClassCost, "plain" | "marked">): number {
  return plain === 0 ? 0 : marked / plain - 1;
}

/** Sends the conversations of all classes through a gateway, with marks and without, to a vendor with a simulated prompt cache. */
export async function measureClasses(classes: readonly ConversationClass[]): Promise<readonly ClassCost[]> {
  const costs: ClassCost[] = [];
  for (const one of classes) {
    const { name, isAgent, steps } = one;
    const [plain, marked] = [await priceClass(one, "off"), await priceClass(one, "auto")];
    costs.push({ name, isAgent, requests: steps.length, plain, marked });
  }
  return costs;
}

/** Returns what a class costs in a gateway that knows nothing of earlier ones. */
async function priceClass({ name, steps }: ConversationClass, caching: "auto" | "off"): Promise<number> {
  const clock = createTestClock();
  const cache = createPromptCache(MIN_TOKENS);
  const vendor = startRecordingVendor();
  let cost = 0;
  vendor.reset(({ text }) => {
    const usage = cache.use(JSON.parse(text), clock.now());
    const read = usage.cache_read_input_tokens * READ;
    cost += (usage.input_tokens * PLAIN + read + usage.cache_creation_input_tokens * WRITE) / 1e6;
    return answerCached(usage);
  });
  const gateway = await startTestGateway({
    clock,
    environment: { ANTHROPIC_API_KEY: "sk-test-0001", ANTHROPIC_BASE_URL: vendor.baseUrl },
  });
  try {
    for (const { path, body, afterMs } of steps) {
      clock.advance(afterMs);
      const response = await fetch(`${gateway.base}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify({
          max_tokens: 100,
          ...body,
          model: MODEL,
          stream: false,
          provider: { prompt_caching: caching },
        }),
      });
      const text = await response.text();
      // Some recordings are of requests that vendors rejected.
      if (response.status !== 200 && response.status !== 400)
        throw new Error(`${name}: ${response.status} ${text}`);
    }
  } finally {
    await Promise.all([gateway.stop(), vendor.stop()]);
  }
  return cost;
}

/** Measures the cost of planning: only the gateway's planner, in this process, with candidates that it must compare. */

import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { createHealth } from "../../src/core/routing/health/health.ts";
import { planRoute, type RouteQuestion } from "../../src/core/routing/plan/plan.ts";
import { NO_PREFERENCES } from "../../src/wire/conversation/preferences.ts";
import type { Bench } from "./parts.ts";

const CANDIDATES = 20;
const PLANS = 20_000;
const NOW = Date.UTC(2026, 0, 1);

/** Returns the microseconds of processor time per plan of twenty candidates, in pairs of equal prices, each with a minute of traffic. */
export async function measurePlanning({ plan, findings, say }: Bench): Promise<void> {
  say("planning");
  const questions = makeQuestions();
  // The first pass warms the compiler up.
  timePlans(questions);
  for (let round = 1; round <= plan.rounds; round++) {
    findings.add("planning.cpu", "gateway", round, timePlans(questions));
  }
}

function timePlans(questions: readonly RouteQuestion[]): number {
  const before = process.cpuUsage();
  let candidates = 0;
  for (let at = 0; at < PLANS; at++) {
    candidates += planRoute(questions[at % questions.length] as RouteQuestion).candidates.length;
  }
  const { user, system } = process.cpuUsage(before);
  if (candidates !== PLANS * CANDIDATES) throw new Error(`${candidates} candidates in ${PLANS} plans`);
  return (user + system) / PLANS;
}

const NO_DRAINS: RouteQuestion["drains"] = { find: () => null };

/** Sixty-four conversations, every other one with a warm cache. */
function makeQuestions(): readonly RouteQuestion[] {
  const health = createHealth();
  const offers = Array.from({ length: CANDIDATES }, (_, at) => makeDeployment(at));
  for (const { provider, keys } of offers) {
    const target = { provider: provider.record.slug, model: "acme/model", keyLabel: keys[0]?.label ?? "" };
    for (let second = 60; second > 0; second--) {
      const began = NOW - second * 1_000;
      const times = { beganAt: began, requestedAt: began };
      health.begin(target, began);
      health.record(target, { kind: "begun", ttftMs: 200 + second }, { ...times, now: began + 300 });
      health.record(target, { kind: "succeeded", tokensPerS: 50 }, { ...times, now: began + 900 });
    }
  }
  return Array.from(
    { length: 64 },
    (_, at): RouteQuestion => ({
      deployments: [offers],
      preferences: NO_PREFERENCES,
      promptTokens: 5_000,
      isFim: false,
      formatOfTools: null,
      health,
      drains: NO_DRAINS,
      warm:
        at % 2 === 0
          ? null
          : {
              provider: `host-${at % CANDIDATES}`,
              modelId: "acme/model",
              keyLabel: `host-${at % CANDIDATES}#0`,
              tokens: 4_000,
              until: NOW + 1,
            },
      session: `a conversation, as its hash names it ${at}`,
      now: NOW,
    }),
  );
}

function makeDeployment(at: number): Deployment {
  const price = (0.000001 + Math.floor(at / 2) / 10_000_000).toFixed(9);
  const slug = `host-${at}`;
  return {
    model: { id: "acme/model" },
    endpoint: {
      provider: slug,
      name: "model",
      prices: { prompt: price, completion: price, cacheRead: "0.0000001" },
    },
    provider: { record: { slug, baseUrl: "https://vendor.test" } },
    keys: [{ label: `${slug}#0`, secret: null, ownId: null }],
  } as unknown as Deployment;
}

import { expect, test } from "bun:test";
import { type OpenRecord, openRecord } from "../../src/core/generation/records/open-record.ts";
import { type Ending, type Settling, writeFinal } from "../../src/core/generation/settle/settle.ts";
import { ClientMemory } from "../../src/core/usage/clients/client-memory.ts";
import type { AdvisorRecord } from "../../src/core/usage/records/records.ts";
import { NO_TOKENS } from "../../src/wire/conversation/usage.ts";

const PRICES = { prompt: "0.000001", completion: "0.000002" };

const ADVISOR: AdvisorRecord = {
  model: "advisor-1",
  modelId: "acme/advisor",
  promptTokens: 5,
  completionTokens: 6,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  prices: PRICES,
  costNanodollars: 17,
  upstreamCostNanodollars: 17,
};

/** An ending that sets every field which an ending can set. */
const COMPLETED: Ending = {
  outcome: "completed",
  failure: null,
  status: 200,
  finish: { client: "stop", native: "end_turn" },
  firstTokenAt: 1_500,
  charge: {
    usage: {
      ...NO_TOKENS,
      promptTokens: 7,
      completionTokens: 8,
      reasoningTokens: 3,
      searchContext: "low",
      countedFor: "model-2",
      units: { characters: 9 },
    },
    advisors: [ADVISOR],
    prices: PRICES,
    listPrices: PRICES,
    owed: 40,
    paid: 40,
    list: 40,
    shown: { prices: PRICES, advisors: [], cost: 40 },
    isByok: false,
  },
};

const FAILED: Ending = {
  outcome: "failed",
  failure: { code: "unavailable", message: "The gateway cannot write its records." },
  status: 503,
  charge: null,
  finish: null,
  firstTokenAt: null,
};

function openOne(): OpenRecord {
  const prompt = { textBytes: 40 };
  const request = { tags: [], fallbackModels: [], api: "chat", stream: false, prompt, session: null };
  const headers = new Headers();
  const call = {
    requestId: "req_1",
    request,
    headers,
    principal: { kind: "anonymous", addressHash: "hash" },
  };
  const clients = new ClientMemory();
  const deps = { gatewayId: "gw_1", accounts: {}, clients, settings: { timers: { totalMs: 9_000 } } };
  const admitted = {
    id: "gen_1",
    admission: { requestedId: "acme/model", namedRoutes: [] },
    requestedAt: 1_000,
  };
  return openRecord(deps as never, call as never, admitted as never);
}

function endAfter(endings: readonly Ending[]): unknown {
  const record = openOne();
  const settling = { deps: { clock: { now: () => 2_000 }, recorder: { write() {} } } } as unknown as Settling;
  for (const ending of endings) writeFinal(settling, record, ending);
  return JSON.parse(JSON.stringify(record));
}

test("a record that is ended again has nothing of an ending that could not be made durable", () => {
  expect(endAfter([COMPLETED])).toMatchObject({ advisors: [ADVISOR], units: { characters: 9 } });
  expect(endAfter([COMPLETED, FAILED])).toEqual(endAfter([FAILED]));
  expect(endAfter([FAILED, COMPLETED])).toEqual(endAfter([COMPLETED]));
});

test("a record has fields for advisors and forwarded units only if the answer had some", () => {
  const { charge } = COMPLETED;
  if (charge === null) throw new Error("the ending has no charge");
  const { countedFor: _, units: __, ...usage } = charge.usage;
  const record = endAfter([{ ...COMPLETED, charge: { ...charge, usage, advisors: [] } }]);
  expect(record).toMatchObject({ promptTokens: 7, outcome: "completed" });
  expect(Object.keys(record as object)).not.toContainAnyValues(["advisors", "units", "countedFor"]);
});

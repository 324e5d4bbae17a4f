import { expect, test } from "bun:test";
import type { ModelEndpoint, ModelRecord } from "../../../src/core/catalog/records/records.ts";
import { listPriceRows } from "../../../src/http/routes/models/present-catalog-endpoint.ts";

const ENDPOINT: ModelEndpoint = {
  provider: "openai",
  name: "by-day",
  contextLength: 8_000,
  maxOutputTokens: null,
  prices: { prompt: "0.000001", completion: "0.000002" },
  priceTiers: [{ minPromptTokens: 4_001, prompt: "0.000003", completion: "0.000004" }],
  priceChanges: [{ from: "2026-12-01", prices: { prompt: "0.000005", completion: "0.000006" } }],
};
const MODEL: ModelRecord = {
  id: "acme/by-day",
  name: "By day",
  description: null,
  released: null,
  inputModalities: ["text"],
  outputModalities: ["text"],
  tokenizer: null,
  supportedParameters: [],
  expires: null,
  endpoints: [ENDPOINT],
};

const rowsAt = (date: string) =>
  listPriceRows(MODEL, ENDPOINT, Date.parse(date)).map(
    ({ from, until, min_prompt_tokens, is_current, pricing }) =>
      `${from}..${until} ${min_prompt_tokens} ${is_current} ${pricing.prompt}`,
  );

test("price rows cover each period and each prompt length, and say which are current", () => {
  expect(rowsAt("2026-11-30T23:59:59Z")).toEqual([
    "null..2026-12-01 0 true 0.000001",
    "null..2026-12-01 4001 true 0.000003",
    "2026-12-01..null 0 false 0.000005",
  ]);
  expect(rowsAt("2026-12-01T00:00:00Z")).toEqual([
    "null..2026-12-01 0 false 0.000001",
    "null..2026-12-01 4001 false 0.000003",
    "2026-12-01..null 0 true 0.000005",
  ]);
});

test("an endpoint without a known price has no price rows", () => {
  const { priceTiers: _tiers, priceChanges: _changes, ...rest } = ENDPOINT;
  expect(listPriceRows(MODEL, { ...rest, prices: null }, 0)).toEqual([]);
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CLIENT_APIS } from "../../faults/client-apis.ts";
import { type FormatVendors, startFormatVendors } from "../../faults/format-vendors.ts";
import { fetchRecord } from "../../faults/two-vendors.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";

let vendors: FormatVendors;
beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

/** The token usage of a record; absent counts are zero. */
interface Counted {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  readonly audioPrompt?: number;
}

const CASES: readonly {
  readonly format: keyof typeof SCRIPTS;
  readonly what: string;
  readonly usage: unknown;
  readonly counted: Counted;
}[] = [
  {
    format: "openai-chat",
    what: "cached and audio tokens in the prompt, and reasoning in the completion",
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 300,
      total_tokens: 1_300,
      prompt_tokens_details: { cached_tokens: 600, audio_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 200 },
    },
    counted: { prompt: 1_000, completion: 300, cached: 600, reasoning: 200, audioPrompt: 50 },
  },
  {
    format: "openai-responses",
    what: "cached tokens in the prompt, and reasoning in the completion",
    usage: {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 600 },
      output_tokens: 300,
      output_tokens_details: { reasoning_tokens: 200 },
      total_tokens: 1_300,
    },
    counted: { prompt: 1_000, completion: 300, cached: 600, reasoning: 200 },
  },
  {
    format: "anthropic-messages",
    what: "cache reads and cache writes separately from the rest of the prompt, writes by lifetime",
    usage: {
      input_tokens: 100,
      cache_read_input_tokens: 600,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 300,
      output_tokens_details: { thinking_tokens: 200 },
    },
    counted: {
      prompt: 1_000,
      completion: 300,
      cached: 600,
      cacheWrite: 300,
      cacheWrite1h: 100,
      reasoning: 200,
    },
  },
  {
    format: "gemini",
    what: "cached and audio tokens in the prompt, and thoughts separately from the completion",
    usage: {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 600,
      candidatesTokenCount: 100,
      thoughtsTokenCount: 200,
      totalTokenCount: 1_300,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 950 },
        { modality: "AUDIO", tokenCount: 50 },
      ],
    },
    counted: { prompt: 1_000, completion: 300, cached: 600, reasoning: 200, audioPrompt: 50 },
  },
  {
    format: "bedrock-converse",
    what: "cache reads and cache writes separately from the rest of the prompt, writes by lifetime",
    usage: {
      inputTokens: 100,
      outputTokens: 300,
      totalTokens: 1_300,
      cacheReadInputTokens: 600,
      cacheWriteInputTokens: 300,
      cacheDetails: [
        { ttl: "5m", inputTokens: 200 },
        { ttl: "1h", inputTokens: 100 },
      ],
    },
    counted: { prompt: 1_000, completion: 300, cached: 600, cacheWrite: 300, cacheWrite1h: 100 },
  },
  {
    format: "cohere-chat",
    what: "billed tokens, without those that the vendor added itself",
    usage: {
      billed_units: { input_tokens: 1_000, output_tokens: 300 },
      tokens: { input_tokens: 1_500, output_tokens: 310 },
      cached_tokens: 1_100,
    },
    counted: { prompt: 1_000, completion: 300, cached: 600 },
  },
];

describe.each(CASES)("a vendor of $format counts $what", ({ format, usage, counted }) => {
  test.each(CLIENT_APIS.flatMap((api) => [true, false].map((stream) => [api.name, stream, api] as const)))(
    "and so does the generation record of a %s client (stream: %p)",
    async (_name, stream, { ask, path, readStream, readDocument }) => {
      const { first, gateway } = vendors;
      const script = SCRIPTS[format];
      first.perform(async (call) => {
        if (!script.isStream(call.head, call.body))
          return call.respond(200, script.document("Alpha", "stop", usage));
        await call.begin(200, { "content-type": script.contentType });
        await call.piece(script.begin("Alpha"));
        await call.piece(script.close("stop", usage));
        await call.end();
      });
      const response = await fetch(gateway.base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
        body: JSON.stringify(ask(`acme/${format}-alone`, stream)),
      });
      const body = await response.text();
      const answered = stream ? readStream(body) : readDocument(body);
      expect(answered.usage).toEqual({ completion: counted.completion, estimated: false });
      expect(await fetchRecord(gateway, answered.id)).toMatchObject({
        tokens_prompt: counted.prompt,
        tokens_completion: counted.completion,
        tokens_cached: counted.cached ?? 0,
        tokens_cache_write: counted.cacheWrite ?? 0,
        tokens_cache_write_1h: counted.cacheWrite1h ?? 0,
        tokens_reasoning: counted.reasoning ?? 0,
        tokens_audio_prompt: counted.audioPrompt ?? 0,
        estimated: false,
        total_cost_nanodollars: counted.prompt * 1_000 + counted.completion * 2_000,
      });
    },
  );
});

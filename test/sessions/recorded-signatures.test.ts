import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { type RecordedAnswer, readRecorded } from "../fidelity/recorded/recorded-answers.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { hasRecordings } from "../support/vendors/recordings.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { listPlaces, listRecordedPlaces, type Place } from "./signature-places.ts";

const MODELS: readonly (readonly [format: FormatName, model: string])[] = [
  ["anthropic-messages", "anthropic/claude-sonnet-4.5"],
  ["gemini", "google/gemini-3.1-pro-preview"],
  ["openai-responses", "openai/gpt-5.1-codex"],
  // OpenAI's models get no reasoning of others.
  ["openai-responses", "xai/grok-4"],
];

/** Returns the model that gave a recorded answer; undefined for formats without signatures. */
function modelOf({ name, format }: RecordedAnswer): string | undefined {
  const models = MODELS.filter(([one]) => one === format);
  return models[name.startsWith("xai") ? 1 : 0]?.[1];
}

const isSigned = ({ signature }: Place) => signature !== null;

/** Recorded answers, and hand-made ones, with a signature. */
const SIGNED = readRecorded().filter(
  (recorded) => modelOf(recorded) !== undefined && listRecordedPlaces(recorded).some(isSigned),
);

let vendor: Vendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  const origin = vendor.baseUrl.replace(/\/v1$/, "");
  const providers = MODELS.map(([format, id]) => {
    const base = format === "openai-responses" ? vendor.baseUrl : origin;
    return `  of-${id.slice(0, id.indexOf("/"))}: {base_url: "${base}", format: ${format}, api_keys: [k], models: [{id: ${id}, name: ${id.slice(id.indexOf("/") + 1)}, prices: {prompt: "0", completion: "0"}}]}`;
  });
  // Only kept responses bring back what vendors require.
  const yaml = `providers:\n${providers.join("\n")}\nlimits: {turn_memory_bytes: 0}\n`;
  gateway = await startTestGateway({ yaml, usesRedis: false });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

async function respond(body: object, isStream: boolean) {
  const response = await fetch(`${gateway.base}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: isStream, reasoning: { effort: "low", summary: "auto" } }),
  });
  const text = await response.text();
  expect(text).not.toContain('"error":{');
  const last = text.trimEnd().split("\n\n").at(-2) ?? "";
  return isStream ? JSON.parse(last.slice(last.indexOf("data: ") + 6)).response : JSON.parse(text);
}

/** Answers with a recording. */
function replay({ whole, stream }: RecordedAnswer): void {
  vendor.perform(async (call) => {
    if (stream === null) return call.respond(200, whole);
    await call.begin(200, { "content-type": "text/event-stream" });
    await call.piece(Buffer.from(stream, "latin1"));
    await call.end();
  });
}

describe("a stored answer that is continued", () => {
  test.if(hasRecordings)("is tested with recordings of each vendor that signs", () => {
    for (const [format] of MODELS)
      expect(SIGNED.filter((one) => one.format === format).length).toBeGreaterThan(3);
  });

  test.each(SIGNED.map((recorded) => [recorded.name, recorded] as const))(
    "brings the vendor's signatures back byte for byte, in their places: %s",
    async (_name, recorded) => {
      replay(recorded);
      const isStream = recorded.stream !== null;
      const model = modelOf(recorded);
      const first = await respond({ model, input: "Hi", store: true }, isStream);
      const results = first.output.flatMap((item: { type: string; call_id: string }) =>
        item.type === "function_call"
          ? [{ type: "function_call_output", call_id: item.call_id, output: "done" }]
          : [],
      );
      const input = [...results, { role: "user", content: "Go on." }];
      await respond({ model, input, store: true, previous_response_id: first.id }, isStream);
      const sent = listPlaces(recorded.format, vendor.calls.at(-1)?.body ?? {});
      expect(sent).toEqual(listRecordedPlaces(recorded));
    },
  );
});

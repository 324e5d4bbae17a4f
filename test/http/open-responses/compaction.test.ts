import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  itemsOf,
  type OpenSite,
  startOpenSite,
  TARGETS,
  textOf,
} from "../../support/open-responses/open-site.ts";
import { findFaults } from "../../support/open-responses/shapes.ts";
import { findBrokenRules, type Json } from "../../support/open-responses/stream-rules.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterEach(() => site.disconnect());
afterAll(() => site.stop());

const CONVERSATION = [
  { type: "message", role: "user", content: "We launch on Tuesday." },
  { type: "message", role: "assistant", content: "Understood." },
];
const NEXT = { type: "message", role: "user", content: "Go on." };

describe.each(TARGETS)("a compaction by $name", (target) => {
  beforeEach(() => void site.behave(target, "agent"));

  async function compact(more: object = {}): Promise<Json> {
    const response = await site.post({ model: target.model, input: CONVERSATION, ...more }, "/compact");
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("application/json"),
    ]);
    return (await response.json()) as Json;
  }

  test("has every field that the specification requires, and a compaction item", async () => {
    const compacted = await compact();
    expect(findFaults("compaction", compacted)).toEqual([]);
    expect(itemsOf(compacted, "compaction")).toHaveLength(1);
    expect(JSON.stringify(compacted)).not.toContain("We launch on Tuesday.");
  });

  test("takes instructions, a text as input, and a prompt_cache_key", async () => {
    const more = { instructions: "Be brief.", prompt_cache_key: "key-1", input: "We launch on Tuesday." };
    expect(findFaults("compaction", await compact(more))).toEqual([]);
  });

  test("begins a new conversation over HTTP, from which the model continues", async () => {
    const { output } = await compact();
    const response = await site.create({ model: target.model, input: [...output, NEXT] });
    expect(findFaults("response", response)).toEqual([]);
    const seen = target.format === null ? textOf(response) : JSON.stringify(site.vendor.calls.at(-1)?.body);
    expect(seen).toContain("This is the handover");
  });

  test("begins a new conversation over a WebSocket, without previous_response_id", async () => {
    const { output } = await compact();
    const client = await site.connect();
    const input = [...output, NEXT];
    for (const more of [{}, { previous_response_id: null }]) {
      const frames = await site.turn(client, {
        model: target.model,
        store: false,
        input,
        tools: [],
        ...more,
      });
      expect(findBrokenRules(frames)).toEqual([]);
      expect(frames.at(-1)?.["response"]).toMatchObject({ status: "completed", previous_response_id: null });
    }
  });

  test("compacts a stored response that previous_response_id names", async () => {
    const stored = await site.create({ model: target.model, input: "One", store: true });
    const compacted = await compact({ input: undefined, previous_response_id: stored["id"] });
    expect(findFaults("compaction", compacted)).toEqual([]);
    expect(itemsOf(compacted, "compaction")).toHaveLength(1);
  });
});

test("a compaction without a model is a 400 with an error", async () => {
  const response = await site.post({ input: CONVERSATION }, "/compact");
  expect([response.status, findFaults("failure", await response.json())]).toEqual([400, []]);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  itemsOf,
  type OpenSite,
  startOpenSite,
  TARGETS,
  type Target,
  TOOL,
  textOf,
  VENDORS,
} from "../../support/open-responses/open-site.ts";
import { findFaults, RESPONSE_FIELDS } from "../../support/open-responses/shapes.ts";
import type { Json } from "../../support/open-responses/stream-rules.ts";
import { speak } from "../../support/vendors/speaking-vendor.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterAll(() => site.stop());

/** The body of the last request to the vendor, as text. */
const sentToVendor = (): string => JSON.stringify(site.vendor.calls.at(-1)?.body);

/** Returns what the model has seen: what the vendor received, or what the agent of the sandbox says of it. */
const seenBy = ({ format }: Target, response: Json): string =>
  format === null ? textOf(response) : sentToVendor();

const message = (role: string, content: unknown, more: object = {}) => ({
  type: "message",
  role,
  content,
  ...more,
});

describe.each(TARGETS)("a response from $name", (target) => {
  beforeEach(() => void site.behave(target, "agent"));
  const create = (fields: object) => site.create({ model: target.model, input: "Hello!", ...fields });

  test("has every field that the specification requires", async () => {
    const response = await create({});
    expect(findFaults("response", response)).toEqual([]);
    expect(Object.keys(response)).toEqual(expect.arrayContaining([...RESPONSE_FIELDS]));
  });

  test("is JSON, is completed, and has a message of the assistant", async () => {
    const answered = await site.post({ model: target.model, input: "Hello!" });
    expect(answered.headers.get("content-type")).toMatch(/^application\/json/);
    const response = (await answered.json()) as Json;
    expect(response).toMatchObject({ object: "response", status: "completed", error: null });
    expect(response["completed_at"]).toBeGreaterThanOrEqual(response["created_at"]);
    expect(itemsOf(response, "message")).toMatchObject([{ role: "assistant", status: "completed" }]);
    expect(textOf(response)).not.toBe("");
  });

  test("has an id of its own, and so has each of its items", async () => {
    const responses = [await create({}), await create({ tools: [TOOL] })];
    const ids = responses.flatMap(({ id, output }) => [id, ...output.map((item: Json) => item["id"])]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(4);
  });

  test("has the token usage, whose total is the sum", async () => {
    const { usage } = await create({});
    expect(usage["input_tokens"]).toBeGreaterThan(0);
    expect(usage["output_tokens"]).toBeGreaterThan(0);
    expect(usage["total_tokens"]).toBe(usage["input_tokens"] + usage["output_tokens"]);
  });

  test("repeats what the request has set", async () => {
    const set = {
      instructions: "Be brief.",
      max_output_tokens: 100,
      max_tool_calls: 3,
      metadata: { topic: "weather" },
      parallel_tool_calls: false,
      temperature: 0.5,
      top_p: 0.5,
      truncation: "disabled",
      safety_identifier: "user-1",
      prompt_cache_key: "key-1",
      tool_choice: "none",
      tools: [TOOL],
    };
    const response = await create(set);
    expect(findFaults("response", response)).toEqual([]);
    // Vendors get a pseudonym, which those that repeat it send back.
    expect(response).toMatchObject({ ...set, safety_identifier: expect.any(String) });
  });

  test("repeats the format of its text", async () => {
    const schema = { type: "object", properties: {}, additionalProperties: false };
    const format = { type: "json_schema", name: "thing", schema, strict: true };
    expect((await create({ text: { format } }))["text"]).toMatchObject({ format });
    expect((await create({}))["text"]).toMatchObject({ format: { type: "text" } });
  });

  test("answers instructions, and messages of the system and the developer", async () => {
    const response = await create({
      instructions: "Speak like a pirate.",
      input: [
        message("system", "Be brief."),
        message("developer", [{ type: "input_text", text: "Use no lists." }]),
        message("user", "Hello!"),
      ],
    });
    const seen = seenBy(target, response);
    for (const text of ["Speak like a pirate.", "Be brief.", "Use no lists."]) expect(seen).toContain(text);
  });

  test("answers a conversation of several turns, in their order", async () => {
    const response = await create({
      input: [
        message("user", "My name is Alice."),
        message("assistant", "Hello Alice!"),
        message("user", [{ type: "input_text", text: "What is my name?" }]),
      ],
    });
    expect(response["status"]).toBe("completed");
    const seen = seenBy(target, response);
    const places = ["My name is Alice.", "Hello Alice!"].map((text) => seen.indexOf(text));
    expect(places[0]).toBeGreaterThan(-1);
    expect(places[1]).toBeGreaterThan(places[0] as number);
  });

  test("answers messages of the assistant that have a phase", async () => {
    const response = await create({
      input: [
        message("user", "Which number?"),
        message("assistant", "I look it up.", { phase: "commentary" }),
        message("assistant", [{ type: "output_text", text: "It is four." }], { phase: "final_answer" }),
        message("user", "Repeat it."),
      ],
    });
    expect(response["status"]).toBe("completed");
    for (const text of ["I look it up.", "It is four."]) expect(seenBy(target, response)).toContain(text);
  });

  test("answers an image", async () => {
    const image = { type: "input_image", image_url: `data:image/png;base64,${PIXEL}` };
    const input = [
      message("user", [{ type: "input_text", text: "Look!" }, image]),
      message("user", "What do you see?"),
    ];
    const response = await create({ input });
    expect(response["status"]).toBe("completed");
    expect(seenBy(target, response)).toContain(target.format === null ? "[image_url]" : PIXEL);
  });

  test("gets its own items back in the next request", async () => {
    const marker = site.behave(target, "reasoning");
    const first = await create({ input: `${marker}One`, reasoning: { effort: "low", summary: "auto" } });
    site.behave(target, "agent");
    const second = await create({
      input: [message("user", "One"), ...first["output"], message("user", "Two")],
    });
    expect(second["status"]).toBe("completed");
    const [answer = ""] = textOf(first).split("\n");
    expect(seenBy(target, second)).toContain(answer);
  });

  test("has reasoning as an item before the message, with a summary in text", async () => {
    const marker = site.behave(target, "reasoning");
    const response = await create({
      input: `${marker}Think.`,
      reasoning: { effort: "low", summary: "auto" },
    });
    expect(findFaults("response", response)).toEqual([]);
    const [reasoning, said] = response["output"];
    expect([reasoning.type, said.type]).toEqual(["reasoning", "message"]);
    const text = reasoning.summary.map((part: Json) => part["text"]).join("");
    expect(text).toContain(target.format === null ? "The user said" : "Let me think.");
  });

  test("ends at its limit of tokens as incomplete, and says so", async () => {
    site.behave(target, "cut");
    const response = await create({ input: "word ".repeat(40), max_output_tokens: 16 });
    expect(findFaults("response", response)).toEqual([]);
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      completed_at: null,
      output: [{ type: "message", status: "incomplete" }],
    });
  });

  test("says at which service tier it was made", async () => {
    expect((await create({ service_tier: "auto" }))["service_tier"]).toBeString();
  });
});

describe("a message of a vendor of openai-responses", () => {
  const [, target] = VENDORS as readonly [Target, Target];

  test.each(["commentary", "final_answer"])("keeps its phase %s, in both directions", async (phase) => {
    expect(target.format).toBe("openai-responses");
    site.vendor.perform(speak({ text: ["Alpha"], phase }));
    const response = await site.create({
      model: target.model,
      input: [message("user", "Hi"), message("assistant", "Hm", { phase }), message("user", "Go on.")],
    });
    expect(findFaults("response", response)).toEqual([]);
    expect(itemsOf(response, "message")).toMatchObject([{ phase }]);
    expect(sentToVendor()).toContain(`"phase":"${phase}"`);
  });
});

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  itemsOf,
  LONG_TOOL,
  type OpenSite,
  readSse,
  startOpenSite,
  TARGETS,
  type Target,
  TOOL,
  textOf,
} from "../../support/open-responses/open-site.ts";
import { findBrokenRules, type Json } from "../../support/open-responses/stream-rules.ts";
import { type Behavior, SPOKEN } from "../../support/vendors/scripts/behaviors.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterEach(() => site.disconnect());
afterAll(() => site.stop());

/** A request whose stream is checked. */
interface StreamedCase {
  readonly says: string;
  readonly behavior: Behavior;
  readonly more?: object;
  /** The last event. */
  readonly ends: string;
}

const CASES: readonly StreamedCase[] = [
  { says: "of a text", behavior: "agent", ends: "response.completed" },
  { says: "of a call of a function", behavior: "agent", more: { tools: [TOOL] }, ends: "response.completed" },
  { says: "of reasoning and a text", behavior: "reasoning", ends: "response.completed" },
  {
    says: "of a text that is cut off at its limit of tokens",
    behavior: "cut",
    more: { max_output_tokens: 16 },
    ends: "response.incomplete",
  },
  {
    says: "of a call that is cut off at its limit of tokens",
    behavior: "cut-call",
    more: { tools: [LONG_TOOL], max_output_tokens: 16 },
    ends: "response.incomplete",
  },
  { says: "that fails in its middle", behavior: "late-failure", ends: "response.failed" },
];

/** Longer than 16 tokens, so that an echo of it is cut off. */
const INPUT = `Say it. ${"word ".repeat(40)}`;

const bodyOf = (target: Target, { behavior, more }: Pick<StreamedCase, "behavior" | "more">) => ({
  model: target.model,
  input: site.behave(target, behavior) + INPUT,
  ...more,
});

describe.each(TARGETS)("the streamed response from $name", (target) => {
  test.each(CASES)("$says keeps all rules of streaming events", async ({ ends, ...streamed }) => {
    const events = await site.stream(bodyOf(target, streamed));
    expect(findBrokenRules(events)).toEqual([]);
    expect(events.at(-1)?.["type"]).toBe(ends);
  });

  test.each(CASES)("$says keeps the same rules over a WebSocket", async ({ ends, ...streamed }) => {
    const client = await site.connect();
    const frames = await site.turn(client, bodyOf(target, streamed));
    expect(findBrokenRules(frames)).toEqual([]);
    expect(frames.at(-1)?.["type"]).toBe(ends);
  });

  test("has the content type text/event-stream, and ends with [DONE]", async () => {
    const response = await site.post({ ...bodyOf(target, { behavior: "agent" }), stream: true });
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(readSse(await response.text()).at(-1)).toMatchObject({ data: "[DONE]" });
  });

  test("names each event by its type, and has no ids of events", async () => {
    const response = await site.post({ ...bodyOf(target, { behavior: "agent" }), stream: true });
    const events = readSse(await response.text()).slice(0, -1);
    for (const { fields, data } of events) {
      expect(fields.get("event")).toBe(JSON.parse(data).type);
      expect(fields.has("id")).toBe(false);
    }
    expect(events.length).toBeGreaterThan(5);
  });

  test("arrives in several pieces of text", async () => {
    const events = await site.stream(bodyOf(target, { behavior: "agent" }));
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.length).toBeGreaterThanOrEqual(SPOKEN.length);
  });

  test("adds a message with its role, and a call with its name", async () => {
    const added = async (more: object) => {
      const events = await site.stream(bodyOf(target, { behavior: "agent", more }));
      return events.filter(({ type }) => type === "response.output_item.added").map(({ item }) => item);
    };
    expect(await added({})).toContainEqual(
      expect.objectContaining({ type: "message", role: "assistant", status: "in_progress", content: [] }),
    );
    expect(await added({ tools: [TOOL] })).toContainEqual(
      expect.objectContaining({ type: "function_call", name: TOOL.name, status: "in_progress" }),
    );
  });

  test("has the same output as the response that is not streamed", async () => {
    const body = { ...bodyOf(target, { behavior: "agent" }), tools: [TOOL] };
    const streamed = (await site.stream(body)).at(-1)?.["response"] as Json;
    const whole = await site.create(body);
    const withoutIds = (response: Json) =>
      response["output"].map(({ id: _, call_id: __, ...item }: Json) => item);
    expect(withoutIds(streamed)).toEqual(withoutIds(whole));
    expect(itemsOf(streamed, "function_call")).toHaveLength(1);
  });

  test("has what was said before a failure, and the failure as its error", async () => {
    const events = await site.stream(bodyOf(target, { behavior: "late-failure" }));
    const { response } = events.at(-1) as Json;
    expect(response).toMatchObject({ status: "failed", error: { code: expect.any(String) } });
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(textOf(response)).toBe(deltas.map(({ delta }) => delta).join(""));
    expect(textOf(response)).not.toBe("");
  });

  test.each(CASES.filter(({ ends }) => ends === "response.incomplete"))(
    "$says says why it is incomplete, and so is its last item",
    async (streamed) => {
      const events = await site.stream(bodyOf(target, streamed));
      expect(events.at(-1)?.["response"]).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        completed_at: null,
        output: [{ status: "incomplete" }],
      });
    },
  );
});

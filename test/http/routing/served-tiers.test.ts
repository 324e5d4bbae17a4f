import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AnswerSite,
  API_NAMES,
  FORMS,
  type Json,
  playDocument,
  playEvents,
  startAnswerSite,
} from "../../support/vendors/answer-site.ts";
import { closing, documentOf, textOf, USAGE } from "../../support/vendors/vendor.ts";

let site: AnswerSite;

beforeAll(async () => {
  site = await startAnswerSite();
});
afterAll(() => site.stop());

const COUNTERS = { input_tokens: 10, output_tokens: 5 };
const MESSAGE = { type: "message", id: "m", role: "assistant", status: "completed" };
const OUTPUT = [{ ...MESSAGE, content: [{ type: "output_text", text: "Hi", annotations: [] }] }];

/** Answers of hosts that name a tier, whole and streamed. */
const HOSTS = {
  chat: (tier: string) => [
    { ...documentOf("Hi", { usage: USAGE, service_tier: tier }) },
    [{ ...textOf("H"), service_tier: tier }, { ...textOf("i"), service_tier: tier }, ...closing()],
  ],
  messages: (tier: string) => [
    {
      id: "m",
      type: "message",
      role: "assistant",
      model: "up",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      usage: { ...COUNTERS, service_tier: tier },
    },
    [
      {
        type: "message_start",
        message: {
          id: "m",
          type: "message",
          role: "assistant",
          content: [],
          usage: { ...COUNTERS, service_tier: tier },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { ...COUNTERS, service_tier: tier },
      },
      { type: "message_stop" },
    ],
  ],
  responses: (tier: string) => {
    const usage = { ...COUNTERS, total_tokens: 15 };
    const response = {
      id: "r",
      object: "response",
      status: "completed",
      output: OUTPUT,
      service_tier: tier,
      usage,
    };
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    return [
      response,
      [
        { type: "response.created", response: begun },
        { type: "response.output_item.added", output_index: 0, item: { ...MESSAGE, content: [] } },
        { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hi" },
        { type: "response.output_item.done", output_index: 0, item: OUTPUT[0] },
        { type: "response.completed", response },
      ],
    ];
  },
} as const;

const TIERS = ["standard", "on_demand", "provisioned", "", "priority", "default"];
const KNOWN = {
  chat: new Set(["auto", "default", "flex", "scale", "priority"]),
  responses: new Set(["auto", "default", "flex", "scale", "priority"]),
  messages: new Set(["standard", "priority", "batch"]),
} as const;

function listTiers(value: Json): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "service_tier" in value ? [value.service_tier] : [];
  return [...own, ...Object.values(value).flatMap(listTiers)];
}

describe.each(API_NAMES)("a %s client", (api) => {
  describe.each(FORMS)("with an answer that is %s", (form, stream) => {
    test.each(Object.keys(HOSTS) as (keyof typeof HOSTS)[])(
      "reads only tiers of its own API in answers of a %s host",
      async (model) => {
        for (const tier of TIERS) {
          const [document, events] = HOSTS[model](tier);
          const play = stream ? playEvents(events as Json) : playDocument(document);
          const answer = await site.ask(api, model, { stream, play });
          expect([answer.status, answer.text]).toEqual([200, "Hi"]);
          const tiers = listTiers([answer.body, answer.events]);
          for (const found of tiers)
            expect([tier, form, KNOWN[api].has(found as never)]).toEqual([tier, form, true]);
          if (tier === "priority") expect(tiers).toContain("priority");
        }
      },
    );
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { shareOf } from "../support/long-run.ts";
import { createSeededRandom, type SeededRandom } from "../support/seeded-random.ts";
import { answerTurn, type Json } from "./sites/answer-turns.ts";
import { type Client, listClients, pickText } from "./sites/converse.ts";
import { BEDROCK_AND_COHERE, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

/* Vendors bind prompt caches and thinking to what was sent before. So what is sent of a conversation is the beginning of what is sent of it
 * one turn later, however broken it is. Cache marks are exempt. */

const PRICES = 'prices: { prompt: "0.000001", completion: "0.000001" }';
const HOSTS = `
providers:
  relay:
    base_url: "{vendor}"
    models:
      - { id: mine/model, input: [text, image], ${PRICES} }
      - { id: anthropic/claude-relayed, input: [text, image], ${PRICES} }
  responder:
    base_url: "{vendor}"
    format: openai-responses
    models: [{ id: mine/responder, input: [text, image], ${PRICES} }]
`;

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(HOSTS, BEDROCK_AND_COHERE);
});
afterAll(() => site.stop());

/** One endpoint of each distinct profile, and whether its model takes images. */
const TARGETS: readonly (readonly [model: string, provider: string, images: boolean])[] = [
  ["anthropic/claude-sonnet-4.5", "anthropic", true],
  ["anthropic/claude-opus-4.8", "anthropic", true],
  ["anthropic/claude-sonnet-4.5", "amazon-bedrock", true],
  ["amazon/nova-pro-v1", "amazon-bedrock", true],
  ["google/gemini-2.5-flash", "google", true],
  ["google/gemini-3.1-pro-preview", "google", true],
  ["cohere/command-a", "cohere", false],
  ["mistralai/mistral-medium-3-5", "mistral", true],
  ["deepseek/deepseek-v4-pro", "deepseek", false],
  ["moonshotai/kimi-k2.6", "moonshotai", true],
  ["openai/gpt-oss-120b", "groq", false],
  ["openai/gpt-oss-120b", "cerebras", false],
  ["openai/gpt-oss-120b", "fireworks", false],
  ["x-ai/grok-4.3", "xai", true],
  ["openai/gpt-4.1", "openai", true],
  ["openai/gpt-5.4", "openai", true],
  ["mine/model", "relay", true],
  ["anthropic/claude-relayed", "relay", true],
  ["mine/responder", "responder", true],
];

/** The fields of a body that stand before its messages for caches and thinking, and those with the messages, in all formats. */
const FIRST = ["system", "instructions", "systemInstruction", "tools", "toolConfig"] as const;
const LISTS = ["messages", "input", "contents"] as const;

interface Sent {
  readonly path: string;
  readonly first: string;
  readonly messages: readonly string[];
}

/** Returns what was sent of a conversation, each message as text. */
function readSent(path: string, body: Json): Sent {
  const list = LISTS.map((name) => body[name]).find((value) => value !== undefined);
  const messages = typeof list === "string" ? [{ role: "user", content: list }] : list;
  return {
    path,
    first: JSON.stringify(FIRST.map((name) => withoutMarks(body[name]))),
    messages: messages.map((message: Json) => JSON.stringify(withoutMarks(message))),
  };
}

/** Members whose values the model sees as they are written, so that the order of their members counts. */
const AS_WRITTEN = new Set(["input", "arguments", "args", "parameters", "input_schema", "schema", "json"]);

/**
 * Removes cache marks, and sorts the members of messages and blocks, which vendors read by name. A content that is only a text may be written
 * as a string, and is where it has no mark.
 */
function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks).filter((one) => one?.cachePoint === undefined);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([name]) => name !== "cache_control");
  const sorted = kept.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const fields = Object.fromEntries(
    sorted.map(([name, inner]) => [name, AS_WRITTEN.has(name) ? inner : withoutMarks(inner)]),
  );
  const { content } = fields;
  const only = Array.isArray(content) && content.length === 1 ? content[0] : null;
  const isPlain = only !== null && Object.keys(only).join() === "text,type";
  return isPlain ? { ...fields, content: only.text } : fields;
}

/** What a conversation of several turns was like, for the message of a failure. */
interface Played {
  readonly sent: readonly Sent[];
  readonly history: readonly Json[];
}

const TURNS = 5;

async function play(client: Client, target: (typeof TARGETS)[number], random: SeededRandom): Promise<Played> {
  const [model, provider, images] = target;
  const settings = client.settings(random);
  const history: Json[] = [];
  const sent: Sent[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const calls = turn === 0 ? [] : client.callsOf(history.slice(lastKept));
    // Sometimes a person interrupts the calls of an agent, which then have no results.
    const answered = calls.filter(() => !random.oneIn(5));
    const say = (...messages: readonly Json[]) =>
      history.push(...messages.map((one) => mixMembers(one, random)));
    for (const call of answered) say(...client.result(call, pickText(random), random));
    if (answered.length === 0 || random.oneIn(4)) {
      if (random.oneIn(2)) say(...olderFor(client, settings, random, turn));
      say(client.user(pickText(random), random, images));
    }
    const fields = { ...settings, ...client.turns(history), provider: { only: [provider] } };
    const asked = await site.ask(client.api, model, fields, (request) => answerTurn(request, random));
    if (asked.status !== 200) throw new Error(`${asked.status}: ${asked.text}\n${JSON.stringify(history)}`);
    sent.push(readSent(site.vendor.last().path, asked.sent));
    lastKept = history.length;
    history.push(...client.keep(JSON.parse(asked.text)));
  }
  return { sent, history };
}

let lastKept = 0;

/**
 * Returns messages of earlier turns. They have no calls where no tools are offered: Converse demands the tools of calls, which then come
 * with the calls (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html).
 */
function olderFor(client: Client, settings: Json, random: SeededRandom, turn: number): readonly Json[] {
  const older = client.older(random, turn);
  return settings.tools === undefined && /call_id|tool_use|tool_calls/.test(JSON.stringify(older))
    ? []
    : older;
}

/**
 * Returns a value with the members of its objects in any order, as libraries print them. A call that is there twice is removed, and the order
 * of what is left is not promised.
 */
function mixMembers(value: Json, random: SeededRandom): Json {
  if (Array.isArray(value)) return value.map((one) => mixMembers(one, random));
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value);
  const isSame = JSON.stringify(value).includes('"again"') || random.oneIn(2);
  const turned = isSame ? members : members.toReversed();
  return Object.fromEntries(turned.map(([name, inner]) => [name, mixMembers(inner, random)]));
}

const SEEDS = Array.from({ length: shareOf(30, 0.02) }, (_, at) => at + 1);

describe.each(listClients(RESPONSES).map((client) => [client.api.name, client] as const))(
  "a conversation of %s",
  (_name, client) => {
    test.each(TARGETS)(
      "with %s at %s begins in each turn with what was sent before",
      async (model, provider, images) => {
        for (const seed of SEEDS) {
          const { sent, history } = await play(client, [model, provider, images], createSeededRandom(seed));
          for (let at = 1; at < sent.length; at++)
            expect([seed, at, findDifference(sent[at - 1] as Sent, sent[at] as Sent), history]).toEqual([
              seed,
              at,
              null,
              history,
            ]);
        }
      },
    );
  },
);

/** Returns what of an earlier turn is not sent in the same way in a later one; null if all of it is. */
function findDifference(before: Sent, now: Sent): readonly unknown[] | null {
  if (before.path !== now.path) return [before.path, now.path];
  if (before.first !== now.first) return [before.first, now.first];
  const at = before.messages.findIndex((message, index) => message !== now.messages[index]);
  return at < 0 ? null : [at, before.messages[at], now.messages[at]];
}

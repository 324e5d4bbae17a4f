import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AskableApi } from "../support/clients/client-apis.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { answerCached, createPromptCache, type PromptCache } from "../support/vendors/prompt-cache.ts";
import type { RecordedRequest } from "../support/vendors/recording-vendor.ts";
import {
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

const CLAUDE = "anthropic/claude-sonnet-4.5";
const LONG = "All of this is known to the assistant. ".repeat(200);
const TOOL_SCHEMA = { type: "object", properties: {} };

let site: ProfileSite;
let cache: PromptCache;
let now: number;
beforeEach(async () => {
  site = await startProfileSite();
  cache = createPromptCache(1024);
  now = 0;
});
afterEach(() => site.stop());

/** Answers as Claude does, with the usage of the simulated cache. */
function answer({ text }: RecordedRequest): Response {
  return answerCached(cache.use(JSON.parse(text), now));
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A conversation in the terms of a client API. */
function conversation({ name }: AskableApi, turns: readonly Turn[], system: string | null = LONG): Fields {
  const messages = turns.map(({ role, text }) => ({ role, content: text }));
  const first = system === null ? {} : { system };
  if (name === MESSAGES.name) return { ...first, messages };
  const instructions = system === null ? [] : [{ role: "system", content: system }];
  return name === CHAT.name
    ? { messages: [...instructions, ...messages] }
    : { input: [...instructions, ...messages] };
}

const QUESTION: Turn = { role: "user", text: "Is it so?" };
const SECOND: readonly Turn[] = [
  QUESTION,
  { role: "assistant", text: "Yes." },
  { role: "user", text: "And now?" },
];

/** The texts and names that are marked in a body. */
function marksOf(sent: unknown): readonly string[] {
  const marked: string[] = [];
  JSON.stringify(sent, (_key, value) => {
    if (value?.cache_control !== undefined)
      marked.push(String(value.text ?? value.tool_use_id ?? value.id ?? value.name).slice(0, 10));
    return value;
  });
  return marked;
}

describe.each([CHAT, RESPONSES, MESSAGES])("a prompt of $name to a Claude", (api) => {
  const ask = (more: Fields) => site.ask(api, CLAUDE, more, answer);

  test("is not marked in a single request", async () => {
    const { sent, named } = await ask(conversation(api, [QUESTION]));
    expect([marksOf(sent), named]).toEqual([[], []]);
  });

  test("is marked at the instructions and the last turn once the model has answered", async () => {
    const { sent, status, named } = await ask(conversation(api, SECOND));
    expect([status, named]).toEqual([200, []]);
    expect([...marksOf(sent)].sort()).toEqual([LONG.slice(0, 10), "And now?"]);
  });

  test("is read from the cache in the turns after that", async () => {
    const turns: Turn[] = [QUESTION];
    const reads: number[] = [];
    for (const text of ["a", "b", "c"]) {
      turns.push({ role: "assistant", text: "Yes." }, { role: "user", text: text.repeat(4000) });
      const { text: body } = await ask(conversation(api, turns));
      reads.push(readCached(api, body));
    }
    expect(reads[0]).toBe(0);
    expect(reads[1]).toBeGreaterThan(2900);
    expect(reads[2]).toBeGreaterThan((reads[1] as number) + 900);
  });

  test("is marked at its instructions if the same account has just sent them", async () => {
    await ask(conversation(api, [QUESTION]));
    const { sent } = await ask(conversation(api, [{ role: "user", text: "Another?" }]));
    expect(marksOf(sent)).toEqual([LONG.slice(0, 10)]);
  });

  test("is not marked if it is shorter than what the model caches", async () => {
    const { sent } = await ask(conversation(api, SECOND, "Be brief."));
    expect(marksOf(sent)).toEqual([]);
  });

  test("is marked only at the turns if the instructions alone are too short", async () => {
    const turns: Turn[] = [{ role: "user", text: LONG }, ...SECOND.slice(1)];
    const { sent } = await ask(conversation(api, turns, "Be brief."));
    expect(marksOf(sent)).toEqual(["And now?"]);
  });

  test("is not marked if the request switches that off", async () => {
    const more = { ...conversation(api, SECOND), provider: { prompt_caching: "off" } };
    expect(marksOf((await ask(more)).sent)).toEqual([]);
  });
});

/** Tokens that were read from the cache, as an answer reports them. */
function readCached({ name }: AskableApi, text: string): number {
  const { usage } = JSON.parse(text);
  if (name === MESSAGES.name) return usage.cache_read_input_tokens;
  return (usage.prompt_tokens_details ?? usage.input_tokens_details).cached_tokens;
}

test("a client's own mark is the only one", async () => {
  const mark = { type: "ephemeral" };
  const messages = [
    { role: "system", content: [{ type: "text", text: LONG, cache_control: mark }] },
    ...SECOND.map(({ role, text }) => ({ role, content: text })),
  ];
  const { sent } = await site.ask(CHAT, CLAUDE, { messages }, answer);
  expect(marksOf(sent)).toEqual([LONG.slice(0, 10)]);
});

describe("a long turn with many calls", () => {
  const COUNT = 40;
  const ids = Array.from({ length: COUNT }, (_, at) => `toolu_${String(at).padStart(3, "0")}`);
  const asked = { role: "user", content: LONG };

  test.each([
    [
      MESSAGES,
      [
        asked,
        { role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "f", input: {} })) },
        { role: "user", content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" })) },
      ],
      { tools: [{ name: "f", input_schema: TOOL_SCHEMA }] },
    ],
    [
      CHAT,
      [
        asked,
        {
          role: "assistant",
          content: null,
          tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
        },
        ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "ok" })),
      ],
      { tools: [{ type: "function", function: { name: "f", parameters: TOOL_SCHEMA } }] },
    ],
  ] as const)("of %p is marked so often that its beginning is found again", async (api, messages, more) => {
    const { sent, status } = await site.ask(api, CLAUDE, { messages, ...more }, answer);
    expect(status).toBe(200);
    // Behind the 15th and the 30th of the new blocks, and at the end.
    expect(marksOf(sent)).toEqual([ids[14] as string, ids[29] as string, ids[39] as string]);
  });
});

test("thinking and empty texts are not marked", async () => {
  const messages = [
    { role: "user", content: LONG },
    { role: "assistant", content: [{ type: "text", text: "Yes." }] },
    {
      role: "user",
      content: [
        { type: "text", text: "Go on." },
        { type: "text", text: "" },
      ],
    },
  ];
  const { sent } = await site.ask(MESSAGES, CLAUDE, { messages }, answer);
  expect(marksOf(sent)).toEqual(["Go on."]);
});

test("a session whose writes are not read twice is not marked any more", async () => {
  const ask = async (word: string, session: string) => {
    const turns: Turn[] = [{ role: "user", text: word + LONG }, ...SECOND.slice(1)];
    const more = { ...conversation(CHAT, turns, null), session_id: session };
    return marksOf((await site.ask(CHAT, CLAUDE, more, answer)).sent).length;
  };
  // The beginning changes with each request, so that nothing is found in the cache.
  expect([await ask("a", "one"), await ask("b", "one"), await ask("c", "one")]).toEqual([1, 1, 0]);
});

test("a caller whose writes are not read is marked from the third answer on, and again from the first once they are", async () => {
  const talk = async (word: string, answers: number) => {
    const turns: Turn[] = [{ role: "user", text: word + LONG }];
    for (let at = 0; at < answers; at++)
      turns.push({ role: "assistant", text: "Yes." }, { role: "user", text: "And now?" });
    return marksOf((await site.ask(CHAT, CLAUDE, conversation(CHAT, turns, null), answer)).sent).length;
  };
  expect([await talk("a", 1), await talk("b", 1), await talk("c", 1), await talk("c", 2)]).toEqual([
    1, 1, 0, 0,
  ]);
  expect([await talk("c", 3), await talk("c", 4), await talk("c", 5)]).toEqual([1, 1, 1]);
  expect(await talk("d", 1)).toBe(1);
});

test("a first answer with more behind it than before it is not marked yet", async () => {
  const turns: Turn[] = [...SECOND.slice(0, 2), { role: "user", text: LONG + LONG }];
  const { sent } = await site.ask(CHAT, CLAUDE, conversation(CHAT, turns, LONG), answer);
  expect(marksOf(sent)).toEqual([]);
});

test("what was marked, read, written and saved stands in the record", async () => {
  const turns: Turn[] = [...SECOND];
  const bodies = [];
  for (let at = 0; at < 2; at++) {
    bodies.push((await site.ask(CHAT, CLAUDE, conversation(CHAT, turns), answer)).text);
    turns.push({ role: "assistant", text: "Yes." }, { role: "user", text: "Go on." });
  }
  const records = [];
  for (const body of bodies) {
    const url = `${site.gateway.base}/generation?id=${JSON.parse(body).id}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${site.gateway.key}` } });
    records.push(((await response.json()) as { data: Fields }).data);
  }
  const [first, second] = records as [Fields, Fields];
  expect(first).toMatchObject({ cache_marks: ["shared", "turns"], tokens_cached: 0 });
  // A write costs a quarter of the prompt's price more, and reading saves nine tenths of it.
  const price = 3e-6;
  const [written, read] = [Number(first["tokens_cache_write"]), Number(second["tokens_cached"])];
  expect(written).toBeGreaterThan(1900);
  expect(read).toBe(written);
  expect(Number(first["cache_discount"])).toBeCloseTo(-0.25 * price * written, 9);
  const more = Number(second["tokens_cache_write"]);
  expect(Number(second["cache_discount"])).toBeCloseTo(0.9 * price * read - 0.25 * price * more, 9);
});

test("the policy of an account switches marks off", async () => {
  const tools = createAccountTools(site.gateway);
  const user = await tools.user("Ada", { overdraft: 1, policy: { prompt_caching: "off" } });
  const key = await tools.key(user);
  const ask = async () => {
    site.vendor.reset(answer);
    const response = await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: CLAUDE, ...conversation(CHAT, SECOND) }),
    });
    expect(response.status).toBe(200);
    return marksOf(JSON.parse(site.vendor.last().text));
  };
  expect(await ask()).toEqual([]);
  const call = (policy: Fields) =>
    callAdmin(site.gateway, site.gateway.adminKey, "PATCH", `/users/${user}`, { policy });
  const wrong = await call({ prompt_caching: "on" });
  expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([
    400,
    expect.stringContaining("policy.prompt_caching"),
  ]);
  expect((await call({ prompt_caching: "auto" })).status).toBe(200);
  expect(await ask()).toHaveLength(2);
});

test("an unknown word for caching is rejected with the field", async () => {
  const more = { ...conversation(CHAT, SECOND), provider: { prompt_caching: "always" } };
  const { status, text } = await site.ask(CHAT, CLAUDE, more, answer);
  expect(status).toBe(400);
  expect(text).toContain("provider.prompt_caching");
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres } from "../../support/databases/postgres.ts";
import { REDIS_SERVER, startTestRedis } from "../../support/databases/redis.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { createSeededRandom, type SeededRandom } from "../../support/seeded-random.ts";
import { startVendor, type Vendor, type VendorCall } from "../../support/vendors/vendor.ts";

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

const START_MS = 60_000;
const MODELS = ["acme/one", "acme/two", "other/one", "signed/one"];
const FREE = 'prices: {prompt: "0", completion: "0"}';
/** Providers of two formats; one has two keys, which may be of different accounts at the vendor. */
const yamlFor = (baseUrl: string) => `
providers:
  acme:
    {base_url: "${baseUrl}", format: anthropic-messages, api_keys: [key-acme-0001],
     models: [{id: acme/one, name: one, ${FREE}}, {id: acme/two, name: two, ${FREE}}]}
  other:
    {base_url: "${baseUrl}", format: anthropic-messages, api_keys: [key-other-0001],
     models: [{id: other/one, name: other-one, ${FREE}}]}
  signed:
    {base_url: "${baseUrl}", format: gemini, api_keys: [key-signed-0001],
     models: [{id: signed/one, name: signed-one, ${FREE}}]}`;

/** The call that the vendor answers the next request with. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: object;
}

/** Answers with a call and with reasoning that no other answer has. */
function answerWith(vendor: Vendor, call: Call, mark: string): void {
  vendor.perform((asked) =>
    isGemini(asked) ? answerGemini(asked, call, mark) : answerAnthropic(asked, call, mark),
  );
}

const isGemini = ({ head }: VendorCall) => head.includes("generateContent");

function answerGemini(asked: VendorCall, { id, name, args }: Call, mark: string) {
  const parts = [{ functionCall: { id, name, args }, thoughtSignature: mark }];
  return asked.respond(200, {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  });
}

function answerAnthropic(asked: VendorCall, { id, name, args }: Call, mark: string) {
  return asked.respond(200, {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "one",
    content: [
      { type: "thinking", thinking: `thought of ${mark}`, signature: mark },
      { type: "tool_use", id, name, input: args },
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  });
}

/** Signatures in what a vendor was sent. */
function marksIn(body: unknown): readonly string[] {
  return [
    ...new Set([...JSON.stringify(body).matchAll(/mark-\d+(-of-client)?/g)].map(([mark]) => mark as string)),
  ];
}

/** How a client writes its conversation, and what it keeps of an answer besides reasoning. */
interface Api {
  readonly path: string;
  ask(model: string, instructions: string, history: readonly Json[], user: string | null): object;
  text(text: string): Json;
  /** Returns what the client appends to its history for an answer and the result of its call. */
  keep(answer: Json, result: string, reasoning: string | null): readonly Json[];
  /** The same message as another spelling, with a cache mark. */
  respell(message: Json): Json;
}

const TOOLS = [
  { type: "function", function: { name: "read", parameters: { type: "object" } } },
  { type: "function", function: { name: "look", parameters: { type: "object" } } },
];
const MARK = { cache_control: { type: "ephemeral" } };

const chat: Api = {
  path: "/chat/completions",
  ask: (model, instructions, history, user) => ({
    model,
    tools: TOOLS,
    max_tokens: 100,
    messages: [{ role: "system", content: instructions }, ...history],
    ...(user === null ? {} : { user }),
  }),
  text: (content) => ({ role: "user", content }),
  keep({ choices: [{ message }] }, result, reasoning) {
    const { role, content, tool_calls } = message;
    const calls = tool_calls.map(({ id, type, function: fn }: Json) => ({ id, type, function: fn }));
    const [{ id }] = tool_calls;
    return [
      {
        role,
        content,
        tool_calls: calls,
        ...(reasoning === null ? {} : { reasoning_details: detail(reasoning) }),
      },
      { role: "tool", tool_call_id: id, content: result },
    ];
  },
  respell: (message) =>
    message.role !== "user" || typeof message.content !== "string"
      ? message
      : { ...message, content: [{ type: "text", text: message.content, ...MARK }] },
};

const detail = (mark: string) => [
  {
    type: "reasoning.text",
    text: `thought of ${mark}`,
    signature: mark,
    format: "anthropic-claude-v1",
    index: 0,
  },
];

const responses: Api = {
  path: "/responses",
  ask: (model, instructions, input, user) => ({
    model,
    instructions,
    input,
    tools: TOOLS.map(({ type, function: fn }) => ({ type, ...fn })),
    ...(user === null ? {} : { user }),
  }),
  text: (content) => ({ role: "user", content }),
  keep({ output }, result) {
    const items = output.filter(({ type }: Json) => type !== "reasoning");
    const [{ call_id }] = items.filter(({ type }: Json) => type === "function_call");
    return [...items, { type: "function_call_output", call_id, output: result }];
  },
  // Clients drop ids and states of items.
  respell: ({ id: _id, status: _status, ...item }) => item,
};

const messages: Api = {
  path: "/messages",
  ask: (model, system, history, user) => ({
    model,
    system,
    max_tokens: 100,
    messages: history,
    tools: TOOLS.map(({ function: { name, parameters } }) => ({ name, input_schema: parameters })),
    ...(user === null ? {} : { metadata: { user_id: user } }),
  }),
  text: (content) => ({ role: "user", content }),
  keep({ content }, result) {
    const blocks = content.filter(({ type }: Json) => !type.includes("thinking"));
    const [{ id }] = blocks.filter(({ type }: Json) => type === "tool_use");
    return [
      { role: "assistant", content: blocks },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
    ];
  },
  respell: (message) =>
    typeof message.content !== "string"
      ? message
      : { ...message, content: [{ type: "text", text: message.content, ...MARK }] },
};

/** A conversation of one client. */
interface Conversation {
  readonly api: Api;
  readonly model: string;
  readonly key: string;
  readonly user: string | null;
  readonly instructions: string;
  history: Json[];
  /** The signatures that the vendor has sent in it, and those that its client sends. */
  readonly own: Set<string>;
}

/** Where turns are kept. */
interface Stores {
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

function runSuite(name: string, isAvailable: boolean, openStores: () => Promise<Stores>): void {
  describe.skipIf(!isAvailable)(`the memory of turns ${name}`, () => {
    let stores: Stores;
    let vendor: Vendor;
    let gateway: TestGateway;
    let keys: readonly string[];
    let marks = 0;

    beforeAll(async () => {
      stores = await openStores();
      vendor = startVendor();
      const { environment } = stores;
      gateway = await startTestGateway({ yaml: yamlFor(vendor.baseUrl), environment });
      const tools = createAccountTools(gateway);
      const user = await tools.user();
      keys = [gateway.key, await tools.key("acct_default"), await tools.key(user)];
    }, START_MS);
    afterAll(async () => {
      await gateway?.stop();
      vendor?.stop();
      await stores?.remove();
    }, START_MS);

    const begin = (more: Partial<Conversation> = {}): Conversation => ({
      api: chat,
      model: "acme/one",
      key: keys[0] as string,
      user: null,
      instructions: "Be brief.",
      history: [chat.text("What is in the file?")],
      own: new Set(),
      ...more,
    });

    /** Asks for the next turn, which makes `call`, and returns the signatures that the vendor was sent. */
    async function turn(
      conversation: Conversation,
      call: Call,
      result: string,
      reasoning: string | null = null,
    ) {
      const { api, model, key, user, instructions, history, own } = conversation;
      const mark = `mark-${marks++}`;
      answerWith(vendor, call, mark);
      const response = await fetch(gateway.base + api.path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(api.ask(model, instructions, history, user)),
      });
      const text = await response.text();
      expect([response.status, text]).toEqual([200, text]);
      own.add(mark);
      const sent = vendor.calls.at(-1)?.body;
      conversation.history = [...history, ...api.keep(JSON.parse(text), result, reasoning)];
      return { marks: marksIn(sent), sent };
    }

    const READ: Call = { id: "call_0", name: "read", args: { path: "a" } };

    function draw(random: SeededRandom): Conversation {
      const api = random.pick([chat, responses, messages]);
      return begin({
        api,
        model: random.pick(MODELS),
        key: random.pick(keys),
        user: random.pick([null, "ada", "bob"]),
        instructions: random.pick(["Be brief.", "Be exact."]),
        history: [api.text(random.pick(["What is in the file?", "And there?"]))],
      });
    }

    test.each([1, 2, 3])(
      "returns nothing of another conversation, however many share ids, texts and keys (seed %p)",
      async (seed) => {
        const random = createSeededRandom(seed);
        const conversations = Array.from({ length: 40 }, () => draw(random));
        let restored = 0;
        for (let at = 0; at < 160; at++) {
          const conversation = random.pick(conversations);
          const call: Call = {
            id: random.pick(["call_0", "call_1"]),
            name: random.pick(["read", "look"]),
            args: random.pick([{ path: "a" }, { path: "b", line: 1 }]),
          };
          if (random.oneIn(3)) conversation.history = conversation.history.map(conversation.api.respell);
          const own = new Set(conversation.own);
          const { marks: sent } = await turn(conversation, call, random.pick(["nothing", "something"]));
          for (const mark of sent) expect([...own]).toContain(mark);
          restored += new Set(sent).size;
        }
        expect(restored).toBeGreaterThan(20);
      },
    );

    /** What differs between two conversations that are the same otherwise. */
    const DIFFERENCES: readonly (readonly [string, (keys: readonly string[]) => Partial<Conversation>])[] = [
      ["key", (all) => ({ key: all[1] as string })],
      ["account", (all) => ({ key: all[2] as string })],
      ["end user", () => ({ user: "bob" })],
      ["instruction", () => ({ instructions: "Be exact." })],
      ["model", () => ({ model: "acme/two" })],
      ["provider", () => ({ model: "other/one" })],
      ["text", () => ({ history: [chat.text("And there?")] })],
      [
        "image",
        () => ({
          history: [
            {
              role: "user",
              content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
            },
          ],
        }),
      ],
    ];

    test.each(DIFFERENCES)("returns nothing to a conversation with another %s", async (_what, differ) => {
      const history = [
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,BBBB" } }] },
      ];
      const base = _what === "image" ? { history } : {};
      const unique = { instructions: `Be brief about ${_what}.` };
      const first = begin({ ...base, ...unique });
      const second = begin({ ...base, ...unique, ...differ(keys) });
      await turn(first, READ, "nothing");
      // The second client claims the turn of the first one.
      const [, ...made] = first.history;
      second.history = [...second.history, ...made];
      expect((await turn(second, { ...READ, id: "call_9" }, "nothing")).marks).toEqual([]);
      expect((await turn(first, { ...READ, id: "call_9" }, "nothing")).marks).toEqual(
        [...first.own].slice(0, 1),
      );
    });

    test.each([
      ["id", (call: Json) => ({ ...call, id: "call_7" })],
      ["name", (call: Json) => ({ ...call, function: { ...call.function, name: "look" } })],
      ["arguments", (call: Json) => ({ ...call, function: { ...call.function, arguments: '{"path":"b"}' } })],
    ])("returns nothing for a call with another %s", async (what, change) => {
      const conversation = begin({ instructions: `Be brief about the ${what} of calls.` });
      await turn(conversation, READ, "nothing");
      conversation.history = conversation.history.map((message: Json) => {
        if (message.role === "tool" && what === "id") return { ...message, tool_call_id: "call_7" };
        return message.tool_calls === undefined
          ? message
          : { ...message, tool_calls: message.tool_calls.map(change) };
      });
      expect((await turn(conversation, { ...READ, id: "call_9" }, "nothing")).marks).toEqual([]);
    });

    test.each([
      ["chat completions", "Anthropic", chat, "acme/one"],
      ["chat completions", "Gemini", chat, "signed/one"],
      ["Responses", "Anthropic", responses, "acme/one"],
      ["Responses", "Gemini", responses, "signed/one"],
      ["Messages", "Gemini", messages, "signed/one"],
    ])(
      "returns every turn that a client of %s dropped reasoning from to %s",
      async (name, _to, api, model) => {
        const instructions = `Be complete in ${name}.`;
        const conversation = begin({ api, model, instructions, history: [api.text("What is in the file?")] });
        for (let at = 0; at < 3; at++) {
          const before = [...conversation.own];
          const { marks: sent } = await turn(conversation, { ...READ, id: `call_${at}` }, "nothing");
          expect(sent).toEqual(before);
          if (at === 1) conversation.history.push(api.text("Go on."));
        }
      },
    );

    test("returns the turn before an item of the client that only Responses has", async () => {
      const api = responses;
      const conversation = begin({ api, instructions: "Be native.", history: [api.text("What is there?")] });
      await turn(conversation, READ, "nothing");
      const reference = { type: "mcp_approval_response", approval_request_id: "a", approve: true };
      conversation.history.push(reference);
      await turn(conversation, { ...READ, id: "call_1" }, "nothing");
      const { marks: sent } = await turn(conversation, { ...READ, id: "call_2" }, "nothing");
      expect(sent).toEqual([...conversation.own].slice(0, 2));
    });

    test("returns neither of two turns that nothing tells apart", async () => {
      const first = begin({ instructions: "Be the same." });
      const second = begin({ instructions: "Be the same." });
      await turn(first, READ, "nothing");
      await turn(second, READ, "nothing");
      expect((await turn(first, READ, "nothing")).marks).toEqual([]);
      expect((await turn(second, { ...READ, id: "call_9" }, "nothing")).marks).toEqual([]);
    });

    test("keeps the reasoning that a client sent with a call, also where another is stored for the call", async () => {
      const conversation = begin({ instructions: "Be yourself." });
      await turn(conversation, READ, "nothing", "mark-1000-of-client");
      const { marks: sent, sent: body } = await turn(conversation, { ...READ, id: "call_9" }, "nothing");
      expect(new Set(sent)).toEqual(new Set(["mark-1000-of-client"]));
      expect(JSON.stringify(body)).toContain("thought of mark-1000-of-client");
    });

    test("does not put stored reasoning in place of other reasoning that a client sent without a signature", async () => {
      const conversation = begin({ instructions: "Be unsigned." });
      await turn(conversation, READ, "nothing");
      conversation.history = conversation.history.map((message: Json) =>
        message.role === "assistant" ? { ...message, reasoning: "What I think myself." } : message,
      );
      expect((await turn(conversation, { ...READ, id: "call_9" }, "nothing")).marks).toEqual([]);
    });

    test("adds the signature to reasoning that a client sent without it", async () => {
      const conversation = begin({ instructions: "Be signed." });
      await turn(conversation, READ, "nothing");
      const [mark] = conversation.own;
      conversation.history = conversation.history.map((message: Json) =>
        message.role === "assistant" ? { ...message, reasoning: `thought of ${mark}` } : message,
      );
      expect((await turn(conversation, { ...READ, id: "call_9" }, "nothing")).marks).toEqual([
        mark as string,
      ]);
    });

    test("returns a turn however its client formats arguments, marks prefixes for the cache and drops reasoning", async () => {
      const conversation = begin({ instructions: "Be formatted." });
      await turn(conversation, { ...READ, args: { path: "a", line: 1 } }, "nothing");
      await turn(conversation, { ...READ, id: "call_1" }, "nothing");
      const expected = [...conversation.own];
      conversation.history = conversation.history.map((message: Json) =>
        message.tool_calls === undefined
          ? chat.respell(message)
          : {
              ...message,
              content: "",
              tool_calls: message.tool_calls.map((call: Json) => ({
                ...call,
                function: { ...call.function, arguments: reorder(call.function.arguments) },
              })),
            },
      );
      const { marks: sent } = await turn(conversation, { ...READ, id: "call_9" }, "nothing");
      // The second turn came after another spelling of the first one's arguments, which is another conversation.
      expect(sent).toEqual(expected.slice(0, 1));
    });
  });
}

function reorder(args: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(args)).reverse()), null, 2);
}

async function openShared(): Promise<Stores> {
  const [database, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
  const environment = { DATABASE_URL: await database.createDatabase(), REDIS_URL: redis.url };
  return { environment, remove: async () => void (await Promise.all([database.remove(), redis.remove()])) };
}

runSuite("in the gateway", true, async () => ({ environment: {}, async remove() {} }));
runSuite("in Redis", REDIS_SERVER !== null && POSTGRES_BIN !== null, openShared);

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

const FORMATS = [
  "openai-chat",
  "openai-responses",
  "anthropic-messages",
  "gemini",
  "cohere-chat",
  "openai-completions",
] as const;
const FREE = 'prices: {prompt: "0", completion: "0"}';
const chatModelOf = (format: string) => `acme/${format}`;

let vendor: RecordingVendor;
/** One without a policy, and one whose operator demands zero retention. */
let open: TestGateway;
let strict: TestGateway;

const yaml = () => `
providers:
${FORMATS.map(
  (format) =>
    `  host-${format}: {base_url: "${vendor.baseUrl}", format: ${format}, api_keys: [key-0123456789], zero_retention: true, models: [{id: ${chatModelOf(format)}, name: up-${format}, ${FREE}}]}`,
).join("\n")}
  openai: {base_url: "${vendor.baseUrl}", api_keys: [key-0123456789], zero_retention: true}
  mistral: {base_url: "${vendor.baseUrl}", api_keys: [key-0123456789], zero_retention: true, models: [{id: mistralai/code, name: up-code, ${FREE}}]}
  others:
    base_url: ${vendor.baseUrl}
    api_keys: [key-0123456789]
    zero_retention: true
    models:
      - {id: acme/embed, output: embedding, ${FREE}}
      - {id: acme/draw, output: image, ${FREE}}
      - {id: acme/speak, output: speech, ${FREE}}
      - {id: acme/rank, output: rerank, ${FREE}}
      - {id: acme/hear, output: transcription, ${FREE}}`;

/** Where zero retention is demanded, and how a request is made under it. */
interface Source {
  readonly name: string;
  gateway(): TestGateway;
  /** Returns a key with a prompt log and a cache. */
  key(): string;
  readonly more: Readonly<Record<string, unknown>>;
}

const keys = { open: "", account: "", strict: "" };
const SOURCES: readonly Source[] = [
  { name: "the request", gateway: () => open, key: () => keys.open, more: { provider: { zdr: true } } },
  { name: "the policy of the account", gateway: () => open, key: () => keys.account, more: {} },
  { name: "the operator's policy", gateway: () => strict, key: () => keys.strict, more: {} },
];
const NONE: Source = { name: "no policy", gateway: () => open, key: () => keys.open, more: {} };

beforeAll(async () => {
  vendor = startRecordingVendor();
  open = await startTestGateway({ yaml: yaml(), usesRedis: false });
  strict = await startTestGateway({ yaml: `policy: {zero_retention: true}\n${yaml()}`, usesRedis: false });
  const keeping = { prompt_log: 3_600, cache: 600 };
  const [tools, others] = [createAccountTools(open), createAccountTools(strict)];
  keys.open = await tools.key(await tools.user("Ada", { overdraft: null }), keeping);
  const closed = await tools.user("Bob", { overdraft: null, policy: { zero_retention: true } });
  keys.account = await tools.key(closed, keeping);
  keys.strict = await others.key(await others.user("Cy", { overdraft: null }), keeping);
});
afterAll(() => Promise.all([open.stop(), strict.stop(), vendor.stop()]));
beforeEach(() => vendor.reset(answerAnyFormat));

interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask({ gateway, key, more }: Source, { path, body, headers = {} }: Asked): Promise<Response> {
  const base = path.startsWith("/fim") ? `${gateway().url}/api` : gateway().base;
  return fetch(base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key()}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...body, ...more }),
  });
}

const MESSAGES = [{ role: "user", content: "Hello!" }];
/** What would be stored; `store` where the client API takes it. */
const STORED = { metadata: { case: "c-1" }, prompt_cache_retention: "24h", deferred: true };
const CHAT = { messages: MESSAGES, store: true, ...STORED };
const STORING =
  /"(store|metadata|requestMetadata|labels|prompt_cache_retention|deferred|background|previous_response_id|conversation)":(?!false)/;

const REQUESTS: readonly (readonly [string, Asked])[] = [
  ...FORMATS.flatMap((format): (readonly [string, Asked])[] => {
    const model = chatModelOf(format);
    if (format === "openai-completions") return [];
    return [
      [`a chat to ${format}`, { path: "/chat/completions", body: { model, ...CHAT } }],
      [
        `a Responses request to ${format}`,
        { path: "/responses", body: { model, input: "Hello!", ...STORED } },
      ],
      [
        `a Messages request to ${format}`,
        {
          path: "/messages",
          body: {
            model,
            max_tokens: 9,
            messages: MESSAGES,
            ...STORED,
            metadata: { user_id: "u" },
            store: true,
          },
        },
      ],
    ];
  }),
  ...["openai-completions", "openai-chat"].map((format): readonly [string, Asked] => [
    `a text completion to ${format}`,
    { path: "/completions", body: { model: chatModelOf(format), prompt: "Hello!", store: true, ...STORED } },
  ]),
  [
    "fill in the middle",
    { path: "/fim/completions", body: { model: "mistralai/code", prompt: "a", store: true, ...STORED } },
  ],
  ["embeddings", { path: "/embeddings", body: { model: "acme/embed", input: "a", store: true, ...STORED } }],
  [
    "an image",
    { path: "/images/generations", body: { model: "acme/draw", prompt: "a", store: true, ...STORED } },
  ],
  [
    "speech",
    { path: "/audio/speech", body: { model: "acme/speak", input: "a", voice: "v", store: true, ...STORED } },
  ],
  [
    "a ranking",
    { path: "/rerank", body: { model: "acme/rank", query: "a", documents: ["a"], store: true, ...STORED } },
  ],
];

describe.each(SOURCES.map((source) => [source.name, source] as const))(
  "under zero retention demanded by %s",
  (_name, source) => {
    test.each(REQUESTS)("%s asks the vendor to store nothing", async (what, asked) => {
      await (await ask(source, asked)).arrayBuffer();
      expect(vendor.requests.length).toBeGreaterThan(0);
      // Anthropic's metadata holds only a hash of the user.
      for (const { text } of vendor.requests)
        expect(
          what.includes("anthropic") ? text.replace(/"metadata":\{"user_id":"u_/, "") : text,
        ).not.toMatch(STORING);
    });

    test("a transcription asks the vendor to store nothing", async () => {
      const form = new FormData();
      form.set("model", "acme/hear");
      form.set("store", "true");
      form.set("file", new Blob(["RIFF"]), "a.wav");
      if ("provider" in source.more) form.set("provider", JSON.stringify({ zdr: true }));
      const response = await fetch(`${source.gateway().base}/audio/transcriptions`, {
        method: "POST",
        headers: { authorization: `Bearer ${source.key()}` },
        body: form,
      });
      await response.text();
      expect(vendor.requests.length).toBeGreaterThan(0);
      for (const { text } of vendor.requests) expect(text).not.toContain('name="store"');
    });

    test("the answer and the record name what was left out", async () => {
      const body = { model: "acme/openai-chat", ...CHAT, usage: { include: true } };
      const response = await ask(source, { path: "/chat/completions", body });
      const { gateway_metadata: told } = (await response.json()) as {
        gateway_metadata: { warnings: { field: string }[] };
      };
      expect(told.warnings.map(({ field }) => field).sort()).toEqual([
        "deferred",
        "metadata",
        "prompt_cache_retention",
        "store",
      ]);
    });

    test("OpenAI, which stores chats by default, is told not to", async () => {
      await (
        await ask(source, { path: "/chat/completions", body: { model: "openai/gpt-5.1", ...CHAT } })
      ).text();
      expect(JSON.parse(vendor.last().text)).toMatchObject({ store: false });
    });

    test("a prompt cache in memory may be asked for", async () => {
      const body = { model: "acme/openai-chat", messages: MESSAGES, prompt_cache_retention: "in_memory" };
      await (await ask(source, { path: "/chat/completions", body })).text();
      expect(JSON.parse(vendor.last().text)).toMatchObject({ prompt_cache_retention: "in_memory" });
    });

    const file = (content: object) => ({ role: "user", content: [content] });
    test.each([
      [
        "a file of the vendor in a chat",
        "/chat/completions",
        { messages: [file({ type: "file", file: { file_id: "file-1" } })] },
        "messages[0].content[0].file.file_id",
      ],
      [
        "a file of the vendor in a Responses request, written with escapes",
        "/responses",
        { input: [file({ type: "input_file", "file\u005fid": "file-1" })] },
        "input[0].content[0].file_id",
      ],
      [
        "a file of the vendor in a Messages request",
        "/messages",
        {
          messages: [file({ type: "document", source: { type: "file", file_id: "file_1" } })],
          max_tokens: 9,
        },
        "messages[0].content[0].source.file_id",
      ],
      [
        "a code interpreter",
        "/responses",
        { input: "Hello!", tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
        "tools[0]",
      ],
      [
        "a search in files",
        "/responses",
        { input: "Hello!", tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
        "tools[0]",
      ],
      [
        "code execution",
        "/messages",
        {
          messages: MESSAGES,
          max_tokens: 9,
          tools: [{ type: "code_execution_20250825", name: "code_execution" }],
        },
        "tools[0]",
      ],
      [
        "a container",
        "/messages",
        { messages: MESSAGES, max_tokens: 9, container: "container_1" },
        "container",
      ],
    ])("%s is rejected by the name of its field", async (_what, path, body, field) => {
      const response = await ask(source, { path, body: { model: "acme/anthropic-messages", ...body } });
      const text = await response.text();
      expect([response.status, text.includes(`"${field}"`)]).toEqual([400, true]);
      expect(text).toContain("zero data retention");
      expect(vendor.requests).toHaveLength(0);
    });

    test("a file id in the arguments of a client's own tool, and in its schema, is no file of the vendor", async () => {
      const body = {
        model: "acme/openai-chat",
        messages: [
          ...MESSAGES,
          {
            role: "assistant",
            tool_calls: [
              { id: "c", type: "function", function: { name: "f", arguments: '{"file_id":"a"}' } },
            ],
          },
          { role: "tool", tool_call_id: "c", content: '{"file_id":"a"}' },
        ],
        tools: [
          {
            type: "function",
            function: { name: "f", parameters: { type: "object", default: { file_id: "a" } } },
          },
        ],
      };
      expect((await ask(source, { path: "/chat/completions", body })).status).toBe(200);
    });

    test("nothing is kept: no bodies in the prompt log, no answer in the cache or for a repetition", async () => {
      const asked = { path: "/chat/completions", body: { model: "acme/openai-chat", messages: MESSAGES } };
      const first = await ask(source, asked);
      expect([first.status, first.headers.get("x-gateway-cache")]).toEqual([200, "bypass"]);
      await first.text();
      expect(await findBodies(source, first)).toBe(404);
      expect((await ask(source, asked)).headers.get("x-gateway-cache")).toBe("bypass");
      const named = { ...asked, headers: { "idempotency-key": `name-${source.name.length}` } };
      const charged = await ask(source, named);
      expect([charged.status, await charged.text()]).toEqual([200, expect.stringContaining("Hello there.")]);
      const repeated = await ask(source, named);
      expect([repeated.status, await repeated.text()]).toEqual([409, expect.stringContaining("not kept")]);
      expect(vendor.requests).toHaveLength(3);
    });

    test("no turn is remembered", async () => {
      expect(await askForTwoTurns(source, "under it")).not.toContain("c2lnbmF0dXJl");
    });
  },
);

function findBodies({ gateway }: Source, response: Response): Promise<number> {
  const id = response.headers.get("x-gateway-generation-id");
  const at = gateway();
  return callAdmin(at, at.adminKey, "GET", `/generations/${id}/bodies`).then(({ status }) => status);
}

/** Makes a turn with a signed call, and returns what the vendor is sent in the next turn by a client that dropped the signature. */
async function askForTwoTurns(source: Source, about: string): Promise<string> {
  const call = { functionCall: { name: "look", args: {} }, thoughtSignature: "c2lnbmF0dXJl" };
  vendor.reset(() =>
    Response.json({
      candidates: [{ content: { role: "model", parts: [call] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    }),
  );
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const question = { role: "user", content: `Look ${about}!` };
  const asking = (messages: readonly unknown[]) =>
    ask(source, { path: "/chat/completions", body: { model: "acme/gemini", tools, messages } });
  const { choices } = (await (await asking([question])).json()) as {
    choices: { message: { tool_calls: { id: string; function: object }[] } }[];
  };
  const calls = choices[0]?.message.tool_calls.map(({ id, function: fn }) => ({
    id,
    type: "function",
    function: fn,
  }));
  const result = { role: "tool", tool_call_id: calls?.[0]?.id, content: "A wall." };
  await (await asking([question, { role: "assistant", tool_calls: calls }, result])).text();
  return vendor.last().text;
}

test("without zero retention the same fields are sent, and bodies, answers and turns are kept", async () => {
  const asked = { path: "/chat/completions", body: { model: "acme/openai-chat", ...CHAT } };
  const first = await ask(NONE, asked);
  await first.text();
  expect(JSON.parse(vendor.last().text)).toMatchObject({ store: true, ...STORED });
  expect(await findBodies(NONE, first)).toBe(200);
  expect((await ask(NONE, asked)).headers.get("x-gateway-cache")).toBe("hit");
  const named = { ...asked, headers: { "idempotency-key": "kept", "cache-control": "no-store" } };
  await (await ask(NONE, named)).text();
  expect((await ask(NONE, named)).headers.get("idempotent-replayed")).toBe("true");
  expect(await askForTwoTurns(NONE, "without it")).toContain("c2lnbmF0dXJl");
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, findLedgerProblems, manage } from "../../support/money.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";
import { chunkOf, closing, documentOf, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const SECRET = "sk-abcdefghij0123456789";
const [HEAD, TAIL] = ["sk-abcde", "fghij0123456789"];

let vendor: Vendor;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    yaml: `
sandbox: on
providers:
  chat:
    base_url: "${vendor.baseUrl}"
    api_keys: [k]
    models: [{id: acme/block, context_length: 128000}, {id: acme/mask, context_length: 128000}, {id: acme/plain, context_length: 128000}]
  claude:
    base_url: "${vendor.baseUrl}"
    api_keys: [k]
    format: anthropic-messages
    models: [{id: acme/block-cited, context_length: 128000}, {id: acme/mask-cited, context_length: 128000}, {id: acme/counted, context_length: 128000}, {id: acme/watched, context_length: 128000}]
guardrails:
  - {name: no-secrets, kind: regex, on: answer, action: block, patterns: ["sk-[a-z0-9]{20,}"], models: ["acme/block*"]}
  - {name: hide, kind: regex, on: answer, action: mask, patterns: ["sk-[a-z0-9]{20,}"], models: ["acme/mask*"]}
  - {name: watch, kind: regex, action: warn, patterns: [tulip], models: ["acme/*"]}`,
  });
  key = await addAccountWithKey(gateway, { id: "user_1" }, {});
  await manage(gateway, "/accounts/user_1/credits", { amount: 10 });
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

const HELLO = [{ role: "user", content: "Hello" }];

function post(path: string, body: Readonly<Record<string, unknown>>): Promise<Response> {
  return fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ messages: HELLO, max_tokens: 100, ...body }),
  });
}

const call = (name: string, index: number) => ({
  tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: '{"a":1}' } }],
});

/** Streams whose texts hold the secret, with something else between its halves. */
const SPLIT: readonly (readonly [string, readonly unknown[]])[] = [
  ["reasoning", [{ content: HEAD }, { reasoning_content: "Hm." }, { content: TAIL }]],
  ["a tool call", [{ content: HEAD }, call("find", 0), { content: TAIL }]],
  [
    "a tool call and reasoning",
    [{ content: `x ${HEAD}` }, call("find", 0), { reasoning_content: "Hm." }, { content: `${TAIL} y` }],
  ],
  [
    "two tool calls whose names begin alike",
    [
      { content: HEAD },
      call(`${"long_".repeat(12)}one`, 0),
      call(`${"long_".repeat(12)}two`, 1),
      { content: TAIL },
    ],
  ],
  ["a refusal", [{ content: HEAD }, { refusal: "No." }, { content: TAIL }]],
  [
    "spoken words",
    [{ audio: { id: "a", transcript: HEAD } }, { audio: { data: "AAAA" } }, { audio: { transcript: TAIL } }],
  ],
];

/** Answers that hold the secret in other places than their text. */
const PLACES: readonly (readonly [string, (text: string) => Record<string, unknown>])[] = [
  [
    "audio.transcript",
    (text) => ({
      message: {
        role: "assistant",
        content: null,
        audio: { id: "a", data: "AAAA", transcript: text, expires_at: 1 },
      },
    }),
  ],
  [
    "native_finish_reason",
    (text) => ({ message: { role: "assistant", content: "x" }, native_finish_reason: text }),
  ],
  ["choices[].text", (text) => ({ message: { role: "assistant", content: "x" }, text })],
  [
    "a field that is not known",
    (text) => ({ message: { role: "assistant", content: "x", some_field: [{ deep: text }] } }),
  ],
  [
    "the second citation",
    (text) => ({
      message: {
        role: "assistant",
        content: "x",
        annotations: ["fine", text].map((title) => ({
          type: "url_citation",
          url_citation: { url: "https://x.example", title, start_index: 0, end_index: 1 },
        })),
      },
    }),
  ],
  [
    "the address of a citation",
    (text) => ({
      message: {
        role: "assistant",
        content: "x",
        annotations: [
          {
            type: "url_citation",
            url_citation: { url: `https://x.example/${text}`, title: "t", start_index: 0, end_index: 1 },
          },
        ],
      },
    }),
  ],
  [
    "the name of a tool",
    (text) => ({
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: text, arguments: "{}" } }],
      },
    }),
  ],
];

function playStream(deltas: readonly unknown[], last: Record<string, unknown> = {}): void {
  vendor.perform(async (answer) => {
    await answer.begin();
    await answer.events(...deltas.map((delta) => chunkOf(delta as Record<string, unknown>)));
    const [finish, ...rest] = closing() as Record<string, unknown>[];
    const [choice] = (finish?.["choices"] ?? []) as Record<string, unknown>[];
    await answer.events({ ...finish, choices: [{ ...choice, ...last }] }, ...rest);
    await answer.end();
  });
}

function playWhole(choice: Record<string, unknown>): void {
  const document = documentOf("x");
  vendor.perform((answer) =>
    answer.respond(200, { ...document, choices: [{ index: 0, finish_reason: "stop", ...choice }] }),
  );
}

/** All texts of one kind that a client of a stream joins. */
function joined(events: string, name: string): string {
  const found = [...events.matchAll(/^data: (\{.*)$/gm)].flatMap(([, data = ""]) => {
    const delta = JSON.parse(data).choices?.[0]?.delta ?? {};
    return name === "transcript" ? (delta.audio?.transcript ?? "") : (delta[name] ?? "");
  });
  return found.join("");
}

describe("a guardrail on streamed answers", () => {
  test.each(SPLIT)("blocks a match with %s in between", async (_between, deltas) => {
    playStream(deltas);
    const text = await (await post("/chat/completions", { model: "acme/block", stream: true })).text();
    expect(text).toContain("content_blocked");
    expect(text).not.toContain("fghij");
    expect(joined(text, "content") + joined(text, "transcript")).not.toContain("sk-");
  });

  test.each(SPLIT)(
    "masks a match with %s in between, and gives everything else in its order",
    async (_between, deltas) => {
      playStream(deltas);
      const text = await (await post("/chat/completions", { model: "acme/mask", stream: true })).text();
      playStream(deltas);
      const plain = await (await post("/chat/completions", { model: "acme/plain", stream: true })).text();
      for (const name of ["content", "transcript", "refusal", "reasoning_content"])
        expect(joined(text, name)).toBe(joined(plain, name).replace(SECRET, "[HIDE_1]"));
      for (const kept of text.match(/"name":"[a-z_]+"/g) ?? []) expect(plain).toContain(kept);
      expect(text.match(/"name":/g)?.length).toBe(plain.match(/"name":/g)?.length);
      expect(text).toContain('"finish_reason":"');
      expect(text).not.toContain("content_blocked");
    },
  );

  test("sends a text that ends within a word before a tool call, unchanged", async () => {
    playStream([{ content: "my key is s" }, call("find", 0)]);
    const text = await (await post("/chat/completions", { model: "acme/mask", stream: true })).text();
    expect(joined(text, "content")).toBe("my key is s");
    expect(text.indexOf('"find"')).toBeGreaterThan(text.indexOf("my key"));
  });

  test("keeps the texts of two choices apart", async () => {
    vendor.perform(async (answer) => {
      await answer.begin();
      const of = (index: number, delta: object, finish: string | null = null) => ({
        ...chunkOf({}),
        choices: [{ index, delta, finish_reason: finish }],
      });
      await answer.events(
        of(0, { content: HEAD }),
        of(1, { content: TAIL }),
        of(0, {}, "stop"),
        of(1, {}, "stop"),
        "[DONE]",
      );
      await answer.end();
    });
    const text = await (await post("/chat/completions", { model: "acme/mask", stream: true, n: 2 })).text();
    expect(text).toContain(HEAD);
    expect(text).toContain(TAIL);
  });
});

describe("a guardrail on whole answers", () => {
  test.each(PLACES)("blocks a text in %s", async (_place, make) => {
    playWhole(make(SECRET));
    const response = await post("/chat/completions", { model: "acme/block" });
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining("no-secrets")]);
  });

  test.each(PLACES)("masks a text in %s", async (_place, make) => {
    playWhole(make(SECRET));
    const text = await (await post("/chat/completions", { model: "acme/mask" })).text();
    expect(text).not.toContain("abcdefghij");
  });
});

describe.each(["/messages", "/chat/completions", "/responses"])(
  "a guardrail on a text of a document that an answer cites, for a client of %s",
  (path) => {
    const citations = ["fine", SECRET].flatMap((cited_text) => [
      {
        ...{ type: "char_location", cited_text, document_index: 0, document_title: "Notes" },
        ...{ start_char_index: 0, end_char_index: cited_text.length },
      },
      {
        ...{ type: "web_search_result_location", cited_text, encrypted_index: "AAAA" },
        ...{ title: "Notes", url: "https://x.example" },
      },
    ]);
    const message = { id: "msg_1", type: "message", role: "assistant", model: "up" };
    const usage = { input_tokens: 3, output_tokens: 2 };

    /** Cites a harmless text and then the secret, each of a document and of a page. */
    function playCited(): void {
      vendor.perform(async (answer) => {
        if (!answer.isStream) {
          const content = [{ type: "text", text: "x", citations }];
          return answer.respond(200, { ...message, content, stop_reason: "end_turn", usage });
        }
        await answer.begin();
        await answer.events(
          { type: "message_start", message: { ...message, content: [], stop_reason: null, usage } },
          {
            ...{ type: "content_block_start", index: 0 },
            content_block: { type: "text", text: "", citations: [] },
          },
          ...citations.map((citation) => ({
            ...{ type: "content_block_delta", index: 0 },
            delta: { type: "citations_delta", citation },
          })),
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
          { type: "message_stop" },
        );
        await answer.end();
      });
    }

    const ask = async (model: string, stream: boolean) => {
      playCited();
      const asked = path === "/responses" ? { input: "Hello" } : { messages: HELLO, max_tokens: 100 };
      const response = await fetch(gateway.base + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, stream, ...asked }),
      });
      return [response.status, await response.text()] as const;
    };

    test.each([false, true])("blocks it, streamed: %p", async (stream) => {
      const [status, text] = await ask("acme/block-cited", stream);
      expect(status).toBe(stream ? 200 : 403);
      expect(text).toContain("no-secrets");
      expect(text).not.toContain("abcdefghij");
    });

    test.each([false, true])("masks it, streamed: %p", async (stream) => {
      const [status, text] = await ask("acme/mask-cited", stream);
      expect(status).toBe(200);
      expect(text).toContain("hide");
      expect(text).not.toContain("abcdefghij");
      if (path !== "/responses") expect(text).toContain("fine");
    });
  },
);

test("a guardrail leaves ids and signatures in unknown fields of an answer as they are, and masks texts next to them", async () => {
  const field = { id: SECRET, call_id: SECRET, signature: SECRET, note: SECRET };
  playWhole({ message: { role: "assistant", content: "x", some_field: [field] } });
  const answer = await (await post("/chat/completions", { model: "acme/mask" })).json();
  const { choices } = answer as { choices: [{ message: { some_field: [typeof field] } }] };
  const [masked] = choices[0].message.some_field;
  expect(masked).toMatchObject({ id: SECRET, call_id: SECRET, signature: SECRET });
  expect(masked.note).not.toContain("abcdefghij");
});

describe("a guardrail on endpoints that are forwarded", () => {
  let forms: RecordingVendor;
  let site: TestGateway;

  beforeAll(async () => {
    forms = startRecordingVendor();
    site = await startTestGateway({
      yaml: `
providers:
  alpha:
    base_url: ${forms.baseUrl}
    api_keys: [sk-alpha-0123456789]
    models:
      - {id: acme/block-ear, output: transcription}
      - {id: acme/mask-ear, output: transcription}
      - {id: acme/strict-ear, output: transcription}
      - {id: acme/block-image, output: image}
      - {id: acme/mask-rank, output: rerank}
guardrails:
  - {name: no-secrets, kind: regex, on: answer, action: block, patterns: ["sk-[a-z0-9]{20,}"], models: ["acme/block*"]}
  - {name: hide, kind: regex, on: answer, action: mask, patterns: ["sk-[a-z0-9]{20,}"], models: ["acme/mask*"]}
  - {name: strict, kind: regex, action: block, patterns: ["sk-[a-z0-9]{20,}"], models: ["acme/strict*"]}`,
    });
  });
  afterAll(() => Promise.all([site.stop(), forms.stop()]));

  const headers = () => ({ authorization: `Bearer ${site.key}` });

  function transcribe(
    model: string,
    fields: Readonly<Record<string, string>>,
    fileName = "a.wav",
  ): Promise<Response> {
    const form = new FormData();
    form.append("file", new File(["RIFF"], fileName));
    for (const [name, value] of Object.entries({ model, ...fields })) form.append(name, value);
    return fetch(`${site.base}/audio/transcriptions`, { method: "POST", headers: headers(), body: form });
  }

  const JSON_ANSWER = () => Response.json({ text: `say ${SECRET}`, segments: [{ text: SECRET }] });
  const TEXT_ANSWER = () => new Response(`say ${SECRET}`, { headers: { "content-type": "text/plain" } });
  const EVENTS = [
    ...["say ", HEAD, TAIL, " now"].map((delta) => ({ type: "transcript.text.delta", delta })),
    { type: "transcript.text.done", text: `say ${SECRET} now`, usage: { input_tokens: 1, output_tokens: 1 } },
  ];
  const EVENT_ANSWER = () =>
    new Response(EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });

  test("blocks a transcript, as JSON, as text and streamed", async () => {
    forms.reset(JSON_ANSWER);
    expect((await transcribe("acme/block-ear", {})).status).toBe(403);
    forms.reset(TEXT_ANSWER);
    expect((await transcribe("acme/block-ear", { response_format: "text" })).status).toBe(403);
    forms.reset(EVENT_ANSWER);
    const text = await (await transcribe("acme/block-ear", { stream: "true" })).text();
    expect(text).toContain("content_blocked");
    expect(text).not.toContain("fghij");
  });

  test("masks a transcript, as JSON, as text and streamed", async () => {
    forms.reset(JSON_ANSWER);
    expect(await (await transcribe("acme/mask-ear", {})).json()).toMatchObject({
      text: "say [HIDE_1]",
      segments: [{ text: "[HIDE_1]" }],
    });
    forms.reset(TEXT_ANSWER);
    expect(await (await transcribe("acme/mask-ear", { response_format: "text" })).text()).toBe(
      "say [HIDE_1]",
    );
    forms.reset(EVENT_ANSWER);
    const text = await (await transcribe("acme/mask-ear", { stream: "true" })).text();
    const deltas = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta);
    expect(deltas.join("")).toBe("say [HIDE_1] now");
    expect(text).toContain('"text":"say [HIDE_1] now"');
    expect(text).toContain('"cost"');
  });

  test("checks the fields and the name of the file of a transcription request", async () => {
    forms.reset(() => Response.json({ text: "x" }));
    expect((await transcribe("acme/strict-ear", { prompt: SECRET })).status).toBe(403);
    expect((await transcribe("acme/strict-ear", {}, `${SECRET}.wav`)).status).toBe(403);
    expect((await transcribe("acme/strict-ear", { some_field: SECRET })).status).toBe(403);
    expect(forms.requests).toHaveLength(0);
    expect((await transcribe("acme/strict-ear", { prompt: "fine" })).status).toBe(200);
  });

  test("checks the texts of images and of reranked documents", async () => {
    const ask = (path: string, body: object) =>
      fetch(`${site.base}${path}`, { method: "POST", headers: headers(), body: JSON.stringify(body) });
    forms.reset(() => Response.json({ data: [{ b64_json: "AAAA" }, { revised_prompt: SECRET }] }));
    const drawn = await ask("/images/generations", { model: "acme/block-image", prompt: "x" });
    expect(drawn.status).toBe(403);
    forms.reset(() => Response.json({ results: [{ index: 0, document: { text: SECRET } }] }));
    const ranked = await ask("/rerank", { model: "acme/mask-rank", query: "x", documents: ["y"] });
    expect(await ranked.text()).toContain('"text":"[HIDE_1]"');
  });
});

describe("a count of tokens", () => {
  const count = (model: string) =>
    post("/messages/count_tokens", { model, messages: [{ role: "user", content: "tulip" }] });

  test("is the vendor's while guardrails only warn, and an estimate while one may block or mask a request", async () => {
    vendor.perform((answer) => answer.respond(200, { input_tokens: 4_321 }));
    expect(await (await count("acme/counted")).json()).toMatchObject({ input_tokens: 4_321 });
    for (const rule of [
      "{name: b, kind: regex, action: block, patterns: [rose]}",
      "{name: m, kind: pii, on: both, action: mask}",
      '{name: w, kind: webhook, url: "http://127.0.0.1:9/x", on_error: block}',
    ]) {
      const other = await startTestGateway({
        yaml: `
providers:
  claude: {base_url: "${vendor.baseUrl}", api_keys: [k], format: anthropic-messages, models: [{id: "acme/counted:free", context_length: 128000}]}
guardrails:
  - ${rule}`,
      });
      try {
        vendor.perform((answer) => answer.respond(200, { input_tokens: 4_321 }));
        const response = await fetch(`${other.base}/messages/count_tokens`, {
          method: "POST",
          body: JSON.stringify({ model: "acme/counted:free", messages: HELLO }),
        });
        expect(response.status).toBe(200);
        expect(((await response.json()) as { input_tokens: number }).input_tokens).toBeLessThan(100);
        expect(vendor.calls).toHaveLength(0);
      } finally {
        await other.stop();
      }
    }
  });
});

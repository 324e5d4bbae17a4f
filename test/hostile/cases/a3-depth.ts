import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { ensure, expectRefusal, expectStatus, type HostileCase } from "../hostile-case.ts";

/* Arrays and objects inside each other, a hundred thousand levels deep. */

const LEVELS = 100_000;
const BOUND = "more than 256 levels of nesting";

const nest = (open: string, inner: string, close: string) =>
  open.repeat(LEVELS) + inner + close.repeat(LEVELS);
const LISTS = nest("[", "", "]");
const SCHEMA = nest('{"type":"object","properties":{"a":', "{}", "}}");
const ARGUMENTS = JSON.stringify(nest('{"a":', "1", "}"));

/** A body as text, because printing such nesting overflows the stack. */
const bodyOf = (model: string, fields: string) =>
  `{"model":"${model}","max_tokens":100,"messages":[{"role":"user","content":"Hello!"}]${fields}}`;

interface Place {
  readonly name: string;
  readonly path: string;
  readonly body: (model: string) => string;
}

const PLACES: readonly Place[] = [
  {
    name: "a tool's schema",
    path: "/v1/chat/completions",
    body: (model) =>
      bodyOf(model, `,"tools":[{"type":"function","function":{"name":"a","parameters":${SCHEMA}}}]`),
  },
  {
    name: "an unknown field",
    path: "/v1/chat/completions",
    body: (model) => bodyOf(model, `,"unknown":${LISTS}`),
  },
  {
    name: "an unknown field of a message",
    path: "/v1/chat/completions",
    body: (model) =>
      `{"model":"${model}","messages":[{"role":"user","content":"Hello!","unknown":${LISTS}}]}`,
  },
  {
    name: "an answer's schema",
    path: "/v1/responses",
    body: (model) => `{"model":"${model}","input":"Hello!","text":{"format":${SCHEMA}}}`,
  },
  {
    name: "a tool use's input",
    path: "/v1/messages",
    body: (model) =>
      `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":${SCHEMA}}]}]}`,
  },
  {
    name: "a count's field",
    path: "/v1/messages/count_tokens",
    body: (model) => bodyOf(model, `,"unknown":${LISTS}`),
  },
  {
    name: "an embeddings field",
    path: "/v1/embeddings",
    body: (model) => `{"model":"${model}","input":"Hello!","unknown":${LISTS}}`,
  },
  {
    name: "a fill-in-the-middle field",
    path: "/api/fim/completions",
    body: () => `{"model":"mistralai/code","prompt":"def f(","unknown":${LISTS}}`,
  },
  { name: "a body that is nothing else", path: "/v1/chat/completions", body: () => LISTS },
];

const requests = PLACES.map(
  ({ name, path, body }): HostileCase => ({
    name: `A3 100,000 levels in ${name}: 400`,
    run: async (bed) => expectRefusal(await bed.post(path, body(bed.modelOf("gemini"))), BOUND),
  }),
);

/** Formats that have arguments as an object. */
const PARSING: readonly FormatName[] = ["gemini", "anthropic-messages", "bedrock-converse"];

const inArguments: HostileCase = {
  name: "A3 100,000 levels in a call's arguments: 400 where they are parsed",
  async run(bed) {
    for (const format of PARSING) {
      const call = `{"id":"c","type":"function","function":{"name":"a","arguments":${ARGUMENTS}}}`;
      const messages = `[{"role":"user","content":"Go."},{"role":"assistant","tool_calls":[${call}]},{"role":"tool","tool_call_id":"c","content":"a"}]`;
      const body = `{"model":"${bed.modelOf(format)}","messages":${messages}}`;
      await expectRefusal(await bed.post("/v1/chat/completions", body), BOUND);
    }
    return "400";
  },
};

const inManagement: HostileCase = {
  name: "A3 100,000 levels in a management request: 400",
  async run(bed) {
    const headers = { authorization: `Bearer ${bed.adminKey}` };
    const body = `{"name":"Ada","unknown":${LISTS}}`;
    return expectRefusal(await bed.post("/api/admin/keys", body, headers), BOUND);
  },
};

const ASK = (model: string, stream: boolean) => ({
  model,
  stream,
  messages: [{ role: "user", content: "Hello!" }],
});

/** A whole answer, and an event, with deep nesting in an unknown field. */
const answers = FORMAT_NAMES.flatMap((format): HostileCase[] =>
  [false, true].map((stream) => ({
    name: `A3 100,000 levels in ${stream ? "an event" : "an answer"} of ${format}: upstream_error`,
    async run(bed) {
      const type = stream ? "text/event-stream" : "application/json";
      const text = `{"deep":${LISTS}}`;
      bed.vendor.answer(
        () => new Response(stream ? `data: ${text}\n\n` : text, { headers: { "content-type": type } }),
      );
      const response = await bed.post("/v1/chat/completions", ASK(bed.modelOf(format), stream));
      return expectStatus(response, 502);
    },
  })),
);

const inError: HostileCase = {
  name: "A3 100,000 levels in a vendor's error: upstream_error",
  async run(bed) {
    bed.vendor.answer(() => new Response(`{"error":${LISTS}}`, { status: 500 }));
    return expectStatus(await bed.post("/v1/chat/completions", ASK(bed.modelOf("openai-chat"), false)), 502);
  },
};

const inMiddle: HostileCase = {
  name: "A3 100,000 levels in an event in the middle of a stream: the stream ends with an error",
  async run(bed) {
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant", content: "Well." } }] });
    const deep = `{"choices":[{"index":0,"delta":{"content":"a","deep":${LISTS}}}]}`;
    bed.vendor.answer(
      () =>
        new Response(`data: ${chunk}\n\ndata: ${deep}\n\n`, {
          headers: { "content-type": "text/event-stream" },
        }),
    );
    const response = await bed.post("/v1/chat/completions", ASK(bed.modelOf("openai-chat"), true));
    const text = await response.text();
    ensure(text.includes("upstream_error") && !text.includes("[DONE]"), text.slice(-300));
    return "200, error";
  },
};

export default [...requests, inArguments, inManagement, ...answers, inError, inMiddle];

import type { AskableApi } from "../../support/clients/client-apis.ts";
import type { SeededRandom } from "../../support/seeded-random.ts";
import type { Json } from "./answer-turns.ts";
import { CHAT, MESSAGES } from "./profile-site.ts";

/** A call that a client has to answer. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
}

/** A client of one API: what it keeps of answers, and how it writes messages and older turns, also broken ones. */
export interface Client {
  readonly api: AskableApi;
  /** The fields of a request besides its conversation, which are the same in all turns. */
  settings(random: SeededRandom): Record<string, Json>;
  /** The fields of a request that are its conversation. */
  turns(history: readonly Json[]): Record<string, Json>;
  /** The messages that an answer adds to the history. */
  keep(answer: Json): Json[];
  /** The calls of the messages of an answer. */
  callsOf(kept: readonly Json[]): OpenCall[];
  result(call: OpenCall, text: string, random: SeededRandom): Json[];
  user(text: string, random: SeededRandom, images: boolean): Json;
  /** Messages of earlier turns that the model did not write, or that were lost in part. */
  older(random: SeededRandom, at: number): Json[];
}

const PNG = "iVBORw0KGgo=";
const LONG = `tool_${"x".repeat(70)}`;
const SCHEMA = { type: "object", properties: { input: { type: "string" }, n: { type: "integer" } } };
const TEXTS = ["Hi", "  go on ", "a\n\nb", "é€😀", "“quoted” \\ text", "x".repeat(3_000)];

export const pickText = (random: SeededRandom): string => random.pick(TEXTS);

const chatTool = (name: string) => ({
  type: "function",
  function: { name, description: "d", parameters: SCHEMA },
});
const chatCall = (id: string, name: string) => ({
  id,
  type: "function",
  function: { name, arguments: '{"n": 1}' },
});

const CHAT_CLIENT: Client = {
  api: CHAT,
  settings: (random) => ({
    ...(random.oneIn(3) ? {} : { tools: [chatTool("read"), chatTool(random.oneIn(2) ? LONG : "write")] }),
    ...(random.oneIn(3) ? { reasoning_effort: "low" } : {}),
  }),
  turns: (messages) => ({ messages }),
  keep: (answer) => [answer.choices[0].message],
  callsOf: ([message]) =>
    (message.tool_calls ?? []).map(({ id, function: fn, type }: Json) => ({
      id,
      name: fn?.name,
      custom: type === "custom",
    })),
  result: ({ id }, text, random) => [
    {
      role: "tool",
      tool_call_id: id,
      content: random.pick<Json>([
        text,
        "",
        [{ type: "text", text }],
        [
          { type: "text", text: "" },
          { type: "text", text },
        ],
      ]),
    },
  ],
  user: (text, random, images) => ({
    role: "user",
    content: random.pick<Json>([
      text,
      [{ type: "text", text }],
      [
        { type: "text", text },
        { type: "text", text: "", cache_control: { type: "ephemeral" } },
      ],
      ...(images
        ? [
            [
              { type: "text", text },
              { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
            ],
          ]
        : []),
    ]),
    ...(random.oneIn(4) ? { name: "ada" } : {}),
  }),
  older: (random, at) =>
    random.pick<Json[]>([
      [{ role: random.pick(["system", "developer"]), content: `rule ${at}` }],
      [
        { role: "user", content: random.pick<Json>(["", [], " "]) },
        { role: "assistant", content: "yes?" },
      ],
      [
        { role: "user", content: "q" },
        { role: "assistant", content: "", reasoning_content: `foreign ${at}` },
      ],
      [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: null,
          tool_calls: [chatCall(`lost${at}`, "read"), chatCall(`ok${at}`, LONG)],
        },
        { role: "tool", tool_call_id: `ok${at}`, content: "done" },
      ],
      [{ role: "tool", tool_call_id: `ghost${at}`, content: "orphan" }],
      [
        { role: "user", content: "q" },
        { role: "assistant", content: "one" },
        {
          role: "assistant",
          content: "two",
          tool_calls: [chatCall("again", "read"), chatCall("again", "read")],
        },
        { role: "tool", tool_call_id: "again", content: "done" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "so" },
            { type: "refusal", refusal: "no" },
          ],
        },
      ],
      [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: "signed",
          reasoning_details: [
            { type: "reasoning.text", text: "t", signature: "c2ln", format: "anthropic-claude-v1", index: 0 },
          ],
        },
      ],
    ]),
};

const block = (text: string, more = {}) => ({ type: "text", text, ...more });

const MESSAGES_CLIENT: Client = {
  api: MESSAGES,
  settings: (random) => ({
    max_tokens: 4_000,
    ...(random.oneIn(2)
      ? { system: random.pick<Json>(["base", [block("base", { cache_control: { type: "ephemeral" } })]]) }
      : {}),
    ...(random.oneIn(3)
      ? {}
      : {
          tools: ["read", random.oneIn(2) ? LONG : "write"].map((name) => ({ name, input_schema: SCHEMA })),
        }),
    ...(random.oneIn(3) ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {}),
  }),
  turns: (messages) => ({ messages }),
  keep: ({ content }) => [{ role: "assistant", content }],
  callsOf: ([message]) =>
    message.content
      .filter(({ type }: Json) => type === "tool_use")
      .map(({ id, name }: Json) => ({ id, name, custom: false })),
  result: ({ id }, text, random) => [
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: id,
          ...random.pick<Json>([
            { content: text },
            { content: "" },
            {},
            { content: [block(""), block(text)] },
          ]),
        },
        ...(random.oneIn(4) ? [block("and")] : []),
      ],
    },
  ],
  user: (text, random, images) => ({
    role: "user",
    content: random.pick<Json>([
      text,
      [block(text)],
      [block(text), block("", { cache_control: { type: "ephemeral" } })],
      ...(images
        ? [[{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }, block(text)]]
        : []),
    ]),
  }),
  older: (random, at) =>
    random.pick<Json[]>([
      [
        { role: "user", content: "q" },
        { role: "system", content: `rule ${at}` },
      ],
      [
        { role: "user", content: random.pick<Json>(["", [], [block(" ")]]) },
        { role: "assistant", content: "yes?" },
      ],
      [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: [
            {
              type: "thinking",
              thinking: `t${at}`,
              ...random.pick<Json>([{}, { signature: null }, { signature: "c2ln" }]),
            },
            block("so"),
          ],
        },
      ],
      [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: [
            block(""),
            { type: "tool_use", id: `lost${at}`, name: "read", input: {} },
            { type: "tool_use", id: `o k${at}`, name: LONG, input: { n: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `o k${at}`, content: "done" }] },
      ],
      [
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: `ghost${at}`, content: "orphan" }, block("q")],
        },
      ],
      [
        { role: "user", content: "q" },
        { role: "assistant", content: [block(" "), block("kept")] },
      ],
    ]),
};

const item = (role: string, content: Json) => ({ type: "message", role, content });

const RESPONSES_CLIENT = (api: AskableApi): Client => ({
  api,
  settings: (random) => ({
    ...(random.oneIn(2) ? { instructions: "base" } : {}),
    ...(random.oneIn(3)
      ? {}
      : {
          tools: [
            ...["read", random.oneIn(2) ? LONG : "write"].map((name) => ({
              type: "function",
              name,
              parameters: SCHEMA,
            })),
            ...(random.oneIn(2) ? [{ type: "custom", name: "patch" }] : []),
          ],
        }),
    ...(random.oneIn(3) ? { reasoning: { effort: "low" } } : {}),
  }),
  turns: (input) => ({ input }),
  keep: ({ output }) => output,
  callsOf: (kept) =>
    kept
      .filter(({ type }) => type === "function_call" || type === "custom_tool_call")
      .map(({ call_id, name, type }) => ({ id: call_id, name, custom: type === "custom_tool_call" })),
  result: ({ id, custom }, text, random) => [
    {
      type: custom ? "custom_tool_call_output" : "function_call_output",
      call_id: id,
      output: random.pick<Json>([text, "", [{ type: "input_text", text }]]),
    },
  ],
  user: (text, random, images) =>
    item(
      "user",
      random.pick<Json>([
        text,
        [{ type: "input_text", text }],
        [
          { type: "input_text", text },
          { type: "input_text", text: "" },
        ],
        ...(images
          ? [
              [
                { type: "input_text", text },
                { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
              ],
            ]
          : []),
      ]),
    ),
  older: (random, at) =>
    random.pick<Json[]>([
      [item(random.pick(["system", "developer"]), `rule ${at}`)],
      [item("user", random.pick<Json>(["", [], " "])), item("assistant", "yes?")],
      [
        item("user", "q"),
        { type: "reasoning", id: `rs_${at}`, summary: [{ type: "summary_text", text: "foreign" }] },
        item("assistant", [{ type: "output_text", text: "so" }]),
      ],
      [
        item("user", "q"),
        { type: "function_call", call_id: `lost${at}`, name: "read", arguments: "{}" },
        { type: "custom_tool_call", call_id: `ok${at}`, name: "patch", input: "*** begin" },
        { type: "custom_tool_call_output", call_id: `ok${at}`, output: "done" },
      ],
      [{ type: "function_call_output", call_id: `ghost${at}`, output: "orphan" }],
      [
        item("user", "q"),
        { type: "function_call", call_id: `late${at}`, name: LONG, arguments: "{}" },
        item("user", "meanwhile"),
        { type: "function_call_output", call_id: `late${at}`, output: "done" },
      ],
    ]),
});

/** The clients of the three APIs for conversations. */
export function listClients(responses: AskableApi): readonly Client[] {
  return [CHAT_CLIENT, RESPONSES_CLIENT(responses), MESSAGES_CLIENT];
}

import { REASONING_ORIGINS } from "../../src/wire/canonical/model/parts.ts";
import { wrapReasoning } from "../../src/wire/canonical/model/reasoning-envelope.ts";
import { type Dimension, members, times } from "./dimension.ts";

type Body = Readonly<Record<string, unknown>>;

const user = (content: unknown): Body => ({ type: "message", role: "user", content });
const assistant = (content: unknown): Body => ({ type: "message", role: "assistant", content });
const text: Body = { type: "input_text", text: "Hello!" };
const image: Body = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
const file: Body = {
  type: "input_file",
  filename: "report.pdf",
  file_data: "data:application/pdf;base64,AAAA",
};
const call = (call_id: string): Body => ({
  type: "function_call",
  call_id,
  name: "look_up",
  arguments: '{"a":1}',
});
const output = (call_id: string): Body => ({ type: "function_call_output", call_id, output: "Found." });
const reasoning = (fields: Body): Body => ({ type: "reasoning", id: "rs_1", summary: [], ...fields });
const summary: Body = { type: "summary_text", text: "So." };
const tool = (name: string, parameters: unknown = { type: "object", properties: {} }): Body => ({
  type: "function",
  name,
  description: "Looks something up.",
  parameters,
});
const asked = (...input: readonly Body[]): Body => ({ model: "acme/model", input });
/** A reasoning item with another vendor's signature of a call, as the gateway writes it. */
const proof = (callId: string): Body =>
  reasoning({
    encrypted_content: wrapReasoning({
      signature: "AAAA",
      encrypted: null,
      id: `proof:call:${callId}`,
      origin: REASONING_ORIGINS.gemini,
      isSummary: false,
    }),
  });

const DIMENSIONS: Readonly<Record<string, (n: number) => Body>> = {
  "messages of a user": (n) => asked(...times(n, () => user("Hello!"))),
  "messages in turns": (n) =>
    asked(
      ...times(n, (at) =>
        at % 2 === 0 ? user("Hello!") : assistant([{ type: "output_text", text: "Well." }]),
      ),
    ),
  "messages of an assistant": (n) => asked(user("Hello!"), ...times(n, () => assistant("Well."))),
  "parts of a message": (n) => asked(user(times(n, () => text))),
  "images of a message": (n) => asked(user(times(n, () => image))),
  "files of one name": (n) => asked(user(times(n, () => file))),
  "annotations of a text": (n) =>
    asked(
      user("Hello!"),
      assistant([
        {
          type: "output_text",
          text: "Well.",
          annotations: times(n, () => ({
            type: "url_citation",
            url: "https://a.b",
            title: "A",
            start_index: 0,
            end_index: 1,
          })),
        },
      ]),
    ),
  "calls without outputs": (n) =>
    asked(user("Go on."), ...times(n, (at) => call(`c${at}`)), user("And now?")),
  "calls with outputs": (n) =>
    asked(user("Go on."), ...times(n, (at) => call(`c${at}`)), ...times(n, (at) => output(`c${at}`))),
  "calls with outputs in reverse": (n) =>
    asked(user("Go on."), ...times(n, (at) => call(`c${at}`)), ...times(n, (at) => output(`c${n - at}`))),
  "turns with a call": (n) =>
    asked(user("Go on."), ...times(n, (at) => [call(`c${at}`), output(`c${at}`)]).flat()),
  "calls of one id": (n) => asked(user("Go on."), ...times(n, () => call("c")), output("c")),
  "outputs without calls": (n) => asked(user("Go on."), ...times(n, (at) => output(`c${at}`))),
  "parts of an output": (n) =>
    asked(user("Go on."), call("c"), { ...output("c"), output: times(n, () => text) }),
  "images of an output": (n) =>
    asked(user("Go on."), call("c"), { ...output("c"), output: times(n, () => image) }),
  "custom tool calls": (n) =>
    asked(
      user("Go on."),
      ...times(n, (at) => ({ type: "custom_tool_call", call_id: `c${at}`, name: "run", input: "ls" })),
    ),
  "calls of tools in a namespace": (n) =>
    asked(user("Go on."), ...times(n, (at) => ({ ...call(`c${at}`), namespace: `space_${at}` }))),
  "reasoning items": (n) =>
    asked(user("Go on."), ...times(n, (at) => reasoning({ id: `rs_${at}`, encrypted_content: "AAAA" }))),
  "summaries of a reasoning item": (n) =>
    asked(user("Go on."), reasoning({ summary: times(n, () => summary) })),
  "texts of a reasoning item": (n) =>
    asked(user("Go on."), reasoning({ content: times(n, () => ({ type: "reasoning_text", text: "So." })) })),
  "reasoning items that prove calls": (n) =>
    asked(user("Go on."), ...times(n, (at) => call(`c${at}`)), ...times(n, (at) => proof(`c${n - at}`))),
  "reasoning items that prove calls which are gone": (n) =>
    asked(user("Go on."), ...times(n, (at) => call(`c${at}`)), ...times(n, (at) => proof(`d${at}`))),
  "items of an unknown type": (n) =>
    asked(user("Go on."), ...times(n, () => ({ type: "hologram", hologram: 1 }))),
  "references to items": (n) =>
    asked(user("Go on."), ...times(n, (at) => ({ type: "item_reference", id: `i${at}` }))),
  tools: (n) => ({ ...asked(user("Hello!")), tools: times(n, (at) => tool(`tool_${at}`)) }),
  "tools of a namespace": (n) => ({
    ...asked(user("Hello!")),
    tools: [{ type: "namespace", name: "space", tools: times(n, (at) => tool(`tool_${at}`)) }],
  }),
  "namespaces with tools of one name": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => ({ type: "namespace", name: `space_${at}`, tools: [tool("tool")] })),
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: times(n, () => ({ type: "function", name: "tool" })),
    },
  }),
  "tools of an unknown type": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => ({ type: `tool_${at}` })),
  }),
  "tools that are allowed": (n) => ({
    ...asked(user("Hello!")),
    tools: times(n, (at) => tool(`tool_${at}`)),
    tool_choice: {
      type: "allowed_tools",
      mode: "auto",
      tools: times(n, (at) => ({ type: "function", name: `tool_${at}` })),
    },
  }),
  "fields to include": (n) => ({ ...asked(user("Hello!")), include: times(n, (at) => `field_${at}`) }),
  "members of metadata": (n) => ({ ...asked(user("Hello!")), metadata: members(n, () => "value") }),
  "unknown fields": (n) => ({ ...asked(user("Hello!")), ...members(n, () => 1) }),
  "unknown fields of an item": (n) => asked({ ...user("Hello!"), ...members(n, () => 1) }),
  "characters of the instructions": (n) => ({ ...asked(user("Hello!")), instructions: "word ".repeat(n) }),
  "characters of a text": (n) => asked(user("word ".repeat(n))),
  "escaped characters of a text": (n) => asked(user('\\"\n'.repeat(n))),
};

/** Dimensions of a Responses request. Schemas are lowered in the same way for all client APIs, so those of chat completions are sufficient. */
export const RESPONSES_DIMENSIONS: readonly Dimension[] = Object.entries(DIMENSIONS).map(([name, body]) => ({
  name,
  body,
}));

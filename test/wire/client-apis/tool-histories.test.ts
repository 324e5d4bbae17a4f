import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { UpstreamTarget } from "../../../src/wire/client-apis/request/inference-request.ts";
import type { OutlineMessage } from "../../../src/wire/conversation/calls/outline.ts";
import { INTERRUPTED } from "../../../src/wire/conversation/calls/repair-tool-calls.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { conversationFormatOf, FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";
import { CLIENTS, type Client, FORMAT_OF } from "../../fidelity/formats.ts";
import { openRequest } from "../../fidelity/open-request.ts";
import { makeTarget } from "../../fidelity/targets.ts";
import {
  callIdsOf,
  describeAt,
  isValidFor,
  pairWithNearestCall,
} from "../../support/clients/tool-histories.ts";

// biome-ignore lint/suspicious/noExplicitAny: the bodies are read without a schema
type Json = any;

/** A step of a history, independent of the client API. */
type Step =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "assistant"; readonly text: string; readonly calls: readonly StepCall[] }
  | { readonly kind: "result"; readonly callId: string; readonly text: string };

interface StepCall {
  readonly id: string;
  readonly name: string;
  readonly n: number;
}

const user = (text = "Go on."): Step => ({ kind: "user", text });
const says = (text: string, ...calls: StepCall[]): Step => ({ kind: "assistant", text, calls });
const call = (id: string, name = "look", n = 1): StepCall => ({ id, name, n });
const calls = (...ids: string[]): Step => says("", ...ids.map((id) => call(id)));
const result = (callId: string, text = `result of ${callId}`): Step => ({ kind: "result", callId, text });

/** Writes a history as a body of each client API. */
const WRITERS: Readonly<Record<Client, (steps: readonly Step[]) => Json>> = {
  chat: (steps) => ({
    messages: steps.map((step) => {
      if (step.kind === "result") return { role: "tool", tool_call_id: step.callId, content: step.text };
      if (step.kind === "user") return { role: "user", content: step.text };
      const calls = step.calls.map(({ id, name, n }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify({ n }) },
      }));
      const content = step.text === "" ? null : step.text;
      return { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    }),
    tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  }),
  messages: (steps) => ({
    max_tokens: 100,
    messages: steps.map((step) => {
      if (step.kind === "user") return { role: "user", content: step.text };
      if (step.kind === "result") {
        const content = [{ type: "tool_result", tool_use_id: step.callId, content: step.text }];
        return { role: "user", content };
      }
      const calls = step.calls.map(({ id, name, n }) => ({ type: "tool_use", id, name, input: { n } }));
      const text = step.text === "" ? [] : [{ type: "text", text: step.text }];
      return { role: "assistant", content: [...text, ...calls] };
    }),
    tools: [{ name: "look", input_schema: { type: "object" } }],
  }),
  responses: (steps) => ({
    input: steps.flatMap((step): Json[] => {
      if (step.kind === "user") return [{ role: "user", content: step.text }];
      if (step.kind === "result") {
        return [{ type: "function_call_output", call_id: step.callId, output: step.text }];
      }
      const calls = step.calls.map(({ id, name, n }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify({ n }),
      }));
      return [...(step.text === "" ? [] : [{ role: "assistant", content: step.text }]), ...calls];
    }),
    tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
  }),
};

/** A message of a history as the vendor received it. */
type ReadMessage = OutlineMessage & { readonly text?: string };

const OTHER: ReadMessage = { kind: "other" };

function readTurn(calls: readonly { id: string; name: string; input: Json }[]): ReadMessage {
  const said = calls.map(
    ({ name, input }) => `${name} ${typeof input === "string" ? input : JSON.stringify(input)}`,
  );
  return {
    kind: "assistant",
    callIds: calls.map(({ id }) => id),
    describeCall: (index) => said[index] ?? "",
  };
}

function textOf(content: Json): string {
  return typeof content === "string" ? content : content.map((part: Json) => part.text).join("");
}

function readChat({ messages }: Json): ReadMessage[] {
  return messages.map((message: Json) => {
    if (message.role === "tool") {
      return { kind: "result", callId: message.tool_call_id, text: textOf(message.content) };
    }
    if (message.role !== "assistant") return OTHER;
    expect(message.content || message.tool_calls?.length).toBeTruthy();
    return readTurn(
      (message.tool_calls ?? []).map((call: Json) => ({
        id: call.id,
        name: call.function.name,
        input: call.function.arguments,
      })),
    );
  });
}

/** Reads messages that consist of blocks: the calls of a turn, or one result or `other` for each block. */
function readBlocks(
  messages: readonly Json[],
  isTurn: (message: Json) => boolean,
  blocksOf: (message: Json) => readonly Json[],
  readCall: (block: Json) => { id: string; name: string; input: Json } | null,
  readResult: (block: Json) => ReadMessage | null,
): ReadMessage[] {
  return messages.flatMap((message): ReadMessage[] => {
    const blocks = blocksOf(message);
    expect(blocks.length).toBeGreaterThan(0);
    if (isTurn(message)) return [readTurn(blocks.map(readCall).filter((one) => one !== null))];
    return blocks.map((block) => readResult(block) ?? OTHER);
  });
}

/** Reads the history from the body that a vendor received. */
const READERS: Readonly<Record<FormatName, (body: Json) => ReadMessage[]>> = {
  "openai-chat": readChat,
  "cohere-chat": readChat,
  "anthropic-messages": (body) =>
    readBlocks(
      body.messages,
      ({ role }) => role === "assistant",
      ({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content),
      ({ type, id, name, input }) => (type === "tool_use" ? { id, name, input } : null),
      ({ type, tool_use_id: callId, content }) =>
        type === "tool_result" ? { kind: "result", callId, text: textOf(content) } : null,
    ),
  gemini: (body) =>
    readBlocks(
      body.contents,
      ({ role }) => role === "model",
      ({ parts }) => parts,
      ({ functionCall: made }) => (made ? { id: made.id, name: made.name, input: made.args } : null),
      ({ functionResponse: made }) =>
        made ? { kind: "result", callId: made.id, text: made.response.output ?? made.response.error } : null,
    ),
  "bedrock-converse": (body) =>
    readBlocks(
      body.messages,
      ({ role }) => role === "assistant",
      ({ content }) => content,
      ({ toolUse: made }) => (made ? { id: made.toolUseId, name: made.name, input: made.input } : null),
      ({ toolResult: made }) =>
        made ? { kind: "result", callId: made.toolUseId, text: textOf(made.content) } : null,
    ),
  "openai-responses": (body) =>
    body.input.map((item: Json): ReadMessage => {
      if (item.type === "function_call_output") {
        return { kind: "result", callId: item.call_id, text: textOf(item.output) };
      }
      if (item.type !== "function_call") return OTHER;
      return readTurn([{ id: item.call_id, name: item.name, input: item.arguments }]);
    }),
};

const CHAT = makeTarget("openai-chat");
const MISTRAL: UpstreamTarget = {
  ...CHAT,
  provider: { ...CHAT.provider, toolCalls: toolCallRulesOf("openai-chat", "mistral") },
};
const TARGETS: readonly (readonly [string, UpstreamTarget])[] = [
  ...FORMAT_NAMES.map((format) => [format, makeTarget(format)] as const),
  ["mistral", MISTRAL],
  // A translation to the client's own format.
  ["openai-chat, translated", { ...CHAT, provider: { ...CHAT.provider, bodyFields: { absent: null } } }],
];

/** Sends a history to a target; returns the body and the history that the vendor receives. */
function send(client: Client, steps: readonly Step[], target: UpstreamTarget) {
  const body = { model: "acme/m", ...WRITERS[client](steps) };
  const encoded = openRequest(client, body).encoding.encode(target);
  const sent = JSON.parse(encoded.body.toString());
  return {
    body,
    sent,
    repair: encoded.repair,
    history: READERS[conversationFormatOf(target.provider)](sent),
  };
}

/** Lists `call -> result` for each result that answers a call, sorted. */
function listPairs(history: readonly ReadMessage[]): string[] {
  const pairs = [...pairWithNearestCall(history)].map(
    ([at, name]) => `${describeAt(history, name)} -> ${history[at]!.text}`,
  );
  return pairs.filter((pair) => !pair.endsWith(`-> ${INTERRUPTED}`)).toSorted();
}

/** Outlines a history as the client sent it: in Responses, adjacent items of the model are one message. */
function outlineOf(steps: readonly Step[], client: Client): ReadMessage[] {
  const outline: ReadMessage[] = [];
  let turn: StepCall[] | null = null;
  for (const step of steps) {
    if (step.kind === "assistant") {
      if (turn === null || client !== "responses") {
        turn = [...step.calls];
        outline.push(readTurn(turn.map(({ id, name, n }) => ({ id, name, input: { n } }))));
        if (client === "responses") outline[outline.length - 1] = outlineOpenTurn(turn);
      } else turn.push(...step.calls);
      continue;
    }
    turn = null;
    outline.push(step.kind === "user" ? OTHER : { kind: "result", callId: step.callId, text: step.text });
  }
  return outline;
}

/** Outlines a turn to which more calls may be added. */
function outlineOpenTurn(turn: readonly StepCall[]): ReadMessage {
  return {
    kind: "assistant",
    get callIds() {
      return turn.map(({ id }) => id);
    },
    describeCall: (index) => `${turn[index]!.name} ${JSON.stringify({ n: turn[index]!.n })}`,
  };
}

/** Ids that no vendor, some vendors or all vendors accept. */
const IDS = ["a", "abcdefghi", "call_1", "functions.look:0", "x".repeat(70)];

const anyHistory: fc.Arbitrary<Step[]> = fc
  .array(
    fc.oneof(
      { weight: 1, arbitrary: fc.constant(user()) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            fc.constantFrom("", "Working."),
            fc.array(
              fc.record({
                id: fc.constantFrom(...IDS),
                name: fc.constantFrom("look", "touch"),
                n: fc.nat(1),
              }),
              {
                maxLength: 3,
              },
            ),
          )
          .filter(([text, made]) => text !== "" || made.length > 0)
          .map(([text, made]): Step => says(text, ...made)),
      },
      { weight: 4, arbitrary: fc.constantFrom(...IDS).map((id) => result(id)) },
    ),
    { minLength: 1, maxLength: 9 },
  )
  .map((steps) =>
    [user("Hello!"), ...steps].map((step, at) =>
      step.kind === "result" ? { ...step, text: `result ${at}` } : step,
    ),
  );

describe.each(CLIENTS)("any history of tool calls from the API %s", (client) => {
  test.each(TARGETS)("is valid at %s and keeps every result that answers a call", (_name, target) => {
    fc.assert(
      fc.property(anyHistory, (steps) => {
        const { history } = send(client, steps, target);
        expect(isValidFor(history, target.provider.toolCalls)).toBe(true);
        expect(listPairs(history)).toEqual(listPairs(outlineOf(steps, client)));
        const texts = new Set(steps.flatMap((step) => (step.kind === "result" ? [step.text] : [])));
        const made = history.filter(({ kind, text }) => kind === "result" && !texts.has(text ?? ""));
        expect(made.every(({ text }) => text === INTERRUPTED)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("is unchanged at a vendor of its own format if it is valid there", () => {
    const target = makeTarget(FORMAT_OF[client]);
    fc.assert(
      fc.property(anyHistory, (steps) => {
        const first = send(client, steps, target);
        // A repaired history is valid.
        const again = openRequest(client, { ...first.sent, store: undefined, model: "acme/m" });
        const second = again.encoding.encode(target);
        expect(second.repair).toBeNull();
        expect(JSON.parse(second.body.toString())).toEqual(first.sent);
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(CLIENTS)("a tool-call history seen in practice, from the API %s", (client) => {
  const ALL = TARGETS.map(([name]) => name);
  const historyAt = (name: string, steps: readonly Step[]) => {
    const target = TARGETS.find(([known]) => known === name)![1];
    return send(client, steps, target);
  };

  test.each(ALL)("keeps both results at %s if they follow two messages with one call each", (name) => {
    const { history, repair } = historyAt(name, [
      user(),
      calls("c1"),
      calls("c2"),
      result("c1"),
      result("c2"),
    ]);
    expect(listPairs(history)).toEqual(['look {"n":1} -> result of c1', 'look {"n":1} -> result of c2']);
    expect(repair?.counts.placeholdersAdded ?? 0).toBe(0);
  });

  test.each(ALL)("keeps the pair of a call and its result at %s if a text is between them", (name) => {
    const { history, repair, sent } = historyAt(name, [user(), calls("c1"), says("Working."), result("c1")]);
    expect(listPairs(history)).toEqual(['look {"n":1} -> result of c1']);
    expect(repair?.counts.placeholdersAdded ?? 0).toBe(0);
    expect(JSON.stringify(sent)).toContain("Working.");
    // The model answers the result, so it must be last.
    expect(history.at(-1)?.kind).toBe("result");
  });

  test.each(ALL)("loses a call at %s that a retry repeated without a result", (name) => {
    const { history, repair } = historyAt(name, [user(), calls("c1"), result("c1"), calls("c1"), user()]);
    expect(listPairs(history)).toEqual(['look {"n":1} -> result of c1']);
    expect(repair?.counts).toMatchObject({ duplicateCallsRemoved: 1, placeholdersAdded: 0 });
    expect(history.flatMap(callIdsOf)).toHaveLength(1);
  });

  test.each(ALL)("keeps all results at %s if the client restarts its call ids in each turn", (name) => {
    const again = says("", call("look:0", "look", 2));
    const steps = [user(), calls("look:0"), result("look:0", "one"), again, result("look:0", "two"), user()];
    const { history } = historyAt(name, steps);
    const target = TARGETS.find(([known]) => known === name)![1];
    expect(listPairs(history)).toEqual(['look {"n":1} -> one', 'look {"n":2} -> two']);
    const ids = history.flatMap(callIdsOf);
    expect(new Set(ids).size).toBe(target.provider.toolCalls.hasUniqueIds ? 2 : 1);
    // The next request has the same ids, so that the vendor's prompt cache matches.
    expect(
      historyAt(name, [...steps, calls("x"), result("x")])
        .history.flatMap(callIdsOf)
        .slice(0, 2),
    ).toEqual(ids);
  });
});

test.each([
  [null, false],
  ["", false],
  [[], false],
  ["x", true],
  [[{ type: "text", text: "x" }], true],
])(
  "a chat message whose only call was a duplicate is left out unless it has content: %p",
  (content, isKept) => {
    const message = (id: string) => ({
      role: "assistant",
      tool_calls: [{ id, type: "function", function: { name: "look", arguments: "{}" } }],
    });
    const messages = [
      { role: "user", content: "Hello!" },
      { ...message("c1"), content: null },
      { role: "tool", tool_call_id: "c1", content: "result" },
      { ...message("c1"), content },
      { role: "user", content: "Go on." },
    ];
    const sent = JSON.parse(
      openRequest("chat", { model: "acme/m", messages }).encoding.encode(CHAT).body.toString(),
    );
    expect(sent.messages).toEqual([
      ...messages.slice(0, 3),
      ...(isKept ? [{ role: "assistant", content }] : []),
      ...messages.slice(4),
    ]);
  },
);

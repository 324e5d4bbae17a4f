import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { UpstreamTarget } from "../../../src/wire/client-apis/inference-request.ts";
import type { FormatName } from "../../../src/wire/conversation/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/format-name.ts";
import type { OutlineMessage } from "../../../src/wire/conversation/outline.ts";
import { INTERRUPTED } from "../../../src/wire/conversation/repair-tool-calls.ts";
import { toolCallRulesOf } from "../../../src/wire/conversation/tool-call-rules.ts";
import { CLIENTS, type Client, FORMAT_OF } from "../../fidelity/formats.ts";
import { openRequest } from "../../fidelity/open-request.ts";
import { makeTarget } from "../../fidelity/targets.ts";
import { callIdsOf, describeAt, isValidFor, pairPlainly } from "../../support/tool-histories.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

/** A step of a history, whatever API it is told in. */
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

/** A history in the shape of each client API. */
const TELL: Readonly<Record<Client, (steps: readonly Step[]) => Json>> = {
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

/** A message of a history as the vendor got it. */
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

/** Messages of blocks: of each the calls, or the results and whether there is anything else. */
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

/** The history in a vendor's body. */
const READ: Readonly<Record<FormatName, (body: Json) => ReadMessage[]>> = {
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

const MISTRAL: UpstreamTarget = {
  ...makeTarget("openai-chat"),
  toolCalls: toolCallRulesOf("openai-chat", "mistral"),
};
const TARGETS: readonly (readonly [string, UpstreamTarget])[] = [
  ...FORMAT_NAMES.map((format) => [format, makeTarget(format)] as const),
  ["mistral", MISTRAL],
  // To its own format it goes through the hub as well.
  ["openai-chat by way of the hub", { ...makeTarget("openai-chat"), bodyFields: { absent: null } }],
];

/** What a history comes to at a vendor. */
function send(client: Client, steps: readonly Step[], target: UpstreamTarget) {
  const body = { model: "acme/m", ...TELL[client](steps) };
  const encoded = openRequest(client, body).encode(target);
  const sent = JSON.parse(encoded.body.toString());
  return { body, sent, repair: encoded.repair, history: READ[target.format](sent) };
}

/** `call -> result` of each result that answers a call, sorted. */
function listPairs(history: readonly ReadMessage[]): string[] {
  const pairs = [...pairPlainly(history)].map(
    ([at, name]) => `${describeAt(history, name)} -> ${history[at]!.text}`,
  );
  return pairs.filter((pair) => !pair.endsWith(`-> ${INTERRUPTED}`)).toSorted();
}

/** A history's steps as they were told: neighbouring items of Responses' model are one message. */
function outlineOf(steps: readonly Step[], client: Client): ReadMessage[] {
  const outline: ReadMessage[] = [];
  let turn: StepCall[] | null = null;
  for (const step of steps) {
    if (step.kind === "assistant") {
      if (turn === null || client !== "responses") {
        turn = [...step.calls];
        outline.push(readTurn(turn.map(({ id, name, n }) => ({ id, name, input: { n } }))));
        if (client === "responses") outline[outline.length - 1] = describeLive(turn);
      } else turn.push(...step.calls);
      continue;
    }
    turn = null;
    outline.push(step.kind === "user" ? OTHER : { kind: "result", callId: step.callId, text: step.text });
  }
  return outline;
}

/** A turn that still grows. */
function describeLive(turn: readonly StepCall[]): ReadMessage {
  return {
    kind: "assistant",
    get callIds() {
      return turn.map(({ id }) => id);
    },
    describeCall: (index) => `${turn[index]!.name} ${JSON.stringify({ n: turn[index]!.n })}`,
  };
}

/** Ids that fit nobody, somebody and everybody. */
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

describe.each(CLIENTS)("a history of tool calls from the %s API", (client) => {
  test.each(TARGETS)("reaches %s valid, and with every result that has a call", (_name, target) => {
    fc.assert(
      fc.property(anyHistory, (steps) => {
        const { history } = send(client, steps, target);
        expect(isValidFor(history, target.toolCalls)).toBe(true);
        expect(listPairs(history)).toEqual(listPairs(outlineOf(steps, client)));
        const texts = new Set(steps.flatMap((step) => (step.kind === "result" ? [step.text] : [])));
        const made = history.filter(({ kind, text }) => kind === "result" && !texts.has(text ?? ""));
        expect(made.every(({ text }) => text === INTERRUPTED)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test("reaches a vendor of its own format byte for byte where it is valid there", () => {
    const target = makeTarget(FORMAT_OF[client]);
    fc.assert(
      fc.property(anyHistory, (steps) => {
        const first = send(client, steps, target);
        // What was repaired is valid, so it passes as it is.
        const again = openRequest(client, { ...first.sent, store: undefined, model: "acme/m" });
        const second = again.encode(target);
        expect(second.repair).toBeNull();
        expect(JSON.parse(second.body.toString())).toEqual(first.sent);
      }),
      { numRuns: 60 },
    );
  });
});

describe.each(CLIENTS)("real histories from the %s API", (client) => {
  const ALL = TARGETS.map(([name]) => name);
  const historyAt = (name: string, steps: readonly Step[]) => {
    const target = TARGETS.find(([known]) => known === name)![1];
    return send(client, steps, target);
  };

  test.each(ALL)("calls in two messages and then both results lose none of them at %s", (name) => {
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

  test.each(ALL)("words between a call and its result part them at no vendor: %s", (name) => {
    const { history, repair, sent } = historyAt(name, [user(), calls("c1"), says("Working."), result("c1")]);
    expect(listPairs(history)).toEqual(['look {"n":1} -> result of c1']);
    expect(repair?.counts.placeholdersAdded ?? 0).toBe(0);
    expect(JSON.stringify(sent)).toContain("Working.");
    // The result is what the model has to answer.
    expect(history.at(-1)?.kind).toBe("result");
  });

  test.each(ALL)("a call that a retry repeated without a result is dropped at %s", (name) => {
    const { history, repair } = historyAt(name, [user(), calls("c1"), result("c1"), calls("c1"), user()]);
    expect(listPairs(history)).toEqual(['look {"n":1} -> result of c1']);
    expect(repair?.counts).toMatchObject({ duplicateCallsRemoved: 1, placeholdersAdded: 0 });
    expect(history.flatMap(callIdsOf)).toHaveLength(1);
  });

  test.each(ALL)("ids that are counted anew in each turn keep their results at %s", (name) => {
    const again = says("", call("look:0", "look", 2));
    const steps = [user(), calls("look:0"), result("look:0", "one"), again, result("look:0", "two"), user()];
    const { history } = historyAt(name, steps);
    const target = TARGETS.find(([known]) => known === name)![1];
    expect(listPairs(history)).toEqual(['look {"n":1} -> one', 'look {"n":2} -> two']);
    const ids = history.flatMap(callIdsOf);
    expect(new Set(ids).size).toBe(target.toolCalls.hasUniqueIds ? 2 : 1);
    // The same in the next request, so that what the vendor has cached is found.
    expect(
      historyAt(name, [...steps, calls("x"), result("x")])
        .history.flatMap(callIdsOf)
        .slice(0, 2),
    ).toEqual(ids);
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type {
  OutlineAssistant,
  OutlineMessage,
  Repair,
  ToolCallRules,
} from "../../../src/wire/conversation/calls/outline.ts";
import { repairToolCalls } from "../../../src/wire/conversation/calls/repair-tool-calls.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";
import { callIdsOf, FITS, isValidFor, pairWithNearestCall } from "../../support/clients/tool-histories.ts";
import { shareOf } from "../../support/long-run.ts";

/** An assistant message with calls, each `id` or `id=input`. Calls with equal texts are equal. */
function calls(...written: string[]): OutlineAssistant {
  const [ids, inputs] = [0, 1].map((part) => written.map((call) => call.split("=")[part] ?? "")) as [
    string[],
    string[],
  ];
  return { kind: "assistant", callIds: ids, describeCall: (index) => inputs[index] ?? "" };
}

/** An assistant message with hosted calls, which only one format has. */
const hosted = (...hostedIds: string[]): OutlineMessage => ({ ...calls(), hostedIds });
const result = (callId: string): OutlineMessage => ({ kind: "result", callId });
const other: OutlineMessage = { kind: "other" };

const chat = toolCallRulesOf("openai-chat", "openai");
const mistral = toolCallRulesOf("openai-chat", "mistral");
const anthropic = toolCallRulesOf("anthropic-messages", "anthropic");
const gemini = toolCallRulesOf("gemini", "openai");
const responses = toolCallRulesOf("openai-responses", "openai");
const ALL_RULES = [mistral, ...FORMAT_NAMES.map((format) => toolCallRulesOf(format, "openai"))];

/** A message of a repaired conversation. */
interface Applied {
  readonly message: OutlineMessage;
  /** The indexes of the messages that it consists of; none for a placeholder. */
  readonly from: readonly number[];
  /** The original message and index of each of its calls. */
  readonly calls: readonly { readonly message: number; readonly from: number }[];
}

/** Applies a repair, as the encoder of a client API does. */
function applyRepair(messages: readonly OutlineMessage[], repair: Repair | null): Applied[] {
  const applied: Applied[] = [];
  const kept = repair?.messages ?? messages.map((_, from) => ({ ...UNCHANGED, from }));
  for (const entry of kept) {
    if (entry.kind === "placeholder") {
      applied.push({ message: result(entry.callId), from: [], calls: [] });
      continue;
    }
    const next = applyEdits(messages[entry.from]!, entry);
    const last = applied.at(-1);
    if (entry.joins && last?.message.kind === "assistant") applied[applied.length - 1] = join(last, next);
    else applied.push(next);
  }
  return applied;
}

const UNCHANGED = { kind: "kept", calls: null, callId: null, joins: false } as const;

function applyEdits(
  original: OutlineMessage,
  edits: Extract<Repair["messages"][number], { kind: "kept" }>,
): Applied {
  const from = [edits.from];
  if (original.kind === "result" && edits.callId !== null) {
    return { message: result(edits.callId), from, calls: [] };
  }
  if (original.kind !== "assistant") return { message: original, from, calls: [] };
  const kept = edits.calls ?? original.callIds.map((id, at) => ({ from: at, id }));
  const message = {
    ...original,
    callIds: kept.map(({ id }) => id),
    describeCall: (index: number) => original.describeCall(kept[index]!.from),
  };
  return { message, from, calls: kept.map((call) => ({ message: edits.from, from: call.from })) };
}

function join(first: Applied, second: Applied): Applied {
  const [a, b] = [first.message, second.message] as [OutlineAssistant, OutlineAssistant];
  const message: OutlineAssistant = {
    kind: "assistant",
    callIds: [...a.callIds, ...b.callIds],
    ...(a.hostedIds || b.hostedIds ? { hostedIds: [...(a.hostedIds ?? []), ...(b.hostedIds ?? [])] } : {}),
    describeCall: (index) =>
      index < a.callIds.length ? a.describeCall(index) : b.describeCall(index - a.callIds.length),
  };
  return { message, from: [...first.from, ...second.from], calls: [...first.calls, ...second.calls] };
}

function repairOutline(messages: readonly OutlineMessage[], rules: ToolCallRules): OutlineMessage[] {
  return applyRepair(messages, repairToolCalls(messages, rules)).map(({ message }) => message);
}

/** The id that a format gets for a client id if no other id collides with it. */
function mappedId(id: string, rules: ToolCallRules): string {
  const [first] = repairOutline([calls(id), result(id)], rules);
  return callIdsOf(first!)[0]!;
}

const LONG = "call_".padEnd(70, "x");
const UNICODE = "Anruf-ä-🔧";

/** Few ids, so that they collide; including ids that others are mapped to. */
const POOL = [
  "",
  "a",
  "b",
  "abcdef123",
  "ABCDEF123",
  "call.1",
  "call-1",
  "call_1",
  LONG,
  `${LONG}y`,
  UNICODE,
  "\ud83d",
  "\ud83e",
  mappedId("a", mistral),
  mappedId("call.1", anthropic),
  mappedId(LONG, chat),
  callIdsOf(repairOutline([calls("a"), result("a"), calls("a"), result("a")], anthropic)[2]!)[0]!,
];

const anyRules: fc.Arbitrary<ToolCallRules> = fc.constantFrom(...ALL_RULES);

/** Invalid histories: mostly valid turns, with unrelated messages between results and with repeated calls. */
const messyHistory: fc.Arbitrary<OutlineMessage[]> = fc
  .uniqueArray(fc.constantFrom(...POOL), { minLength: 1, maxLength: 5 })
  .chain((ids) => {
    const id = fc.constantFrom(...ids);
    const call = fc.tuple(id, fc.constantFrom("", "=x", "=y")).map((pair) => pair.join(""));
    const assistant = fc.array(call, { maxLength: 3 }).map((written) => calls(...written));
    const rest = fc.oneof(
      { weight: 5, arbitrary: id.map(result) },
      { weight: 1, arbitrary: fc.constant(other) },
    );
    const turn = fc
      .tuple(assistant, fc.array(rest, { maxLength: 4 }))
      .map(([head, tail]): OutlineMessage[] => [head, ...tail]);
    return fc
      .tuple(fc.array(rest, { maxLength: 2 }), fc.array(turn, { maxLength: 6 }))
      .map(([head, turns]) => [...head, ...turns.flat()]);
  });

/** Histories that are valid by construction. */
function validHistory(rules: ToolCallRules): fc.Arbitrary<OutlineMessage[]> {
  const pool = POOL.filter(FITS[rules.ids]);
  return fc
    .tuple(fc.shuffledSubarray(pool, { minLength: pool.length }), fc.infiniteStream(fc.nat({ max: 3 })))
    .map(([unique, stream]) => {
      const next = (): number => stream.next().value as number;
      const history: OutlineMessage[] = [];
      for (let turns = next(); turns > 0; turns--) {
        const ids = rules.hasUniqueIds ? unique.splice(0, next()) : pool.slice(0, next());
        history.push(...Array.from({ length: next() }, () => other));
        if (rules.results !== "after-message" && ids.length > 1)
          history.push(calls(ids[0]!), calls(...ids.slice(1)));
        else history.push(calls(), calls(...ids));
        if (rules.results === "anywhere") history.push(other, calls());
        history.push(...ids.map(result).reverse());
      }
      return history;
    });
}

const RUNS = { numRuns: shareOf(1_000, 1 / 5) };

describe("tool-call repair of any history", () => {
  test("does not change a history that is valid for its target", () => {
    const history = anyRules.chain((rules) => fc.tuple(validHistory(rules), fc.constant(rules)));
    fc.assert(
      fc.property(history, ([messages, rules]) => {
        expect(isValidFor(messages, rules)).toBe(true);
        expect(repairToolCalls(messages, rules)).toBeNull();
      }),
      RUNS,
    );
  });

  test("changes every history that is not valid for its target", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        expect(repairToolCalls(messages, rules) === null).toBe(isValidFor(messages, rules));
      }),
      RUNS,
    );
  });

  test("returns a history that is valid for its target and that a second repair does not change", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repaired = repairOutline(messages, rules);
        expect(isValidFor(repaired, rules)).toBe(true);
        expect(repairToolCalls(repaired, rules)).toBeNull();
      }),
      RUNS,
    );
  });

  test("keeps every result that has a call, with its call", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repaired = applyRepair(messages, repairToolCalls(messages, rules));
        const pairsOut = pairWithNearestCall(repaired.map(({ message }) => message));
        const pairs = new Map<number, string>();
        for (const [at, name] of pairsOut) {
          const [source] = repaired[at]!.from;
          if (source === undefined) continue;
          const [message, from] = name.split("/").map(Number) as [number, number];
          const call = repaired[message]!.calls[from]!;
          pairs.set(source, `${call.message}/${call.from}`);
        }
        const inOrder = (map: Map<number, string>) => [...map].toSorted(([a], [b]) => a - b);
        expect(inOrder(pairs)).toEqual(inOrder(pairWithNearestCall(messages)));
      }),
      RUNS,
    );
  });

  test("keeps the order of all other messages, and of the results of each turn", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const froms = applyRepair(messages, repairToolCalls(messages, rules)).flatMap(({ from }) => from);
        const isResult = (at: number) => messages[at]!.kind === "result";
        expect(froms.filter((at) => !isResult(at))).toEqual(
          [...messages.keys()].filter((at) => !isResult(at)),
        );
        expect(froms.filter(isResult).toSorted((a, b) => a - b)).toEqual([
          ...pairWithNearestCall(messages).keys(),
        ]);
      }),
      RUNS,
    );
  });

  test("adds a placeholder exactly for each call without a result that is not a duplicate", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repair = repairToolCalls(messages, rules);
        const answered = new Set(pairWithNearestCall(messages).values());
        const kept = applyRepair(messages, repair).flatMap((applied) => applied.calls);
        const idOf = (call: (typeof kept)[number]) => callIdsOf(messages[call.message]!)[call.from]!;
        const names = new Set(kept.map(({ message, from }) => `${message}/${from}`));
        const placeholders = (repair?.messages ?? []).flatMap((entry) =>
          entry.kind === "placeholder" ? [`${entry.message}/${entry.call}`] : [],
        );
        expect(placeholders.toSorted()).toEqual([...names].filter((name) => !answered.has(name)).toSorted());
        for (const [at, message] of messages.entries()) {
          for (const from of callIdsOf(message).keys()) {
            if (!names.has(`${at}/${from}`))
              expect(isRepeated(messages, at, from, kept.map(idOf))).toBe(true);
          }
        }
      }),
      RUNS,
    );
  });

  /** Whether a call is a duplicate: another call of its message has its id, or an equal call is kept. */
  function isRepeated(
    messages: readonly OutlineMessage[],
    at: number,
    from: number,
    idsKept: string[],
  ): boolean {
    const own = messages[at] as OutlineAssistant;
    const id = own.callIds[from]!;
    const isSame = (otherAt: number, otherFrom: number): boolean => {
      const message = messages[otherAt] as OutlineAssistant;
      if (message.callIds[otherFrom] !== id || (otherAt === at && otherFrom === from)) return false;
      return otherAt === at || message.describeCall(otherFrom) === own.describeCall(from);
    };
    return (
      idsKept.includes(id) &&
      messages.some((message, otherAt) =>
        callIdsOf(message).some((_, otherFrom) => isSame(otherAt, otherFrom)),
      )
    );
  }

  test("keeps valid ids, makes ids unique where the target demands it, and maps all back to the client's ids", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repair = repairToolCalls(messages, rules);
        const seen = new Map<string, number>();
        for (const { message, calls: origins } of applyRepair(messages, repair)) {
          if (!rules.hasUniqueIds && message.kind !== "assistant") seen.clear();
          for (const [at, sent] of callIdsOf(message).entries()) {
            const origin = origins[at]!;
            const clientId = callIdsOf(messages[origin.message]!)[origin.from]!;
            const before = seen.get(clientId) ?? 0;
            seen.set(clientId, before + 1);
            if (clientId === "") continue;
            if (sent !== clientId) expect(repair?.originalIds.get(sent)).toBe(clientId);
            if (before === 0 && FITS[rules.ids](clientId)) expect(sent).toBe(clientId);
          }
        }
        expect([...(repair?.originalIds ?? [])].filter(([sent, client]) => sent === client)).toEqual([]);
        expect(repair?.counts.idsMapped ?? 0).toBeGreaterThanOrEqual(repair?.originalIds.size ?? 0);
      }),
      RUNS,
    );
  });

  test("gives a longer conversation the same ids at its start as the shorter one", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        // The repaired part does not depend on what follows it.
        const repaired = repairOutline(messages, rules);
        const longer = repairOutline([...repaired, other, calls("a=z"), result("a"), other], rules);
        const idsOf = (list: readonly OutlineMessage[]) => list.flatMap(callIdsOf);
        expect(idsOf(longer).slice(0, -1)).toEqual(idsOf(repaired));
      }),
      RUNS,
    );
  });

  test("counts what was removed and added", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repair = repairToolCalls(messages, rules);
        fc.pre(repair !== null);
        const applied = applyRepair(messages, repair);
        const count = (list: readonly OutlineMessage[]) => list.flatMap(callIdsOf).length;
        const { counts } = repair;
        expect(counts.placeholdersAdded).toBe(applied.filter(({ from }) => from.length === 0).length);
        expect(counts.orphanResultsRemoved).toBe(
          messages.filter(({ kind }) => kind === "result").length - pairWithNearestCall(messages).size,
        );
        expect(counts.duplicateCallsRemoved).toBe(
          count(messages) - count(applied.map(({ message }) => message)),
        );
      }),
      RUNS,
    );
  });
});

interface Case {
  readonly name: string;
  readonly rules: ToolCallRules;
  readonly before: OutlineMessage[];
  /** The repaired outline; null if nothing has to change. */
  readonly after: OutlineMessage[] | null;
}

/** The id of the second call of `a` in a conversation whose ids must be unique. */
const SECOND_A = callIdsOf(
  repairOutline([calls("a"), result("a"), calls("a"), result("a")], anthropic)[2]!,
)[0]!;

const CASES: Case[] = [
  { name: "an empty conversation stays as it is", rules: chat, before: [], after: null },
  {
    name: "a conversation without tools is unchanged",
    rules: chat,
    before: [other, calls(), other],
    after: null,
  },
  {
    name: "parallel calls with results in another order are unchanged",
    rules: chat,
    before: [other, calls("a", "b"), result("b"), result("a"), calls()],
    after: null,
  },
  {
    name: "an id that is reused in a later turn is kept for a chat host",
    rules: chat,
    before: [calls("a"), result("a"), other, calls("a=2"), result("a"), other],
    after: null,
  },
  {
    name: "an id that is reused in a later turn is mapped, with its result, where ids must be unique",
    rules: anthropic,
    before: [calls("a"), result("a"), other, calls("a=2"), result("a"), other],
    after: [calls("a"), result("a"), other, calls(`${SECOND_A}=2`), result(SECOND_A), other],
  },
  {
    name: "an equal call with its own result is not a duplicate",
    rules: anthropic,
    before: [calls("a"), result("a"), calls("a"), result("a")],
    after: [calls("a"), result("a"), calls(SECOND_A), result(SECOND_A)],
  },
  {
    name: "a second call with the same id in one message is removed if it has no result",
    rules: chat,
    before: [calls("a", "b", "a=2"), result("a"), result("b")],
    after: [calls("a", "b"), result("a"), result("b")],
  },
  {
    name: "a second call with the same id in one message gets another id if it has a result",
    rules: chat,
    before: [calls("a", "b", "a=2"), result("a"), result("b"), result("a")],
    after: [calls("a", "b", `${SECOND_A}=2`), result("a"), result("b"), result(SECOND_A)],
  },
  {
    name: "a call that is repeated in a later message without a result is removed",
    rules: chat,
    before: [calls("a=1"), result("a"), calls("a=1"), other],
    after: [calls("a=1"), result("a"), calls(), other],
  },
  {
    name: "a call whose repetition has a result is removed and gets no placeholder",
    rules: chat,
    before: [calls("a=1"), other, calls("a=1"), result("a")],
    after: [calls(), other, calls("a=1"), result("a")],
  },
  {
    name: "another call with the same id and no result gets a placeholder",
    rules: chat,
    before: [calls("a=1"), result("a"), calls("a=2"), other],
    after: [calls("a=1"), result("a"), calls("a=2"), result("a"), other],
  },
  {
    name: "a result before its call is removed",
    rules: chat,
    before: [result("a"), other, calls("a"), result("a")],
    after: [other, calls("a"), result("a")],
  },
  {
    name: "a result without a call is removed",
    rules: chat,
    before: [calls("a"), result("a"), result("x"), calls(), result("y"), other],
    after: [calls("a"), result("a"), calls(), other],
  },
  {
    name: "adjacent messages with calls are joined for a chat host",
    rules: chat,
    before: [other, calls("a"), calls("b"), result("a"), result("b")],
    after: [other, calls("a", "b"), result("a"), result("b")],
  },
  {
    name: "adjacent messages with calls are unchanged for Anthropic",
    rules: anthropic,
    before: [other, calls("a"), calls("b"), result("a"), result("b")],
    after: null,
  },
  {
    name: "adjacent messages with calls are unchanged for Responses",
    rules: responses,
    before: [other, calls("a"), calls("b"), result("a"), result("b")],
    after: null,
  },
  {
    name: "a text between a call and its result is joined with the call for a chat host",
    rules: chat,
    before: [other, calls("a"), calls(), result("a")],
    after: [other, calls("a"), result("a")],
  },
  {
    name: "a text between a call and its result is joined with the call for Anthropic",
    rules: anthropic,
    before: [other, calls("a"), calls(), calls("b"), result("a"), result("b")],
    after: [other, calls("a"), calls("b"), result("a"), result("b")],
  },
  {
    name: "a text between a call and its result keeps its position for Responses",
    rules: responses,
    before: [other, calls("a"), calls(), result("a")],
    after: null,
  },
  {
    name: "a text before a call stays a message of its own",
    rules: chat,
    before: [other, calls(), calls("a"), result("a")],
    after: null,
  },
  {
    name: "a result moves up to the nearest call with its id, at any distance",
    rules: chat,
    before: [
      calls("a"),
      result("a"),
      calls("b"),
      other,
      calls("a=2"),
      other,
      calls(),
      result("a"),
      result("b"),
    ],
    after: [
      calls("a"),
      result("a"),
      calls("b"),
      result("b"),
      other,
      calls("a=2"),
      result("a"),
      other,
      calls(),
    ],
  },
  {
    name: "a result keeps its position for Responses",
    rules: responses,
    before: [calls("a"), other, calls(), result("a"), other],
    after: null,
  },
  {
    name: "only the call without a result changes for Responses",
    rules: responses,
    before: [calls("a", "b"), other, calls(), result("a"), other],
    after: [calls("a", "b"), result("b"), other, calls(), result("a"), other],
  },
  {
    name: "a result of an earlier turn does not separate adjacent messages",
    rules: gemini,
    before: [calls("a"), other, calls("b"), result("a"), calls("c"), result("b"), result("c")],
    after: [calls("a"), result("a"), other, calls("b"), calls("c"), result("b"), result("c")],
  },
  {
    name: "an interrupted call gets a placeholder",
    rules: chat,
    before: [other, calls("a"), other],
    after: [other, calls("a"), result("a"), other],
  },
  {
    name: "a call at the end gets a placeholder",
    rules: chat,
    before: [calls("b", "c"), result("c")],
    after: [calls("b", "c"), result("b"), result("c")],
  },
  {
    name: "placeholders of a turn are in call order",
    rules: chat,
    before: [calls("c", "a", "b"), other],
    after: [calls("c", "a", "b"), result("c"), result("a"), result("b"), other],
  },
  {
    name: "placeholders are in call order between results in call order",
    rules: chat,
    before: [calls("a", "b", "c", "d"), result("b"), result("d")],
    after: [calls("a", "b", "c", "d"), result("a"), result("b"), result("c"), result("d")],
  },
  {
    name: "placeholders follow the result of the preceding call if results are in another order",
    rules: chat,
    before: [calls("a", "b", "c", "d", "e"), result("d"), result("b")],
    after: [calls("a", "b", "c", "d", "e"), result("a"), result("d"), result("e"), result("b"), result("c")],
  },
  {
    name: "a result after a user message moves up to its call",
    rules: chat,
    before: [calls("a", "b"), result("b"), other, result("a"), other],
    after: [calls("a", "b"), result("b"), result("a"), other, other],
  },
  {
    name: "a user's image after a result keeps its position",
    rules: anthropic,
    before: [other, calls("a"), result("a"), other],
    after: null,
  },
  {
    name: "a result of a hosted call is kept",
    rules: responses,
    before: [other, hosted("a"), result("a"), other],
    after: null,
  },
  {
    name: "a hosted call needs no result",
    rules: anthropic,
    before: [other, hosted("a"), other],
    after: null,
  },
  {
    name: "a result of a hosted call moves up to it",
    rules: anthropic,
    before: [hosted("a"), other, result("a")],
    after: [hosted("a"), result("a"), other],
  },
  {
    name: "an id of 64 characters is valid for Anthropic",
    rules: anthropic,
    before: [calls("x".repeat(64)), result("x".repeat(64))],
    after: null,
  },
  {
    name: "an id of 64 characters with two code units each is valid for OpenAI",
    rules: chat,
    before: [calls("🔧".repeat(64)), result("🔧".repeat(64))],
    after: null,
  },
  {
    name: "an id of 9 letters and digits is valid for Mistral",
    rules: mistral,
    before: [calls("aB3dE6gH9"), result("aB3dE6gH9")],
    after: null,
  },
];

/** Returns outlines without their functions, for comparison. */
function plain(messages: readonly OutlineMessage[]) {
  return messages.map((message) =>
    message.kind === "assistant"
      ? { ...message, describeCall: message.callIds.map((_, index) => message.describeCall(index)) }
      : message,
  );
}

describe("tool-call repair", () => {
  for (const { name, rules, before, after } of CASES) {
    test(name, () => {
      const repair = repairToolCalls(before, rules);
      if (after === null) expect(repair).toBeNull();
      else expect(plain(applyRepair(before, repair).map(({ message }) => message))).toEqual(plain(after));
    });
  }
});

const MAPPED: { name: string; id: string; rules: ToolCallRules; shape: RegExp }[] = [
  { name: "OpenAI's own id, for Mistral", id: "call_abc", rules: mistral, shape: /^[A-Za-z0-9]{9}$/ },
  {
    name: "9 characters with a hyphen for Mistral",
    id: "abcd-1234",
    rules: mistral,
    shape: /^[A-Za-z0-9]{9}$/,
  },
  { name: "a dot, for Anthropic", id: "call.1", rules: anthropic, shape: /^call_[A-Za-z0-9]{24}$/ },
  { name: "Unicode, for Anthropic", id: UNICODE, rules: anthropic, shape: /^call_[A-Za-z0-9]{24}$/ },
  {
    name: "65 characters for Anthropic",
    id: "x".repeat(65),
    rules: anthropic,
    shape: /^call_[A-Za-z0-9]{24}$/,
  },
  {
    name: "a line break at the end for Mistral",
    id: "abcdef12\n",
    rules: mistral,
    shape: /^[A-Za-z0-9]{9}$/,
  },
  { name: "65 characters, for OpenAI", id: "x".repeat(65), rules: chat, shape: /^call_[A-Za-z0-9]{24}$/ },
  {
    name: "half a surrogate pair for OpenAI",
    id: "a\ud83d",
    rules: chat,
    shape: /^call_[A-Za-z0-9]{24}$/,
  },
];

describe("tool-call ids that the target rejects", () => {
  for (const { name, id, rules, shape } of MAPPED) {
    test(`are mapped in calls and results, and back in answers: ${name}`, () => {
      const repair = repairToolCalls([calls(id), result(id)], rules)!;
      const sent = mappedId(id, rules);
      expect(sent).toMatch(shape);
      expect(repair.messages).toEqual([
        { ...UNCHANGED, from: 0, calls: [{ from: 0, id: sent }] },
        { ...UNCHANGED, from: 1, callId: sent },
      ]);
      expect([...repair.originalIds]).toEqual([[sent, id]]);
      expect(repair.counts.idsMapped).toBe(1);
    });
  }

  test("are mapped to the same id in every turn and every request", () => {
    const sent = mappedId("call.1", mistral);
    const later = repairOutline(
      [other, calls("x"), other, calls("call.1"), result("call.1"), calls("call.1=2"), result("call.1")],
      mistral,
    );
    expect(later.filter((message) => callIdsOf(message)[0] === sent)).toHaveLength(2);
    // The value is fixed, because prompt caches outlive a release.
    expect(sent).toBe("QMqpny3e4");
    expect(mappedId("call.1", anthropic)).toBe("call_QMqpny3e48YHOXpu5varbieJ");
    expect(SECOND_A).toBe("call_UuhAcGXHCPw92bHeqzGufwZr");
  });

  test("are not mapped to an id that another call keeps", () => {
    const rival = mappedId("call.1", mistral);
    const [first, , second] = repairOutline(
      [calls("call.1"), result("call.1"), calls(rival), result(rival)],
      mistral,
    );
    expect(callIdsOf(second!)).toEqual([rival]);
    expect(callIdsOf(first!)).not.toEqual([rival]);
  });

  test("are generated for calls and results without an id, which are paired in order", () => {
    const before = [calls("", "a", ""), result(""), other, result("a"), result(""), calls(""), result("")];
    const repair = repairToolCalls(before, chat)!;
    const after = applyRepair(before, repair);
    const [first, , third] = callIdsOf(after[0]!.message) as [string, string, string];
    const [fourth] = callIdsOf(after[5]!.message) as [string];
    expect(plain(after.map(({ message }) => message))).toEqual(
      plain([
        calls(first, "a", third),
        result(first),
        result("a"),
        result(third),
        other,
        calls(fourth),
        result(fourth),
      ]),
    );
    expect(new Set([first, "a", third, fourth]).size).toBe(4);
    expect(repair.counts).toEqual({
      duplicateCallsRemoved: 0,
      orphanResultsRemoved: 0,
      placeholdersAdded: 0,
      idsMapped: 3,
    });
    expect(repair.originalIds.size).toBe(0);
    expect(repairToolCalls(before, chat)).toEqual(repair);
  });

  test("may be missing from a result if only one call has no result", () => {
    const [head, ...results] = repairOutline([calls("a", "b"), result("a"), result("")], chat);
    expect(callIdsOf(head!)).toEqual(["a", "b"]);
    expect(results).toEqual([result("a"), result("b")]);
  });

  test("are generated, with a placeholder, for a call without id and result", () => {
    const [head, placeholder] = repairOutline([calls(""), other], mistral);
    expect(placeholder).toEqual(result(callIdsOf(head!)[0]!));
  });
});

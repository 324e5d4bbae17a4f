import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { OutlineMessage, Repair, ToolCallRules } from "../../src/wire/conversation/outline.ts";
import { repairToolCalls } from "../../src/wire/conversation/repair-tool-calls.ts";

const calls = (...callIds: string[]): OutlineMessage => ({ kind: "assistant", callIds });
const result = (callId: string): OutlineMessage => ({ kind: "result", callId });
const other: OutlineMessage = { kind: "other" };

const strict = (ids: ToolCallRules["ids"]): ToolCallRules => ({ ids, allowsOpenCalls: false });
const openai = strict("openai");
const anthropic = strict("anthropic");
const mistral = strict("mistral");
const open: ToolCallRules = { ids: "openai", allowsOpenCalls: true };

/** A message of a repaired conversation, and the index it came from; null for a placeholder. */
interface Applied {
  readonly message: OutlineMessage;
  readonly from: number | null;
}

/** Carries a repair out, as a client API's encoder would. */
function applyRepair(messages: readonly OutlineMessage[], repair: Repair | null): Applied[] {
  if (repair === null) return messages.map((message, from) => ({ message, from }));
  return repair.messages.map((repaired) => {
    if (repaired.kind === "placeholder") return { message: result(repaired.callId), from: null };
    const original = messages[repaired.from]!;
    return { message: applyEdits(original, repaired), from: repaired.from };
  });
}

function applyEdits(
  original: OutlineMessage,
  edits: Extract<Repair["messages"][number], { kind: "kept" }>,
): OutlineMessage {
  if (original.kind === "assistant" && edits.calls !== null)
    return calls(...edits.calls.map((call) => call.id));
  if (original.kind === "result" && edits.callId !== null) return result(edits.callId);
  return original;
}

function repairOutline(messages: readonly OutlineMessage[], rules: ToolCallRules): OutlineMessage[] {
  return applyRepair(messages, repairToolCalls(messages, rules)).map((applied) => applied.message);
}

const FITS: Record<ToolCallRules["ids"], (id: string) => boolean> = {
  mistral: (id) => id.length === 9 && !/[^A-Za-z0-9]/.test(id),
  anthropic: (id) => id.length > 0 && id.length < 65 && !/[^A-Za-z0-9_-]/.test(id),
  openai: (id) => id.length > 0 && Array.from(id).length < 65 && id.isWellFormed(),
};

/** Validity said another way than the code says it: by what stands behind each assistant message. */
function isValidFor(messages: readonly OutlineMessage[], rules: ToolCallRules): boolean {
  let claimed = 0;
  for (const [at, message] of messages.entries()) {
    if (message.kind !== "assistant") continue;
    const tail = messages.slice(at + 1);
    const stop = tail.findIndex((next) => next.kind !== "result");
    const block = (stop < 0 ? tail : tail.slice(0, stop)).map((next) =>
      next.kind === "result" ? next.callId : "",
    );
    const mayStayOpen = rules.allowsOpenCalls && stop < 0;
    if (!message.callIds.every(FITS[rules.ids])) return false;
    if (new Set(message.callIds).size < message.callIds.length) return false;
    if (new Set(block).size < block.length) return false;
    if (!block.every((id) => message.callIds.includes(id))) return false;
    if (!mayStayOpen && block.length < message.callIds.length) return false;
    claimed += block.length;
  }
  return claimed === messages.filter((message) => message.kind === "result").length;
}

function idsOf(message: OutlineMessage): readonly string[] {
  return message.kind === "assistant" ? message.callIds : [];
}

/** The id a family gets for one client id, where nothing collides. */
function mappedId(id: string, rules: ToolCallRules): string {
  const [first] = repairOutline([calls(id), result(id)], rules);
  return idsOf(first!)[0]!;
}

const LONG = "call_".padEnd(70, "x");
const UNICODE = "Anruf-ä-🔧";

/** Few ids, so that they meet each other; among them ids which others are mapped to. */
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
  mappedId(LONG, openai),
];

const anyRules: fc.Arbitrary<ToolCallRules> = fc.record({
  ids: fc.constantFrom("mistral", "anthropic", "openai"),
  allowsOpenCalls: fc.boolean(),
});

/** Messy histories: turns that are mostly right, with strangers among their results. */
const messyHistory: fc.Arbitrary<OutlineMessage[]> = fc
  .uniqueArray(fc.constantFrom(...POOL), { minLength: 1, maxLength: 6 })
  .chain((ids) => {
    const id = fc.constantFrom(...ids);
    const assistant = fc.array(id, { maxLength: 4 }).map((callIds) => calls(...callIds));
    const rest = fc.oneof(
      { weight: 4, arbitrary: id.map(result) },
      { weight: 1, arbitrary: fc.constant(other) },
    );
    const turn = fc
      .tuple(assistant, fc.array(rest, { maxLength: 5 }))
      .map(([head, tail]): OutlineMessage[] => [head, ...tail]);
    return fc
      .tuple(fc.array(rest, { maxLength: 2 }), fc.array(turn, { maxLength: 5 }))
      .map(([head, turns]) => [...head, ...turns.flat()]);
  });

/** A history that is valid by the way it is made. */
function validHistory(rules: ToolCallRules): fc.Arbitrary<OutlineMessage[]> {
  const ids = fc.uniqueArray(fc.constantFrom(...POOL.filter(FITS[rules.ids])), { maxLength: 3 });
  const others = fc.array(fc.constant(other), { maxLength: 2 });
  const turn = fc
    .tuple(
      ids.chain((callIds) =>
        fc
          .shuffledSubarray(callIds, { minLength: callIds.length })
          .map((order): OutlineMessage[] => [calls(...callIds), ...order.map(result)]),
      ),
      others,
    )
    .map(([block, tail]) => [...block, ...tail]);
  const ending = ids.chain((callIds) =>
    fc.shuffledSubarray(callIds).map((order): OutlineMessage[] => [calls(...callIds), ...order.map(result)]),
  );
  return fc
    .tuple(others, fc.array(turn, { maxLength: 4 }), ending)
    .map(([head, turns, last]) => [...head, ...turns.flat(), ...(rules.allowsOpenCalls ? last : [])]);
}

/** Indexes of results that must survive: the first for each call of its turn; nameless ones by number. */
function resultsToKeep(messages: readonly OutlineMessage[]): number[] {
  const kept: number[] = [];
  let awaited: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.kind === "assistant") {
      awaited = message.callIds.filter((id, place) => id === "" || message.callIds.indexOf(id) === place);
    }
    if (message.kind === "result" && awaited.includes(message.callId)) {
      awaited.splice(awaited.indexOf(message.callId), 1);
      kept.push(at);
    }
  }
  return kept;
}

const RUNS = { numRuns: 3000 };

describe("the laws of repair", () => {
  test("a valid history is unchanged", () => {
    const history = anyRules.chain((rules) => fc.tuple(validHistory(rules), fc.constant(rules)));
    fc.assert(
      fc.property(history, ([messages, rules]) => {
        expect(isValidFor(messages, rules)).toBe(true);
        expect(repairToolCalls(messages, rules)).toBeNull();
      }),
      RUNS,
    );
  });

  test("only a valid history is unchanged", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        expect(repairToolCalls(messages, rules) === null).toBe(isValidFor(messages, rules));
      }),
      RUNS,
    );
  });

  test("what comes out is valid for the target, and repairing it again changes nothing", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repaired = repairOutline(messages, rules);
        expect(isValidFor(repaired, rules)).toBe(true);
        expect(repairToolCalls(repaired, rules)).toBeNull();
      }),
      RUNS,
    );
  });

  test("no other message is lost or reordered, and no result that belongs to a call is lost", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const applied = applyRepair(messages, repairToolCalls(messages, rules));
        const froms = applied.flatMap(({ from }) => (from === null ? [] : [from]));
        const indexesOf = (kinds: string[]) =>
          [...messages.keys()].filter((at) => kinds.includes(messages[at]!.kind));
        const resultsOut = froms.filter((at) => messages[at]!.kind === "result");
        expect(froms.filter((at) => messages[at]!.kind !== "result")).toEqual(
          indexesOf(["assistant", "other"]),
        );
        expect(resultsOut).toEqual(resultsToKeep(messages));
        expect(new Set(froms).size).toBe(froms.length);
      }),
      RUNS,
    );
  });

  test("different ids stay different, the same stay the same, and what fits stays", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repair = repairToolCalls(messages, rules);
        const sentOf = new Map<string, string>();
        for (const { message, from } of applyRepair(messages, repair)) {
          const before = from === null ? null : messages[from]!;
          if (before?.kind !== "assistant" || message.kind !== "assistant") continue;
          const clientIds = before.callIds.filter((id, at) => id === "" || before.callIds.indexOf(id) === at);
          for (const [at, clientId] of clientIds.entries()) {
            const sent = message.callIds[at]!;
            const name = clientId === "" ? `nameless ${from} ${at}` : `id ${clientId}`;
            expect(sentOf.get(name) ?? sent).toBe(sent);
            sentOf.set(name, sent);
            if (FITS[rules.ids](clientId)) expect(sent).toBe(clientId);
            else if (clientId !== "") expect(repair?.originalIds.get(sent)).toBe(clientId);
          }
        }
        expect(new Set(sentOf.values()).size).toBe(sentOf.size);
        expect([...(repair?.originalIds ?? [])].filter(([sent, client]) => sent === client)).toEqual([]);
      }),
      RUNS,
    );
  });

  test("the counts say what was done", () => {
    fc.assert(
      fc.property(messyHistory, anyRules, (messages, rules) => {
        const repair = repairToolCalls(messages, rules);
        fc.pre(repair !== null);
        const applied = applyRepair(messages, repair);
        const countResults = (outline: readonly OutlineMessage[]) =>
          outline.filter((message) => message.kind === "result").length;
        const countCalls = (outline: readonly OutlineMessage[]) =>
          outline.reduce(
            (sum, message) => sum + (message.kind === "assistant" ? message.callIds.length : 0),
            0,
          );
        const out = applied.map(({ message }) => message);
        const { counts } = repair;
        expect(counts.placeholdersAdded).toBe(applied.filter(({ from }) => from === null).length);
        expect(counts.orphanResultsRemoved).toBe(countResults(messages) - resultsToKeep(messages).length);
        expect(counts.duplicateCallsRemoved).toBe(countCalls(messages) - countCalls(out));
        expect(counts.idsMapped).toBeGreaterThanOrEqual(repair.originalIds.size);
      }),
      RUNS,
    );
  });
});

interface Case {
  readonly name: string;
  readonly rules: ToolCallRules;
  readonly before: OutlineMessage[];
  /** The repaired outline; null: nothing has to change. */
  readonly after: OutlineMessage[] | null;
}

const CASES: Case[] = [
  { name: "an empty conversation", rules: openai, before: [], after: null },
  { name: "no tools at all", rules: openai, before: [other, calls(), other], after: null },
  {
    name: "parallel calls answered in another order",
    rules: openai,
    before: [other, calls("a", "b"), result("b"), result("a"), calls()],
    after: null,
  },
  {
    name: "the same id in two turns is legal",
    rules: openai,
    before: [calls("a"), result("a"), other, calls("a"), result("a"), other],
    after: null,
  },
  {
    name: "a second call with the same id is dropped, and its result",
    rules: openai,
    before: [calls("a", "b", "a"), result("a"), result("b"), result("a")],
    after: [calls("a", "b"), result("a"), result("b")],
  },
  {
    name: "a result before any assistant message is removed",
    rules: openai,
    before: [result("a"), other, calls("a"), result("a")],
    after: [other, calls("a"), result("a")],
  },
  {
    name: "a result without a call is removed",
    rules: openai,
    before: [calls("a"), result("a"), result("x"), calls(), result("y"), other],
    after: [calls("a"), result("a"), calls(), other],
  },
  {
    name: "a result does not reach back into an earlier turn",
    rules: openai,
    before: [calls("a"), calls("b"), result("a"), result("b")],
    after: [calls("a"), result("a"), calls("b"), result("b")],
  },
  {
    name: "an interrupted call gets a placeholder",
    rules: openai,
    before: [other, calls("a"), other],
    after: [other, calls("a"), result("a"), other],
  },
  {
    name: "all calls of a turn were interrupted: placeholders in call order",
    rules: openai,
    before: [calls("c", "a", "b"), other],
    after: [calls("c", "a", "b"), result("c"), result("a"), result("b"), other],
  },
  {
    name: "placeholders stand in call order between results in call order",
    rules: openai,
    before: [calls("a", "b", "c", "d"), result("b"), result("d")],
    after: [calls("a", "b", "c", "d"), result("a"), result("b"), result("c"), result("d")],
  },
  {
    name: "placeholders follow their sibling where results came in another order",
    rules: openai,
    before: [calls("a", "b", "c", "d", "e"), result("d"), result("b")],
    after: [calls("a", "b", "c", "d", "e"), result("a"), result("d"), result("e"), result("b"), result("c")],
  },
  {
    name: "a result behind the user's message moves up to its call",
    rules: openai,
    before: [calls("a", "b"), result("b"), other, result("a"), other],
    after: [calls("a", "b"), result("b"), result("a"), other, other],
  },
  {
    name: "the user's image behind a result stays where it is",
    rules: anthropic,
    before: [other, calls("a"), result("a"), other],
    after: null,
  },
  {
    name: "open calls at the end stay where the target allows them",
    rules: open,
    before: [calls("a"), result("a"), calls("b", "c"), result("c")],
    after: null,
  },
  {
    name: "open calls at the end get placeholders where it does not",
    rules: openai,
    before: [calls("b", "c"), result("c")],
    after: [calls("b", "c"), result("b"), result("c")],
  },
  {
    name: "open calls were interrupted once the user has spoken again",
    rules: open,
    before: [calls("a"), other],
    after: [calls("a"), result("a"), other],
  },
  {
    name: "open calls of an earlier assistant message were interrupted",
    rules: open,
    before: [calls("a"), calls("b")],
    after: [calls("a"), result("a"), calls("b")],
  },
  {
    name: "open calls at the end stay open while other things are repaired",
    rules: open,
    before: [calls("a", "a", "b"), result("x"), result("b")],
    after: [calls("a", "b"), result("b")],
  },
  {
    name: "64 characters fit OpenAI and Anthropic",
    rules: anthropic,
    before: [calls("x".repeat(64)), result("x".repeat(64))],
    after: null,
  },
  {
    name: "64 characters of two code units each fit OpenAI",
    rules: openai,
    before: [calls("🔧".repeat(64)), result("🔧".repeat(64))],
    after: null,
  },
  {
    name: "9 letters and digits fit Mistral",
    rules: mistral,
    before: [calls("aB3dE6gH9"), result("aB3dE6gH9")],
    after: null,
  },
];

describe("repair, case by case", () => {
  for (const { name, rules, before, after } of CASES) {
    test(name, () => {
      const repair = repairToolCalls(before, rules);
      if (after === null) expect(repair).toBeNull();
      else expect(applyRepair(before, repair).map(({ message }) => message)).toEqual(after);
    });
  }
});

const MAPPED: { name: string; id: string; rules: ToolCallRules; shape: RegExp }[] = [
  { name: "OpenAI's own id, for Mistral", id: "call_abc", rules: mistral, shape: /^[A-Za-z0-9]{9}$/ },
  {
    name: "9 characters with a hyphen, for Mistral",
    id: "abcd-1234",
    rules: mistral,
    shape: /^[A-Za-z0-9]{9}$/,
  },
  { name: "a dot, for Anthropic", id: "call.1", rules: anthropic, shape: /^call_[A-Za-z0-9]{24}$/ },
  { name: "Unicode, for Anthropic", id: UNICODE, rules: anthropic, shape: /^call_[A-Za-z0-9]{24}$/ },
  {
    name: "65 characters, for Anthropic",
    id: "x".repeat(65),
    rules: anthropic,
    shape: /^call_[A-Za-z0-9]{24}$/,
  },
  {
    name: "a line break at the end, for Mistral",
    id: "abcdef12\n",
    rules: mistral,
    shape: /^[A-Za-z0-9]{9}$/,
  },
  { name: "65 characters, for OpenAI", id: "x".repeat(65), rules: openai, shape: /^call_[A-Za-z0-9]{24}$/ },
  {
    name: "half a surrogate pair, for OpenAI",
    id: "a\ud83d",
    rules: openai,
    shape: /^call_[A-Za-z0-9]{24}$/,
  },
];

describe("ids that do not fit", () => {
  for (const { name, id, rules, shape } of MAPPED) {
    test(`${name}: call and result are mapped alike, and back`, () => {
      const repair = repairToolCalls([calls(id), result(id)], rules)!;
      const sent = mappedId(id, rules);
      expect(sent).toMatch(shape);
      expect(repair.messages).toEqual([
        { kind: "kept", from: 0, calls: [{ from: 0, id: sent }], callId: null },
        { kind: "kept", from: 1, calls: null, callId: sent },
      ]);
      expect([...repair.originalIds]).toEqual([[sent, id]]);
      expect(repair.counts.idsMapped).toBe(1);
    });
  }

  test("an id is mapped to the same one in every turn and every request", () => {
    const sent = mappedId("call.1", mistral);
    const later = repairOutline(
      [other, calls("x"), calls("call.1"), result("call.1"), calls("call.1")],
      mistral,
    );
    expect(
      later.filter((message) => message.kind === "assistant" && message.callIds[0] === sent),
    ).toHaveLength(2);
    // Written down, because prompt caches outlive a release.
    expect(sent).toBe("QMqpny3e4");
    expect(mappedId("call.1", anthropic)).toBe("call_QMqpny3e48YHOXpu5varbieJ");
  });

  test("an id that fits keeps its place though another is mapped there first", () => {
    const rival = mappedId("call.1", mistral);
    const [first, , second] = repairOutline(
      [calls("call.1"), result("call.1"), calls(rival), result(rival)],
      mistral,
    );
    expect(second).toEqual(calls(rival));
    expect(first).not.toEqual(calls(rival));
  });

  test("empty ids are made up, and pair up in order inside their turn", () => {
    const before = [
      calls("", "a", ""),
      result(""),
      other,
      result("a"),
      result(""),
      calls(""),
      result(""),
      result(""),
    ];
    const repair = repairToolCalls(before, openai)!;
    const after = applyRepair(before, repair);
    const [first, , third] = idsOf(after[0]!.message) as [string, string, string];
    const [fourth] = idsOf(after[5]!.message) as [string];
    expect(after.map(({ message }) => message)).toEqual([
      calls(first, "a", third),
      result(first),
      result("a"),
      result(third),
      other,
      calls(fourth),
      result(fourth),
    ]);
    expect(after.map(({ from }) => from)).toEqual([0, 1, 3, 4, 2, 5, 6]);
    expect(new Set([first, "a", third, fourth]).size).toBe(4);
    expect(repair.counts).toEqual({
      duplicateCallsRemoved: 0,
      orphanResultsRemoved: 1,
      placeholdersAdded: 0,
      idsMapped: 3,
    });
    expect(repair.originalIds.size).toBe(0);
    expect(repairToolCalls(before, openai)).toEqual(repair);
  });

  test("a call without an id and without a result gets both", () => {
    const [head, placeholder] = repairOutline([calls(""), other], mistral);
    expect(placeholder).toEqual(result(idsOf(head!)[0]!));
  });
});

/**
 * Tool-call repair (spec 4.1.5; docs/contract.md, "Tool-call repair").
 *
 * A history is valid when behind every assistant message with calls stand the results of all its calls, in
 * any order and with nothing between, when no other results exist, and when every id fits the target.
 * Upstreams refuse anything else, so where a user's message got between a call and its result the result moves
 * up, not the message.
 */
import type { OutlineMessage, Repair, RepairedMessage, ToolCallRules } from "./outline.ts";
import { createToolCallIds, fitsToolCallId, type ToolCallIds } from "./tool-call-ids.ts";

/** What a call's result says that never came (docs/contract.md, "Tool-call repair", rule 4). */
export const INTERRUPTED = "This tool call was interrupted before it finished; it has no result.";

/** A call that stays. */
interface Call {
  /** Place in its assistant message's list. */
  readonly from: number;
  /** The client's id; "" where it has none. */
  readonly id: string;
  /** Index of the message that answers it; null while none does. */
  result: number | null;
  /** The id to send; known once all turns are read. */
  sentId: string;
}

/** An assistant message and what follows it up to the next. The first turn, before any, has none. */
interface Turn {
  /** Index of the assistant message, or null. */
  readonly assistant: number | null;
  readonly calls: readonly Call[];
  /** How many calls the client sent. */
  readonly sentCalls: number;
  /** The calls that have a result, in the order of their results. */
  readonly answered: Call[];
  /** Indexes of what is neither the assistant message nor a result. */
  readonly others: number[];
}

/**
 * Makes a conversation's tool calls and results acceptable to the target.
 *
 * - Of calls with one id in one assistant message the first stays.
 * - A result stays if it is the first for a call of its own turn; calls and results without an id pair up in order.
 * - Results stand directly behind their assistant message, in the order they came. A placeholder, for a call
 *   without a result, stands behind the result of the nearest answered call before it in its assistant message,
 *   and first of all where there is none: results that came in call order are in call order still.
 * - Calls may stay open only where `rules.allowsOpenCalls`, in the last assistant message, and with nothing but
 *   results behind it: once the user has spoken again, the calls were interrupted.
 * - Ids that do not fit are mapped, see `createToolCallIds`.
 * - All other messages stay, in their order.
 *
 * Returns null where nothing has to change: then it is one pass, with one small set for each assistant message
 * with calls. `idsMapped` counts distinct ids, made-up ones included; a result that only moved is not counted. The
 * repair applied, a second one returns null.
 */
export function repairToolCalls(messages: readonly OutlineMessage[], rules: ToolCallRules): Repair | null {
  if (isValid(messages, rules)) return null;
  const turns = readTurns(messages);
  const ids = assignIds(turns, rules.ids);
  const lastTurn = turns.at(-1);
  const repaired = turns.flatMap((turn) =>
    layOutTurn(turn, turn === lastTurn && rules.allowsOpenCalls && turn.others.length === 0),
  );
  return {
    messages: repaired,
    counts: countRepairs(messages, turns, repaired, ids),
    originalIds: ids.originalIds,
  };
}

function isValid(messages: readonly OutlineMessage[], rules: ToolCallRules): boolean {
  let at = 0;
  while (at < messages.length) {
    const message = messages[at]!;
    if (message.kind === "result") return false;
    at++;
    if (message.kind === "other" || message.callIds.length === 0) continue;
    const end = findEndOfResults(messages, at, message.callIds, rules);
    if (end === null) return false;
    at = end;
  }
  return true;
}

/** Index behind the results of `callIds` that begin at `start`; null where calls or results are not as they must be. */
function findEndOfResults(
  messages: readonly OutlineMessage[],
  start: number,
  callIds: readonly string[],
  rules: ToolCallRules,
): number | null {
  for (const id of callIds) if (!fitsToolCallId(id, rules.ids)) return null;
  const open = new Set(callIds);
  if (open.size !== callIds.length) return null;
  let at = start;
  for (; at < messages.length; at++) {
    const message = messages[at]!;
    if (message.kind !== "result") break;
    if (!open.delete(message.callId)) return null;
  }
  const mayStayOpen = rules.allowsOpenCalls && at === messages.length;
  return open.size === 0 || mayStayOpen ? at : null;
}

/** Splits a conversation into turns and finds each call's result. */
function readTurns(messages: readonly OutlineMessage[]): Turn[] {
  let turn = openTurn(null, []);
  let takeOpenCall = createTaker(turn.calls);
  const turns = [turn];
  for (const [at, message] of messages.entries()) {
    if (message.kind === "assistant") {
      turn = openTurn(at, message.callIds);
      takeOpenCall = createTaker(turn.calls);
      turns.push(turn);
    } else if (message.kind === "other") {
      turn.others.push(at);
    } else {
      const call = takeOpenCall(message.callId);
      if (call === null) continue;
      call.result = at;
      turn.answered.push(call);
    }
  }
  return turns;
}

function openTurn(assistant: number | null, callIds: readonly string[]): Turn {
  const seen = new Set<string>();
  const calls: Call[] = [];
  for (const [from, id] of callIds.entries()) {
    if (seen.has(id)) continue;
    // Two calls without an id are two calls.
    if (id !== "") seen.add(id);
    calls.push({ from, id, result: null, sentId: "" });
  }
  return { assistant, calls, sentCalls: callIds.length, answered: [], others: [] };
}

/** Gives, for a result's id, the call it answers, each call once; null where there is none. */
function createTaker(calls: readonly Call[]): (id: string) => Call | null {
  const named = new Map<string, Call>();
  const nameless: Call[] = [];
  for (const call of calls) {
    if (call.id === "") nameless.push(call);
    else named.set(call.id, call);
  }
  let nextNameless = 0;
  return (id) => {
    if (id === "") return nameless[nextNameless++] ?? null;
    const call = named.get(id) ?? null;
    named.delete(id);
    return call;
  };
}

function assignIds(turns: readonly Turn[], family: ToolCallRules["ids"]): ToolCallIds {
  const clientIds = turns.flatMap((turn) => turn.calls.map((call) => call.id));
  const ids = createToolCallIds(
    family,
    clientIds.filter((id) => fitsToolCallId(id, family)),
  );
  for (const turn of turns) {
    for (const call of turn.calls) {
      call.sentId = call.id === "" ? ids.makeUp(turn.assistant!, call.from) : ids.idFor(call.id);
    }
  }
  return ids;
}

function layOutTurn(turn: Turn, keepsOpenCalls: boolean): RepairedMessage[] {
  const results = keepsOpenCalls ? turn.answered : orderResults(turn);
  return [
    ...(turn.assistant === null ? [] : [keepAssistant(turn.assistant, turn)]),
    ...results.map(layOutResult),
    ...turn.others.map(keepUnchanged),
  ];
}

/** All calls of a turn, in the order in which their results and placeholders stand. */
function orderResults(turn: Turn): Call[] {
  const leading: Call[] = [];
  const runs = new Map<Call, Call[]>();
  let run = leading;
  for (const call of turn.calls) {
    if (call.result !== null) {
      run = [];
      runs.set(call, run);
    }
    run.push(call);
  }
  return [...leading, ...turn.answered.flatMap((call) => runs.get(call)!)];
}

function layOutResult(call: Call): RepairedMessage {
  if (call.result === null) return { kind: "placeholder", callId: call.sentId };
  return {
    kind: "kept",
    from: call.result,
    calls: null,
    callId: call.sentId === call.id ? null : call.sentId,
  };
}

function keepAssistant(from: number, turn: Turn): RepairedMessage {
  const unchanged =
    turn.calls.length === turn.sentCalls && turn.calls.every((call) => call.sentId === call.id);
  const calls = unchanged ? null : turn.calls.map((call) => ({ from: call.from, id: call.sentId }));
  return { kind: "kept", from, calls, callId: null };
}

function keepUnchanged(from: number): RepairedMessage {
  return { kind: "kept", from, calls: null, callId: null };
}

function countRepairs(
  messages: readonly OutlineMessage[],
  turns: readonly Turn[],
  repaired: readonly RepairedMessage[],
  ids: ToolCallIds,
): Repair["counts"] {
  const placeholdersAdded = repaired.filter((message) => message.kind === "placeholder").length;
  return {
    duplicateCallsRemoved: turns.reduce((sum, turn) => sum + turn.sentCalls - turn.calls.length, 0),
    // Only results are ever removed.
    orphanResultsRemoved: messages.length - (repaired.length - placeholdersAdded),
    placeholdersAdded,
    idsMapped: ids.changed(),
  };
}

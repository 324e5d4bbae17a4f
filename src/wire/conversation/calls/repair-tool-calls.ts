/**
 * Tool-call repair (specification 4.1.5; docs/api/translation.md, "Tool-call repair").
 *
 * A history is valid if every call has its result at the position that the target demands, there are no other results, and the
 * target accepts every id. Upstreams reject anything else. If messages separate a call from its result, the result is moved up or
 * the assistant messages are joined; only a call without any result gets a placeholder.
 */
import { rejectField } from "../../../base/failures/errors.ts";
import { type Call, type Matches, matchResults } from "./match-results.ts";
import type { OutlineMessage, Repair, RepairedMessage, ToolCallRules } from "./outline.ts";
import { createToolCallIds, fitsToolCallId, type ToolCallIds } from "./tool-call-ids.ts";
import { isValidHistory } from "./valid-history.ts";

/** The content of a placeholder, which stands for a missing result. */
export const INTERRUPTED = "This tool call was interrupted before it finished; it has no result.";

/** Adjacent assistant messages and the messages up to the next ones. The first turn precedes all assistant messages. */
interface Turn {
  /** Indexes of the assistant messages. */
  readonly assistants: number[];
  /** The calls that are kept. */
  readonly calls: Call[];
  /** The calls whose results stand directly after the turn, in the order of these results. */
  readonly answered: Call[];
  /** Indexes of the other messages that are kept, and of results that keep their position. */
  readonly others: number[];
  /** Something follows the assistant messages, so that the next one begins a turn. */
  isClosed: boolean;
}

/**
 * Makes a conversation's tool calls and results acceptable to the target. `matchResults` decides which result answers which call,
 * and which calls are duplicates.
 *
 * - Results without a call and duplicate calls are removed. All other messages are kept in their order.
 * - Results are at the position that `rules.results` demands, in the client's order. A placeholder follows the result of the nearest
 *   answered call before its own in the turn, or is the first result if there is none. So results in call order stay in call order.
 * - Ids that the target does not accept, and duplicate ids where ids must be unique, are mapped (`createToolCallIds`).
 *
 * Returns null if nothing has to change, after one cheap pass. `idsMapped` counts distinct ids, including generated ones; moved
 * results and joined messages are not counted. Repairing a repaired conversation returns null.
 */
export function repairToolCalls(messages: readonly OutlineMessage[], rules: ToolCallRules): Repair | null {
  if (isValidHistory(messages, rules)) return null;
  const matches = matchResults(messages);
  const turns = readTurns(messages, matches, rules);
  const ids = assignIds(messages, turns, rules);
  const history: History = { messages, matches, rules };
  const repaired = turns.flatMap((turn) => layOutTurn(turn, history));
  return {
    messages: repaired,
    counts: {
      duplicateCallsRemoved: matches.calls.filter(({ isDuplicate }) => isDuplicate).length,
      orphanResultsRemoved: messages.filter(isResult).length - matches.answers.size,
      placeholdersAdded: repaired.filter(({ kind }) => kind === "placeholder").length,
      idsMapped: ids.changed(),
    },
    originalIds: ids.originalIds,
  };
}

/**
 * Rejects a conversation in which repair leaves nothing to answer: it had results without their calls, and no message of the user.
 * `roleAt` returns the role of the message at an index of the outline.
 * @throws GatewayError `invalid_request`.
 */
export function rejectEmptied(
  { counts, messages }: Repair,
  roleAt: (from: number) => string | undefined,
): void {
  if (counts.orphanResultsRemoved === 0) return;
  if (messages.some((message) => message.kind === "placeholder" || ASKING.has(roleAt(message.from)))) return;
  rejectField(
    "messages",
    "has nothing to answer but results of tool calls that are not in it; send the assistant's message with the calls too",
  );
}

/** The roles of messages that a model answers. */
const ASKING: ReadonlySet<string | undefined> = new Set(["user", "tool"]);

/** A conversation, and how it has to be repaired. */
interface History {
  readonly messages: readonly OutlineMessage[];
  readonly matches: Matches;
  readonly rules: ToolCallRules;
}

function isResult({ kind }: OutlineMessage): boolean {
  return kind === "result";
}

/** Splits a conversation into turns. Results of an earlier turn and dropped results do not separate assistant messages. */
function readTurns(messages: readonly OutlineMessage[], matches: Matches, rules: ToolCallRules): Turn[] {
  const callsOf = groupByMessage(matches.calls);
  /** Turns by the index of the assistant message. */
  const turnOf = new Map<number, Turn>();
  const first: Turn = { assistants: [], calls: [], answered: [], others: [], isClosed: true };
  const turns = [first];
  for (const [at, message] of messages.entries()) {
    let turn = turns.at(-1) ?? first;
    if (message.kind === "assistant") {
      if (turn.isClosed) {
        turn = { assistants: [], calls: [], answered: [], others: [], isClosed: false };
        turns.push(turn);
      }
      turn.assistants.push(at);
      for (const call of callsOf.get(at) ?? []) turn.calls.push(call);
      turnOf.set(at, turn);
    } else if (message.kind === "other") addOther(turn, at);
    else {
      const call = matches.answers.get(at);
      const own = call === undefined ? undefined : turnOf.get(call.message);
      if (call === undefined || own === undefined) continue;
      const keepsPosition = rules.results === "anywhere" && (own !== turn || turn.others.length > 0);
      if (keepsPosition) addOther(turn, at);
      else addResult(turn, own, call);
    }
  }
  return turns;
}

/** Adds the result of a call of the turn `own`, which came in the turn `turn`. */
function addResult(turn: Turn, own: Turn, call: Call): void {
  own.answered.push(call);
  if (own === turn) turn.isClosed = true;
}

function addOther(turn: Turn, at: number): void {
  turn.others.push(at);
  turn.isClosed = true;
}

/** Groups the calls that are kept by the index of their message. */
function groupByMessage(calls: readonly Call[]): ReadonlyMap<number, Call[]> {
  const groups = new Map<number, Call[]>();
  for (const call of calls) {
    if (call.isDuplicate) continue;
    const group = groups.get(call.message);
    if (group === undefined) groups.set(call.message, [call]);
    else group.push(call);
  }
  return groups;
}

/** Assigns the ids to send: the client's if it is valid and no other call may have the same. */
function assignIds(
  messages: readonly OutlineMessage[],
  turns: readonly Turn[],
  { ids: format, hasUniqueIds }: ToolCallRules,
): ToolCallIds {
  const ids = createToolCallIds(format, listFittingIds(messages, format));
  let uses = new Map<string, number>();
  for (const turn of turns) {
    if (!hasUniqueIds) uses = new Map();
    for (const call of turn.calls) {
      const before = uses.get(call.id) ?? 0;
      uses.set(call.id, before + 1);
      call.sentId = call.id === "" ? ids.makeUp(call.message, call.from) : ids.idFor(call.id, before);
    }
  }
  return ids;
}

/** Returns the ids that may be kept. */
function listFittingIds(messages: readonly OutlineMessage[], format: ToolCallRules["ids"]): Set<string> {
  const fitting = new Set<string>();
  for (const message of messages) {
    if (message.kind !== "assistant") continue;
    for (const id of message.callIds) if (fitsToolCallId(id, format)) fitting.add(id);
    for (const id of message.hostedIds ?? []) fitting.add(id);
  }
  return fitting;
}

function layOutTurn(turn: Turn, { messages, matches, rules }: History): RepairedMessage[] {
  const keep = (from: number): RepairedMessage => keepMessage(messages, from, matches.answers.get(from));
  return [
    ...layOutAssistants(messages, turn, rules),
    ...orderResults(turn).map((call) => (call.result === null ? makePlaceholder(call) : keep(call.result))),
    ...turn.others.map(keep),
  ];
}

/**
 * Emits the turn's assistant messages. Where results must follow the message of their call, the messages are joined from the first
 * call on. Otherwise a message without calls is joined with the one before it, so that the turn ends in its calls.
 */
function layOutAssistants(
  messages: readonly OutlineMessage[],
  { assistants, calls }: Turn,
  rules: ToolCallRules,
): RepairedMessage[] {
  const callsOf = groupByMessage(calls);
  let hasCalls = false;
  return assistants.map((from) => {
    const kept = callsOf.get(from) ?? [];
    const joins =
      hasCalls && (kept.length === 0 ? rules.results !== "anywhere" : rules.results === "after-message");
    hasCalls ||= kept.length > 0;
    return { kind: "kept", from, calls: listKeptCalls(messages[from], kept), callId: null, joins };
  });
}

function listKeptCalls(message: OutlineMessage | undefined, kept: readonly Call[]) {
  const sent = message?.kind === "assistant" ? message.callIds.length : 0;
  const isUnchanged = kept.length === sent && kept.every((call) => call.sentId === call.id);
  return isUnchanged ? null : kept.map((call) => ({ from: call.from, id: call.sentId }));
}

/** Returns a turn's calls in the order of their results and placeholders. */
function orderResults({ calls, answered }: Turn): Call[] {
  const leading: Call[] = [];
  const runs = new Map<Call, Call[]>(answered.map((call) => [call, [call]]));
  let run = leading;
  for (const call of calls) {
    if (call.result === null) run.push(call);
    else run = runs.get(call) ?? run;
  }
  return [...leading, ...[...runs.values()].flat()];
}

function makePlaceholder({ sentId, message, from }: Call): RepairedMessage {
  return { kind: "placeholder", callId: sentId, message, call: from };
}

/** Returns a message that is kept. `answered` is the call whose result it is, if any. */
function keepMessage(
  messages: readonly OutlineMessage[],
  from: number,
  answered: Call | undefined,
): RepairedMessage {
  const message = messages[from];
  const isChanged = message?.kind === "result" && message.callId !== answered?.sentId;
  return {
    kind: "kept",
    from,
    calls: null,
    callId: isChanged ? (answered?.sentId ?? null) : null,
    joins: false,
  };
}

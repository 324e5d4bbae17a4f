import type { OutlineAssistant, OutlineMessage, OutlineResult } from "./outline.ts";

/** A tool call of a conversation, and its result. */
export interface Call {
  /** Index of its message. */
  readonly message: number;
  /** Index in its message's list; -1 for a hosted call. */
  readonly from: number;
  /** The client's id; "" if it has none. */
  readonly id: string;
  /** The index of the message that answers it; null until one is found. */
  result: number | null;
  /** Whether it duplicates another call and has no separate result, or an equal one. */
  isDuplicate: boolean;
  /** The id to send; known after the turns have been determined. */
  sentId: string;
}

/** The assignment of results to calls. */
export interface Matches {
  /** The calls that are not hosted, in order. */
  readonly calls: readonly Call[];
  /** The calls by the index of the result that answers them. Results that are absent here answer no call. */
  readonly answers: ReadonlyMap<number, Call>;
  /** The first result without an id that does not match exactly one call; null if there is none. */
  readonly unclear: UnclearResult | null;
}

/** A result that may answer several calls or none. */
interface UnclearResult {
  /** The index of its message. */
  readonly at: number;
  /** The number of calls without a result. */
  readonly openCalls: number;
}

/**
 * Pairs results with calls. A result answers the nearest call before it that has its id and no result yet, regardless of the
 * messages between them; if there are several in one message, the first of them. A result without an id answers a call without an
 * id in the same way, or else the only call without a result.
 *
 * Then marks duplicates: calls without a result that have the id of another call of their message, or the id, name and arguments of
 * any other call. If none of several equal calls has a result, the first is not a duplicate. Calls of one turn with the same id, name and
 * arguments whose results are the same are duplicates too, together with their results.
 */
export function matchResults(messages: readonly OutlineMessage[]): Matches {
  const matcher = new Matcher();
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as OutlineMessage;
    if (message.kind === "assistant") matcher.addCalls(at, message);
    else if (message.kind === "result") matcher.addResult(at, message.callId);
  }
  markDuplicates(matcher, messages);
  return matcher;
}

/** Calls of one message with the same id, of which the first `answered` have a result. */
interface OpenCalls {
  readonly message: number;
  readonly calls: Call[];
  answered: number;
}

class Matcher implements Matches {
  readonly calls: Call[] = [];
  readonly answers = new Map<number, Call>();
  unclear: UnclearResult | null = null;

  /** Calls by id, the nearest last. */
  private readonly openById = new Map<string, OpenCalls[]>();
  private readonly open = new Set<Call>();

  addCalls(message: number, { callIds, hostedIds }: OutlineAssistant): void {
    for (const [from, id] of callIds.entries()) {
      const call = this.openCall(message, from, id);
      this.calls.push(call);
      this.open.add(call);
    }
    for (const id of hostedIds ?? []) this.openCall(message, -1, id);
  }

  private openCall(message: number, from: number, id: string): Call {
    const call: Call = { message, from, id, result: null, isDuplicate: false, sentId: id };
    const stack = this.openById.get(id) ?? [];
    if (stack.length === 0) this.openById.set(id, stack);
    const nearest = stack.at(-1);
    if (nearest?.message === message) nearest.calls.push(call);
    else stack.push({ message, calls: [call], answered: 0 });
    return call;
  }

  addResult(at: number, id: string): void {
    const call = this.takeOpenCall(id) ?? (id === "" ? this.takeOnlyCall(at) : null);
    if (call === null) return;
    call.result = at;
    this.open.delete(call);
    this.answers.set(at, call);
  }

  private takeOpenCall(id: string): Call | null {
    const stack = this.openById.get(id);
    const nearest = stack?.at(-1);
    if (stack === undefined || nearest === undefined) return null;
    const call = nearest.calls[nearest.answered++] as Call;
    if (nearest.answered === nearest.calls.length) stack.pop();
    return call;
  }

  private takeOnlyCall(at: number): Call | null {
    const [only] = this.open;
    if (this.open.size === 1 && only !== undefined) return this.takeOpenCall(only.id);
    this.unclear ??= { at, openCalls: this.open.size };
    return null;
  }
}

function markDuplicates({ calls, answers }: Matcher, messages: readonly OutlineMessage[]): void {
  const turns = new Turns(messages);
  for (const sameId of groupBy(calls, ({ id }) => id).values()) {
    if (sameId.length === 1 || sameId[0]?.id === "") continue;
    for (const [at, call] of sameId.entries()) {
      call.isDuplicate = call.result === null && sameId[at - 1]?.message === call.message;
    }
    const kept = sameId.filter((call) => !call.isDuplicate);
    for (const repeated of groupBy(kept, (call) => describe(call, messages)).values()) {
      markRepeated(repeated);
      for (const call of listDoubled(repeated, turns)) {
        call.isDuplicate = true;
        answers.delete(call.result as number);
      }
    }
  }
}

/** Lists the calls among identical ones that stand in the turn of another one and have the same result. */
function listDoubled(calls: readonly Call[], { messages, turnOf }: Turns): Call[] {
  const answered = calls.filter(({ result }) => result !== null);
  if (answered.length < 2) return [];
  const seen = new Set<string>();
  return answered.filter(({ message, result }) => {
    const content = (messages[result as number] as OutlineResult).describeResult?.();
    if (content === undefined) return false;
    const key = `${turnOf(message)} ${content}`;
    return seen.size === seen.add(key).size;
  });
}

/** The turns of a conversation: neighbouring messages of the assistant. */
class Turns {
  private turns: readonly number[] | null = null;

  constructor(readonly messages: readonly OutlineMessage[]) {}

  /** Returns the number of a message's turn. */
  readonly turnOf = (message: number): number => {
    this.turns ??= this.count();
    return this.turns[message] as number;
  };

  private count(): number[] {
    let turn = 0;
    return this.messages.map(({ kind }) => (kind === "assistant" ? turn : turn++));
  }
}

/** Marks duplicates: of identical calls, those without a result are dropped, except for the first if none has a result. */
function markRepeated(calls: readonly Call[]): void {
  const kept = calls.find(({ result }) => result !== null) ?? calls[0];
  for (const call of calls) call.isDuplicate = call.result === null && call !== kept;
}

function describe({ message, from }: Call, messages: readonly OutlineMessage[]): string {
  return (messages[message] as OutlineAssistant).describeCall(from);
}

function groupBy(calls: readonly Call[], keyOf: (call: Call) => string): Map<string, Call[]> {
  const groups = new Map<string, Call[]>();
  for (const call of calls) {
    const key = keyOf(call);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [call]);
    else group.push(call);
  }
  return groups;
}

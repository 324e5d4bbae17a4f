import type {
  OutlineAssistant,
  OutlineMessage,
  ToolCallRules,
} from "../../../src/wire/conversation/calls/outline.ts";

/** Checks an id against each tool-call id format, implemented independently of the code under test. */
export const FITS: Record<ToolCallRules["ids"], (id: string) => boolean> = {
  mistral: (id) => id.length === 9 && !/[^A-Za-z0-9]/.test(id),
  anthropic: (id) => id.length > 0 && id.length < 65 && !/[^A-Za-z0-9_-]/.test(id),
  openai: (id) => id.length > 0 && Array.from(id).length < 65 && id.isWellFormed(),
};

export function callIdsOf(message: OutlineMessage): readonly string[] {
  return message.kind === "assistant" ? message.callIds : [];
}

/**
 * Returns whether a target accepts a history. Implemented independently of the code under test, by the calls
 * that each result could answer.
 */
export function isValidFor(messages: readonly OutlineMessage[], rules: ToolCallRules): boolean {
  const ids = messages.flatMap(callIdsOf);
  if (!ids.every(FITS[rules.ids])) return false;
  if (rules.hasUniqueIds && new Set(ids).size < ids.length) return false;
  const answered = messages.map(() => [] as string[]);
  for (const [at, message] of messages.entries()) {
    if (message.kind !== "result") continue;
    const waits = (before: number) => {
      const candidate = messages[before]!;
      if (candidate.kind !== "assistant") return false;
      const open = [...candidate.callIds, ...(candidate.hostedIds ?? [])];
      for (const id of answered[before]!) open.splice(open.indexOf(id), 1);
      return open.includes(message.callId) && isAllowedPosition(messages, before, at, rules);
    };
    const before = [...messages.keys()].slice(0, at).findLast(waits);
    if (before === undefined) return false;
    answered[before]!.push(message.callId);
  }
  return messages.every((message, at) => {
    const together = messages.slice(turnStart(messages, at), at + 1).flatMap(callIdsOf);
    const isDistinct = message.kind !== "assistant" || new Set(together).size === together.length;
    return isDistinct && callIdsOf(message).every((id) => answered[at]!.includes(id));
  });
}

/** Returns the index of the first of the adjacent assistant messages before this one. */
function turnStart(messages: readonly OutlineMessage[], at: number): number {
  let start = at;
  while (messages[start - 1]?.kind === "assistant") start--;
  return start;
}

/** Returns whether a result at `at` may answer a call of message `before`, given the messages between them. */
function isAllowedPosition(
  messages: readonly OutlineMessage[],
  before: number,
  at: number,
  { results }: ToolCallRules,
): boolean {
  const between = messages.slice(before + 1, at);
  if (results === "anywhere") return true;
  const firstResult = between.findIndex(({ kind }) => kind === "result");
  const behind = firstResult < 0 ? between : between.slice(0, firstResult);
  const isBlock = between.slice(behind.length).every(({ kind }) => kind === "result");
  const allCall = behind.every((message) => callIdsOf(message).length > 0);
  return isBlock && allCall && (results === "after-turn" || behind.length === 0);
}

/**
 * Pairs each result with the nearest earlier call that has its id and no other result; within a message, with
 * the first. Returns `message/index` of the call by the result's index.
 */
export function pairWithNearestCall(messages: readonly OutlineMessage[]): Map<number, string> {
  const pairs = new Map<number, string>();
  const taken = new Set<string>();
  const openCalls = (before: number, id: string | null): string[] =>
    [...messages.slice(0, before).entries()].reverse().flatMap(([at, message]) =>
      callIdsOf(message)
        .map((callId, from) => ({ callId, name: `${at}/${from}` }))
        .filter(({ callId, name }) => (id === null || callId === id) && !taken.has(name))
        .map(({ name }) => name),
    );
  for (const [at, message] of messages.entries()) {
    if (message.kind !== "result") continue;
    const all = openCalls(at, null);
    const only = message.callId === "" && all.length === 1 ? all[0] : undefined;
    const found = openCalls(at, message.callId)[0] ?? only;
    if (found === undefined) continue;
    taken.add(found);
    pairs.set(at, found);
  }
  return pairs;
}

/** Returns the call at `message/index`, as its message describes it. */
export function describeAt(messages: readonly OutlineMessage[], name: string): string {
  const [message, from] = name.split("/").map(Number) as [number, number];
  return (messages[message] as OutlineAssistant).describeCall(from);
}

import type { Conversation, Turn } from "./conversation.ts";

/** Shapes in which clients send the same history, in addition to the recorded one. */
export const SHAPES = {
  "each call in a message of its own": (conversation) => reshape(conversation, partCalls),
  "words between calls and results": (conversation) => reshape(conversation, insertText),
} as const satisfies Readonly<Record<string, (conversation: Conversation) => Conversation>>;

export type Shape = keyof typeof SHAPES;

/** The shapes that would change a conversation. */
export function listShapes(conversation: Conversation): Shape[] {
  const calls = conversation.turns.map(countCalls);
  return [
    ...(calls.some((count) => count > 1) ? ["each call in a message of its own" as const] : []),
    ...(calls.some((count) => count > 0) ? ["words between calls and results" as const] : []),
  ];
}

function countCalls({ items }: Turn): number {
  return items.filter(({ kind }) => kind === "call").length;
}

function reshape(conversation: Conversation, change: (turn: Turn) => Turn[]): Conversation {
  return { ...conversation, turns: conversation.turns.flatMap(change) };
}

function partCalls(turn: Turn): Turn[] {
  if (countCalls(turn) < 2) return [turn];
  const { role, items } = turn;
  const others = items.filter(({ kind }) => kind !== "call");
  const calls = items.filter(({ kind }) => kind === "call");
  return calls.map((call, place) => ({ role, items: place === 0 ? [...others, call] : [call] }));
}

function insertText(turn: Turn): Turn[] {
  if (countCalls(turn) === 0) return [turn];
  return [turn, { role: "assistant", items: [{ kind: "text", value: "Working on it." }] }];
}

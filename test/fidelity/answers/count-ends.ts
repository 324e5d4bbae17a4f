import type { Fields } from "../../../src/base/json/fields.ts";
import type { Client } from "../formats.ts";
import { readEvents } from "./fold.ts";

/** Counts the end events of a client's stream, and returns whether its last event is one. */
export function countEnds(
  client: Client,
  latin1: string,
): { readonly ends: number; readonly isLast: boolean } {
  const events = readEvents(latin1);
  const isEnd = ENDS[client];
  const done = latin1.split("data: [DONE]\n\n").length - 1;
  const marks = client === "chat" ? done + events.filter(isEnd).length : events.filter(isEnd).length;
  const last = events.at(-1);
  const isLast =
    client === "chat" && done > 0 ? latin1.endsWith("data: [DONE]\n\n") : last !== undefined && isEnd(last);
  return { ends: marks, isLast };
}

/** Matches the events that end a stream. `[DONE]` is not counted, so for chat only an error matches. */
const ENDS: Readonly<Record<Client, (event: Fields) => boolean>> = {
  chat: (event) => event["error"] !== undefined,
  responses: ({ type }) => /^response\.(completed|incomplete|failed)$/.test(String(type)),
  messages: ({ type }) => type === "message_stop" || type === "error",
};

/** Counts the finishes of each choice of a chat stream. */
export function countFinishes(latin1: string): number[] {
  const counts: number[] = [];
  for (const event of readEvents(latin1)) {
    for (const choice of (event["choices"] as Fields[] | undefined) ?? []) {
      const at = choice["index"] as number;
      counts[at] = (counts[at] ?? 0) + (choice["finish_reason"] === null ? 0 : 1);
    }
  }
  return counts;
}

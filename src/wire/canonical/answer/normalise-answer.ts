import type { AnswerEvent, Finish } from "../model/answer.ts";
import type { ToolCallPart } from "../model/parts.ts";
import type { RelayIdentity } from "./relay.ts";

/** The properties of a generation that `createNormaliser` needs. */
export type CallIds = Pick<RelayIdentity, "originalIds" | "makeCallId">;

/**
 * Corrects the events of a vendor of any format (docs/api/chat.md, "Tool calls"): every tool call has arguments and an id, the client's own
 * if it was mapped; duplicate calls are dropped; a choice with calls finishes with `tool-calls`; every choice finishes once, after all its
 * parts have ended.
 */
export interface AnswerNormaliser {
  step(event: AnswerEvent): AnswerEvent[];
  /** The finishes of all choices that have begun, by index; null until they finish. */
  readonly finishes: ReadonlyMap<number, Finish | null>;
}

interface OpenPart {
  /** The part's index for the client; null if the part was dropped. */
  readonly at: number | null;
  readonly lacksArguments: boolean;
}

interface ChoiceState {
  nextAt: number;
  /** Parts by the vendor's index. */
  readonly open: Map<number, OpenPart>;
  readonly callIds: Set<string>;
  calls: number;
}

/** Returns a normaliser for one answer. */
export function createNormaliser(ids: CallIds): AnswerNormaliser {
  const choices = new Map<number, ChoiceState>();
  const finishes = new Map<number, Finish | null>();
  return {
    finishes,
    step(event) {
      if (!("choice" in event)) return [event];
      const index = event.choice;
      if (finishes.get(index)) return [];
      let choice = choices.get(index);
      if (choice === undefined) {
        choice = { nextAt: 0, open: new Map(), callIds: new Set(), calls: 0 };
        choices.set(index, choice);
        finishes.set(index, null);
      }
      const out = stepChoice(choice, event, ids);
      for (const made of out) if (made.kind === "finish") finishes.set(index, made.finish);
      return out;
    },
  };
}

type ChoiceEvent = Extract<AnswerEvent, { readonly choice: number }>;
type PartStart = Extract<AnswerEvent, { readonly kind: "part-start" }>;

function stepChoice(choice: ChoiceState, event: ChoiceEvent, ids: CallIds): AnswerEvent[] {
  switch (event.kind) {
    case "part-start":
      return startPart(choice, event, ids);
    case "part-delta": {
      const open = choice.open.get(event.at);
      if (open === undefined || open.at === null) return [];
      if (event.delta.kind === "arguments" && event.delta.text.trim() !== "") {
        choice.open.set(event.at, { ...open, lacksArguments: false });
      }
      return [{ ...event, at: open.at }];
    }
    case "part-end":
      return endPart(choice, event.choice, event.at);
    case "logprobs":
      return [event];
    case "finish": {
      const ends = [...choice.open.keys()].flatMap((at) => endPart(choice, event.choice, at));
      return [...ends, { ...event, finish: correctFinish(event.finish, choice.calls > 0) }];
    }
  }
}

function startPart(choice: ChoiceState, event: PartStart, ids: CallIds): AnswerEvent[] {
  const { choice: index, at, part } = event;
  const ends = endPart(choice, index, at);
  if (part.kind === "tool-call" && part.id !== "" && choice.callIds.has(part.id)) {
    choice.open.set(at, { at: null, lacksArguments: false });
    return ends;
  }
  const isFunction = part.kind === "tool-call" && part.tool === "function";
  const out = { at: choice.nextAt++, lacksArguments: isFunction && part.arguments.trim() === "" };
  choice.open.set(at, out);
  const started = part.kind === "tool-call" ? withClientId(choice, part, ids) : part;
  return [...ends, { kind: "part-start", choice: index, at: out.at, part: started }];
}

function withClientId(
  choice: ChoiceState,
  call: ToolCallPart,
  { originalIds, makeCallId }: CallIds,
): ToolCallPart {
  choice.calls++;
  if (call.id === "") return { ...call, id: makeCallId() };
  choice.callIds.add(call.id);
  const original = originalIds?.get(call.id);
  return original === undefined ? call : { ...call, id: original };
}

function endPart(choice: ChoiceState, index: number, at: number): AnswerEvent[] {
  const open = choice.open.get(at);
  if (open === undefined) return [];
  choice.open.delete(at);
  if (open.at === null) return [];
  const end: AnswerEvent = { kind: "part-end", choice: index, at: open.at };
  if (!open.lacksArguments) return [end];
  return [{ kind: "part-delta", choice: index, at: open.at, delta: { kind: "arguments", text: "{}" } }, end];
}

/**
 * Returns `tool-calls` if and only if there are calls, regardless of the vendor's reason, unless they may be incomplete. An agent that
 * reads `tool_calls` and finds no call repeats its request endlessly.
 */
export function correctFinish(finish: Finish, hasCalls: boolean): Finish {
  if (!hasCalls && finish.reason === "tool-calls") return { ...finish, reason: "stop" };
  const isOver = finish.reason === "stop" || finish.reason === "stop-sequence";
  return hasCalls && isOver ? { ...finish, reason: "tool-calls" } : finish;
}

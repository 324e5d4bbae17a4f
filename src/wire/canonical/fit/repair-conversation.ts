import { assignFields } from "../../../base/json/fields.ts";
import type {
  KeptCall,
  OutlineAssistant,
  OutlineMessage,
  Repair,
  RepairedMessage,
  ToolCallRules,
} from "../../conversation/calls/outline.ts";
import { INTERRUPTED, rejectEmptied, repairToolCalls } from "../../conversation/calls/repair-tool-calls.ts";
import type { Extras, NativePart, Part, ToolCallPart, ToolResultPart } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

/** A request whose tool calls the target accepts; `repair` is null if nothing had to change. */
interface RepairedConversation {
  readonly request: ConversationRequest;
  readonly repair: Repair | null;
}

/**
 * Repairs the tool calls of a conversation (docs/api/translation.md, "Tool-call repair"; see `repairToolCalls`).
 * @throws GatewayError as `rejectEmptied`.
 */
export function repairConversation(request: ConversationRequest, rules: ToolCallRules): RepairedConversation {
  const repair = repairToolCalls(outline(request.messages), rules);
  if (repair === null) return { request, repair };
  const sources = request.messages.flatMap(readSources);
  rejectEmptied(repair, (from) => sources[from]?.message.role);
  // Where content is one text, joined messages need a separator.
  const layout = new Layout(sources, rules.results === "after-message" ? [MESSAGE_BREAK] : []);
  for (const entry of repair.messages) layout.add(entry);
  return { request: { ...request, messages: layout.end() }, repair };
}

/** Outlines the messages in order, and each result of a tool message. */
function outline(messages: readonly Message[]): OutlineMessage[] {
  const outlined: OutlineMessage[] = [];
  for (const { role, parts } of messages) {
    if (role === "assistant") outlined.push(outlineTurn(parts));
    else if (role !== "tool") outlined.push(OTHER);
    else for (const part of parts) if (isResult(part)) outlined.push(outlineResult(part));
  }
  return outlined;
}

const OTHER: OutlineMessage = { kind: "other" };

function outlineResult({ callId, content }: ToolResultPart): OutlineMessage {
  return { kind: "result", callId, describeResult: () => JSON.stringify(content) };
}

function outlineTurn(parts: readonly Part[]): OutlineMessage {
  const calls: ToolCallPart[] = [];
  const callIds: string[] = [];
  let hostedIds: string[] | undefined;
  for (const part of parts) {
    if (isCall(part)) {
      calls.push(part);
      callIds.push(part.id);
    } else if (isHostedCall(part)) {
      hostedIds ??= [];
      hostedIds.push(part.call?.id ?? "");
    }
  }
  const describeCall = (index: number): string => `${calls[index]?.name} ${calls[index]?.arguments}`;
  const turn: OutlineAssistant = { kind: "assistant", callIds, describeCall };
  return hostedIds === undefined ? turn : { ...turn, hostedIds };
}

function isResult(part: Part): part is ToolResultPart {
  return part.kind === "tool-result";
}

function isCall(part: Part): part is ToolCallPart {
  return part.kind === "tool-call";
}

function isHostedCall(part: Part): part is NativePart {
  return part.kind === "native" && part.call !== undefined;
}

/** The message, and the result within it, that an entry of the outline stands for; `result` is null for other messages. */
interface Source {
  readonly message: Message;
  readonly result: ToolResultPart | null;
}

function readSources(message: Message): Source[] {
  if (message.role !== "tool") return [{ message, result: null }];
  return message.parts.filter(isResult).map((result) => ({ message, result }));
}

/** Builds the repaired messages. Results that came in one message and are still adjacent stay in one. */
class Layout {
  private readonly laid: Message[] = [];
  private readonly sources: readonly Source[];
  /** The separator between the contents of joined messages. */
  private readonly between: readonly Part[];
  /** The latest assistant messages, which are to be joined. */
  private turn: Message[] = [];
  /** The message that the last results came in, and their list. */
  private gathering: { readonly from: Message; readonly results: Part[] } | null = null;
  /** The calls of messages that got placeholders, by the messages' indexes in `sources`. */
  private readonly calls = new Map<number, readonly ToolCallPart[]>();

  constructor(sources: readonly Source[], between: readonly Part[]) {
    this.sources = sources;
    this.between = between;
  }

  add(entry: RepairedMessage): void {
    if (entry.kind === "placeholder") {
      this.addResult(PLACEHOLDERS, makePlaceholder(entry.callId, this.callAt(entry.message, entry.call)));
      return;
    }
    const { message, result } = this.sources[entry.from] as Source;
    if (result !== null) {
      this.addResult(message, entry.callId === null ? result : { ...result, callId: entry.callId });
      return;
    }
    const kept = entry.calls === null ? message : keepCalls(message, entry.calls);
    if (entry.calls?.length === 0 && isOnlyReasoning(kept)) return;
    if (!entry.joins) this.close();
    if (message.role === "assistant") this.turn.push(kept);
    else this.laid.push(kept);
  }

  private addResult(from: Message, result: ToolResultPart): void {
    if (this.gathering?.from === from) {
      this.gathering.results.push(result);
      return;
    }
    this.close();
    this.gathering = { from, results: [result] };
  }

  private callAt(source: number, index: number): ToolCallPart | undefined {
    const calls = this.calls.get(source) ?? (this.sources[source] as Source).message.parts.filter(isCall);
    this.calls.set(source, calls);
    return calls[index];
  }

  private close(): void {
    if (this.turn.length > 0) this.laid.push(joinMessages(this.turn, this.between));
    this.turn = [];
    if (this.gathering !== null) this.laid.push({ ...this.gathering.from, parts: this.gathering.results });
    this.gathering = null;
  }

  end(): readonly Message[] {
    this.close();
    return this.laid;
  }
}

const PLACEHOLDERS: Message = { role: "tool", parts: [] };

/** Returns the message with the calls that are kept, under their new ids. */
function keepCalls(message: Message, kept: readonly KeptCall[]): Message {
  const ids = new Map(kept.map(({ from, id }) => [from, id]));
  let index = 0;
  const parts = message.parts.flatMap((part): Part[] => {
    if (!isCall(part)) return [part];
    const id = ids.get(index++);
    return id === undefined ? [] : [id === part.id ? part : { ...part, id }];
  });
  return { ...message, parts };
}

/** Whether a message has no parts but reasoning. */
function isOnlyReasoning({ parts }: Message): boolean {
  return parts.every(({ kind }) => kind === "reasoning");
}

/** Joins messages into one with the contents of all, followed by the calls of all. */
function joinMessages(messages: readonly Message[], between: readonly Part[]): Message {
  const [first] = messages;
  if (first === undefined || messages.length === 1) return first as Message;
  const contents: Part[] = [];
  const calls: Part[] = [];
  let hasText = false;
  for (const message of messages) {
    const addsText = message.parts.some(isNonEmptyText);
    if (hasText && addsText) contents.push(...between);
    hasText ||= addsText;
    for (const part of message.parts) (isCall(part) ? calls : contents).push(part);
  }
  const name = messages.find((message) => message.name !== undefined)?.name;
  const named = name === undefined ? {} : { name };
  return { role: "assistant", parts: contents.concat(calls), ...named, ...joinExtras(messages) };
}

const MESSAGE_BREAK: Part = { kind: "text", text: "\n\n" };

function isNonEmptyText(part: Part): boolean {
  return part.kind === "text" && part.text !== "";
}

/** Joins extras: the first field of each name, the last spelling. */
function joinExtras(messages: readonly Message[]): { readonly extras?: Extras } {
  const all = messages.map(({ extras }) => extras).filter((extras) => extras !== undefined);
  const format = all[0]?.format;
  if (format === undefined) return {};
  const own = all.filter((extras) => extras.format === format);
  const fields = assignFields({}, ...own.map((extras) => extras.fields).toReversed());
  return { extras: { format, fields, spelling: assignFields({}, ...own.map((extras) => extras.spelling)) } };
}

function makePlaceholder(callId: string, call: ToolCallPart | undefined): ToolResultPart {
  return {
    kind: "tool-result",
    callId,
    ...(call === undefined ? {} : { toolName: call.name }),
    tool: call?.tool ?? "function",
    content: [{ kind: "text", text: INTERRUPTED }],
    isError: true,
  };
}

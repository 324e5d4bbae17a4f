import type { Fields } from "../../../base/json/fields.ts";
import type { AnswerEvent, PartDelta } from "../../../wire/canonical/model/answer.ts";
import { mapSame } from "../../../wire/canonical/model/map-same.ts";
import type {
  Citation,
  Extras,
  MediaSource,
  NativePart,
  Part,
  ToolCallPart,
} from "../../../wire/canonical/model/parts.ts";
import { readDataTexts } from "../../../wire/client-apis/texts/body-texts.ts";
import { isNoText } from "../../../wire/client-apis/texts/place-rules.ts";
import { FORMAT_TRAITS } from "../../../wire/formats/traits.ts";
import type { AnswerStage } from "./answer-stage.ts";
import type { GuardrailFinding } from "./describe-findings.ts";
import type { SearchGuardrail } from "./guardrail.ts";
import { type Channel, distribute, EventQueue, type Segment } from "./held-texts.ts";
import type { Masks } from "./masks.ts";
import type { DecidedText, StreamSearch } from "./search-stream.ts";

type TextDelta = Extract<PartDelta, { readonly text: string }>;
type PartEvent = Extract<AnswerEvent, { readonly at: number }>;
type FinishEvent = Extract<AnswerEvent, { readonly kind: "finish" }>;

/** The texts of a choice that are searched as one text. */
const SHARED = ["text", "refusal", "transcript"] as const;

/** A guardrail that searches answers. */
export interface AnswerGuardrail extends SearchGuardrail {
  readonly beginSearch: () => StreamSearch;
}

/** A part whose text is checked while it streams, or arguments that are collected until they are complete. */
type OpenPart =
  | {
      readonly kind: "text";
      readonly delta: "text" | "arguments";
      readonly channel: Channel;
      readonly isShared: boolean;
    }
  | { readonly kind: "arguments"; readonly pieces: string[] };

const NOTHING: readonly AnswerEvent[] = [];

/**
 * Applies one guardrail to the events of an answer. Unless the guardrail only warns, text that may become part of a match is held back,
 * with everything that follows it. The texts of a choice are searched as one, whatever is between them, because clients join them.
 * Arguments are held back until they are complete, because only then their JSON can be read and changed without breaking it.
 */
export class SearchStage implements AnswerStage {
  hasDropped = false;
  private matches = 0;
  private readonly kinds = new Set<string>();
  private readonly open = new Map<string, OpenPart>();
  private readonly channels = new Map<string, Channel>();
  private readonly queues = new Map<number, EventQueue>();
  /** The guardrail changes nothing, so no text must be held back. */
  private readonly isObserver: boolean;

  constructor(
    private readonly guardrail: AnswerGuardrail,
    private readonly masks: Masks,
  ) {
    this.isObserver = guardrail.action === "warn";
  }

  get finding(): GuardrailFinding | null {
    const { name, action } = this.guardrail;
    return this.matches === 0
      ? null
      : { name, action, count: this.matches, kinds: [...this.kinds], reason: null };
  }

  get isBlocking(): boolean {
    return this.matches > 0 && this.guardrail.action === "block";
  }

  step(event: AnswerEvent): readonly AnswerEvent[] {
    if (!("choice" in event)) return [event.kind === "extras" ? this.checkExtras(event) : event];
    const queue = this.queueOf(event.choice);
    switch (event.kind) {
      case "part-start":
        this.start(queue, event, event.part);
        break;
      case "part-delta":
        this.grow(queue, event, event.delta);
        break;
      case "part-end":
        this.end(queue, event);
        break;
      case "logprobs":
        this.hasDropped ||= !this.isObserver;
        if (this.isObserver) queue.add(event);
        break;
      case "finish":
        this.finish(queue, event);
    }
    return queue.flush();
  }

  private queueOf(choice: number): EventQueue {
    const known = this.queues.get(choice);
    if (known !== undefined) return known;
    const queue = new EventQueue();
    this.queues.set(choice, queue);
    return queue;
  }

  private channelOf(choice: number, name: string): Channel {
    const key = `${choice} ${name}`;
    const known = this.channels.get(key);
    if (known !== undefined) return known;
    const channel: Channel = { search: this.guardrail.beginSearch(), segments: [] };
    this.channels.set(key, channel);
    return channel;
  }

  private start(queue: EventQueue, event: PartEvent, part: Part): void {
    if (part.kind === "tool-call") this.startCall(queue, event, part);
    else if (part.kind === "text" || part.kind === "refusal") {
      const channel = this.channelOf(event.choice, part.kind);
      this.startText(queue, event, { part, channel, isShared: true });
    } else if (part.kind === "reasoning") {
      const channel: Channel = { search: this.guardrail.beginSearch(), segments: [] };
      this.startText(queue, event, { part, channel, isShared: false });
    } else this.startWhole(queue, event, part);
  }

  private startText(
    queue: EventQueue,
    event: PartEvent,
    {
      part,
      channel,
      isShared,
    }: { readonly part: Part; readonly channel: Channel; readonly isShared: boolean },
  ): void {
    this.open.set(keyOf(event), { kind: "text", delta: "text", channel, isShared });
    this.add(queue, startWithoutText(event, this.checkExtrasOf(this.checkCitations(part))));
    this.grow(queue, event, { kind: "text", text: (part as { readonly text: string }).text });
  }

  private startCall(queue: EventQueue, event: PartEvent, part: ToolCallPart): void {
    const channel: Channel = { search: this.guardrail.beginSearch(), segments: [] };
    const opened: OpenPart =
      part.tool === "function"
        ? { kind: "arguments", pieces: [] }
        : { kind: "text", delta: "arguments", channel, isShared: false };
    this.open.set(keyOf(event), opened);
    const named = { ...part, name: this.checkWhole(part.name) };
    this.add(queue, startWithoutText(event, this.checkExtrasOf(named)));
    this.grow(queue, event, { kind: "arguments", text: part.arguments });
  }

  /** Starts a part that arrives whole: media, or a block that only one format has. The transcript of speech is searched as one text. */
  private startWhole(queue: EventQueue, event: PartEvent, part: Part): void {
    const { choice, at } = event;
    const start = (changed: Part): AnswerEvent => ({ kind: "part-start", choice, at, part: changed });
    const transcript = part.kind === "native" ? part.value["transcript"] : null;
    if (part.kind === "native" && typeof transcript === "string" && transcript !== "") {
      const { transcript: _spoken, ...others } = part.value;
      const rest = this.checkPart({ ...part, value: others }) as NativePart;
      const encode = (text: string) => [start({ ...rest, value: { ...rest.value, transcript: text } })];
      this.search(queue, this.channelOf(choice, "transcript"), { text: transcript, isWhole: true, encode });
      if (this.isObserver) queue.add(start(part));
    } else this.add(queue, start(this.checkPart(part)));
  }

  private checkPart(part: Part): Part {
    const checked = this.checkExtrasOf(part);
    if (checked.kind === "native") {
      // Others are the calls of the vendor's own tools, with their results.
      if (FORMAT_TRAITS[checked.format].contents.nativePartsSpeak !== true) return checked;
      return { ...checked, value: this.checkValue(checked.value, "") as Fields };
    }
    if (!("source" in checked)) return checked;
    const { source, name } = checked;
    return {
      ...checked,
      source: this.checkSource(source),
      ...(name === undefined ? {} : { name: this.checkWhole(name) }),
    };
  }

  private checkSource(source: MediaSource): MediaSource {
    if (source.kind === "url") return { ...source, url: this.checkValue(source.url, "url") as string };
    return source.kind === "text" ? { ...source, text: this.checkWhole(source.text) } : source;
  }

  private grow(queue: EventQueue, event: PartEvent, delta: PartDelta): void {
    const { choice, at } = event;
    const changed = (other: PartDelta): AnswerEvent => ({ kind: "part-delta", choice, at, delta: other });
    const open = this.open.get(keyOf(event));
    if (delta.kind === "citation")
      this.add(queue, changed({ ...delta, citation: this.checkCitation(delta.citation) }));
    else if (open === undefined || !("text" in delta)) this.add(queue, changed(delta));
    else if (delta.text !== "") {
      if (this.isObserver) queue.add(changed(delta));
      this.growText(queue, event, { open, text: delta.text });
    }
  }

  private growText(
    queue: EventQueue,
    event: PartEvent,
    { open, text }: { readonly open: OpenPart; readonly text: string },
  ): void {
    if (open.kind === "arguments") open.pieces.push(text);
    else {
      const encode = (checked: string) => textEvents(event, { kind: open.delta, text: checked });
      this.search(queue, open.channel, { text, isWhole: false, encode });
    }
  }

  /** Searches more of a text, and adds it to the events unless the guardrail only observes. */
  private search(
    queue: EventQueue,
    channel: Channel,
    { text, isWhole, encode }: Pick<Segment, "text" | "isWhole" | "encode">,
  ): void {
    if (!this.isObserver) {
      const segment: Segment = { left: text.length, text: "", isWhole, encode };
      channel.segments.push(segment);
      queue.add(segment);
    }
    this.decide(channel, channel.search.push(text));
  }

  private decide(channel: Channel, decided: DecidedText): void {
    if (this.isObserver) this.check(decided);
    else if (this.guardrail.action === "mask") {
      distribute(channel, decided, (text, matches) => this.check({ text, matches }));
    } else distribute(channel, { text: this.check(decided), matches: [] }, (text) => text);
  }

  private end(queue: EventQueue, event: PartEvent): void {
    const key = keyOf(event);
    const open = this.open.get(key);
    this.open.delete(key);
    if (open?.kind === "arguments") {
      const text = this.checkArguments(open.pieces.join(""));
      if (!this.isObserver)
        for (const delta of textEvents(event, { kind: "arguments", text })) queue.add(delta);
    } else if (open?.isShared === false) this.decide(open.channel, open.channel.search.end());
    this.add(queue, event);
  }

  private finish(queue: EventQueue, event: FinishEvent): void {
    for (const name of SHARED) {
      const channel = this.channels.get(`${event.choice} ${name}`);
      if (channel !== undefined && !this.isBlocking) this.decide(channel, channel.search.end());
      this.channels.delete(`${event.choice} ${name}`);
    }
    const { native, stopSequence } = event.finish;
    const finish = {
      ...event.finish,
      native: this.checkWhole(native),
      stopSequence: stopSequence === null ? null : this.checkWhole(stopSequence),
    };
    this.add(queue, this.checkExtrasOf({ ...event, finish }));
  }

  /** Adds an event, unless the answer ends before it. */
  private add(queue: EventQueue, event: AnswerEvent): void {
    if (!this.isBlocking) queue.add(event);
  }

  /** Records the matches of a text. Returns the part of it that may be sent. */
  private check({ text, matches }: DecidedText): string {
    const [first] = matches;
    if (first === undefined) return text;
    const { action } = this.guardrail;
    this.matches += action === "block" ? 1 : matches.length;
    for (const { kind } of action === "block" ? [first] : matches) this.kinds.add(kind);
    if (action === "block") return text.slice(0, first.start);
    return action === "mask" ? this.masks.apply(text, matches) : text;
  }

  private checkWhole(text: string): string {
    const search = this.guardrail.beginSearch();
    const start = this.check(search.push(text));
    return this.isBlocking ? start : start + this.check(search.end());
  }

  /** Checks the strings of arguments that are JSON, others as plain text. */
  private checkArguments(text: string): string {
    const data = readDataTexts(text);
    if (data === null) return this.checkWhole(text);
    const changed = new Map<number, string>();
    for (const [index, value] of data.texts.entries()) {
      const checked = this.checkWhole(value);
      // None of the arguments is sent if one of them blocks.
      if (this.isBlocking) return "";
      if (checked !== value) changed.set(index, checked);
    }
    return changed.size === 0 ? text : data.replace(changed).toString("utf8");
  }

  private checkExtras(event: Extract<AnswerEvent, { readonly kind: "extras" }>): AnswerEvent {
    return this.checkExtrasOf(event);
  }

  /** Checks the fields that only one format has. */
  private checkExtrasOf<T extends { readonly extras?: Extras }>(owner: T): T {
    if (owner.extras === undefined) return owner;
    const fields = this.checkValue(owner.extras.fields, "") as Fields;
    return fields === owner.extras.fields ? owner : { ...owner, extras: { ...owner.extras, fields } };
  }

  /** Checks all strings of a value except ids, media and encrypted data. Returns the value itself if nothing changed. */
  private checkValue(value: unknown, name: string): unknown {
    if (typeof value === "string")
      return value === "" || isNoText(name, value) ? value : this.checkWhole(value);
    if (Array.isArray(value)) return mapSame(value, (one) => this.checkValue(one, name));
    if (typeof value !== "object" || value === null) return value;
    let changed: Record<string, unknown> | null = null;
    for (const [key, member] of Object.entries(value)) {
      const checked = this.checkValue(member, key);
      if (checked === member) continue;
      changed ??= { ...value };
      changed[key] = checked;
    }
    return changed ?? value;
  }

  private checkCitations(part: Part): Part {
    if (part.kind !== "text" || part.citations === undefined) return part;
    return { ...part, citations: part.citations.map((citation) => this.checkCitation(citation)) };
  }

  /** Checks a citation's texts. If one is masked, the vendor's own form is left out, because it repeats them. */
  private checkCitation(citation: Citation): Citation {
    const title = citation.title && this.checkWhole(citation.title);
    const text = citation.text && this.checkWhole(citation.text);
    const url = citation.url && this.checkWhole(citation.url);
    const isSame = title === citation.title && text === citation.text && url === citation.url;
    if (this.isObserver || isSame) return this.checkExtrasOf(citation);
    const { extras: _own, ...rest } = citation;
    return { ...rest, title, text, url };
  }
}

function keyOf({ choice, at }: PartEvent): string {
  return `${choice}/${at}`;
}

function startWithoutText({ choice, at }: PartEvent, part: Part): AnswerEvent {
  const empty = part.kind === "tool-call" ? { ...part, arguments: "" } : { ...part, text: "" };
  return { kind: "part-start", choice, at, part: empty as Part };
}

function textEvents({ choice, at }: PartEvent, delta: TextDelta): readonly AnswerEvent[] {
  return delta.text === "" ? NOTHING : [{ kind: "part-delta", choice, at, delta }];
}

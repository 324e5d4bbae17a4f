import type { AnswerEvent, PartDelta } from "../../../wire/canonical/answer.ts";
import type { Citation, Part, ToolCallPart } from "../../../wire/canonical/parts.ts";
import { readDataTexts } from "../../../wire/client-apis/body-texts.ts";
import type { AnswerStage } from "./answer-stage.ts";
import type { Finding } from "./describe-findings.ts";
import type { SearchGuardrail } from "./guardrail.ts";
import type { Masks } from "./masks.ts";
import type { DecidedText, StreamSearch } from "./search-stream.ts";

type TextDelta = Extract<PartDelta, { readonly text: string }>;
type PartEvent = Extract<AnswerEvent, { readonly at: number }>;

/** A guardrail that searches answers. */
export interface AnswerGuardrail extends SearchGuardrail {
  readonly beginSearch: () => StreamSearch;
}

/** A part whose text is checked while it streams, or arguments that are collected until they are complete. */
type OpenPart =
  | { readonly kind: "text"; readonly delta: "text" | "arguments"; readonly search: StreamSearch }
  | { readonly kind: "arguments"; readonly pieces: string[] };

const NOTHING: readonly AnswerEvent[] = [];

/**
 * Applies one guardrail to the events of an answer. Text that may become part of a match is held back, unless the guardrail only warns.
 * Arguments are held back until they are complete: only then their JSON can be read, and changed without breaking it.
 */
export class SearchStage implements AnswerStage {
  hasDropped = false;
  private matches = 0;
  private readonly kinds = new Set<string>();
  private readonly open = new Map<string, OpenPart>();
  /** Changes nothing, so that nothing has to be held back. */
  private readonly isObserver: boolean;

  constructor(
    private readonly guardrail: AnswerGuardrail,
    private readonly masks: Masks,
  ) {
    this.isObserver = guardrail.action === "warn";
  }

  get finding(): Finding | null {
    const { name, action } = this.guardrail;
    return this.matches === 0
      ? null
      : { name, action, count: this.matches, kinds: [...this.kinds], reason: null };
  }

  get isBlocking(): boolean {
    return this.matches > 0 && this.guardrail.action === "block";
  }

  step(event: AnswerEvent): readonly AnswerEvent[] {
    switch (event.kind) {
      case "part-start":
        return this.start(event, event.part);
      case "part-delta":
        return this.grow(event, event.delta);
      case "part-end":
        return this.end(event);
      case "logprobs":
        this.hasDropped ||= !this.isObserver;
        return this.isObserver ? [event] : NOTHING;
      default:
        return [event];
    }
  }

  private start(event: PartEvent, part: Part): readonly AnswerEvent[] {
    const key = keyOf(event);
    if (part.kind === "tool-call") return this.startCall(event, part);
    if (part.kind !== "text" && part.kind !== "refusal" && part.kind !== "reasoning") return [event];
    this.open.set(key, { kind: "text", delta: "text", search: this.guardrail.beginSearch() });
    const started = startWithoutText(event, this.checkCitations(part));
    return [started, ...this.grow(event, { kind: "text", text: part.text })];
  }

  private startCall(event: PartEvent, part: ToolCallPart): readonly AnswerEvent[] {
    const opened: OpenPart =
      part.tool === "function"
        ? { kind: "arguments", pieces: [] }
        : { kind: "text", delta: "arguments", search: this.guardrail.beginSearch() };
    this.open.set(keyOf(event), opened);
    const started = startWithoutText(event, part);
    return [started, ...this.grow(event, { kind: "arguments", text: part.arguments })];
  }

  private grow(event: PartEvent, delta: PartDelta): readonly AnswerEvent[] {
    const open = this.open.get(keyOf(event));
    const changed: AnswerEvent = { kind: "part-delta", choice: event.choice, at: event.at, delta };
    if (delta.kind === "citation")
      return [{ ...changed, delta: { ...delta, citation: this.checkCitation(delta.citation) } }];
    if (open === undefined || !("text" in delta)) return [changed];
    if (delta.text === "") return NOTHING;
    if (open.kind === "arguments") {
      open.pieces.push(delta.text);
      return this.isObserver ? [changed] : NOTHING;
    }
    const text = this.check(open.search.push(delta.text));
    return this.isObserver ? [changed] : textEvents(event, { kind: open.delta, text });
  }

  private end(event: PartEvent): readonly AnswerEvent[] {
    const key = keyOf(event);
    const open = this.open.get(key);
    this.open.delete(key);
    if (open === undefined) return [event];
    const delta: TextDelta =
      open.kind === "arguments"
        ? { kind: "arguments", text: this.checkArguments(open.pieces.join("")) }
        : { kind: open.delta, text: this.check(open.search.end()) };
    if (this.isObserver) return [event];
    const last = textEvents(event, delta);
    return this.isBlocking ? last : [...last, event];
  }

  /** Records the matches of a text. Returns what of it may be sent. */
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

  private checkCitations(part: Part): Part {
    if (part.kind !== "text" || part.citations === undefined) return part;
    return { ...part, citations: part.citations.map((citation) => this.checkCitation(citation)) };
  }

  /** Checks a citation's texts. If one is masked, the vendor's own form is left out, because it repeats them. */
  private checkCitation(citation: Citation): Citation {
    const title = citation.title && this.checkWhole(citation.title);
    const text = citation.text && this.checkWhole(citation.text);
    if (this.isObserver || (title === citation.title && text === citation.text)) return citation;
    const { extras: _own, ...rest } = citation;
    return { ...rest, title, text };
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

import { nameInMetadata } from "../../base/failures/errors.ts";
import { asFields, tryParseLatin1 } from "../../base/json/fields.ts";
import {
  allFields,
  encodeLatin1,
  memberOf,
  parseMember,
  scanJson,
  tryStringOf,
} from "../../base/json/scan.ts";
import { applySplices, setMember } from "../../base/json/splice.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { EventSplitter, type SplitEvent } from "../../base/sse/split-events.ts";
import type { AnswerRelay, RelayEnding } from "../canonical/answer/relay.ts";
import type { AnswerEnd, StreamError } from "../canonical/model/format.ts";
import { answerTooLarge } from "../conversation/errors/broken-answers.ts";
import {
  brokenAnswer,
  findEventError,
  readVendorError,
  type VendorError,
} from "../conversation/errors/vendor-error.ts";
import type { TokenUsage } from "../conversation/usage.ts";
import { encodeCost } from "./json-answer.ts";

/** How a stream of events is read. */
interface EventRules {
  /** The type of the events that complete an answer, or one image of several. */
  readonly last: string;
  /** How many of these events complete the answer. Absent: one. */
  readonly expected?: number;
  /** Returns the usage by the `usage` of these events; empty if none has arrived. */
  readonly readUsage: (usages: readonly unknown[]) => TokenUsage;
}

/**
 * Forwards a stream of server-sent events. The last one is held back until its cost is known. One that completes an image of several
 * is held back only until the next event: vendors leave images out, so that it may be the last one.
 */
export class EventRelay implements AnswerRelay {
  sawToken = false;
  readonly isDone = false;
  error: VendorError | null = null;
  readonly searches = 0;
  readonly producedBytes = 0;
  private readonly splitter = new EventSplitter(BOUNDS.eventBytes);
  private readonly usages: unknown[] = [];
  /** The data of the last event that completes, bytes as Latin-1, and its name. */
  private held: { readonly data: string; readonly name: string } | null = null;
  private out = "";
  /** The events that wait until all are filtered; null if they are not. */
  private kept: { readonly data: string; readonly name: string }[] | null = null;
  private keptBytes = 0;
  release?: () => Promise<string>;

  constructor(private readonly rules: EventRules) {}

  /** A provider may be silent for long before the next image. */
  get isFinished(): boolean {
    return this.held !== null && !this.isMoreExpected();
  }

  get usage(): TokenUsage {
    return this.rules.readUsage(this.usages);
  }

  /**
   * Holds all events back until the stream is complete, then sends the result of `filter` for their data. `filter` resolves to null if it
   * blocks them.
   */
  filterWith(filter: (documents: readonly Buffer[]) => Promise<readonly Buffer[] | null>): void {
    this.kept = [];
    this.release = async () => {
      const kept = this.kept ?? [];
      const all = this.held === null ? kept : [...kept, this.held];
      const filtered = await filter(all.map(({ data }) => Buffer.from(data, "latin1")));
      if (filtered === null) return "";
      const events = all.map(({ name }, at) => ({ data: (filtered[at] as Buffer).toString("latin1"), name }));
      if (this.held !== null) this.held = events.pop() ?? null;
      return events.map(({ data, name }) => encodeEvent(data, name)).join("");
    };
  }

  step(piece: string): string {
    return this.read(this.splitter.push(piece));
  }

  end(): string {
    return this.read(this.splitter.end());
  }

  classifyEnd(): RelayEnding {
    if (this.held !== null) return "complete";
    return this.error === null ? "unfinished" : "failed";
  }

  finish(): null {
    return null;
  }

  stopShort(): string {
    return "";
  }

  encodeEnd({ report, metadata }: AnswerEnd): string {
    const { held } = this;
    if (held === null) return "";
    const root = scanJson(held.data, allFields({}));
    const usage = { ...asFields(parseMember(held.data, root, "usage")), ...encodeCost(report) };
    const splices = [setMember(root, "usage", JSON.stringify(usage))];
    if (metadata !== null) splices.push(setMember(root, "gateway_metadata", JSON.stringify(metadata)));
    const data = applySplices(Buffer.from(held.data, "latin1"), splices).toString("latin1");
    return encodeEvent(data, held.name);
  }

  encodeError(error: StreamError): string {
    const named = { ...error, metadata: nameInMetadata(error.type, error.metadata) };
    return encodeEvent(encodeLatin1(JSON.stringify({ type: "error", error: named })), "error");
  }

  private read(events: readonly SplitEvent[]): string {
    this.out = "";
    for (const { text, start, end, name } of events) this.readEvent(text.slice(start, end), name);
    if (this.splitter.isTooLarge)
      this.error ??= brokenAnswer(`the upstream sent an event of over ${BOUNDS.eventBytes} bytes`);
    return this.out;
  }

  private readEvent(data: string, name: string): void {
    if (this.error !== null || data === "[DONE]") return;
    const type = this.readType(data, name);
    const isLast = type === this.rules.last;
    if (isLast || this.isMoreExpected()) this.giveHeld();
    if (type === null) return;
    this.sawToken = true;
    if (isLast) this.held = { data, name };
    else this.give(data, name);
  }

  private isMoreExpected(): boolean {
    return this.usages.length < (this.rules.expected ?? 1);
  }

  private giveHeld(): void {
    if (this.held !== null) this.give(this.held.data, this.held.name);
    this.held = null;
  }

  private give(data: string, name: string): void {
    if (this.kept === null) {
      this.out += encodeEvent(data, name);
      return;
    }
    this.kept.push({ data, name });
    this.keptBytes += data.length;
    if (this.keptBytes > BOUNDS.answerBytes) this.error ??= answerTooLarge(BOUNDS.answerBytes);
  }

  /** Returns the type of an event; null if it is an error or none. Data of an image is not parsed. */
  private readType(data: string, name: string): string | null {
    try {
      const root = scanJson(data, allFields({}));
      const type = tryStringOf(data, memberOf(root, "type")) ?? name;
      if (type === this.rules.last) this.usages.push(parseMember(data, root, "usage"));
      if (type !== "error" && memberOf(root, "error") === undefined) return type;
      const event = tryParseLatin1(data) ?? {};
      this.error = findEventError(event, "error") ?? readVendorError(200, event);
    } catch {
      this.error = brokenAnswer("the upstream sent an event that is not JSON");
    }
    return null;
  }
}

function encodeEvent(data: string, name: string): string {
  const lines = data.replaceAll("\n", "\ndata: ");
  return `${name === "" ? "" : `event: ${name}\n`}data: ${lines}\n\n`;
}

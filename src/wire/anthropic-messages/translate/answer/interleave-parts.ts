import { fail } from "../../../../base/failures/errors.ts";
import { BOUNDS } from "../../../../base/numbers/bounds.ts";
import type { AnswerEvent } from "../../../canonical/model/answer.ts";
import type { BlockWriter } from "./write-blocks.ts";
import { createPartWriter, type MessagesPartWriter } from "./write-parts.ts";

/** An event of a part. */
export type PartEvent = AnswerEvent & { readonly kind: "part-start" | "part-delta" | "part-end" };

interface TrackedPart {
  readonly writer: MessagesPartWriter;
  /** Events that wait for the part's turn; null if none wait. */
  held: PartEvent[] | null;
  hasEnded: boolean;
}

/**
 * Orders the events of parts that are open at the same time: this API has one block open at a time. A text or reasoning yields to a
 * part that starts after it and continues in a further block; a tool call must stay in one piece, so other parts wait for its end.
 */
export class PartInterleaver {
  private readonly parts = new Map<number, TrackedPart>();
  /** The part whose turn it is. */
  private current: TrackedPart | null = null;
  private readonly waiting: TrackedPart[] = [];
  private heldChars = 0;

  constructor(private readonly blocks: BlockWriter) {}

  /**
   * Returns what to send for an event.
   * @throws GatewayError `upstream_error` when more text waits than the gateway can buffer.
   */
  step(event: PartEvent): string {
    const part = event.kind === "part-start" ? this.add(event) : this.parts.get(event.at);
    if (part === undefined || part.hasEnded) return "";
    if (part.held !== null) {
      this.hold(part.held, event);
      return "";
    }
    if (part === this.current) return this.write(part, event) + this.writeWaiting();
    if (event.kind === "part-end" && !part.writer.hasPendingEnd()) {
      part.hasEnded = true;
      return "";
    }
    if (this.current !== null && !this.current.writer.canYield) {
      part.held = [];
      this.waiting.push(part);
      this.hold(part.held, event);
      return "";
    }
    return this.takeTurn(part) + this.write(part, event) + this.writeWaiting();
  }

  /** Ends all parts. Returns what to send. */
  end(): string {
    let out = "";
    for (const at of this.parts.keys()) out += this.step({ kind: "part-end", choice: 0, at });
    return out;
  }

  private add({ at, part }: PartEvent & { readonly kind: "part-start" }): TrackedPart {
    const added: TrackedPart = { writer: createPartWriter(this.blocks, part), held: null, hasEnded: false };
    this.parts.set(at, added);
    return added;
  }

  private hold(held: PartEvent[], event: PartEvent): void {
    held.push(event);
    this.heldChars += event.kind === "part-delta" && "text" in event.delta ? event.delta.text.length : 0;
    if (this.heldChars > BOUNDS.eventBytes) {
      fail("upstream_error", "The upstream's answer interleaves more text than the gateway can buffer.");
    }
  }

  /** Gives the turn to a part. The part that had the turn closes its block for now. */
  private takeTurn(part: TrackedPart): string {
    const out = this.current?.writer.suspend() ?? "";
    this.current = part;
    return out;
  }

  /** Writes the held events, part by part, up to a part that has not ended. */
  private writeWaiting(): string {
    let out = "";
    while (this.current === null) {
      const next = this.waiting.shift();
      if (next === undefined) {
        this.heldChars = 0;
        break;
      }
      const events = next.held ?? [];
      next.held = null;
      this.current = next;
      for (const event of events) out += this.write(next, event);
    }
    return out;
  }

  private write(part: TrackedPart, event: PartEvent): string {
    if (event.kind === "part-start") return part.writer.start();
    if (event.kind === "part-delta") return part.writer.append(event.delta);
    part.hasEnded = true;
    if (this.current === part) this.current = null;
    return part.writer.end();
  }
}

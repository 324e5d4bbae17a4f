import { type Fields, omit } from "../../../../base/json/fields.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { encodeItem, type ItemGroup, idOf } from "../parts/encode-items.ts";
import type { ToolHome } from "../parts/namespaces.ts";
import { encodeForeignReasoning, isOwnReasoning } from "../parts/reasoning-parts.ts";
import type { TextLogprobs } from "./assign-logprobs.ts";
import { encodeMessagePart } from "./write-parts.ts";

/** The status of an item. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** The values that the items of one answer share. */
export interface ItemContext {
  /** Missing item ids are made of the response's id and the item's index. */
  readonly responseId: string;
  /** The namespaces of the request's tools. */
  readonly homes: ReadonlyMap<string, ToolHome>;
}

/** OpenAI checks the prefixes of items that a client sends back. */
const PREFIXES = { message: "msg", reasoning: "rs", call: "fc", native: "item", image: "ig" };

const ENCRYPTED = new Set(["encrypted_content"]);
const STATED = new Set(["message", "call"]);

/** An item of an answer while it is written. */
export class OpenItem {
  readonly id: string;
  /** The log probabilities that texts have taken, by the text's index in the group. */
  readonly logprobs = new Map<number, TextLogprobs>();
  openParts = 0;
  /** The item as it was sent last; null while it is open. */
  done: Fields | null = null;
  /** The number of parts in each list. */
  private readonly counts = new Map<string, number>();

  constructor(
    /** Its index in the output. */
    readonly index: number,
    readonly group: ItemGroup,
    private readonly context: ItemContext,
  ) {
    const encoded = encodeItem(group);
    const prefix = encoded["type"] === "custom_tool_call" ? "ctc" : PREFIXES[group.kind];
    this.id = idOf(encoded) ?? `${prefix}_${context.responseId}_${index}`;
  }

  /** Reserves the index of the next part in a list. */
  nextIndexIn(list: string): number {
    const index = this.counts.get(list) ?? 0;
    this.counts.set(list, index + 1);
    return index;
  }

  partAt(index: number): Part {
    return this.group.parts[index] as Part;
  }

  /** Returns the log probabilities of the text at this index of the group. */
  logprobsAt(index: number): readonly Fields[] {
    return this.logprobs.get(index)?.list ?? [];
  }

  /** Encodes the item with its content so far. */
  encode(status: ItemStatus): Fields {
    const { group, id } = this;
    return { id, ...(STATED.has(group.kind) ? { status } : {}), ...this.encodeContent() };
  }

  /** Encodes the item as the event that adds it has it: without the contents that follow. */
  encodeStart(): Fields {
    const whole = this.encode("in_progress");
    switch (this.group.kind) {
      case "message":
        return { ...whole, content: [] };
      case "reasoning":
        return encodeReasoningStart(whole);
      case "call":
        return { ...whole, ...("input" in whole ? { input: "" } : { arguments: "" }) };
      default:
        return whole["status"] === undefined ? whole : { ...whole, status: "in_progress" };
    }
  }

  private encodeContent(): Fields {
    const { group } = this;
    const encoded = encodeItem(group);
    switch (group.kind) {
      case "message": {
        const content = group.parts.map((part, at) => encodeMessagePart(part, this.logprobsAt(at)));
        return { ...encoded, content };
      }
      case "reasoning":
        return isOwnReasoning(group.parts) ? encoded : encodeForeignReasoning(group.parts);
      case "call": {
        const [call] = group.parts;
        const home = this.context.homes.get(call?.name ?? "");
        const isAtHome = call?.namespace === undefined || call.namespace === home?.namespace;
        return { ...encoded, ...(isAtHome ? home : {}) };
      }
      default:
        return encoded;
    }
  }
}

/** The encrypted content is known only at the end. */
function encodeReasoningStart(whole: Fields): Fields {
  const rest = typeof whole["encrypted_content"] === "string" ? omit(whole, ENCRYPTED) : whole;
  const status = rest["status"] === undefined ? {} : { status: "in_progress" };
  return { ...rest, ...status, summary: [], ...("content" in rest ? { content: [] } : {}) };
}

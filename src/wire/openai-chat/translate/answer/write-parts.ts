import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { PartDelta } from "../../../canonical/model/answer.ts";
import type { RefusalPart, Signature, TextPart, ToolCallPart } from "../../../canonical/model/parts.ts";
import { encodeCitation } from "../parts/citations.ts";
import { encodeExtraContent, spreadExtraContent } from "../parts/signatures.ts";
import { encodeCall } from "../parts/tool-call-parts.ts";
import type { ChatPartWriter } from "./part-writer.ts";
import type { ReasoningDetails } from "./write-reasoning.ts";

const TEXT_FIELDS = { text: "content", refusal: "refusal" } as const;

export class TextWriter implements ChatPartWriter {
  readonly isText: boolean;
  private readonly field: "content" | "refusal";

  constructor(
    private readonly part: TextPart | RefusalPart,
    private readonly details: ReasoningDetails,
  ) {
    this.field = TEXT_FIELDS[part.kind];
    this.isText = part.kind === "text";
  }

  start(): Fields | null {
    const { part } = this;
    const cited = part.kind === "text" ? (part.citations ?? []) : [];
    const annotations = cited.flatMap((citation) => encodeCitation(citation) ?? []);
    const delta = {
      ...(part.text === "" ? {} : { [this.field]: part.text }),
      ...(annotations.length === 0 ? {} : { annotations }),
      ...(part.kind === "text" ? this.encodeSignature(part.signature) : {}),
    };
    return Object.keys(delta).length === 0 ? null : delta;
  }

  append(delta: PartDelta): Fields | null {
    if (delta.kind === "text") return delta.text === "" ? null : { [this.field]: delta.text };
    if (delta.kind === "part-signature") return this.encodeSignature(delta);
    const annotation = delta.kind === "citation" ? encodeCitation(delta.citation) : null;
    return annotation === null ? null : { annotations: [annotation] };
  }

  end(): null {
    return null;
  }

  /** Encodes a thought signature in both spellings that clients know; no fields where there is none for this format. */
  private encodeSignature(signature: Signature | undefined): Fields {
    const signed = { kind: "text", ...(signature === undefined ? {} : { signature }) } as const;
    const detail = this.details.encodeSignature(signed);
    return detail === null ? {} : { reasoning_details: [detail], ...spreadExtraContent(signed) };
  }
}

export class CallWriter implements ChatPartWriter {
  readonly isText = false;

  constructor(
    private readonly part: ToolCallPart,
    private readonly index: number,
    private readonly details: ReasoningDetails,
  ) {}

  start(): Fields {
    const { part, index } = this;
    const encoded = encodeCall(part);
    const inner = asFields(encoded[part.tool]) ?? {};
    // Whether arguments are missing is known only at the end of the call; until then they are an empty text.
    const text = part.tool === "function" ? { arguments: part.arguments } : {};
    const call = { ...encoded, [part.tool]: { ...inner, ...text }, index };
    const detail = this.details.encodeSignature(part);
    return detail === null ? { tool_calls: [call] } : { reasoning_details: [detail], tool_calls: [call] };
  }

  append(delta: PartDelta): Fields | null {
    const { part, index } = this;
    if (delta.kind === "part-signature") return this.encodeSignature(delta);
    if (delta.kind !== "arguments" || delta.text === "") return null;
    const inner = part.tool === "function" ? { arguments: delta.text } : { input: delta.text };
    return { tool_calls: [{ index, [part.tool]: inner }] };
  }

  end(): null {
    return null;
  }

  private encodeSignature({ value, origin }: Signature): Fields | null {
    const signed = { ...this.part, signature: { value, origin } };
    const extra = encodeExtraContent(signed);
    const detail = extra === null ? null : this.details.encodeSignature(signed);
    if (detail === null) return null;
    return {
      reasoning_details: [detail],
      tool_calls: [{ index: this.index, function: { arguments: "" }, extra_content: extra }],
    };
  }
}

/** Encodes the call of a client that only knows `function_call`. */
export class FunctionCallWriter implements ChatPartWriter {
  readonly isText = false;

  constructor(private readonly part: ToolCallPart) {}

  start(): Fields {
    return { function_call: { name: this.part.name, arguments: this.part.arguments } };
  }

  append(delta: PartDelta): Fields | null {
    return delta.kind === "arguments" && delta.text !== ""
      ? { function_call: { arguments: delta.text } }
      : null;
  }

  end(): null {
    return null;
  }
}

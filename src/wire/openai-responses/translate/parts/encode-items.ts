import { asFields } from "../../../../base/json/fields.ts";
import { describeLostContent } from "../../../canonical/fit/express-natives.ts";
import type {
  Part,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
} from "../../../canonical/model/parts.ts";
import { encodePart } from "./encode-part.ts";
import { readSpelling } from "./extras.ts";
import { ownNameOf } from "./namespaces.ts";
import { encodeReasoning, findItemRest } from "./reasoning-parts.ts";

/** The parts of the model that make one item. */
export type ItemGroup =
  | { readonly kind: "message"; readonly parts: (TextPart | RefusalPart)[] }
  | { readonly kind: "reasoning"; readonly parts: ReasoningPart[] }
  | { readonly kind: "call"; readonly parts: ToolCallPart[] }
  | { readonly kind: "native"; readonly parts: Extract<Part, { kind: "native" }>[] }
  | { readonly kind: "image"; readonly parts: Extract<Part, { kind: "image" }>[] };

const KINDS = {
  text: "message",
  refusal: "message",
  reasoning: "reasoning",
  "tool-call": "call",
  native: "native",
  image: "image",
} as const;

/** Returns a group for a part; null if this format has no item for it. */
export function openGroup(part: Part): ItemGroup | null {
  const kind = part.kind in KINDS ? KINDS[part.kind as keyof typeof KINDS] : null;
  if (kind === null || (part.kind === "native" && part.format !== "openai-responses")) return null;
  if (part.kind === "image" && part.source.kind !== "base64") return null;
  return { kind, parts: [part] } as ItemGroup;
}

/** Returns whether a part belongs to the item of the parts before it. */
export function joinsGroup(group: ItemGroup, part: Part): boolean {
  const spelling = readSpelling(part);
  if (group.kind === "message") {
    if (part.kind !== "text" && part.kind !== "refusal") return false;
    return spelling === null || spelling.continues === true || spelling.item === undefined;
  }
  if (group.kind !== "reasoning" || part.kind !== "reasoning") return false;
  if (spelling !== null) return spelling.continues === true;
  const last = group.parts.at(-1) as ReasoningPart;
  return part.id !== null && part.id === last.id && last.signature === null;
}

/** Groups the parts of a turn into items. `rest` are the parts that this format has no item for. */
export function groupParts(parts: readonly Part[]): {
  readonly groups: readonly ItemGroup[];
  readonly rest: readonly Part[];
} {
  const groups: ItemGroup[] = [];
  const rest: Part[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last !== undefined && joinsGroup(last, part)) {
      (last.parts as Part[]).push(part);
      continue;
    }
    const group = openGroup(part);
    if (group === null) rest.push(part);
    else groups.push(group);
  }
  return { groups, rest };
}

/** Encodes a group as an item of this format, without ids and states that were not given. */
export function encodeItem(group: ItemGroup): Record<string, unknown> {
  switch (group.kind) {
    case "message":
      return encodeMessage(group.parts);
    case "reasoning":
      return encodeReasoning(group.parts);
    case "call":
      return encodeCall(group.parts[0] as ToolCallPart);
    case "native":
      return { ...group.parts[0]?.value };
    case "image":
      return encodeImage(group.parts[0]);
  }
}

function encodeMessage(parts: readonly (TextPart | RefusalPart)[]): Record<string, unknown> {
  const content = readSpelling(parts[0] as Part)?.asText
    ? parts.map((part) => part.text).join("")
    : parts.map((part) => encodePart(part, "output_text"));
  return { ...(findItemRest(parts) ?? { type: "message" }), role: "assistant", content };
}

function encodeCall(call: ToolCallPart): Record<string, unknown> {
  const head = { ...readSpelling(call)?.item, call_id: call.id, name: ownNameOf(call) };
  const grouped = call.namespace === undefined ? head : { ...head, namespace: call.namespace };
  return call.tool === "custom"
    ? { type: "custom_tool_call", ...grouped, input: call.arguments }
    : { type: "function_call", ...grouped, arguments: call.arguments };
}

/** Encodes a generated image as this format's image generation tool. */
function encodeImage(part: Part | undefined): Record<string, unknown> {
  const source = part?.kind === "image" && part.source.kind === "base64" ? part.source : null;
  const spelled = part === undefined ? undefined : readSpelling(part)?.item;
  const type = { type: "image_generation_call" };
  const result = source?.data ?? "";
  if (spelled !== undefined) return { ...type, ...spelled, result };
  const format = source?.mediaType.replace(/^image\//, "") ?? "png";
  return { ...type, status: "completed", ...(format === "png" ? {} : { output_format: format }), result };
}

/** Encodes a tool result as an item. */
export function encodeResult(result: Extract<Part, { kind: "tool-result" }>): Record<string, unknown> {
  const spelling = readSpelling(result);
  const type = result.tool === "custom" ? "custom_tool_call_output" : "function_call_output";
  return { type, ...spelling?.item, call_id: result.callId, output: encodeOutput(result.content, spelling) };
}

function encodeOutput(content: readonly Part[], spelling: { readonly asText?: true } | null): unknown {
  const asText =
    spelling === null
      ? content.every((part) => part.kind === "text" && part.cache?.isBreakpoint !== true)
      : spelling.asText === true;
  if (asText) return content.map((part) => (part.kind === "text" ? part.text : "")).join("");
  const encoded = content.map((part) => encodePart(part, "input_text")).filter((part) => part !== null);
  if (encoded.length > 0 || content.length === 0) return encoded;
  return [encodePart(describeLostContent(content.map(({ kind }) => kind)), "input_text")];
}

/** Returns the item's `id`; null if it has none. */
export function idOf(item: unknown): string | null {
  const id = asFields(item)?.["id"];
  return typeof id === "string" ? id : null;
}

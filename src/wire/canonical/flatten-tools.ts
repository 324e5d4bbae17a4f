import { sha256 } from "../../base/hash.ts";
import type { ProviderFormat } from "../conversation/format-name.ts";
import type { Warning } from "../conversation/warning.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";
import type { AnswerEvent, PartDelta } from "./answer.ts";
import { mapSame } from "./map-same.ts";
import type { Part, ToolCallPart } from "./parts.ts";
import type { ConversationRequest, CustomTool, FunctionTool, Message, Tool, ToolChoice } from "./request.ts";

/** A tool under the client's name. */
interface ClientTool {
  readonly name: string;
  readonly namespace: string | null;
  readonly tool: "function" | "custom";
}

/** The client's tools by the names that the target got for them. */
export type RenamedTools = ReadonlyMap<string, ClientTool>;

/** A request whose tools the target accepts, and how its answer is mapped back. */
export interface FlatRequest {
  readonly request: ConversationRequest;
  readonly renamed: RenamedTools;
  readonly warnings: readonly Warning[];
}

/** The properties of a target that decide how tools are flattened. */
interface ToolTarget {
  readonly format: ProviderFormat;
  /** A chat host that supports tools of type `custom`. */
  readonly takesCustomTools: boolean;
}

/** The tool names that every format accepts. */
const COMMON_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** Formats with namespaces of tools and free-text tools. */
const TAKES_GROUPS: ReadonlySet<ProviderFormat> = new Set(["openai-responses"]);
/** Formats without restrictions on tool names. */
const TAKES_ANY_NAME: ReadonlySet<ProviderFormat> = new Set(["openai-responses", "openai-chat"]);

/**
 * Brings tools into a form that the target supports: without namespaces, with a valid name, and as functions where it has no free-
 * text tools. Calls in earlier turns are changed in the same way. Requests without such tools are returned unchanged.
 */
export function flattenTools(request: ConversationRequest, target: ToolTarget): FlatRequest {
  if (TAKES_GROUPS.has(target.format) || !usesTools(request)) return { request, ...NONE_RENAMED };
  const naming = createNaming(target);
  const { warnings } = naming;
  const tools = request.tools.map((tool, at) => flattenTool(tool, `tools[${at}]`, naming));
  const flatten = (part: Part): Part => flattenPart(part, naming);
  const messages = mapSame(request.messages, (message) => flattenMessage(message, flatten));
  if (naming.renamed.size === 0) return { request, renamed: naming.renamed, warnings };
  const toolChoice = flattenChoice(request.toolChoice, naming);
  return { request: { ...request, tools, messages, toolChoice }, renamed: naming.renamed, warnings };
}

const NONE_RENAMED: Omit<FlatRequest, "request"> = { renamed: new Map(), warnings: [] };

function usesTools({ tools, messages }: ConversationRequest): boolean {
  return tools.length > 0 || messages.some(({ parts }) => parts.some(isOfTool));
}

function isOfTool({ kind }: Part): boolean {
  return kind === "tool-call" || kind === "tool-result";
}

/** What flattening the tools of one request shares. */
interface Naming {
  readonly warnings: Warning[];
  readonly takesFreeText: boolean;
  readonly renamed: Map<string, ClientTool>;
  /** Returns the tool's name in the target's format. */
  nameOf(name: string, namespace: string | undefined, tool: ClientTool["tool"]): string;
}

function createNaming({ format, takesCustomTools }: ToolTarget): Naming {
  const takesFreeText = format === "openai-chat" && takesCustomTools;
  const renamed = new Map<string, ClientTool>();
  return {
    warnings: [],
    takesFreeText,
    renamed,
    nameOf(name, namespace, tool) {
      const full = namespace === undefined ? name : `${namespace}__${name}`;
      const fits = (namespace === undefined && TAKES_ANY_NAME.has(format)) || COMMON_NAME.test(full);
      const flat = fits ? full : shortenName(full);
      if (flat !== name || (tool === "custom" && !takesFreeText))
        renamed.set(flat, { name, namespace: namespace ?? null, tool });
      return flat;
    },
  };
}

/** Returns a valid name that is the same for the same tool in every request. */
function shortenName(name: string): string {
  const digest = sha256(name, "hex").slice(0, 8);
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").replace(/^(?=[^A-Za-z_])/, "_");
  return `${plain.slice(0, 64 - 9)}_${digest}`;
}

function flattenTool(tool: Tool, field: string, naming: Naming): Tool {
  if (tool.kind === "native") return tool;
  const name = naming.nameOf(tool.name, tool.namespace, tool.kind);
  if (tool.kind === "function" && tool.namespace === undefined && name === tool.name) return tool;
  const { namespace: _, ...rest } = tool;
  if (rest.kind === "function" || naming.takesFreeText) return { ...rest, name };
  if (rest.inputFormat !== null && rest.inputFormat["type"] !== "text") {
    const message = "The model is not bound to the tool's grammar; its text may break it.";
    naming.warnings.push({ field: `${field}.format`, message });
  }
  return toFunction(rest, name);
}

const FREE_TEXT: Fields = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input, as free text." } },
  required: ["input"],
};

function toFunction({ description, inputFormat, cache }: CustomTool, name: string): FunctionTool {
  const tool: FunctionTool = {
    kind: "function",
    name,
    description: describeGrammar(description, inputFormat),
    parameters: FREE_TEXT,
    strict: null,
  };
  return cache === undefined ? tool : { ...tool, cache };
}

/** Adds the grammar to the description, because a function's argument cannot be bound to it. */
function describeGrammar(description: string | null, inputFormat: Fields | null): string | null {
  const definition = inputFormat?.["definition"];
  if (typeof definition !== "string" || definition === "") return description;
  const explanation = `The input has to match this grammar:\n${definition}`;
  return description === null ? explanation : `${description}\n\n${explanation}`;
}

function flattenMessage(message: Message, flatten: (part: Part) => Part): Message {
  const parts = mapSame(message.parts, flatten);
  return parts === message.parts ? message : { ...message, parts };
}

function flattenPart(part: Part, naming: Naming): Part {
  if (part.kind === "tool-result") {
    return naming.takesFreeText || part.tool === "function" ? part : { ...part, tool: "function" };
  }
  if (part.kind !== "tool-call") return part;
  const name = naming.nameOf(part.name, part.namespace, part.tool);
  const keepsKind = part.tool === "function" || naming.takesFreeText;
  if (keepsKind && part.namespace === undefined && name === part.name) return part;
  const { namespace: _, ...call } = part;
  if (keepsKind) return { ...call, name };
  return { ...call, name, tool: "function", arguments: JSON.stringify({ input: part.arguments }) };
}

function flattenChoice(choice: ToolChoice | null, { takesFreeText, renamed }: Naming): ToolChoice | null {
  if (choice?.kind !== "tool" && choice?.kind !== "allowed") return choice;
  const flatNames = new Map<string, string>();
  for (const [flat, { name }] of renamed) if (!flatNames.has(name)) flatNames.set(name, flat);
  const nameOf = (name: string): string => flatNames.get(name) ?? name;
  const { customs, ...rest } = choice;
  const named =
    rest.kind === "tool" ? { ...rest, name: nameOf(rest.name) } : { ...rest, names: rest.names.map(nameOf) };
  return takesFreeText && customs !== undefined ? { ...named, customs: customs.map(nameOf) } : named;
}

/** Returns a function that restores the client's names, namespaces and free text in the calls of an answer. */
export function createToolRestorer(
  renamed: ReadonlyMap<string, ClientTool>,
): (event: AnswerEvent) => readonly AnswerEvent[] {
  /** Arguments of calls whose free text can only be read once their JSON is complete, by part. */
  const gathering = new Map<string, string>();
  const keyOf = ({ choice, at }: { readonly choice: number; readonly at: number }): string =>
    `${choice}/${at}`;
  return (event) => {
    if (event.kind === "part-start" && event.part.kind === "tool-call") {
      const tool = renamed.get(event.part.name);
      if (tool === undefined) return [event];
      if (tool.tool === "custom" && event.part.tool === "function") {
        gathering.set(keyOf(event), event.part.arguments);
      }
      return [{ ...event, part: restoreCall(event.part, tool) }];
    }
    if (event.kind !== "part-delta" && event.kind !== "part-end") return [event];
    const key = keyOf(event);
    const gathered = gathering.get(key);
    if (gathered === undefined) return [event];
    if (event.kind === "part-delta") {
      if (event.delta.kind !== "arguments") return [event];
      gathering.set(key, gathered + event.delta.text);
      return [];
    }
    gathering.delete(key);
    const delta: PartDelta = { kind: "arguments", text: readFreeText(gathered) };
    return [{ kind: "part-delta", choice: event.choice, at: event.at, delta }, event];
  };
}

function restoreCall(call: ToolCallPart, { name, namespace, tool }: ClientTool): ToolCallPart {
  const restored = { ...call, name, tool, ...(namespace === null ? {} : { namespace }) };
  return tool === "custom" && call.tool === "function" ? { ...restored, arguments: "" } : restored;
}

/** Returns the `input` of a call that stands for free text; all of the arguments if the model did not follow the schema. */
function readFreeText(json: string): string {
  try {
    const input = asFields(parseJson(json))?.["input"];
    return typeof input === "string" ? input : json;
  } catch {
    return json;
  }
}

import { asFields, type Fields } from "../../../base/json/fields.ts";
import { parseJson } from "../../../base/json/parse-json.ts";
import { sha256 } from "../../../base/secrets/hash.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { AnswerEvent, PartDelta } from "../model/answer.ts";
import { mapSame } from "../model/map-same.ts";
import type { Part, ToolCallPart } from "../model/parts.ts";
import type {
  ConversationRequest,
  CustomTool,
  FunctionTool,
  Message,
  NativeTool,
  Tool,
  ToolChoice,
} from "../model/request.ts";

/** A tool under the client's name. */
interface ClientTool {
  readonly name: string;
  readonly namespace: string | null;
  readonly tool: "function" | "custom";
}

/** The client's tools by the names that were sent to the target. */
export type RenamedTools = ReadonlyMap<string, ClientTool>;

/** A request whose tools the target accepts, and how its answer is mapped back. */
interface FlatRequest {
  readonly request: ConversationRequest;
  readonly renamed: RenamedTools;
  readonly warnings: readonly Warning[];
}

/** The properties of a target that decide how tools are flattened. */
interface ToolTarget {
  readonly format: Pick<FormatTraits, "tools">;
  /** Whether the host supports tools of type `custom`, if the format has them. */
  readonly takesCustomTools: boolean;
  /** Whether the host supports namespaces of tools, if the format has them. Defaults to false. */
  readonly takesToolNamespaces?: boolean;
  /** Whether client and target use the same format. Names are then sent unchanged, as when the client's bytes are forwarded. */
  readonly isClients?: boolean;
}

/** The tool names that every format accepts. */
const COMMON_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Brings tools into a form that the target supports: without namespaces, with a valid name, and as functions where it has no free-
 * text tools. Calls in earlier turns are changed in the same way. Requests without such tools are returned unchanged.
 */
export function flattenTools(request: ConversationRequest, target: ToolTarget): FlatRequest {
  if (!usesTools(request)) return { request, ...NONE_RENAMED };
  const naming = createNaming(request.tools, target);
  const { warnings } = naming;
  const tools = request.tools.flatMap((tool, at) => flattenTool(tool, `tools[${at}]`, naming) ?? []);
  const flatten = (part: Part): Part => flattenPart(part, naming);
  const messages = mapSame(request.messages, (message) => flattenMessage(message, flatten));
  const renamed = withPrefixes(naming.renamed, tools, target.format.tools.calledPrefixes);
  if (naming.renamed.size === 0 && tools.length === request.tools.length)
    return { request, renamed, warnings };
  const toolChoice = flattenChoice(request.toolChoice, naming);
  return { request: { ...request, tools, messages, toolChoice }, renamed, warnings };
}

const NONE_RENAMED: Omit<FlatRequest, "request"> = { renamed: new Map(), warnings: [] };

function usesTools({ tools, messages }: ConversationRequest): boolean {
  return tools.length > 0 || messages.some(({ parts }) => parts.some(isOfTool));
}

function isOfTool({ kind }: Part): boolean {
  return kind === "tool-call" || kind === "tool-result";
}

/** The state that is shared while the tools of one request are flattened. */
interface Naming {
  readonly warnings: Warning[];
  readonly takesFreeText: boolean;
  readonly takesNamespaces: boolean;
  readonly renamed: Map<string, ClientTool>;
  /** Returns the tool's name in the target's format. */
  nameOf(name: string, namespace: string | undefined, tool: ClientTool["tool"]): string;
}

function createNaming(
  tools: readonly Tool[],
  { format, takesCustomTools, takesToolNamespaces = false, isClients = false }: ToolTarget,
): Naming {
  const takesFreeText = format.tools.hasCustomTools === true && takesCustomTools;
  const takesNamespaces = format.tools.hasNamespaces === true && takesToolNamespaces;
  const longest = format.tools.maxNameChars;
  const renamed = new Map<string, ClientTool>();
  const ungrouped = new Set(
    tools.flatMap((tool) => (tool.kind === "native" || tool.namespace !== undefined ? [] : [tool.name])),
  );
  const fits = (name: string): boolean =>
    longest === null ? isClients || COMMON_NAME.test(name) : name.length <= longest;
  return {
    warnings: [],
    takesFreeText,
    takesNamespaces,
    renamed,
    nameOf(name, given, tool) {
      const namespace = takesNamespaces ? undefined : given;
      const full = namespace === undefined ? name : `${namespace}__${name}`;
      const isFree = namespace === undefined ? fits(full) : COMMON_NAME.test(full) && !ungrouped.has(full);
      const flat = isFree ? full : shortenName(full);
      if (flat !== name || (tool === "custom" && !takesFreeText))
        renamed.set(flat, { name, namespace: given ?? null, tool });
      return flat;
    },
  };
}

/** Adds further names that a model may use to call the tools, unless another tool has that name. */
function withPrefixes(
  renamed: ReadonlyMap<string, ClientTool>,
  tools: readonly Tool[],
  prefixes: readonly string[] = [],
): RenamedTools {
  if (prefixes.length === 0) return renamed;
  const all = new Map(renamed);
  const own = new Set(tools.flatMap((tool) => (tool.kind === "native" ? [] : [tool.name])));
  for (const name of own)
    for (const prefix of prefixes)
      if (!own.has(`${prefix}${name}`))
        all.set(`${prefix}${name}`, renamed.get(name) ?? { name, namespace: null, tool: "function" });
  return all;
}

/** Returns a valid name that is the same for the same tool in every request. */
function shortenName(name: string): string {
  const digest = sha256(name, "hex").slice(0, 8);
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").replace(/^(?=[^A-Za-z_])/, "_");
  return `${plain.slice(0, 64 - 9)}_${digest}`;
}

/** Returns null for a tool that is left out. */
function flattenTool(tool: Tool, field: string, naming: Naming): Tool | null {
  if (tool.kind === "native") return flattenNative(tool, field, naming);
  const name = naming.nameOf(tool.name, tool.namespace, tool.kind);
  const keepsKind = tool.kind === "function" || naming.takesFreeText;
  if (keepsKind && keepsGroup(tool, naming) && name === tool.name) return tool;
  const rest = naming.takesNamespaces ? tool : withoutNamespace(tool);
  if (rest.kind === "function" || naming.takesFreeText) return { ...rest, name };
  if (rest.inputFormat !== null && rest.inputFormat["type"] !== "text") {
    const message = "The tool's grammar is not enforced; the model's text may break it.";
    naming.warnings.push({ field: `${field}.format`, message });
  }
  return toFunction(rest, name);
}

function keepsGroup({ namespace }: { readonly namespace?: string }, { takesNamespaces }: Naming): boolean {
  return namespace === undefined || takesNamespaces;
}

function withoutNamespace(tool: FunctionTool | CustomTool): FunctionTool | CustomTool {
  const { namespace: _, ...rest } = tool;
  return rest;
}

/** Returns null for a namespace without any tool that can be flattened. */
function flattenNative(tool: NativeTool, field: string, naming: Naming): Tool | null {
  if (tool.isNamespace !== true || naming.takesNamespaces) return tool;
  const message =
    "The provider does not support namespaces, and this one contains no functions; it was left out.";
  naming.warnings.push({ field, message });
  return null;
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

/** Adds the grammar to the description, because a function's argument cannot be constrained by it. */
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
  if (keepsKind && keepsGroup(part, naming) && name === part.name) return part;
  const { namespace, ...call } = part;
  const home = naming.takesNamespaces && namespace !== undefined ? { namespace } : {};
  if (keepsKind) return { ...call, name, ...home };
  // The other extras apply only to calls of free-text tools, such as the beginning of the id.
  const { extras: _, ...rest } = call;
  return { ...rest, name, ...home, tool: "function", arguments: JSON.stringify({ input: part.arguments }) };
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

/** Returns the free text in the `input` of a call; the whole arguments if the model did not follow the schema. */
function readFreeText(json: string): string {
  try {
    const input = asFields(parseJson(json))?.["input"];
    return typeof input === "string" ? input : json;
  } catch {
    return json;
  }
}

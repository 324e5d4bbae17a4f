import { rejectField } from "../../../base/failures/errors.ts";
import { asFields, asList, type Fields } from "../../../base/json/fields.ts";
import { isWord, type JsonNode, tryParseNode } from "../../../base/json/scan.ts";

/** The tools that a `tool_choice` requires in its request. */
export interface WantedTools {
  /** At least one tool. */
  readonly any?: true;
  /** Tools with these names. */
  readonly names?: readonly string[];
  /** A tool of this type, which the vendor runs. */
  readonly type?: string;
}

/** A tool that a request offers. */
export interface OfferedTool {
  /** Undefined for a function without a type, as in Messages. */
  readonly type: string | undefined;
  /** Its name, or those of the tools in a namespace. */
  readonly names: readonly string[];
}

/** The tools that a request offers. */
interface OfferedTools {
  readonly tools: readonly OfferedTool[];
  /** Whether the model may call tools that the request does not name: tools of a server, or tools that a search has found. */
  readonly hasMore: boolean;
}

/** The type of a choice in OpenAI's formats that lists the tools which may be called. */
export const ALLOWED_TOOLS = "allowed_tools";

/** How one of OpenAI's formats spells a choice among tools. */
export interface ChoiceSpelling {
  /** Returns the tool that a choice names; for a tool that the host runs, its type. */
  readonly readNamed: (choice: Fields) => WantedTools;
  /** Returns the list of a choice of the type `allowed_tools`. */
  readonly readAllowed: (choice: Fields) => unknown;
}

/**
 * Returns what the `tool_choice` of a scanned request in one of OpenAI's formats requires; null if it requires no tool. `text` is the body,
 * bytes as Latin-1; `choice` the member.
 */
export function readWantedTools(
  text: string,
  choice: JsonNode,
  { readNamed, readAllowed }: ChoiceSpelling,
): WantedTools | null {
  if (choice.kind === "string") return isWord(text, choice, "required") ? { any: true } : null;
  const fields = asFields(tryParseNode(text, choice));
  if (fields === null) return null;
  if (fields["type"] !== ALLOWED_TOOLS) return readNamed(fields);
  const allowed = asList(readAllowed(fields)).map((one) => readNamed(asFields(one) ?? {}));
  return { any: true, names: allowed.flatMap(({ names = [] }) => names) };
}

/**
 * Checks that a request offers the tools that its `tool_choice` requires. Tools that only earlier calls name are not offered.
 * @throws GatewayError `invalid_request` that names the field: every vendor rejects it, some only after they have counted the request.
 */
export function checkWantedTools(wanted: WantedTools, { tools, hasMore }: OfferedTools): void {
  if (hasMore) return;
  if (tools.length === 0) rejectField("tool_choice", "requires a tool, but the request has no tools");
  const { names = [], type } = wanted;
  if (type !== undefined && !tools.some((tool) => isOfType(tool, type)))
    rejectField("tool_choice", `requires a tool of the type "${shorten(type)}", which is not among tools`);
  const offered = new Set(tools.flatMap((tool) => tool.names));
  const missing = names.find((name) => !offered.has(name));
  if (missing !== undefined)
    rejectField("tool_choice", `requires the tool "${shorten(missing)}", which is not among tools`);
}

/** Returns whether a tool has the wanted type. The choice may omit the version of the tool's type, or add one. */
function isOfType({ type = "function" }: OfferedTool, wanted: string): boolean {
  return type.startsWith(wanted) || wanted.startsWith(type);
}

const SHOWN_CHARS = 100;

function shorten(text: string): string {
  return text.slice(0, SHOWN_CHARS);
}

import { rejectField } from "../../../base/failures/errors.ts";
import {
  type CountedScan,
  decodeUtf8,
  isFilled,
  isWord,
  type JsonNode,
  memberOf,
  stringOf,
} from "../../../base/json/scan.ts";
import { removeMembers, renameMember, type Splice } from "../../../base/json/splice.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import { type ChatBody, type ChatMessage, MARKS } from "./request-shape.ts";

/**
 * Replaces the deprecated function fields by the current tool fields: `functions` and `function_call` of a request, `function_call` and
 * the role `function` of its messages. Returns null if there are none.
 * Calls had no ids then. They get ids by their order, in a form that all vendors accept; a result gets the id of the nearest
 * earlier call with its name. Where `tools`, `tool_choice` or `tool_calls` is present as well, the deprecated field is dropped.
 * `text` is the body, bytes as Latin-1; `marks` are those of its scan.
 * @throws GatewayError `invalid_request` that names the field as the client spelled it.
 */
export function replaceLegacyFunctions(
  text: string,
  { root, marks }: Pick<CountedScan<ChatBody>, "root" | "marks">,
): LegacyReplacement | null {
  if (!usesLegacy(text, root, (marks & MARKS.functions) !== 0)) return null;
  const splices = replaceInRoot(text, root);
  new CallNamer(text, splices).nameAll(root.fields.messages?.items ?? []);
  return {
    splices,
    usesFunctions: !isAbsent(root.fields.functions) && isAbsent(root.fields.tools),
  };
}

interface LegacyReplacement {
  readonly splices: readonly Splice[];
  /** The client only knows functions, so its answer must use `function_call`. */
  readonly usesFunctions: boolean;
}

/** `mayHaveFields`: the body has deprecated fields, which may all be null. */
function usesLegacy(text: string, { fields }: ChatBody, mayHaveFields: boolean): boolean {
  if (mayHaveFields && !(isAbsent(fields.functions) && isAbsent(fields.function_call))) return true;
  for (const message of fields.messages?.items ?? []) {
    const { role, function_call: call } = message.fields;
    if (isWord(text, role, "function") || (mayHaveFields && !isAbsent(call))) return true;
  }
  return false;
}

function sliceOf(text: string, { start, end }: JsonNode): string {
  return decodeUtf8(text.slice(start, end));
}

function replaceValue({ start, end }: JsonNode, insert: string): Splice {
  return { start, end, insert };
}

function replaceInRoot(text: string, root: ChatBody): Splice[] {
  const functions = root.fields.functions;
  const choice = root.fields.function_call;
  const splices: Splice[] = [];
  const removed = new Set<string>();
  const replace = (
    member: JsonNode | undefined,
    name: string,
    encode: (member: JsonNode) => string,
  ): void => {
    if (isAbsent(member)) return;
    const newer = memberOf(root, name);
    if (isAbsent(newer)) splices.push(renameMember(text, member, name), replaceValue(member, encode(member)));
    if (newer !== undefined) removed.add(newer.kind === "null" ? name : member.key);
  };
  replace(functions, "tools", (member) => encodeTools(text, member));
  replace(choice, "tool_choice", (member) =>
    member.kind === "object" ? asTool(sliceOf(text, member)) : sliceOf(text, member),
  );
  return splices.concat(removeMembers(text, root, removed));
}

function encodeTools(text: string, functions: JsonNode): string {
  if (!functions.items) return rejectField("functions", "must be an array of functions");
  const tools = functions.items.map((item, at) => {
    if (!isFilled(memberOf(item, "name")))
      rejectField(`functions[${at}].name`, "must be a string that is not empty");
    return asTool(sliceOf(text, item));
  });
  return `[${tools.join(",")}]`;
}

function asTool(json: string): string {
  return `{"type":"function","function":${json}}`;
}

const CALL: ReadonlySet<string> = new Set(["function_call"]);
const CALLS: ReadonlySet<string> = new Set(["tool_calls"]);

/** Assigns ids to calls and results. */
class CallNamer {
  private readonly text: string;
  private readonly splices: Splice[];
  /** Ids of the calls without a result by tool name, the latest last. */
  private readonly open = new Map<string, string[]>();
  private count = 0;

  constructor(text: string, splices: Splice[]) {
    this.text = text;
    this.splices = splices;
  }

  nameAll(messages: readonly ChatMessage[]): void {
    for (const [at, message] of messages.entries()) {
      const call = message.fields.function_call;
      if (!isAbsent(call)) this.nameCall(message, call, `messages[${at}].function_call`);
      else if (isWord(this.text, message.fields.role, "function")) this.nameResult(message);
    }
  }

  private nameCall(message: ChatMessage, call: JsonNode, field: string): void {
    const calls = message.fields.tool_calls;
    if ((calls?.items?.length ?? 0) > 0) {
      this.splices.push(...removeMembers(this.text, message, CALL));
      return;
    }
    const name = stringOf(this.text, memberOf(call, "name"));
    if (name === undefined) rejectField(`${field}.name`, "must be a string");
    const json = `[{"id":"${this.openCall(name)}",${asTool(sliceOf(this.text, call)).slice(1)}]`;
    this.splices.push(renameMember(this.text, call, "tool_calls"), replaceValue(call, json));
    if (calls !== undefined) this.splices.push(...removeMembers(this.text, message, CALLS));
  }

  private openCall(name: string): string {
    const id = `fn${String(this.count++).padStart(7, "0")}`;
    const open = this.open.get(name);
    if (open === undefined) this.open.set(name, [id]);
    else open.push(id);
    return id;
  }

  private nameResult(message: ChatMessage): void {
    const { start, end } = message.fields.role as JsonNode;
    const hasId = message.fields.tool_call_id !== undefined;
    const id = this.open.get(stringOf(this.text, message.fields.name) ?? "")?.pop() ?? NO_CALL;
    this.splices.push({ start, end, insert: hasId ? '"tool"' : `"tool","tool_call_id":"${id}"` });
  }
}

/** An id that no call has, so that tool-call repair removes the result. */
const NO_CALL = "fnNoCall0";

import { fail } from "../../base/errors.ts";
import { decodeUtf8, isFilled, isWord, type JsonNode, memberOf, stringOf } from "../json/scan.ts";
import { removeMembers, renameMember, type Splice } from "../json/splice.ts";

/**
 * Puts the fields by which OpenAI's API knew functions before it knew tools into today's words: `functions` and
 * `function_call` of a request, `function_call` and the role `function` of its messages. Null where there are none.
 *
 * Calls had no ids then. They get some by their order, which fit all vendors; a result gets the id of the nearest call of
 * its name before it. Beside `tools`, `tool_choice` or `tool_calls` the older field is left out. `text` is the body, bytes
 * read as Latin-1.
 * @throws GatewayError `invalid_request` that names the field, in the client's words.
 */
export function modernise(text: string, root: JsonNode): readonly Splice[] | null {
  const splices = [
    ...moderniseTools(text, root),
    ...moderniseChoice(text, root),
    ...new CallNamer(text).nameAll(memberOf(root, "messages")?.items ?? []),
  ];
  return splices.length === 0 ? null : splices;
}

function sliceOf(text: string, { start, end }: JsonNode): string {
  return decodeUtf8(text.slice(start, end));
}

/** Gives a member another name and value. */
function change(text: string, member: JsonNode, name: string, json: string): Splice[] {
  return [renameMember(text, member, name), { start: member.start, end: member.end, insert: json }];
}

function refuse(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}

function moderniseTools(text: string, root: JsonNode): Splice[] {
  const functions = memberOf(root, "functions");
  if (functions === undefined) return [];
  if (functions.kind === "null" || memberOf(root, "tools") !== undefined)
    return leaveOut(text, root, "functions");
  if (!functions.items) return refuse("functions", "must be an array of functions");
  const tools = functions.items.map((item, at) => {
    if (!isFilled(memberOf(item, "name")))
      refuse(`functions[${at}].name`, "must be a string that is not empty");
    return asTool(sliceOf(text, item));
  });
  return change(text, functions, "tools", `[${tools.join(",")}]`);
}

function moderniseChoice(text: string, root: JsonNode): Splice[] {
  const choice = memberOf(root, "function_call");
  if (choice === undefined) return [];
  if (choice.kind === "null" || memberOf(root, "tool_choice") !== undefined)
    return leaveOut(text, root, "function_call");
  const json = sliceOf(text, choice);
  return change(text, choice, "tool_choice", choice.kind === "object" ? asTool(json) : json);
}

function asTool(json: string): string {
  return `{"type":"function","function":${json}}`;
}

function leaveOut(text: string, object: JsonNode, field: string): Splice[] {
  return removeMembers(text, object, new Set([field]));
}

/** Gives calls and results their ids. */
class CallNamer {
  private readonly text: string;
  /** Ids of the calls without a result, by name, the nearest last. */
  private readonly open = new Map<string, string[]>();
  private count = 0;

  constructor(text: string) {
    this.text = text;
  }

  nameAll(messages: readonly JsonNode[]): Splice[] {
    return messages.flatMap((message, at) => {
      const call = memberOf(message, "function_call");
      if (call !== undefined) return this.nameCall(message, call, `messages[${at}].function_call`);
      return isWord(this.text, memberOf(message, "role"), "function") ? this.nameResult(message) : [];
    });
  }

  private nameCall(message: JsonNode, call: JsonNode, field: string): Splice[] {
    const calls = memberOf(message, "tool_calls");
    if (call.kind === "null" || (calls?.items?.length ?? 0) > 0)
      return leaveOut(this.text, message, "function_call");
    const name = stringOf(this.text, memberOf(call, "name"));
    if (name === undefined) refuse(`${field}.name`, "must be a string");
    const id = `fn${String(this.count++).padStart(7, "0")}`;
    const open = this.open.get(name);
    if (open === undefined) this.open.set(name, [id]);
    else open.push(id);
    const json = `[{"id":"${id}",${asTool(sliceOf(this.text, call)).slice(1)}]`;
    const removed = calls === undefined ? [] : leaveOut(this.text, message, "tool_calls");
    return [...removed, ...change(this.text, call, "tool_calls", json)];
  }

  private nameResult(message: JsonNode): Splice[] {
    const { start, end } = memberOf(message, "role") as JsonNode;
    const hasId = memberOf(message, "tool_call_id") !== undefined;
    const id = this.open.get(stringOf(this.text, memberOf(message, "name")) ?? "")?.pop() ?? NO_CALL;
    return [{ start, end, insert: hasId ? '"tool"' : `"tool","tool_call_id":"${id}"` }];
  }
}

/** An id that no call has: repair removes the result. */
const NO_CALL = "fnNoCall0";

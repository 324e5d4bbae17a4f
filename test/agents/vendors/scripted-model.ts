import { isObject, type JsonObject } from "./json-shape.ts";

/** A tool that an agent offers. */
export interface OfferedTool {
  readonly name: string;
  /** JSON Schema of its arguments; `null` for a tool that takes free text. */
  readonly parameters: JsonObject | null;
}

/** The part of a conversation that the model uses. */
export interface Conversation {
  readonly tools: readonly OfferedTool[];
  /** Its contents, in order. */
  readonly entries: readonly Entry[];
  readonly allowsParallelCalls: boolean;
}

export type Entry =
  | { readonly kind: "text"; readonly role: "system" | "user" | "assistant"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string }
  | { readonly kind: "result"; readonly id: string; readonly text: string };

/** A call by the model. */
export interface PlannedCall {
  readonly name: string;
  /** An object; text for a tool that takes free text. */
  readonly arguments: JsonObject | string;
}

/** The model's next step. */
export interface Reply {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

/** The agent's task: write a file, then read another one and report its contents. */
export interface Task {
  readonly file: string;
  readonly text: string;
  readonly clueFile: string;
}

/**
 * Returns the task as a prompt that the scripted model understands. Without quotes, because some agents escape
 * them.
 */
export function writePrompt({ file, text, clueFile }: Task): string {
  return `Create the file ${file} with the text [${text}] in it. Then read the file ${clueFile} and tell me the clue.`;
}

/** Matches the clue, which the model finds in a tool result. */
export const CLUE = /clue-[0-9a-f]{16}/;

/** Returns the sentence with which the model ends the task. */
export function closingSentence(clue: string): string {
  return `The task is done and the clue is ${clue}.`;
}

const PROMPT = /Create the file (\S+) with the text \[([^\]]+)\] in it\. Then read the file (\S+) and/;

/**
 * Returns the next step of the conversation's task: a write, then two parallel reads, then the closing sentence
 * with the clue. A conversation without the task or without tools, such as a request for a title, gets a short text.
 */
export function decideReply(conversation: Conversation): Reply {
  const task = findTask(conversation.entries);
  if (task === null || conversation.tools.length === 0) return say("A file and a clue");
  const results = conversation.entries.filter((entry) => entry.kind === "result");
  if (results.length === 0) return writeFile(conversation, task);
  if (results.length === 1) return readFiles(conversation, task);
  const clue = CLUE.exec(results.map(({ text }) => text).join("\n"))?.[0];
  return say(clue === undefined ? "I found no clue." : closingSentence(clue));
}

function findTask(entries: readonly Entry[]): Task | null {
  for (const entry of entries) {
    if (entry.kind !== "text" || entry.role !== "user") continue;
    const [, file, text, clueFile] = PROMPT.exec(entry.text) ?? [];
    if (file !== undefined && text !== undefined && clueFile !== undefined) return { file, text, clueFile };
  }
  return null;
}

function say(text: string): Reply {
  return { reasoning: "Nothing is left to do but to answer.", text, calls: [] };
}

function writeFile({ tools }: Conversation, { file, text }: Task): Reply {
  const call =
    callTool(tools, isWriter, { path: file, content: `${text}\n` }) ??
    callTool(tools, isShell, { command: `printf '%s\\n' ${quoteForShell(text)} > ${quoteForShell(file)}` }) ??
    callTool(tools, isPatcher, { patch: patchThatAdds(file, text) });
  if (call === null) return say(`I have no tool to write with: ${tools.map(({ name }) => name).join(", ")}.`);
  return { reasoning: "The file comes first.", text: "I write the file.", calls: [call] };
}

function readFiles({ tools, allowsParallelCalls }: Conversation, { file, clueFile }: Task): Reply {
  const read = (path: string): PlannedCall | null => callTool(tools, isReader, { path });
  const run = (path: string): PlannedCall | null =>
    callTool(tools, isShell, { command: `cat ${quoteForShell(path)}` });
  const first = read(clueFile) ?? run(clueFile);
  const second = run(file) ?? read(file);
  if (first === null || second === null) return say("I have no tool to read with.");
  const calls = allowsParallelCalls ? [first, second] : [first];
  return { reasoning: "Now both files can be read at once.", text: "I read the files.", calls };
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function patchThatAdds(file: string, text: string): string {
  return `*** Begin Patch\n*** Add File: ${file}\n+${text}\n*** End Patch\n`;
}

/** The values for a tool call by their meaning, whatever the names of the tool's parameters. */
type CallValues = Readonly<Partial<Record<Meaning, string>>>;
type Meaning = "path" | "content" | "command" | "patch";

const MEANINGS: Readonly<Record<Meaning, RegExp>> = {
  path: /^(file_?path|absolute_path|path|file|file_?name|target_file)$/i,
  content: /^(contents?|text|file_text)$/i,
  command: /^(commands?|cmd|script)$/i,
  patch: /^(patch|patch_?text|input)$/i,
};

function isWriter(tool: OfferedTool): boolean {
  return /write|create/i.test(tool.name) && takes(tool, "path") && takes(tool, "content");
}

function isReader(tool: OfferedTool): boolean {
  return /^read(_?file)?$|^view$/i.test(tool.name) && takes(tool, "path");
}

function isShell(tool: OfferedTool): boolean {
  return /bash|shell|exec|terminal|command/i.test(tool.name) && takes(tool, "command");
}

function isPatcher(tool: OfferedTool): boolean {
  return /patch/i.test(tool.name) && (tool.parameters === null || takes(tool, "patch"));
}

function takes(tool: OfferedTool, meaning: Meaning): boolean {
  return propertiesOf(tool).some(([name]) => MEANINGS[meaning].test(name));
}

function propertiesOf({ parameters }: OfferedTool): [string, JsonObject][] {
  const properties = parameters?.["properties"];
  if (!isObject(properties)) return [];
  return Object.entries(properties).map(([name, schema]) => [name, isObject(schema) ? schema : {}]);
}

/** Returns a call of the first tool of a kind, with arguments for its schema; `null` if there is none. */
function callTool(
  tools: readonly OfferedTool[],
  isKind: (tool: OfferedTool) => boolean,
  values: CallValues,
): PlannedCall | null {
  const tool = tools.find(isKind);
  if (tool === undefined) return null;
  if (tool.parameters === null) return { name: tool.name, arguments: Object.values(values)[0] ?? "" };
  const required = tool.parameters["required"];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  const filled = propertiesOf(tool).flatMap(([name, schema]): [string, unknown][] => {
    const value = findValue(name, values);
    if (value !== undefined) return [[name, schema["type"] === "array" ? listWords(name, value) : value]];
    return isRequired(name) ? [[name, fillIn(schema)]] : [];
  });
  return { name: tool.name, arguments: Object.fromEntries(filled) };
}

/** Returns a value for a list: of commands, or of the words of one command. */
function listWords(name: string, value: string): readonly string[] {
  return name === "commands" ? [value] : ["bash", "-lc", value];
}

function findValue(name: string, values: CallValues): string | undefined {
  const meaning = (Object.keys(MEANINGS) as Meaning[]).find((meaning) => MEANINGS[meaning].test(name));
  return meaning === undefined ? undefined : values[meaning];
}

/** Returns a value for a required property without a known meaning. */
function fillIn(schema: JsonObject): unknown {
  const options = schema["enum"];
  if (Array.isArray(options)) return options[0];
  switch (schema["type"]) {
    case "boolean":
      return false;
    case "number":
    case "integer":
      return schema["minimum"] ?? 1;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return "a step of the task";
  }
}

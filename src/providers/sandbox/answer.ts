import { createHash } from "node:crypto";
import { countTokens, cutToTokens } from "./count-tokens.ts";
import { makeInstanceOfSchema } from "./instance-of-schema.ts";
import { SANDBOX_AGENT_MODEL, type SandboxRequest, type SandboxTool } from "./read-request.ts";

/** The model's own limit of an answer. Tokens. */
const MAX_OUTPUT_TOKENS = 32_768;

/** The effects that the markers of a message have on the answer. */
export interface AnswerDirectives {
  /** The last user message without its markers. */
  readonly text: string;
  /** The tools to call: all, one by name, or null for no call. */
  readonly calls: "all" | { readonly name: string } | null;
  readonly reasons: boolean;
  /** The number of words of the answer; null for an echo. */
  readonly words: number | null;
}

export interface AnswerCall {
  readonly id: string;
  readonly name: string;
  /** JSON, truncated at the token limit. */
  readonly arguments: string;
}

export interface SandboxChoice {
  /** Empty for no reasoning. */
  readonly reasoning: string;
  /** Null if there are calls. */
  readonly text: string | null;
  readonly calls: readonly AnswerCall[];
  readonly finish: "stop" | "length" | "tool_calls";
}

/** The model's answer before it is encoded. */
export interface SandboxAnswer {
  readonly choices: readonly SandboxChoice[];
  readonly usage: {
    readonly promptTokens: number;
    readonly cachedTokens: number;
    /** Including reasoning. */
    readonly completionTokens: number;
    readonly reasoningTokens: number;
  };
}

/** An answer, or why the sandbox cannot make one. */
type ComposedAnswer =
  | { readonly ok: true; readonly answer: SandboxAnswer }
  | { readonly ok: false; readonly problem: string };

/** Composes the answer to a request, always the same one for the same request (docs/sandbox.md). */
export function composeAnswer(request: SandboxRequest, directives: AnswerDirectives): ComposedAnswer {
  const tools = chooseTools(request, directives);
  if (tools === null) return { ok: false, problem: "The marker names a tool that is not in 'tools'." };
  const drafts: SandboxChoice[] = [];
  for (let index = 0; index < request.choices; index++) {
    const drafted =
      tools.length > 0 ? draftCalls(request, tools, index) : draftText(request, directives, index);
    if (!drafted.ok) return drafted;
    const reasoning = directives.reasons ? `The user said: ${quote(directives.text)}. I answer it.` : "";
    drafts.push({ ...drafted.choice, reasoning });
  }
  const limit = Math.min(request.maxTokens ?? MAX_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS);
  const choices = drafts.map((choice) => truncateChoice(choice, limit));
  return { ok: true, answer: { choices, usage: countUsage(request, choices) } };
}

/** Returns the tools to call; null if the marker names a tool that the request does not have. */
function chooseTools(request: SandboxRequest, directives: AnswerDirectives): readonly SandboxTool[] | null {
  const { tools, toolChoice, results } = request;
  if (typeof toolChoice === "object") return tools.filter(({ name }) => name === toolChoice.name).slice(0, 1);
  // Results are always answered with text, so that agents do not loop forever.
  if (toolChoice === "none" || results.length > 0) return [];
  if (directives.calls === "all") return request.parallelCalls ? tools : tools.slice(0, 1);
  if (directives.calls !== null) {
    const named = tools.find(({ name }) => name === (directives.calls as { name: string }).name);
    return named === undefined ? null : [named];
  }
  return toolChoice === "required" || request.model === SANDBOX_AGENT_MODEL ? tools.slice(0, 1) : [];
}

type Draft =
  | { readonly ok: true; readonly choice: SandboxChoice }
  | { readonly ok: false; readonly problem: string };

function draftCalls(request: SandboxRequest, tools: readonly SandboxTool[], index: number): Draft {
  const calls: AnswerCall[] = [];
  for (const [position, { name, parameters }] of tools.entries()) {
    const made = makeInstanceOfSchema(parameters);
    if (!made.ok) return { ok: false, problem: describeSchemaProblem(`the tool '${name}'`, made.problem) };
    const id = createHash("sha256")
      .update(`${request.fingerprint}:${index}:${position}`)
      .digest("hex")
      .slice(0, 24);
    calls.push({ id: `call_${id}`, name, arguments: JSON.stringify(made.value) });
  }
  // OpenAI ends a call that the request names with "stop".
  const finish = typeof request.toolChoice === "object" ? "stop" : "tool_calls";
  return { ok: true, choice: { reasoning: "", text: null, calls, finish } };
}

function describeSchemaProblem(owner: string, problem: string): string {
  return `The sandbox cannot make a value for the schema of ${owner}: ${problem}.`;
}

function draftText(request: SandboxRequest, directives: AnswerDirectives, index: number): Draft {
  const { format } = request;
  let text = writeText(request, directives, index);
  if (format.kind === "json_object") text = JSON.stringify({ answer: text });
  if (format.kind === "json_schema") {
    const made = makeInstanceOfSchema(format.schema);
    if (!made.ok) return { ok: false, problem: describeSchemaProblem("'response_format'", made.problem) };
    text = JSON.stringify(made.value);
  }
  const choice = { reasoning: "", text: stopAt(text, request.stop), calls: [], finish: "stop" } as const;
  return { ok: true, choice };
}

function writeText(request: SandboxRequest, directives: AnswerDirectives, index: number): string {
  if (directives.words !== null) return listWords(directives.words);
  const which = index === 0 ? "" : ` (${index + 1})`;
  const echo = directives.text === "" ? `You said nothing${which}.` : `You said${which}: ${directives.text}`;
  return [...answerMessages(request, directives, { echo, which }), ...listEarlier(request)].join("\n");
}

function answerMessages(
  { results, userSpokeLast }: SandboxRequest,
  { text }: AnswerDirectives,
  { echo, which }: { readonly echo: string; readonly which: string },
): readonly string[] {
  if (results.length === 0) return [echo];
  const answered = `The tools answered${which}: ${results.join("; ")}`;
  return userSpokeLast && text !== "" ? [answered, echo] : [answered];
}

/** Lists the earlier messages, so that a client sees which of them have arrived. */
function listEarlier({ earlier }: SandboxRequest): readonly string[] {
  return earlier.length === 0 ? [] : [`Before that: ${earlier.join("; ")}`];
}

/** Lists numbered words, so that a lost or repeated piece of a stream is visible. */
function listWords(count: number): string {
  return Array.from({ length: count }, (_, at) => `word-${at + 1}`).join(" ");
}

function quote(text: string): string {
  return text === "" ? "nothing" : JSON.stringify(text);
}

function stopAt(text: string, sequences: readonly string[]): string {
  const found = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at >= 0);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}

/** Truncates a choice to a number of tokens: reasoning first, then text, then calls. */
function truncateChoice(choice: SandboxChoice, limit: number): SandboxChoice {
  if (countChoice(choice) <= limit) return choice;
  const reasoning = cutToTokens(choice.reasoning, limit);
  let left = limit - countTokens(reasoning);
  const text = choice.text === null ? null : cutToTokens(choice.text, left);
  const calls: AnswerCall[] = [];
  for (const call of choice.calls) {
    left -= countTokens(call.name);
    if (left <= 0) break;
    const cut = cutToTokens(call.arguments, left);
    left -= countTokens(cut);
    calls.push({ ...call, arguments: cut });
  }
  return { reasoning, text, calls, finish: "length" };
}

function countChoice({ reasoning, text, calls }: SandboxChoice): number {
  const callTokens = calls.map((call) => countTokens(call.name) + countTokens(call.arguments));
  return callTokens.reduce((sum, count) => sum + count, countTokens(reasoning) + countTokens(text ?? ""));
}

function countUsage(request: SandboxRequest, choices: readonly SandboxChoice[]): SandboxAnswer["usage"] {
  const { promptTokens, cachedTokens } = request;
  return {
    promptTokens,
    cachedTokens,
    completionTokens: choices.reduce((sum, choice) => sum + countChoice(choice), 0),
    reasoningTokens: choices.reduce((sum, { reasoning }) => sum + countTokens(reasoning), 0),
  };
}

import type { ModelRecord } from "../../../src/core/catalog/records/records.ts";
import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import { type Client, FORMAT_OF } from "../../fidelity/formats.ts";
import { findFault } from "../hosts/schema.ts";
import type { Fields } from "../sites/profile-site.ts";
import { readParameter } from "./body-parameters.ts";
import type { DistinctProfile } from "./distinct-profiles.ts";
import { findRefusedByModel } from "./model-rules.ts";
import { publishedOf } from "./strict-host.ts";
import type { Outcome } from "./strict-site.ts";

/** What is wrong with one request. */
export interface Finding {
  readonly kind: "refused" | "rejected" | "not named" | "left out" | "changed";
  /** The field at the host, or the parameter of the client. */
  readonly field: string;
  readonly detail: string;
}

/** Parameters whose values are texts and structures of a conversation, which `fidelity` compares. */
const CONVERSATION = new Set(["messages", "input", "system", "instructions", "tools", "tool_choice"]);

/** Values that ask for what happens without them. */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  temperature: [1],
  top_p: [1],
  n: [1],
  presence_penalty: [0],
  frequency_penalty: [0],
  logprobs: [false],
  store: [false],
  background: [false],
  service_tier: ["auto", "default", "standard_only"],
  truncation: ["disabled"],
  parallel_tool_calls: [true],
  response_format: ["text"],
  text: ["text"],
  modalities: ["text"],
  thinking: ["disabled"],
};

/** Values that the gateway replaces on purpose: the vendor gets a hash of the user (docs/privacy). */
const REPLACED = new Set(["user", "metadata", "safety_identifier"]);

/** Examines what became of a request: nothing is refused, what the host documents arrives, and what does not arrive is named. */
export function examine(
  client: Client,
  { host, model, endpoint }: Pick<DistinctProfile, "host" | "model" | "endpoint">,
  body: Fields,
  outcome: Outcome,
): readonly Finding[] {
  const { refusal, status, error, format } = outcome;
  if (refusal !== null)
    return [{ kind: "refused", field: pathOf(refusal.path), detail: `${refusal.kind}: ${refusal.message}` }];
  if (format === null || status !== 200)
    return [{ kind: "rejected", field: "-", detail: `${status} ${error}` }];
  const reached = { host, format, model: model.id };
  return Object.entries(body).flatMap(([name, value]) => {
    if (CONVERSATION.has(name)) return [];
    const finding =
      format === FORMAT_OF[client]
        ? examineForwarded(name, value, outcome, reached, { model, endpoint }, body)
        : isAboutReasoning(name) && isDisabled(body)
          ? null
          : examineTranslated(name, value, outcome, {
              format,
              reasons: model.supportedParameters.includes("reasoning"),
            });
    return finding === null ? [] : [finding];
  });
}

type Reached = Parameters<typeof findRefusedByModel>[1];

function examineForwarded(
  name: string,
  value: unknown,
  { sent, named }: Outcome,
  reached: Reached,
  { model, endpoint }: Pick<DistinctProfile, "model" | "endpoint">,
  asked: Fields,
): Finding | null {
  const arrived = readArrived(sent, name);
  if (isSame(arrived, value) || isSame(arrived, [value]) || (REPLACED.has(name) && arrived !== undefined))
    return null;
  if (isAdapted(name, value, sent, { model, asked })) return null;
  // Models that reason take no log probabilities, which this API has as an entry of a list.
  if (name === "include" && isNamed(name, named) && includesAll(arrived, withoutLogprobs(value), model))
    return null;
  if (!isNamed(name, named) && !isDefault(name, value))
    return {
      kind: "not named",
      field: name,
      detail: `${JSON.stringify(value)} became ${JSON.stringify(arrived)}`,
    };
  if (isLacking(name, sent, { model, endpoint }) || !isDocumented(name, value, sent, reached)) return null;
  if (!isDocumented(name, value, { ...sent, ...reasoningOf(asked) }, reached)) return null;
  const kind = arrived === undefined ? "left out" : "changed";
  return { kind, field: name, detail: `${JSON.stringify(value)} became ${JSON.stringify(arrived)}` };
}

function withoutLogprobs(include: unknown): readonly string[] {
  return (include as readonly string[]).filter((one) => one !== "message.output_text.logprobs");
}

/** What the client asked for decides whether a model is taken to reason. */
function reasoningOf(asked: Fields): Fields {
  const effort = asked["reasoning_effort"];
  return effort === undefined ? {} : { reasoning_effort: effort };
}

/** Whether the request controls reasoning in another way, or the model has no such amount of it. */
function isAdapted(
  name: string,
  value: unknown,
  sent: Fields,
  { model, asked }: { readonly model: ModelRecord; readonly asked: Fields },
): boolean {
  if (name === "include") return includesAll(sent[name], value as readonly string[], model);
  if (!isAboutReasoning(name)) return false;
  if (!model.supportedParameters.includes("reasoning")) return true;
  const { effort, type } = (typeof value === "string" ? { effort: value } : value) as Readonly<
    Record<string, unknown>
  >;
  const { efforts = [], canDisable } = model.reasoning ?? {};
  if (effort === "none" || type === "disabled")
    return canDisable !== true || !efforts.includes("none") || controlsReasoning(sent);
  if (type === "adaptive" || isDisabled(asked) || keepsFormat(value, sent["output_config"])) return true;
  return effort === undefined ? controlsReasoning(sent) : !efforts.includes(effort as never);
}

/** Whether the client switches thinking off, so that its effort says nothing. */
function isDisabled({ thinking }: Fields): boolean {
  return (thinking as Fields | undefined)?.["type"] === "disabled";
}

/** Whether the format of an answer is the same, and only an effort was added to it. */
function keepsFormat(value: unknown, sent: unknown): boolean {
  const format = (value as Fields)["format"];
  return format !== undefined && isSame((sent as Fields | undefined)?.["format"], format);
}

/** Whether everything is asked for that a model has; encrypted reasoning is asked for on its own, of models that reason. */
function includesAll(sent: unknown, asked: readonly string[], model: ModelRecord): boolean {
  const reasons = model.supportedParameters.includes("reasoning");
  return (
    asked.every((one) => (sent as readonly string[] | undefined)?.includes(one) ?? false) ||
    (!reasons && asked.includes("reasoning.encrypted_content"))
  );
}

/** Whether the catalog's source says that the model does not take a temperature, and with it no sampling parameter. */
function isLacking(
  name: string,
  { thinking }: Fields,
  { model, endpoint }: Pick<DistinctProfile, "model" | "endpoint">,
): boolean {
  const { sampling } = { ...model.takes, ...endpoint.takesHere };
  // The encoder of Messages sends none beside thinking, whichever the model.
  if (thinking !== undefined && name.startsWith("t")) return true;
  return (
    ["temperature", "top_p", "top_k"].includes(name) &&
    (sampling === false ||
      !model.supportedParameters.includes("temperature") ||
      endpoint.lacks?.includes("temperature") === true)
  );
}

/** The limit of an answer has two names, and so has the seed. */
function readArrived(sent: Fields, name: string): unknown {
  if (name === "seed") return sent["seed"] ?? sent["random_seed"];
  if (!["max_tokens", "max_completion_tokens"].includes(name)) return sent[name];
  return sent["max_completion_tokens"] ?? sent["max_tokens"];
}

/** Whether the host's document has the field with this value, and the model takes it. */
function isDocumented(name: string, value: unknown, sent: Fields, reached: Reached): boolean {
  const published = publishedOf(reached);
  const body = { ...sent, [name]: value };
  return (
    published !== null && findFault(published, body) === null && findRefusedByModel(body, reached) === null
  );
}

function examineTranslated(
  name: string,
  value: unknown,
  { sent, named }: Outcome,
  { format, reasons }: { readonly format: ProviderFormat; readonly reasons: boolean },
): Finding | null {
  const parameter = COMMON_NAMES[name] ?? name;
  if (isDefault(name, value) || isNamed(name, named) || NEEDLESS.has(name)) return null;
  if (isAboutReasoning(name) && (controlsReasoning(sent) || isReasoningOff(value) || !reasons)) return null;
  if (readParameter(sent, format, parameter) !== undefined || hasTrace(sent, value)) return null;
  if (COUNTERPARTS[name]?.test(JSON.stringify(sent)) === true) return null;
  return {
    kind: "not named",
    field: name,
    detail: `${JSON.stringify(value)} is not in ${JSON.stringify(withoutTexts(sent))}`,
  };
}

/** What a translated request does not need, because the answer has it anyway, or because it is only a hint for OpenAI's cache. */
const NEEDLESS = new Set(["include", "prompt_cache_key"]);

/** What a parameter becomes where it is neither the same field nor the same value. */
const COUNTERPARTS: Readonly<Record<string, RegExp>> = {
  logprobs: /message\.output_text\.logprobs/,
  user: /"(?:user|user_id|safety_identifier)":/,
  metadata: /"(?:user|user_id|safety_identifier)":/,
  response_format: /json/i,
  text: /json/i,
  output_config: /json/i,
  parallel_tool_calls: /"disable_parallel_tool_use":/,
  seed: /"random_seed":/,
};

/** Whether a parameter asks for more or less reasoning, or for its summary. */
function isAboutReasoning(name: string): boolean {
  return ["reasoning_effort", "reasoning", "thinking", "output_config"].includes(name);
}

/** Fields by which hosts control reasoning. */
const CONTROLS =
  /"(?:reasoning|reasoning_effort|thinking|thinkingConfig|effort|enable_thinking|disable_reasoning|disable_thinking|thinking_budget)":/;

function controlsReasoning(sent: Fields): boolean {
  return CONTROLS.test(JSON.stringify({ ...sent, messages: [], input: [] }));
}

/** Whether a value asks for none, for as much as the model wants, or only for a summary, which the answer has where there is one. */
function isReasoningOff(value: unknown): boolean {
  const { effort, type, summary } = (typeof value === "string" ? { effort: value } : value) as Readonly<
    Record<string, unknown>
  >;
  return (
    effort === "none" ||
    type === "disabled" ||
    type === "adaptive" ||
    (effort === undefined && summary !== undefined)
  );
}

/** Names of the chat API by those of the other client APIs. */
const COMMON_NAMES: Readonly<Record<string, string>> = {
  max_output_tokens: "max_tokens",
  max_completion_tokens: "max_tokens",
  stop_sequences: "stop",
};

/** Whether all scalars of a value are somewhere in a body. */
function hasTrace(sent: Fields, value: unknown): boolean {
  const text = JSON.stringify(sent);
  const leaves = [...scalarsOf(value)].filter((one) => typeof one !== "boolean");
  return leaves.length > 0 && leaves.every((one) => text.includes(String(one)));
}

function* scalarsOf(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) yield value;
  else for (const member of Object.values(value)) yield* scalarsOf(member);
}

function withoutTexts(sent: Fields): Fields {
  return Object.fromEntries(
    Object.entries(sent).filter(([name]) => !["messages", "input", "contents", "tools"].includes(name)),
  );
}

function isDefault(name: string, value: unknown): boolean {
  const scalars = [...scalarsOf(value)];
  return scalars.length === 1 && DEFAULTS[name]?.includes(scalars[0]) === true;
}

/** A warning may name a part of the field, or the field that the host has instead. */
function isNamed(name: string, named: readonly string[]): boolean {
  const heads = [name, ...(OTHER_NAMES[name] ?? [])];
  return named.some((field) =>
    heads.some((head) => field === head || field.startsWith(`${head}.`) || field.startsWith(`${head}[`)),
  );
}

/** Other names by which warnings call a parameter. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  reasoning_effort: ["reasoning"],
  thinking: ["reasoning"],
  output_config: ["reasoning", "response_format"],
  reasoning: ["reasoning_effort"],
  stop_sequences: ["stop"],
  service_tier: ["serviceTier"],
  top_logprobs: ["logprobs"],
  include: ["logprobs", "top_logprobs"],
  metadata: ["user"],
  user: ["metadata"],
  text: ["verbosity", "response_format"],
  max_completion_tokens: ["max_tokens"],
  max_output_tokens: ["max_tokens"],
};

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other);
}

/** A path with stars for indexes, so that equal faults are counted together. */
function pathOf(path: readonly (string | number)[]): string {
  return path.map((one) => (typeof one === "number" ? "*" : one)).join(".");
}

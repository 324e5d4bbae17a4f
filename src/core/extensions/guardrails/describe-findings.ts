import type { Failure } from "../../../base/errors.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { Finding } from "./check-texts.ts";
import type { Guardrail, GuardrailAction } from "./guardrail.ts";

/** What a guardrail found in an answer. */
export interface Found {
  readonly guardrail: Pick<Guardrail, "name" | "action">;
  /** How many matches. A guardrail that blocks finds one. */
  readonly matches: number;
  /** The kinds of the matches, such as `EMAIL`. Never the matched text. */
  readonly kinds: readonly string[];
}

/** Returns the warning about what was found in a request. */
export function warnOfRequest({ guardrail: { name, action }, texts, kinds }: Finding): Warning {
  return warn(name, `${OF_REQUEST[action](name, texts)} (${kinds.join(", ")}).`);
}

/** Returns the warning about what was found in an answer. */
export function warnOfAnswer({ guardrail: { name, action }, matches, kinds }: Found): Warning {
  return warn(name, `${OF_ANSWER[action](name, matches)} (${kinds.join(", ")}).`);
}

function warn(name: string, message: string): Warning {
  return { field: `guardrail:${name}`, message };
}

type Sentences = Readonly<Record<GuardrailAction, (name: string, count: number) => string>>;

const OF_REQUEST: Sentences = {
  block: (name) => `The guardrail "${name}" blocked the request`,
  mask: (name, texts) => `The guardrail "${name}" masked parts of ${count(texts, "text")} of the request`,
  warn: (name, texts) => `The guardrail "${name}" matches ${count(texts, "text")} of the request`,
};

const OF_ANSWER: Sentences = {
  block: (name) => `The guardrail "${name}" blocked the answer`,
  mask: (name, matches) => `The guardrail "${name}" masked ${count(matches, "part")} of the answer`,
  warn: (name, matches) => `The guardrail "${name}" matches ${count(matches, "part")} of the answer`,
};

function count(number: number, noun: string): string {
  return number === 1 ? `one ${noun}` : `${number} ${noun}s`;
}

/** Returns the failure of a request that a guardrail blocks. */
export function describeRequestBlock({ guardrail: { name }, kinds }: Finding): Failure {
  return {
    code: "content_blocked",
    message: `The guardrail "${name}" of this gateway does not allow a text of the request (${kinds.join(", ")}). Remove it and send the request again.`,
    metadata: { guardrail: name, kinds },
  };
}

/** Returns the failure of an answer that a guardrail blocks. */
export function describeAnswerBlock({ guardrail: { name }, kinds }: Found): Failure {
  return {
    code: "content_blocked",
    message: `The guardrail "${name}" of this gateway does not allow the model's answer (${kinds.join(", ")}). What was generated is charged.`,
    metadata: { guardrail: name, kinds },
  };
}

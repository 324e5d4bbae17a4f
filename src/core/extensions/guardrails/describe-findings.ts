import type { Failure } from "../../../base/failures/errors.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { GuardrailAction, HookGuardrail } from "./guardrail.ts";
import type { HookVerdict } from "./text-hook.ts";

/** What a guardrail found in a request or answer, and what it did. */
export interface GuardrailFinding {
  readonly name: string;
  /** `unchecked`: a service could not check the texts, which were let pass. `unavailable`: they were not. */
  readonly action: GuardrailAction | "unchecked" | "unavailable";
  /**
   * For a request, the number of texts with a match; for an answer, the number of matches. With `block` it is one, because the search ends
   * there.
   */
  readonly count: number;
  /** The kinds of the matches, such as `EMAIL`; none where a service has checked. Never the matched text. */
  readonly kinds: readonly string[];
  /** Why a service blocks; null if it gave no reason. */
  readonly reason: string | null;
}

/** Returns the finding for a service's verdict; null if there is none. */
export function findingOf({ name, onError }: HookGuardrail, verdict: HookVerdict): GuardrailFinding | null {
  const common = { name, count: 1, kinds: [], reason: null };
  switch (verdict.kind) {
    case "allow":
      return null;
    case "block":
      return { ...common, action: "block", reason: verdict.reason };
    case "mask":
      return verdict.texts.size === 0 ? null : { ...common, action: "mask", count: verdict.texts.size };
    case "unavailable":
      return { ...common, action: onError === "allow" ? "unchecked" : "unavailable" };
  }
}

/** Returns whether the request or answer must stop. */
export function isBlocking({ action }: GuardrailFinding): boolean {
  return action === "block" || action === "unavailable";
}

/** Returns whether a guardrail has found something. */
export function isMatch(
  finding: GuardrailFinding,
): finding is GuardrailFinding & { readonly action: GuardrailAction } {
  return finding.action !== "unchecked" && finding.action !== "unavailable";
}

/** Returns the warning about a finding. The reason of a service is left out, because it may quote the text. */
export function warnOf({ name, action, count, kinds }: GuardrailFinding, on: "request" | "answer"): Warning {
  const parts = `${count === 1 ? "one" : count} ${on === "request" ? "text" : "part"}${count === 1 ? "" : "s"}`;
  const what = kinds.length === 0 ? "" : ` (${kinds.join(", ")})`;
  const message = `${SENTENCES[action](name, { on, parts })}${what}.`;
  return { field: `guardrail:${name}`, message, guardrail: { name, action, on } };
}

interface Found {
  readonly on: "request" | "answer";
  readonly parts: string;
}

const SENTENCES: Readonly<Record<GuardrailFinding["action"], (name: string, found: Found) => string>> = {
  block: (name, { on }) => `The guardrail "${name}" blocked the ${on}`,
  mask: (name, { on, parts }) =>
    `The guardrail "${name}" masked ${on === "request" ? "parts of " : ""}${parts} of the ${on}`,
  warn: (name, { on, parts }) => `The guardrail "${name}" matches ${parts} of the ${on}`,
  unchecked: (name, { on }) => `The guardrail "${name}" could not check the ${on}`,
  unavailable: (name, { on }) => `The guardrail "${name}" could not check the ${on}`,
};

/** Returns the failure of a request that a guardrail blocks. */
export function describeRequestBlock(finding: GuardrailFinding): Failure {
  if (finding.action === "unavailable") return unavailable(finding, "request");
  const subject = "does not allow a text of the request";
  return { ...blocked(finding, subject, "Remove it and send the request again.") };
}

/** Returns the failure of an answer that a guardrail blocks. */
export function describeAnswerBlock(finding: GuardrailFinding): Failure {
  if (finding.action === "unavailable") return unavailable(finding, "answer");
  return blocked(finding, "does not allow the model's answer", "The generated tokens are charged.");
}

function blocked({ name, kinds, reason }: GuardrailFinding, subject: string, remedy: string): Failure {
  const what = reason === null ? ` (${kinds.join(", ")})` : `: ${reason}`;
  const why = kinds.length === 0 && reason === null ? "" : what;
  const end = why.endsWith(".") ? "" : ".";
  return {
    code: "content_blocked",
    message: `The guardrail "${name}" of this gateway ${subject}${why}${end} ${remedy}`,
    metadata: { guardrail: name, kinds, ...(reason === null ? {} : { reason }) },
  };
}

function unavailable({ name }: GuardrailFinding, on: "request" | "answer"): Failure {
  return {
    code: "unavailable",
    message: `The guardrail "${name}" of this gateway could not check the ${on}. Send the request again later.`,
    metadata: { guardrail: name },
    retryAfterS: 5,
  };
}

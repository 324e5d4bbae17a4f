import type { HookVerdict } from "../../core/extensions/guardrails/text-hook.ts";

/** The verdict of a service, or the reason why there is none: a phrase for the log, without any of the texts. */
export type HookReply = HookVerdict | { readonly kind: "failed"; readonly detail: string };

/** The words for each verdict: those of this gateway, and those of other gateways' interfaces for the same purpose. */
const ACTIONS: Readonly<Record<string, "allow" | "block" | "mask">> = {
  allow: "allow",
  none: "allow",
  block: "block",
  blocked: "block",
  mask: "mask",
  guardrail_intervened: "mask",
};

const MAX_REASON_CHARS = 200;

/** Reads what a service answered about texts (docs/guardrails.md, "Webhook"). Never throws. */
export function readVerdict(body: string, texts: readonly string[]): HookReply {
  const answer = parse(body);
  if (answer === null) return failed("the answer is not a JSON object");
  const action = readAction(answer);
  if (action === null) return failed("`action` is not allow, block or mask");
  if (action === "allow") return { kind: "allow" };
  if (action === "block") return { kind: "block", reason: readReason(answer) };
  return readMasked(answer["texts"], texts);
}

function failed(detail: string): HookReply {
  return { kind: "failed", detail };
}

function parse(body: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Some services only answer `verdict`, true for texts that pass. */
function readAction({
  action,
  verdict,
}: Readonly<Record<string, unknown>>): "allow" | "block" | "mask" | null {
  if (action === undefined && typeof verdict === "boolean") return verdict ? "allow" : "block";
  return typeof action === "string" ? (ACTIONS[action.toLowerCase()] ?? null) : null;
}

function readReason({ reason, blocked_reason }: Readonly<Record<string, unknown>>): string | null {
  const text = reason ?? blocked_reason;
  if (typeof text !== "string" || text.trim() === "") return null;
  return [...text.trim()].slice(0, MAX_REASON_CHARS).join("");
}

function readMasked(masked: unknown, texts: readonly string[]): HookReply {
  if (!Array.isArray(masked) || masked.length !== texts.length)
    return failed(`\`texts\` is not a list of ${texts.length}, one for each text that was sent`);
  const changed = new Map<number, string>();
  for (const [index, text] of masked.entries()) {
    if (text === null || text === texts[index]) continue;
    if (typeof text !== "string") return failed(`texts[${index}] is neither a string nor null`);
    changed.set(index, text);
  }
  return { kind: "mask", texts: changed };
}

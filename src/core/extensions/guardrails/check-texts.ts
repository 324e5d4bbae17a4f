import { findingOf, type GuardrailFinding, isBlocking } from "./describe-findings.ts";
import { WINDOW_CHARS } from "./find-in-text.ts";
import type { Guardrail, HookGuardrail, SearchGuardrail } from "./guardrail.ts";
import type { Masks } from "./masks.ts";
import type { HookSubject } from "./text-hook.ts";

/** The result of checking texts. */
interface CheckedTexts {
  /** In the order of the guardrails, up to the first one that blocks. */
  readonly findings: readonly GuardrailFinding[];
  /** The texts that were changed by masks, by index. */
  readonly masked: ReadonlyMap<number, string>;
}

/** The means to check the texts of a request. */
interface CheckParts {
  readonly masks: Masks;
  readonly about: HookSubject;
  readonly pause: () => Promise<void>;
}

interface Checking extends CheckParts {
  readonly masked: Map<number, string>;
}

/**
 * Checks the texts of a request with guardrails in order. Later ones see the masks of earlier ones. Takes time linear in the texts; `pause`
 * is awaited regularly.
 */
export async function checkTexts(
  guardrails: readonly Guardrail[],
  texts: readonly string[],
  parts: CheckParts,
): Promise<CheckedTexts> {
  const findings: GuardrailFinding[] = [];
  const checking: Checking = { ...parts, masked: new Map() };
  for (const guardrail of guardrails) {
    const finding =
      guardrail.kind === "hook"
        ? await ask(guardrail, texts, checking)
        : await search(guardrail, texts, checking);
    if (finding === null) continue;
    findings.push(finding);
    if (isBlocking(finding)) break;
  }
  return { findings, masked: checking.masked };
}

async function ask(
  guardrail: HookGuardrail,
  texts: readonly string[],
  { masked, about }: Checking,
): Promise<GuardrailFinding | null> {
  if (texts.length === 0) return null;
  const current = masked.size === 0 ? texts : texts.map((text, index) => masked.get(index) ?? text);
  const verdict = await guardrail.hook.check({ on: "request", texts: current, about });
  if (verdict.kind === "mask") for (const [index, text] of verdict.texts) masked.set(index, text);
  return findingOf(guardrail, verdict);
}

async function search(
  { name, action, find }: SearchGuardrail,
  texts: readonly string[],
  { masks, masked, pause }: Checking,
): Promise<GuardrailFinding | null> {
  const kinds = new Set<string>();
  let count = 0;
  let chars = 0;
  for (const [index, original] of texts.entries()) {
    const text = masked.get(index) ?? original;
    chars += text.length;
    if (chars > WINDOW_CHARS) {
      chars = 0;
      await pause();
    }
    const matches = await find(text, pause);
    if (matches.length === 0) continue;
    count += 1;
    for (const { kind } of matches) kinds.add(kind);
    if (action === "block") break;
    if (action === "mask") masked.set(index, masks.apply(text, matches));
  }
  return count === 0 ? null : { name, action, count, kinds: [...kinds], reason: null };
}

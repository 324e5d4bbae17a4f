import { WINDOW_CHARS } from "./find-in-text.ts";
import type { Guardrail } from "./guardrail.ts";
import type { Masks } from "./masks.ts";

/** What a guardrail found in texts. */
export interface Finding {
  readonly guardrail: Guardrail;
  /** How many texts have a match. With `block` the first ends the search. */
  readonly texts: number;
  /** The kinds of the matches, such as `EMAIL`. Never the matched text. */
  readonly kinds: readonly string[];
}

/** The result of checking texts. */
export interface CheckedTexts {
  /** In the order of the guardrails, up to the first that blocks. */
  readonly findings: readonly Finding[];
  /** The texts that were changed by masks, by index. */
  readonly masked: ReadonlyMap<number, string>;
}

/**
 * Checks texts with guardrails in their order. A later one sees the masks of an earlier one. Takes time linear in the texts; `pause` is
 * awaited regularly.
 */
export async function checkTexts(
  guardrails: readonly Guardrail[],
  texts: readonly string[],
  { masks, pause }: { readonly masks: Masks; readonly pause: () => Promise<void> },
): Promise<CheckedTexts> {
  const findings: Finding[] = [];
  const masked = new Map<number, string>();
  for (const guardrail of guardrails) {
    const finding = await checkWith(guardrail, texts, { masks, masked, pause });
    if (finding !== null) findings.push(finding);
    if (finding !== null && guardrail.action === "block") break;
  }
  return { findings, masked };
}

async function checkWith(
  guardrail: Guardrail,
  texts: readonly string[],
  {
    masks,
    masked,
    pause,
  }: {
    readonly masks: Masks;
    readonly masked: Map<number, string>;
    readonly pause: () => Promise<void>;
  },
): Promise<Finding | null> {
  const kinds = new Set<string>();
  let found = 0;
  let chars = 0;
  for (const [index, original] of texts.entries()) {
    const text = masked.get(index) ?? original;
    chars += text.length;
    if (chars > WINDOW_CHARS) {
      chars = 0;
      await pause();
    }
    const matches = await guardrail.find(text, pause);
    if (matches.length === 0) continue;
    found += 1;
    for (const { kind } of matches) kinds.add(kind);
    if (guardrail.action === "block") break;
    if (guardrail.action === "mask") masked.set(index, masks.apply(text, matches));
  }
  return found === 0 ? null : { guardrail, texts: found, kinds: [...kinds] };
}

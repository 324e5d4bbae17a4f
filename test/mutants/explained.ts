import type { MutantKind } from "./find-mutants.ts";

/** Changes that no test can notice, because the code does the same with them, with the reason. They are not drawn. */
export interface Explained {
  readonly file: string;
  readonly kind: MutantKind;
  /** A text that stands on the changed line. */
  readonly line: string;
  /** What is changed, if the line has several changes of the kind. */
  readonly before?: string;
  readonly why: string;
}

export const EXPLAINED: readonly Explained[] = [
  {
    file: "src/core/catalog/max-cost.ts",
    kind: "shifted bound",
    line: "return paid <= MOST_PICODOLLARS ? tokens",
    why: "At the bound both computations are exact.",
  },
  {
    file: "src/core/extensions/guardrails/search-patterns.ts",
    kind: "shifted bound",
    line: "match.start === first.start && match.end > first.end",
    why: "Two matches of the same characters are equal: they have one kind.",
  },
  {
    file: "src/core/extensions/guardrails/find-phrases.ts",
    kind: "shifted bound",
    line: "at < text.length; at += SLICE_CHARS",
    why: "One more slice, which is empty, repeats the end of the one before.",
  },
  {
    file: "src/core/accounts/key-uses.ts",
    kind: "shifted bound",
    line: "if (group > 0) await nextTurn();",
    why: "One more turn of the event loop before the first group.",
  },
  {
    file: "src/http/api/manage-accounts.ts",
    kind: "swapped arguments",
    line: "deps.accountCache.memberChanged(account.id, body.owner)",
    why: "Nothing is remembered of an organization that was created just now.",
  },
  {
    file: "src/core/catalog/price-usage.ts",
    kind: "shifted bound",
    line: "this.picodollars <= MOST_PICODOLLARS &&",
    why: "At the bound both costs are exact.",
  },
  {
    file: "src/core/catalog/price-usage.ts",
    kind: "shifted bound",
    line: "perToken.picodollars <= MOST_PICODOLLARS",
    why: "At the bound both costs are exact.",
  },
  {
    file: "src/core/catalog/price-usage.ts",
    kind: "swapped arguments",
    line: "fits(quality, imageQuality) && fits(size, imageSize)",
    why: "The comparison is symmetric.",
  },
  {
    file: "src/wire/conversation/check-amounts.ts",
    kind: "shifted bound",
    line: "end - start <= LEAST_VALUE_BYTES",
    why: "A schema of that length has no more values than the bound, so that counting them changes nothing.",
  },
  ...[
    "usage.cachedTokens <= promptTokens",
    "usage.cacheWriteTokens <= promptTokens - usage.cachedTokens",
    "usage.cacheWrite1hTokens <= usage.cacheWriteTokens",
    "usage.audioPromptTokens <= promptTokens",
    "usage.imageCompletionTokens) <=",
  ].map((line) => ({
    file: "src/wire/conversation/usage.ts",
    kind: "shifted bound" as const,
    line,
    why: "Parts that just fit are the same after they were limited.",
  })),
];

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
    file: "src/core/catalog/prices/max-cost.ts",
    kind: "shifted bound",
    line: "return paid <= MAX_PICODOLLARS ? tokens",
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
    file: "src/core/accounts/memory/key-uses.ts",
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
    file: "src/core/catalog/prices/price-usage.ts",
    kind: "shifted bound",
    line: "this.picodollars <= MAX_PICODOLLARS &&",
    why: "At the bound both costs are exact.",
  },
  {
    file: "src/core/catalog/prices/price-usage.ts",
    kind: "shifted bound",
    line: "perToken.picodollars <= MAX_PICODOLLARS",
    why: "At the bound both costs are exact.",
  },
  {
    file: "src/core/catalog/prices/price-usage.ts",
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
  {
    file: "src/core/generation/prepare/measure-prompt.ts",
    kind: "shifted bound",
    line: "prompt.countChars() >= (1 - PLAIN_SHARE) * prompt.windowBytes",
    why: "The share is an estimate of what plain text is: a text that has exactly it may be taken for either.",
  },
  {
    file: "src/core/generation/attempt/read-body.ts",
    kind: "shifted bound",
    line: "body.length > maxBytes ? body.subarray(0, maxBytes) : body",
    why: "A body that just fits is the same after it was cut off at its end.",
  },
  {
    file: "src/core/generation/admit/take-limits.ts",
    kind: "changed constant",
    line: "let expectedTokens = 0;",
    why: "Only answers without tokens are expected to have none. Their bound, 0, counts then.",
  },
  {
    file: "src/core/generation/try-candidates.ts",
    kind: "dropped await",
    line: "(await this.answerEmpty()) ?? (await this.retry()) ?? (await this.answerEmpty())",
    why: "Null comes without a promise, and a promise never resolves to null, so that it is returned.",
  },
  {
    file: "src/core/routing/plan/plan.ts",
    kind: "swapped arguments",
    line: "const worst = open.toSorted",
    why: "Either order of equally bad deployments is the same in each plan.",
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
  {
    file: "src/wire/fast/block-delta.ts",
    kind: "shifted bound",
    line: "const isUsual = mark >= start && mark < value",
    why: "The mark of a delta is never the first character of an event, nor where the mark of a value is.",
  },
  ...["if (end < 0 && this.keepPartial", "this.relayHasPartial = end < 0", "const next = end < 0 ?"].map(
    (line) => ({
      file: "src/wire/canonical/answer/relay-reader.ts",
      kind: "shifted bound" as const,
      line,
      why: "The end of an event is after its beginning, so that it is never 0.",
    }),
  ),
  {
    file: "src/wire/canonical/answer/relay-reader.ts",
    kind: "shifted bound",
    line: "at >= 0; at = bytes.indexOf(CR, at + 1)",
    why: "A CR that is the first byte and the only bare one ends no event, so that either part may keep what follows it.",
  },
  {
    file: "src/wire/fast/chunk-template.ts",
    kind: "shifted bound",
    line: "padding.start < text.end",
    why: "Between the text and the padding is at least the name of the padding.",
  },
  {
    file: "src/wire/fast/chunk-template.ts",
    kind: "changed constant",
    line: "byte > 0x7e) break;",
    before: "0x7e",
    why: "JSON has DEL unescaped, so that it is sent unchanged either way.",
  },
  {
    file: "src/wire/openai-responses/passthrough/open-items.ts",
    kind: "negated condition",
    line: "this.slices.push(escaped) === MAX_SLICES",
    why: "The text is the same; only how long pieces of the stream stay in memory differs, which no test can see.",
  },
  {
    file: "src/wire/openai-responses/translate/answer/keep-for-answer.ts",
    kind: "shifted bound",
    line: "measureChars(kept, MAX_REPEATED_CHARS) <= MAX_REPEATED_CHARS",
    why: "The bound is approximate: a request of exactly that size may be kept whole or shortened.",
  },
  {
    file: "src/core/console/oidc-rules.ts",
    kind: "shifted bound",
    line: "ROLES.indexOf(rule.role) < ROLES.indexOf(known)",
    why: "Two rules with the same role give the same role.",
  },
  {
    file: "src/storage/sqlite/usage/skip-days.ts",
    kind: "shifted bound",
    line: "return after < next ? after : next",
    why: "Both are the same id then.",
  },
  {
    file: "src/core/extensions/guardrails/find-phrases.ts",
    kind: "changed constant",
    line: "const SLICE_CHARS = 64 * 1024",
    why: "Slices of any size have the same words; the size only bounds the memory of one.",
  },
  {
    file: "src/http/middleware/browser-checks.ts",
    kind: "changed constant",
    line: "const MAX_SHOWN_CHARS = 255",
    why: "How much of an unknown host an error shows is not promised.",
  },
  {
    file: "src/core/generation/attempt/attempt.ts",
    kind: "changed constant",
    line: "return isDocumentStart(readLatin1(start, at, at + 1))",
    why: "Only the first character decides, and one more does not change it.",
  },
  {
    file: "src/core/ledger/holds/worst-case.ts",
    kind: "swapped arguments",
    line: "services : scaleAmount(services, factor)",
    why: "The product is the same.",
  },
];

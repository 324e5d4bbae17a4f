import { z } from "zod";
import { findInText } from "../core/extensions/guardrails/find-in-text.ts";
import {
  compilePattern,
  createPatternFinder,
  MAX_PATTERN_CHARS,
  type Pattern,
} from "../core/extensions/guardrails/find-patterns.ts";
import {
  containsPhrase,
  MAX_PHRASE_CHARS,
  toSearchedPhrase,
} from "../core/extensions/guardrails/find-phrases.ts";
import { createPiiFinder, PII_TYPES, type PiiType } from "../core/extensions/guardrails/find-pii.ts";
import { CHECKED_TEXTS, GUARDRAIL_ACTIONS, type Guardrail } from "../core/extensions/guardrails/guardrail.ts";
import { INJECTION_PHRASES } from "../core/extensions/guardrails/injection-phrases.ts";
import { createPatternSearches } from "../core/extensions/guardrails/search-patterns.ts";
import { createPiiSearches } from "../core/extensions/guardrails/search-pii.ts";

/** The most guardrails, and the most patterns or phrases of each. */
const MAX_GUARDRAILS = 50;
const MAX_PATTERNS = 100;
const MAX_PHRASES = 1_000;
/** The longest name: it becomes a label of a metric and, in upper case, part of masks. Characters. */
const MAX_NAME_CHARS = 40;

const pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .superRefine((source, context) => {
    const compiled = compilePattern(source);
    if (typeof compiled === "string") context.addIssue({ code: "custom", message: compiled });
  });

const scope = (about: string) =>
  z.array(z.string().min(1).max(256)).min(1).max(1_000).optional().describe(about);

const common = {
  name: z
    .string()
    .max(MAX_NAME_CHARS)
    .regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and dashes, such as no-secrets")
    .describe("Its name in errors, warnings, the log and metrics."),
  accounts: scope(
    "Ids of accounts, or patterns with `*`. Requests without a key have none. If absent, all requests.",
  ),
  keys: scope("Ids of API keys, or patterns with `*`. If absent, all requests."),
  models: scope("Ids of models or tiers, or patterns with `*`. If absent, all."),
};

const action = z
  .enum(GUARDRAIL_ACTIONS)
  .describe(
    "block: the request gets a 403, or its answer ends. mask: matches are replaced in what the provider or the client gets. warn: the answer has a warning.",
  );

const on = z
  .enum(CHECKED_TEXTS)
  .default("request")
  .describe(
    "What is checked: the request, the answer, or both. Streamed text is held back while it may be part of a match.",
  );

const guardrail = z.discriminatedUnion("kind", [
  z.strictObject({
    ...common,
    kind: z.literal("regex"),
    on,
    action,
    patterns: z
      .array(pattern)
      .min(1)
      .max(MAX_PATTERNS)
      .describe("Regular expressions of RE2's syntax: (?i) ignores case; no lookaround, no backreferences."),
  }),
  z.strictObject({
    ...common,
    kind: z.literal("pii"),
    on,
    action,
    types: z
      .array(z.enum(PII_TYPES as [PiiType, ...PiiType[]]))
      .min(1)
      .default([...PII_TYPES])
      .describe("Kinds of personal data."),
  }),
  z.strictObject({
    ...common,
    kind: z.literal("injection"),
    action: action.exclude(["mask"], {
      error: "must be block or warn: a phrase that is masked may still be obeyed",
    }),
    phrases: z
      .array(
        z
          .string()
          .max(MAX_PHRASE_CHARS)
          .refine((text) => toSearchedPhrase(text).trim() !== "", "must have a word"),
      )
      .max(MAX_PHRASES)
      .default([])
      .describe("Phrases besides the built-in ones. Case, spacing and punctuation do not matter."),
  }),
]);

/** The schema of `guardrails`. */
export const guardrailsSchema = z
  .array(guardrail)
  .max(MAX_GUARDRAILS)
  .superRefine((list, context) => {
    const names = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (names.has(name))
        context.addIssue({
          code: "custom",
          path: [index, "name"],
          message: "is the name of another guardrail",
        });
      names.add(name);
    }
  })
  .optional()
  .describe(
    "Checks of the texts of requests before they go to a provider, and of answers before the client gets them, in order: regex, pii, injection; see docs/guardrails.md.",
  );

type GuardrailConfig = z.infer<typeof guardrail>;

/** Returns the guardrails of a checked configuration. */
export function readGuardrails(list: readonly GuardrailConfig[] = []): readonly Guardrail[] {
  return list.map((config) => ({
    name: config.name,
    action: config.action,
    scope: {
      accounts: config.accounts ?? null,
      keys: config.keys ?? null,
      models: config.models ?? null,
    },
    on: config.kind === "injection" ? "request" : config.on,
    ...createCheck(config),
  }));
}

function createCheck(config: GuardrailConfig): Pick<Guardrail, "find" | "beginSearch"> {
  switch (config.kind) {
    case "regex": {
      const patterns = config.patterns.map((source) => compilePattern(source) as Pattern);
      const find = createPatternFinder(patterns, kindOf(config.name));
      const beginSearch = createPatternSearches(patterns, kindOf(config.name));
      return { find: (text, pause) => findInText(text, find, pause), beginSearch };
    }
    case "pii": {
      const find = createPiiFinder(config.types);
      const beginSearch = createPiiSearches(config.types);
      return { find: (text, pause) => findInText(text, find, pause), beginSearch };
    }
    case "injection": {
      const phrases = [...INJECTION_PHRASES, ...config.phrases].map(toSearchedPhrase);
      return {
        find: async (text, pause) =>
          (await containsPhrase(text, phrases, pause))
            ? [{ start: 0, end: text.length, kind: "INJECTION" }]
            : [],
        beginSearch: null,
      };
    }
  }
}

/** Returns what masks call the matches of a guardrail: `[NO_SECRETS_1]`. */
function kindOf(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

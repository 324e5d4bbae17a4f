import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMATS } from "../fidelity/formats.ts";
import type { Recording } from "./recordings.ts";

/** A target for requests: a plain vendor of a format, or a host of the catalog. */
export interface Target {
  /** Its name in the table, and in the model id after `replay/`. */
  readonly name: string;
  readonly format: FormatName;
  /** The provider's slug in the catalog; `null` for a vendor that it does not have. */
  readonly slug: string | null;
  /** The model's name there. Some formats derive from it which reasoning it can read. */
  readonly upstream: string;
}

const UPSTREAM_NAMES: Readonly<Record<FormatName, string>> = {
  "openai-chat": "gpt-replayed",
  "openai-responses": "gpt-replayed",
  "anthropic-messages": "claude-replayed",
  gemini: "gemini-replayed",
  "bedrock-converse": "anthropic.claude-replayed-v1:0",
  "cohere-chat": "command-replayed",
};

/** One vendor of each format. */
export const PLAIN_TARGETS: readonly Target[] = FORMATS.map((format) => ({
  name: format,
  format,
  slug: null,
  upstream: UPSTREAM_NAMES[format],
}));

const GROK: Target = {
  name: "openai-responses-grok",
  format: "openai-responses",
  slug: null,
  upstream: "grok-replayed",
};

const HOST_SLUGS = [
  "alibaba",
  "azure",
  "deepseek",
  "groq",
  "mistral",
  "moonshotai",
  "openai",
  "openrouter",
  "perplexity",
  "xai",
] as const;

/** Hosts with a row in the catalog, whose deviations from the chat format are fields of it. */
const HOSTS: readonly Target[] = HOST_SLUGS.map((slug) => ({
  name: slug,
  format: "openai-chat",
  slug,
  upstream: `${slug}-replayed`,
}));

export const TARGETS: readonly Target[] = [...PLAIN_TARGETS, GROK, ...HOSTS];

/** Hosts by where their answers were recorded: a folder, or a domain. */
const RECORDED_AT: readonly (readonly [place: RegExp, slug: (typeof HOST_SLUGS)[number]])[] = [
  [/^alibaba\//, "alibaba"],
  [/^deepseek-chat\/|deepseek\.com$/, "deepseek"],
  [/^groq\/|groq\.com$/, "groq"],
  [/^mistral\/|mistral\.ai$/, "mistral"],
  [/^moonshotai\//, "moonshotai"],
  [/^openai-chat\/|api\.openai\.com$/, "openai"],
  [/^perplexity\//, "perplexity"],
  [/^xai\//, "xai"],
  [/openrouter\.ai$/, "openrouter"],
  [/azure\.com$/, "azure"],
];

/** The targets that may have produced a recorded answer. */
export function targetsOf({ name, host, format }: Recording): Target[] {
  if (format === "openai-responses" && name.startsWith("xai-responses/")) return [GROK];
  const plain = PLAIN_TARGETS.filter((target) => target.format === format);
  if (format !== "openai-chat") return plain;
  const slug = RECORDED_AT.find(([place]) => place.test(host ?? name))?.[1];
  return [...plain, ...HOSTS.filter((target) => target.slug === slug)];
}

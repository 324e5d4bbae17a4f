import { parseJson } from "../../base/json/parse-json.ts";

/**
 * What vendors store for a request, and which parts of a request ask for it. Sources, read in November 2026:
 * OpenAI, guides "Your data" and "Prompt caching" (`store`, `metadata`, `background`, conversations, files, vector stores, containers,
 * `prompt_cache_retention: 24h`) and "Migrate to Responses" (chats of new accounts are stored unless `store` is false);
 * Anthropic, "API and data retention" (files, containers of code execution and skills are not eligible for zero data retention, prompt
 * caches of five minutes and an hour are); xAI, "Deferred chat completions"; Volcengine Ark, "Context API" (`context_id`, `caching`);
 * Amazon Bedrock, Converse (`requestMetadata` is written to invocation logs); Google, `GenerateContentRequest` (`store`, `labels`).
 */

/** Fields of any format that ask for storage. `background` of images is their appearance. */
export const STORING_FIELDS: readonly string[] = [
  "store",
  "store_messages",
  "metadata",
  "prompt_cache_retention",
  "previous_response_id",
  "conversation",
  "background",
  "deferred",
  "context_id",
  "caching",
];

/** The facts of a request that decide which fields ask for storage. */
export interface RetentionFacts {
  /** It makes images. */
  readonly isImages: boolean;
  /** It asks for a prompt cache in memory, which is not storage. */
  readonly cachesInMemory: boolean;
}

/** Lists the fields by which a request would ask an upstream of this format to store something. */
export function listStoringFields(
  { storingFields }: { readonly storingFields: readonly string[] },
  { isImages, cachesInMemory }: RetentionFacts,
): readonly string[] {
  return storingFields.filter(
    (name) => !(isImages && name === "background") && !(cachesInMemory && name === "prompt_cache_retention"),
  );
}

/** A part of a request that needs stored data, and cannot be left out. */
export interface StoredReference {
  readonly field: string;
  readonly message: string;
}

/** Substrings of every reference to stored data, or of an escape that may spell one. */
const HINTS = ["file_id", "container", "code_", "file_search", "collections_search", "\\u00"];

/** Tools that keep files or containers at the vendor. */
const STORING_TOOL = /^(code_interpreter|code_execution\w*|file_search|collections_search|shell)$/;

/** Members with texts of their own, in which nothing refers to the vendor's data. */
const NOT_READ: ReadonlySet<string> = new Set(["input", "arguments", "output", "text", "thinking"]);

/** Finds the part of a body that refers to files or containers at a vendor; null if there is none. */
export function findStoredReference(bytes: Buffer): StoredReference | null {
  if (!HINTS.some((hint) => bytes.includes(hint))) return null;
  const body = tryParse(bytes.toString("utf8"));
  if (typeof body !== "object" || body === null) return null;
  const { messages, input, system, tools, container } = body as Record<string, unknown>;
  if ((container ?? null) !== null) return describe("container", "keeps files at the provider. Remove it");
  return (
    findTool(tools) ??
    findFile(messages, "messages") ??
    findFile(input, "input") ??
    findFile(system, "system")
  );
}

/** Returns what a body says; null for one that is not JSON in a part that was skipped, which its vendor rejects. */
function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function describe(field: string, what: string): StoredReference {
  return {
    field,
    message: `${field} ${what}: this request is under zero data retention (provider.zdr, or a policy).`,
  };
}

function findTool(tools: unknown): StoredReference | null {
  if (!Array.isArray(tools)) return null;
  for (const [at, tool] of tools.entries()) {
    const { type, environment } = (tool ?? {}) as Record<string, unknown>;
    if (typeof type !== "string" || !STORING_TOOL.test(type)) continue;
    const runsHere = type === "shell" && (environment as { type?: unknown } | undefined)?.type === "local";
    if (!runsHere) return describe(`tools[${at}]`, `(${type}) keeps files at the provider. Remove it`);
  }
  return null;
}

function findFile(value: unknown, field: string): StoredReference | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value))
    return firstOf(value.entries(), ([at, item]) => findFile(item, `${field}[${at}]`));
  const { file_id: id } = value as Record<string, unknown>;
  if (typeof id === "string" && id !== "")
    return describe(`${field}.file_id`, "names a file that the provider stores. Send its content (base64)");
  return firstOf(Object.entries(value), ([name, member]) =>
    NOT_READ.has(name) ? null : findFile(member, `${field}.${name}`),
  );
}

function firstOf<T>(values: Iterable<T>, find: (value: T) => StoredReference | null): StoredReference | null {
  for (const value of values) {
    const found = find(value);
    if (found !== null) return found;
  }
  return null;
}

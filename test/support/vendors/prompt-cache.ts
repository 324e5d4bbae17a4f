import { createHash } from "node:crypto";

/** What Anthropic's prompt cache is known to do (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, 2026-11-28). */
const LOOK_BACK_BLOCKS = 20;
const MAX_MARKS = 4;
const LIFE_MS = { "5m": 300_000, "1h": 3_600_000 } as const;
const CHARS_PER_TOKEN = 4;

/** The usage of one request, in tokens. */
export interface CachedUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

/** Returns Claude's answer "Yes." with the usage of a simulated cache. */
export function answerCached(usage: CachedUsage): Response {
  return Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "up",
    content: [{ type: "text", text: "Yes." }],
    stop_reason: "end_turn",
    usage: { ...usage, output_tokens: 2 },
  });
}

/** A simulated prompt cache of one vendor account. */
export interface PromptCache {
  /** Returns what a Messages request costs. `now` is in milliseconds. @throws Error for marks that the vendor rejects. */
  use(body: unknown, now: number): CachedUsage;
}

/** A block of a prompt, and the hash and tokens of all up to it. */
interface Block {
  readonly hash: string;
  readonly tokens: number;
  readonly life: keyof typeof LIFE_MS | null;
}

/** Creates an empty cache of a model that caches prompts of at least `minTokens`. */
export function createPromptCache(minTokens: number): PromptCache {
  const entries = new Map<string, { until: number; readonly lifeMs: number }>();
  const isCached = (hash: string | undefined, now: number) => (entries.get(hash ?? "")?.until ?? 0) > now;
  return {
    use(body, now) {
      const blocks = listBlocks(body);
      const marks = blocks.flatMap(({ life }, at) => (life === null ? [] : [at]));
      checkMarks(blocks, marks);
      const found = marks.flatMap((mark) => {
        for (let at = mark; at >= Math.max(0, mark - LOOK_BACK_BLOCKS); at--)
          if (isCached(blocks[at]?.hash, now)) return [at];
        return [];
      });
      const read = found.length === 0 ? null : (blocks[Math.max(...found)] as Block);
      for (const at of found) {
        const entry = entries.get((blocks[at] as Block).hash);
        if (entry !== undefined) entry.until = now + entry.lifeMs;
      }
      const written = marks.map((at) => blocks[at] as Block).filter(({ tokens }) => tokens >= minTokens);
      for (const { hash, life } of written) {
        const lifeMs = LIFE_MS[life ?? "5m"];
        entries.set(hash, { until: now + lifeMs, lifeMs });
      }
      const readTokens = read?.tokens ?? 0;
      const endTokens = Math.max(readTokens, written.at(-1)?.tokens ?? 0);
      return {
        input_tokens: (blocks.at(-1)?.tokens ?? 0) - endTokens,
        cache_read_input_tokens: readTokens,
        cache_creation_input_tokens: endTokens - readTokens,
      };
    },
  };
}

function checkMarks(blocks: readonly Block[], marks: readonly number[]): void {
  if (marks.length > MAX_MARKS)
    throw new Error(
      `A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${marks.length}.`,
    );
  const lives = marks.map((at) => blocks[at]?.life);
  if (lives.lastIndexOf("1h") > lives.indexOf("5m") && lives.includes("5m"))
    throw new Error("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block");
}

type Json = { readonly [name: string]: unknown };

function listBlocks(body: unknown): readonly Block[] {
  const { tools = [], system = [], messages = [] } = body as { [name: string]: Json[] | string };
  const parts = [
    ...(tools as Json[]),
    ...blocksOf(system, "system"),
    ...(messages as Json[]).flatMap(({ role, content }) => blocksOf(content, String(role))),
  ];
  const blocks: Block[] = [];
  let chars = 0;
  let before = "";
  for (const { cache_control, ...part } of parts) {
    const text = JSON.stringify(part);
    if (cache_control !== undefined) rejectUnmarkable(part);
    chars += text.length;
    before = createHash("sha256").update(before).update(text).digest("base64");
    const ttl = (cache_control as Json | undefined)?.["ttl"] ?? "5m";
    const life = cache_control === undefined ? null : (ttl as keyof typeof LIFE_MS);
    blocks.push({ hash: before, tokens: Math.floor(chars / CHARS_PER_TOKEN), life });
  }
  return blocks;
}

function blocksOf(content: unknown, role: string): readonly Json[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as Json[]);
  return blocks.map((block) => ({ role, ...block }));
}

function rejectUnmarkable({ type, text }: Json): void {
  if (type === "text" && text === "") throw new Error("cache_control cannot be set for empty text blocks");
  if (type === "thinking" || type === "redacted_thinking")
    throw new Error(`cache_control cannot be set for ${type} blocks`);
}

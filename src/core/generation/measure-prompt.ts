import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { Deployment } from "../deployments/served-models.ts";
import {
  boundByBytes,
  CERTAIN_CHARS_PER_TOKEN,
  countBytes,
  type PromptTokens,
  projectSamples,
  SMALL_BYTES,
  sampleTexts,
} from "../routing/prompt-tokens.ts";
import { isNearEdge, mayHold, windowOf } from "../routing/window.ts";
import type { TokenCounter } from "./token-counter.ts";

/** What measuring looks at of a request. */
export type MeasuredRequest = Pick<
  InferenceRequest,
  "windowTextBytes" | "countPromptChars" | "listPromptText" | "mayHaveMedia"
>;

/**
 * How large a prompt is, as closely as matters for whether it fits the windows of `offers`: bounds by its bytes, which
 * do for most; near an edge the tokens of a sample; nearer still those of the whole. What fits nowhere is sampled too, so
 * that the refusal can say how large it is. A promise only where tokens are counted. Where they cannot be, what is known
 * so far counts, and the upstream decides. Null: it fits all of them.
 */
export function measurePrompt(
  counter: TokenCounter,
  request: MeasuredRequest,
  deployments: readonly Deployment[],
): PromptTokens | Promise<PromptTokens> | null {
  const bytes = request.windowTextBytes;
  const most = boundByBytes(bytes);
  if (deployments.every(({ endpoint }) => most <= windowOf(endpoint))) return null;
  const bounds: PromptTokens = {
    certain: countCertain(request, deployments),
    atLeast: 0,
    atMost: most,
    about: estimateTokens(bytes),
    error: 1,
    isExact: false,
    isPlain: false,
  };
  const isOpen = (prompt: PromptTokens) => deployments.some((deployment) => isNearEdge(deployment, prompt));
  if (isOpen(bounds)) return countCloser(counter, request, bounds, isOpen);
  const fitsNowhere = !deployments.some((deployment) => mayHold(deployment, bounds));
  return fitsNowhere ? countCloser(counter, request, bounds, () => false) : bounds;
}

/** Bytes are at hand, characters are never more: most prompts need no counting. */
function countCertain(request: MeasuredRequest, deployments: readonly Deployment[]): number {
  const least = request.windowTextBytes / CERTAIN_CHARS_PER_TOKEN;
  const mayBeOver = deployments.some(({ endpoint }) => least > windowOf(endpoint));
  return mayBeOver ? request.countPromptChars() / CERTAIN_CHARS_PER_TOKEN : 0;
}

/** The share of characters that more than one byte stands for, beyond which a text is not plain. */
const PLAIN_SHARE = 0.01;

async function countCloser(
  counter: TokenCounter,
  request: MeasuredRequest,
  bounds: PromptTokens,
  isOpen: (prompt: PromptTokens) => boolean,
): Promise<PromptTokens> {
  const texts = request.listPromptText();
  const bytes = countBytes(texts);
  if (bytes === 0) return bounds;
  const isPlain = request.countPromptChars() >= (1 - PLAIN_SHARE) * request.windowTextBytes;
  let known: PromptTokens = { ...bounds, isPlain };
  if (bytes > SMALL_BYTES) {
    const samples = sampleTexts(texts);
    const counts = await counter.count(samples);
    if (counts === null) return bounds;
    known = { ...known, ...projectSamples(samples, counts, bytes) };
    if (!isOpen(known)) return known;
  }
  const counts = await counter.count(texts);
  if (counts === null) return known;
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  const isExact = isPlain && isAllOf(request, texts, tokens);
  return { ...known, atLeast: tokens, atMost: tokens, about: tokens, error: 0, isExact };
}

/** What a vendor puts around each text. Tokens. */
const TOKENS_AROUND = 4;
/** How much of a prompt may be left uncounted in a count of all of it. */
const UNCOUNTED_SHARE = 0.04;

/** Whether next to nothing of a prompt is left uncounted: its tools, and what stands around many short texts. */
function isAllOf(request: MeasuredRequest, texts: readonly Uint8Array[], tokens: number): boolean {
  const otherBytes = request.windowTextBytes - countBytes(texts);
  const uncounted = boundByBytes(otherBytes) + texts.length * TOKENS_AROUND;
  return !request.mayHaveMedia && uncounted <= UNCOUNTED_SHARE * tokens;
}

/** About how many tokens texts have; null where nobody could count. Of long texts a sample is counted. */
export async function estimateTexts(
  counter: TokenCounter,
  texts: readonly Uint8Array[],
  wholeBytes: number,
): Promise<number | null> {
  const bytes = countBytes(texts);
  const counted = bytes > wholeBytes ? sampleTexts(texts) : texts;
  const counts = await counter.count(counted);
  if (counts === null || counted.length === 0) return null;
  return projectSamples(counted, counts, bytes).about;
}

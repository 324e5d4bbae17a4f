import type { RequestPrompt } from "../../../wire/client-apis/request/inference-request.ts";
import { estimateTokens } from "../../../wire/conversation/usage.ts";
import { windowOf } from "../../catalog/records/endpoint-limits.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import {
  boundByBytes,
  CERTAIN_CHARS_PER_TOKEN,
  countBytes,
  type PromptTokens,
  projectSamples,
  SMALL_BYTES,
  sampleTexts,
} from "../../routing/plan/prompt-tokens.ts";
import { isNearEdge, mayHold } from "../../routing/plan/window.ts";
import type { TokenCounter } from "../memory/token-counter.ts";

/** The part of a prompt that measuring reads. */
type MeasuredPrompt = Pick<RequestPrompt, "windowBytes" | "countChars" | "listTexts" | "mayHaveMedia">;

/** Returns whether a prompt certainly fits the context windows of all deployments, by the maximum of tokens for its bytes. */
export function fitsEverywhere(
  { windowBytes }: Pick<MeasuredPrompt, "windowBytes">,
  deployments: readonly (readonly Deployment[])[],
): boolean {
  const most = boundByBytes(windowBytes);
  for (const ofModel of deployments)
    for (const { endpoint } of ofModel) if (most > windowOf(endpoint)) return false;
  return true;
}

/**
 * Measures a prompt as precisely as needed to decide whether it fits the context windows of `deployments`. For most prompts the number of
 * bytes suffices. Near a window's limit the tokens of a sample are counted, and if they do not decide it, those of the whole prompt. A
 * prompt that fits nowhere is also sampled, so that the error can state its size. If tokens cannot be counted, the bounds known so far are
 * used and the upstream decides.
 */
export async function measurePrompt(
  counter: TokenCounter,
  prompt: MeasuredPrompt,
  deployments: readonly Deployment[],
): Promise<PromptTokens> {
  const bytes = prompt.windowBytes;
  const most = boundByBytes(bytes);
  const bounds: PromptTokens = {
    certain: countCertain(prompt, deployments),
    atLeast: 0,
    atMost: most,
    about: estimateTokens(bytes),
    error: 1,
    isExact: false,
    isPlain: false,
  };
  const isOpen = (tokens: PromptTokens) => deployments.some((deployment) => isNearEdge(deployment, tokens));
  if (isOpen(bounds)) return countCloser(counter, prompt, { bounds, isOpen });
  const fitsNowhere = !deployments.some((deployment) => mayHold(deployment, bounds));
  return fitsNowhere ? countCloser(counter, prompt, { bounds, isOpen: () => false }) : bounds;
}

/** Returns the tokens that the prompt has at least. Most prompts need no count of characters: a text has no more characters than bytes. */
function countCertain(prompt: MeasuredPrompt, deployments: readonly Deployment[]): number {
  const least = prompt.windowBytes / CERTAIN_CHARS_PER_TOKEN;
  const mayBeOver = deployments.some(({ endpoint }) => least > windowOf(endpoint));
  return mayBeOver ? prompt.countChars() / CERTAIN_CHARS_PER_TOKEN : 0;
}

/** Maximum share of multi-byte characters in a plain text. */
const PLAIN_SHARE = 0.01;

/** The bounds of a prompt's tokens that follow from its bytes. */
interface KnownBounds {
  readonly bounds: PromptTokens;
  /** Returns whether it is still open if the prompt fits all windows. */
  readonly isOpen: (tokens: PromptTokens) => boolean;
}

/** Counts the tokens of a sample and, if that does not decide whether the prompt fits, of the whole prompt. */
async function countCloser(
  counter: TokenCounter,
  prompt: MeasuredPrompt,
  { bounds, isOpen }: KnownBounds,
): Promise<PromptTokens> {
  const texts = prompt.listTexts();
  const bytes = countBytes(texts);
  if (bytes === 0) return bounds;
  const isPlain = prompt.countChars() >= (1 - PLAIN_SHARE) * prompt.windowBytes;
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
  const isExact = isPlain && isAllOf(prompt, texts, tokens);
  return { ...known, atLeast: tokens, atMost: tokens, about: tokens, error: 0, isExact };
}

/** Overhead that a vendor adds to each text. Tokens. */
const TOKENS_AROUND = 4;
/** Share of a prompt that may be uncounted in a count that is regarded as complete. */
const UNCOUNTED_SHARE = 0.04;

/** Returns whether the uncounted part of a prompt (tools, overhead of many short texts) is negligible. */
function isAllOf(prompt: MeasuredPrompt, texts: readonly Uint8Array[], tokens: number): boolean {
  const otherBytes = prompt.windowBytes - countBytes(texts);
  const uncounted = boundByBytes(otherBytes) + texts.length * TOKENS_AROUND;
  return !prompt.mayHaveMedia && uncounted <= UNCOUNTED_SHARE * tokens;
}

/** Estimates the tokens of texts, from a sample if they have more than `wholeBytes`; null if they could not be counted. */
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

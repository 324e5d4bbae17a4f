import { rejectField } from "../../../base/failures/errors.ts";
import { isTrue, numberOf, parseMember, stringOf } from "../../../base/json/scan.ts";
import { scanBody } from "../../../base/json/scan-body.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { readInputs, type TextInput } from "../../canonical/embeddings/read-inputs.ts";
import { type RoutingParameters, readRoutingParameters } from "../../conversation/preferences.ts";
import { BYTES_PER_TOKEN } from "../../conversation/usage.ts";
import { checkCompletionRequest } from "./check-request.ts";
import { COMPLETION_SHAPE, type CompletionBody } from "./request-shape.ts";

/** A text completion request that was scanned and checked. Its bytes are unchanged; the nodes give the positions of its values. */
export interface ScannedCompletion extends RoutingParameters {
  readonly bytes: Buffer;
  /** The bytes as a Latin-1 string. */
  readonly text: string;
  readonly root: CompletionBody;
  /** The number of values that have a node. */
  readonly nodes: number;
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number | null;
  /** At least one. */
  readonly prompts: readonly TextInput[];
  /** The text after the completion; empty if there is none. */
  readonly suffix: string;
  /** The number of completions that the vendor generates: `n` for each prompt, or `best_of` if that is larger. */
  readonly answers: number;
  /** Whether the client asked for a usage chunk (`stream_options.include_usage`). */
  readonly wantsUsageChunk: boolean;
  /** Bytes of all prompts and their suffixes. A token id counts as the average bytes of a token. */
  readonly promptTextBytes: number;
  /** Bytes of the longest prompt with its suffix; each prompt must fit the model. */
  readonly longestBytes: number;
}

const PROMPT = { name: "prompt", most: BOUNDS.completionChoices, mayBeEmpty: true } as const;

/**
 * Scans and checks a request's body (docs/api/completions.md).
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function scanCompletionRequest(bytes: Buffer): ScannedCompletion {
  return scanBody(bytes, COMPLETION_SHAPE, (text, { root, nodes }) => {
    checkCompletionRequest(text, root);
    const prompts = readInputs(parseMember(text, root, "prompt"), PROMPT);
    const suffix = stringOf(text, root.fields.suffix) ?? "";
    const suffixBytes = Buffer.byteLength(suffix);
    const sizes = prompts.map((prompt) => bytesOf(prompt) + suffixBytes);
    return {
      ...readRoutingParameters({
        models: parseMember(text, root, "models"),
        provider: parseMember(text, root, "provider"),
        preset: parseMember(text, root, "preset"),
      }),
      bytes,
      text,
      root,
      nodes,
      model: stringOf(text, root.fields.model) as string,
      stream: isTrue(text, root.fields.stream),
      maxTokens: numberOf(text, root.fields.max_tokens),
      prompts,
      suffix,
      answers: countAnswers(text, root, prompts.length),
      wantsUsageChunk: isTrue(text, root.fields.stream_options?.fields.include_usage),
      promptTextBytes: sizes.reduce((sum, size) => sum + size, 0),
      longestBytes: Math.max(...sizes),
    };
  });
}

function bytesOf(prompt: TextInput): number {
  return typeof prompt === "string" ? Buffer.byteLength(prompt) : prompt.length * BYTES_PER_TOKEN;
}

function countAnswers(text: string, { fields: { n, best_of } }: CompletionBody, prompts: number): number {
  const answers = prompts * Math.max(numberOf(text, n) ?? 1, numberOf(text, best_of) ?? 1);
  if (answers > BOUNDS.completionChoices)
    rejectField("n", `times the prompts must be at most ${BOUNDS.completionChoices}; send several requests`);
  return answers;
}

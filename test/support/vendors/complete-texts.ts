import { answerHello, type RecordedRequest, streamOf } from "./recording-vendor.ts";

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const HEAD = { id: "cmpl-vendor", object: "text_completion", created: 1, model: "upstream-model" };

/** Answers text completions as vLLM does, with " there was." for each prompt, and chat completions with "Hello there.". */
export function completeTexts(request: RecordedRequest): Response {
  if (!request.path.endsWith("/completions") || request.path.endsWith("/chat/completions"))
    return answerHello(request);
  const { prompt, n = 1, stream = false, logprobs = null } = JSON.parse(request.text) as CompletionBody;
  const prompts = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt.length : 1;
  const indexes = Array.from({ length: prompts * n }, (_, index) => index);
  const probabilities = logprobs === null ? null : { tokens: [" there"], token_logprobs: [-0.5] };
  if (!stream) {
    const choices = indexes.map((index) => ({
      index,
      text: " there was.",
      logprobs: probabilities,
      finish_reason: "stop",
      stop_reason: null,
    }));
    return Response.json({ ...HEAD, choices, usage: USAGE, system_fingerprint: "fp_1" });
  }
  const chunk = (index: number, text: string, finish: string | null = null) => ({
    ...HEAD,
    choices: [{ index, text, logprobs: text === "" ? null : probabilities, finish_reason: finish }],
  });
  return streamOf([
    ...indexes.map((index) => chunk(index, " there")),
    ...indexes.map((index) => chunk(index, " was.")),
    ...indexes.map((index) => chunk(index, "", "length")),
    { ...HEAD, choices: [], usage: USAGE },
  ]);
}

interface CompletionBody {
  readonly prompt: unknown;
  readonly n?: number;
  readonly stream?: boolean;
  readonly logprobs?: number | null;
}

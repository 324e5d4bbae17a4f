import type { Clock } from "../../base/time/clock.ts";
import type { HookQuestion } from "../../core/extensions/guardrails/text-hook.ts";
import { describeStatus, postJson } from "./post-json.ts";
import { type HookReply, readVerdict } from "./read-verdict.ts";

/** A service that checks texts. */
export interface HookTarget {
  readonly url: string;
  /** Signs the bodies; null for a service that does not verify them. */
  readonly secret: string | null;
  /** Further headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The longest wait for the whole response. Milliseconds. */
  readonly timeoutMs: number;
}

/** How much longer a response may be than its request. Bytes. */
const MAX_EXTRA_BYTES = 64 * 1024;

/** Sends texts to a service once. `name` is the guardrail's. Follows no redirect. Never rejects. */
export function postQuestion(
  target: HookTarget,
  { name, question }: { readonly name: string; readonly question: HookQuestion },
  clock: Pick<Clock, "now" | "after">,
): Promise<HookReply> {
  const body = renderQuestion(name, question);
  const maxBytes = 2 * body.length + MAX_EXTRA_BYTES;
  const read = (response: Response) => readResponse(response, question, maxBytes);
  const fail = (problem: string | null): HookReply => ({
    kind: "failed",
    detail: problem ?? `no answer within ${target.timeoutMs} ms`,
  });
  return postJson({ ...target, body }, { read, fail }, clock);
}

function renderQuestion(name: string, { on, texts, about }: HookQuestion): string {
  return JSON.stringify({
    guardrail: name,
    input_type: on === "request" ? "request" : "response",
    texts,
    generation_id: about.generationId,
    api: about.api,
    model: about.model,
    account_id: about.accountId,
    key_id: about.keyId,
  });
}

async function readResponse(
  response: Response,
  question: HookQuestion,
  maxBytes: number,
): Promise<HookReply> {
  const { ok, status } = response;
  if (!ok) {
    await response.body?.cancel();
    return { kind: "failed", detail: describeStatus(status) };
  }
  const text = await readBounded(response, maxBytes);
  if (text === null) return { kind: "failed", detail: `the answer has more than ${maxBytes} bytes` };
  return readVerdict(text, question.texts);
}

/** Returns the body of a response; null if it is larger than the bound. */
async function readBounded({ body }: Response, maxBytes: number): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    // Leaving the loop cancels the body.
    if (bytes > maxBytes) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

import type { Asked } from "./asked.ts";
import { isHostile, writePrompt } from "./billing-vendor.ts";

/** A client API, as a client without a library uses it. */
export interface ClientFace {
  readonly path: string;
  readonly body: (prompt: string, model: string, one: Asked) => unknown;
  readonly streamEnd: string;
}

/** The client APIs of the runs. */
export const CLIENT_FACES: readonly ClientFace[] = [
  {
    path: "/api/gateway/chat/completions",
    body: (content, model, one) => ({
      ...describeRequest(model, one),
      messages: [{ role: "user", content }],
    }),
    streamEnd: "[DONE]\n\n",
  },
  {
    path: "/api/gateway/messages",
    body: (content, model, one) => ({
      ...describeRequest(model, one),
      messages: [{ role: "user", content: [{ type: "text", text: content }] }],
    }),
    streamEnd: '{"type":"message_stop"}\n\n',
  },
];

/** How to send a request. */
export interface Sending {
  readonly url: string;
  readonly face: ClientFace;
  /** After how many pieces of the answer the client disconnects, if it gets as far; `null`: never. */
  readonly leavesAfter: number | null;
  readonly signal: AbortSignal;
}

/** The response to a request, read to its end. */
export interface ReadAnswer {
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends a request, records in it what comes back, and returns that. Rejects when the connection breaks, as it does when the
 * gateway is killed, and when the client leaves.
 */
export async function sendRequest(
  one: Asked,
  { url, face, leavesAfter, signal }: Sending,
): Promise<ReadAnswer> {
  const leaving = new AbortController();
  const response = await fetch(`${url}${face.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${one.payer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(face.body(writePrompt(one.serial, one.plan, one.size), modelOf(one), one)),
    signal: AbortSignal.any([leaving.signal, signal]),
  });
  one.status = response.status;
  one.generationId = response.headers.get("x-gateway-generation-id");
  let text = "";
  let pieces = 0;
  for await (const piece of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(piece).toString("latin1");
    if (pieces++ === leavesAfter) leaving.abort();
  }
  if (response.status === 200)
    one.isWhole = one.isStream ? text.endsWith(face.streamEnd) : text.trimEnd().endsWith("}");
  return { headers: response.headers, text };
}

function describeRequest(model: string, { isStream, maxTokens }: Asked): Readonly<Record<string, unknown>> {
  return { model, stream: isStream, ...(maxTokens === null ? {} : { max_tokens: maxTokens }) };
}

/** The model that has the vendors of a plan. */
function modelOf({ plan }: Asked): string {
  if (isHostile(plan)) return "acme/hostile";
  return plan === "elsewhere" ? "acme/pair" : "acme/alone";
}

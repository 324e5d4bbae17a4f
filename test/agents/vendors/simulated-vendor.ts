import { randomBytes } from "node:crypto";
import { isObject, type JsonObject } from "./json-shape.ts";
import { Rejection } from "./rejection.ts";
import { type Conversation, decideReply, type Reply } from "./scripted-model.ts";

/** Wire formats with a simulated vendor. */
export type VendorFormat = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini";

/** The vendor's token counts; `output` includes reasoning. */
export interface VendorUsage {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
}

/** A request as a format receives it. */
export interface IncomingRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** A parsed and valid request. */
export interface ReadRequest {
  readonly conversation: Conversation;
  /**
   * Losses that the real vendor tolerates, although a client that sends everything back would not cause them.
   */
  readonly losses: readonly string[];
  answer(reply: Reply, usage: VendorUsage): Response;
}

/** The behavior of a vendor of one format. */
export interface WireFormat {
  readonly name: VendorFormat;
  /** Returns whether a POST to this path is for this format. */
  hasPath(path: string): boolean;
  /** Returns the key of a request. */
  findKey(request: IncomingRequest): string | null;
  /** Reads a request, or answers one that is not inference. @throws Rejection for what the real vendor rejects. */
  read(request: IncomingRequest): ReadRequest | Response;
  renderRejection(rejection: Rejection): Response;
}

/** A request and its result. */
export interface VendorRequest {
  readonly format: VendorFormat;
  readonly body: unknown;
  readonly conversation: Conversation | null;
  /** `null` if it was rejected or was not inference. */
  readonly reply: Reply | null;
  readonly usage: VendorUsage | null;
  readonly rejection: string | null;
  readonly losses: readonly string[];
}

/** A vendor on a free port of 127.0.0.1. */
export interface SimulatedVendor {
  readonly origin: string;
  readonly key: string;
  /** Requests since the last `clear`. */
  readonly requests: readonly VendorRequest[];
  clear(): void;
  stop(): Promise<void>;
}

/** Starts a vendor that speaks these formats. It records its requests and accepts only its key. */
export function startVendor(...formats: readonly WireFormat[]): SimulatedVendor {
  const requests: VendorRequest[] = [];
  const key = `sk-${makeId(32)}`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 120,
    maxRequestBodySize: 64 * 1024 * 1024,
    async fetch(request) {
      const url = new URL(request.url);
      const text = await request.text();
      const format = formats.find((format) => format.hasPath(url.pathname));
      // Agents request more than models when they start; the vendor does not have that.
      if (request.method !== "POST" || format === undefined) return new Response(null, { status: 404 });
      const { recorded, response } = serve(format, key, request.headers, url, text);
      requests.push(recorded);
      return response;
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    key,
    requests,
    clear: () => void requests.splice(0),
    stop: () => server.stop(true),
  };
}

function serve(
  format: WireFormat,
  key: string,
  headers: Headers,
  url: URL,
  text: string,
): { recorded: VendorRequest; response: Response } {
  const seen = { format: format.name, body: parseJson(text), conversation: null, reply: null, usage: null };
  try {
    const body = isObject(seen.body) ? seen.body : raise(new Rejection("The body is not a JSON object."));
    const request: IncomingRequest = { path: url.pathname, query: url.searchParams, headers, body };
    if (format.findKey(request) !== key) throw new Rejection("The key is not valid.", null, 401);
    const read = format.read(request);
    if (read instanceof Response)
      return { recorded: { ...seen, rejection: null, losses: [] }, response: read };
    const { conversation, losses } = read;
    const reply = decideReply(conversation);
    const usage = countUsage(text, reply);
    const recorded = { ...seen, conversation, reply, usage, rejection: null, losses };
    return { recorded, response: read.answer(reply, usage) };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const recorded = { ...seen, rejection: `${error.status} ${error.message}`, losses: [] };
    return { recorded, response: format.renderRejection(error) };
  }
}

function raise(error: Error): never {
  throw error;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Estimates tokens roughly like a real model's tokenizer. */
function countUsage(body: string, reply: Reply): VendorUsage {
  const reasoning = Math.ceil(reply.reasoning.length / 4);
  const said = Math.ceil((reply.text.length + JSON.stringify(reply.calls).length) / 4);
  return { input: Math.ceil(body.length / 4), output: reasoning + said, reasoning };
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Returns random letters and digits. */
export function makeId(length: number): string {
  return [...randomBytes(length)].map((byte) => LETTERS[byte % LETTERS.length]).join("");
}

/** Splits a text into pieces, as a model streams it. */
export function cutText(text: string): readonly string[] {
  return text.match(/[\s\S]{1,9}/g) ?? [];
}

/** An event of a stream; `event` is its name, if the format names events. */
export interface StreamEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** Returns the events as a stream, one write each. Text is sent unchanged, everything else as JSON. */
export function streamEvents(events: readonly StreamEvent[]): Response {
  const encoder = new TextEncoder();
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Each event in its own write, so that readers receive them separately.
      await new Promise((resolve) => setImmediate(resolve));
      const current = events[next++];
      if (current === undefined) return controller.close();
      const name = current.event === undefined ? "" : `event: ${current.event}\n`;
      const data = typeof current.data === "string" ? current.data : JSON.stringify(current.data);
      controller.enqueue(encoder.encode(`${name}data: ${data}\n\n`));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

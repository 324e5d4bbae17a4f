import { createAnthropicMessages } from "../agents/vendors/anthropic-messages.ts";
import { createGemini } from "../agents/vendors/gemini.ts";
import { isObject } from "../agents/vendors/json-shape.ts";
import { createOpenaiChat } from "../agents/vendors/openai-chat.ts";
import { createOpenaiResponses } from "../agents/vendors/openai-responses.ts";
import { Rejection } from "../agents/vendors/rejection.ts";
import type { Conversation, Reply } from "../agents/vendors/scripted-model.ts";
import type {
  IncomingRequest,
  VendorFormat,
  VendorUsage,
  WireFormat,
} from "../agents/vendors/simulated-vendor.ts";
import { startVendor, type VendorCall } from "../support/vendors/vendor.ts";
import { decideStep } from "./session-model.ts";

/** What goes wrong in a request: an error before the first token, or a stream that ends in its middle. */
export type Fault = "fails" | "breaks";

/** A request that a vendor got, and what it answered. */
export interface SessionRequest {
  readonly format: VendorFormat;
  readonly provider: string;
  readonly body: string;
  readonly conversation: Conversation | null;
  readonly losses: readonly string[];
  readonly rejection: string | null;
  /** What the vendor bills. Null if it did not answer completely. */
  readonly usage: VendorUsage | null;
  /** The body of its answer; empty if it did not answer completely. */
  readonly answer: string;
}

/** Two vendors for each format, with the same models and prices. They reject what the real ones reject. */
export interface SessionVendors {
  /** The section `providers` of a configuration. */
  readonly yaml: string;
  readonly requests: readonly SessionRequest[];
  /** Lets the next request go wrong, whichever vendor gets it. */
  disturb(fault: Fault): void;
  stop(): void;
}

/** A model by the format of its vendors. Models of the catalog, so that their families say how they reason. */
export const MODELS: Readonly<Record<VendorFormat, string>> = {
  "openai-responses": "openai/gpt-5.1-codex",
  "anthropic-messages": "anthropic/claude-sonnet-4.5",
  gemini: "google/gemini-3.1-pro-preview",
  "openai-chat": "openai/gpt-4.1",
};

const KEY = "sk-0123456789abcdef";
const PROMPT_NANODOLLARS = 1_000;
const COMPLETION_NANODOLLARS = 10_000;
const PRICES = `{prompt: "0.000001", completion: "0.00001"}`;

/** Returns what a vendor bills for a request. Nanodollars. */
export function priceOf({ input, output }: VendorUsage): number {
  return input * PROMPT_NANODOLLARS + output * COMPLETION_NANODOLLARS;
}

/** Starts the vendors. `decide` is the model of all of them. */
export function startSessionVendors(
  decide: (conversation: Conversation) => Reply = decideStep,
): SessionVendors {
  // A vendor's two hosts share what they remember: each accepts the signatures of the other.
  const formats = [
    createOpenaiResponses(),
    createAnthropicMessages(),
    createGemini(),
    createOpenaiChat("openai"),
  ];
  const requests: SessionRequest[] = [];
  let fault: Fault | null = null;
  const takeFault = () => {
    const taken = fault;
    fault = null;
    return taken;
  };
  const hosts = ["main", "spare"].map((host) => {
    const vendor = startVendor((call) => serve(call, host, formats, decide, takeFault, requests));
    return { host, vendor };
  });
  const providers = hosts.flatMap(({ host, vendor }) =>
    formats.map(({ name }) => {
      // Two of the formats have their version in their paths.
      const base = name.startsWith("openai") ? vendor.baseUrl : vendor.baseUrl.replace(/\/v1$/, "");
      const id = MODELS[name];
      const model = `{id: ${id}, name: ${id.slice(id.indexOf("/") + 1)}, context_length: 200000, prices: ${PRICES}}`;
      return `  ${host}-${name}: {base_url: "${base}", format: ${name}, api_keys: ["${KEY}"], models: [${model}]}`;
    }),
  );
  return {
    yaml: `providers:\n${providers.join("\n")}\n`,
    requests,
    disturb: (next) => {
      fault = next;
    },
    stop: () => {
      for (const { vendor } of hosts) vendor.stop();
    },
  };
}

async function serve(
  call: VendorCall,
  host: string,
  formats: readonly WireFormat[],
  decide: (conversation: Conversation) => Reply,
  takeFault: () => Fault | null,
  requests: SessionRequest[],
): Promise<void> {
  const request = readCall(call);
  const format = formats.find(({ hasPath }) => hasPath(request.path));
  if (format === undefined) return call.respond(404, "{}");
  const seen = { format: format.name, provider: `${host}-${format.name}`, body: JSON.stringify(call.body) };
  const unanswered = { ...seen, conversation: null, losses: [], rejection: null, usage: null, answer: "" };
  try {
    if (format.findKey(request) !== KEY) throw new Rejection("The key is not valid.", null, 401);
    const read = format.read(request);
    if (read instanceof Response) return call.respond(read.status, await read.text());
    const { conversation, losses } = read;
    const fault = takeFault();
    if (fault === "fails") {
      requests.push({ ...unanswered, conversation, losses });
      return call.respond(500, { error: { message: "The server had an error." } });
    }
    const reply = decide(conversation);
    const usage = countUsage(seen.body, reply);
    const response = read.answer(reply, usage);
    const answer = await response.text();
    if (fault === "breaks") {
      requests.push({ ...unanswered, conversation, losses });
      return breakOff(call, answer);
    }
    requests.push({ ...unanswered, conversation, losses, usage, answer });
    const type = response.headers.get("content-type") ?? "application/json";
    return call.respond(response.status, answer, { "content-type": type });
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    requests.push({ ...unanswered, rejection: error.message });
    const rendered = format.renderRejection(error);
    return call.respond(rendered.status, await rendered.text());
  }
}

/** Sends half of a stream's events, and closes the connection. */
async function breakOff(call: VendorCall, answer: string): Promise<void> {
  const events = answer.split("\n\n");
  await call.begin(200, { "content-type": "text/event-stream" });
  await call.piece(`${events.slice(0, Math.floor(events.length / 2)).join("\n\n")}\n\n`);
  call.connection.reset();
}

function readCall({ head, body }: VendorCall): IncomingRequest {
  const [line = "", ...lines] = head.split("\r\n");
  const url = new URL(line.split(" ")[1] ?? "/", "http://vendor");
  const headers = new Headers(
    lines.map((text): [string, string] => {
      const colon = text.indexOf(":");
      return [text.slice(0, colon), text.slice(colon + 1).trim()];
    }),
  );
  if (!isObject(body)) throw new Error("the body is not an object");
  return { path: url.pathname, query: url.searchParams, headers, body };
}

function countUsage(body: string, { reasoning, text, calls }: Reply): VendorUsage {
  const thought = Math.ceil(reasoning.length / 4);
  const said = Math.ceil((text.length + JSON.stringify(calls).length) / 4);
  return { input: Math.ceil(body.length / 4), output: thought + said, reasoning: thought };
}

const SIGNATURES: Readonly<Record<VendorFormat, RegExp | null>> = {
  "openai-responses": /"encrypted_content":"([^"]+)"/g,
  "anthropic-messages": /"signature":"([^"]+)"/g,
  gemini: /"thoughtSignature":"([^"]+)"/g,
  "openai-chat": null,
};

/** What Gemini accepts in place of a signature, for a call that another vendor's model made. */
const STAND_IN = "skip_thought_signature_validator";

/** Returns the signatures or encrypted reasoning in a body of a format, in order. */
export function listSignatures(format: VendorFormat, body: string): readonly string[] {
  const pattern = SIGNATURES[format];
  if (pattern === null) return [];
  // A streamed thinking block begins with an empty signature, and OpenAI's last event repeats all items.
  const found = [...body.matchAll(pattern)].map(([, signature]) => signature as string);
  return [...new Set(found)].filter((signature) => signature !== STAND_IN);
}

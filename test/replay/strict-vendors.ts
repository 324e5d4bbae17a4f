import type { FormatName } from "../../src/wire/conversation/format-name.ts";
import { createAnthropicMessages } from "../agents/vendors/anthropic-messages.ts";
import { createGemini } from "../agents/vendors/gemini.ts";
import { createOpenaiChat } from "../agents/vendors/openai-chat.ts";
import { createOpenaiResponses } from "../agents/vendors/openai-responses.ts";
import { Refusal } from "../agents/vendors/refusal.ts";
import type { WireFormat } from "../agents/vendors/simulated-vendor.ts";
import type { Json } from "./conversation.ts";

/** Vendors that check requests as strictly as the real ones, and where each is asked. */
const VENDORS: Readonly<Partial<Record<FormatName, { create: () => WireFormat; path: string }>>> = {
  "openai-chat": { create: () => createOpenaiChat("openai"), path: "/v1/chat/completions" },
  "openai-responses": { create: createOpenaiResponses, path: "/v1/responses" },
  "anthropic-messages": { create: createAnthropicMessages, path: "/v1/messages" },
  gemini: { create: createGemini, path: "/v1beta/models/gemini-replayed:generateContent" },
};

/** A simulated vendor knows only the proofs that it has given itself, and these are recorded ones. */
const UNKNOWN_PROOF = /could not be verified|[Ss]ignature is not valid|Invalid `signature`/;

const HEADERS = new Headers({ "anthropic-version": "2023-06-01" });

/** What the vendor of a format would refuse a request with; null where it takes it, or where none is simulated. */
export function findRefusal(format: FormatName, body: Json): string | null {
  const vendor = VENDORS[format];
  if (vendor === undefined) return null;
  try {
    vendor.create().read({ path: vendor.path, query: new URLSearchParams(), headers: HEADERS, body });
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return UNKNOWN_PROOF.test(error.message) ? null : error.message;
  }
}

import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { createAnthropicMessages } from "../agents/vendors/anthropic-messages.ts";
import { createGemini } from "../agents/vendors/gemini.ts";
import { createOpenaiChat } from "../agents/vendors/openai-chat.ts";
import { createOpenaiResponses } from "../agents/vendors/openai-responses.ts";
import { Rejection } from "../agents/vendors/rejection.ts";
import type { WireFormat } from "../agents/vendors/simulated-vendor.ts";
import type { Json } from "./conversation.ts";

/** Vendors that validate requests as strictly as the real ones, and their paths. */
const VENDORS: Readonly<Partial<Record<FormatName, { create: () => WireFormat; path: string }>>> = {
  "openai-chat": { create: () => createOpenaiChat("openai"), path: "/v1/chat/completions" },
  "openai-responses": { create: createOpenaiResponses, path: "/v1/responses" },
  "anthropic-messages": { create: createAnthropicMessages, path: "/v1/messages" },
  gemini: { create: createGemini, path: "/v1beta/models/gemini-replayed:generateContent" },
};

/** A simulated vendor knows only signatures that it has issued itself, and these are recorded ones. */
const UNKNOWN_PROOF = /could not be verified|[Ss]ignature is not valid|Invalid `signature`/;

const HEADERS = new Headers({ "anthropic-version": "2023-06-01" });

/** Returns the reason for which the vendor of a format would reject a request; `null` if it accepts it, or if none is simulated. */
export function findRefusal(format: FormatName, body: Json): string | null {
  const vendor = VENDORS[format];
  if (vendor === undefined) return null;
  try {
    vendor.create().read({ path: vendor.path, query: new URLSearchParams(), headers: HEADERS, body });
    return null;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return UNKNOWN_PROOF.test(error.message) ? null : error.message;
  }
}

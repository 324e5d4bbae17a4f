import type { ConversationRequest } from "../model/request.ts";

/** A user field of OpenAI's formats that the canonical model does not have. */
const IDENTIFIER = "safety_identifier";

/** Returns the request with its user replaced by a hash; unchanged if it names none. */
export function hideUser(
  request: ConversationRequest,
  hashUser: (user: string) => string,
): ConversationRequest {
  const { user, extras } = request;
  const hidden = user === null ? request : { ...request, user: hashUser(user) };
  const identifier = extras?.fields[IDENTIFIER] ?? null;
  if (extras === undefined || identifier === null) return hidden;
  const value = typeof identifier === "string" ? identifier : JSON.stringify(identifier);
  return { ...hidden, extras: { ...extras, fields: { ...extras.fields, [IDENTIFIER]: hashUser(value) } } };
}

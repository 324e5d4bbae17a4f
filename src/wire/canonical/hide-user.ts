import type { ConversationRequest } from "./request.ts";

/** The field of OpenAI's formats that the hub has no name for. */
const IDENTIFIER = "safety_identifier";

/** A request that names its user by a hash alone; itself where it names none. */
export function hideUser(
  request: ConversationRequest,
  hashUser: (user: string) => string,
): ConversationRequest {
  const { user, extras } = request;
  const hidden = user === null ? request : { ...request, user: hashUser(user) };
  const identifier = extras?.fields[IDENTIFIER] ?? null;
  if (extras === undefined || identifier === null) return hidden;
  const said = typeof identifier === "string" ? identifier : JSON.stringify(identifier);
  return { ...hidden, extras: { ...extras, fields: { ...extras.fields, [IDENTIFIER]: hashUser(said) } } };
}

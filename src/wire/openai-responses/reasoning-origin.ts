import { REASONING_ORIGINS } from "../canonical/model/parts.ts";

const UUID = /^rs_[0-9a-f]{8}-[0-9a-f]{4}-/;
const OPENAI_ID = /^rs_/;
/** How OpenAI's encrypted reasoning begins: it is a Fernet token, whose first bytes are its version and the time. */
export const OPENAI_START = "gAAAA";

/**
 * Returns which vendor of this format encrypted a reasoning item. Clients may leave out ids. xAI's are UUIDs, `tco_…` or absent, and its
 * reasoning is no token as OpenAI's.
 */
export function originOfItem(id: string | null, isOpenaiToken: boolean): string {
  if (isOpenaiToken) return REASONING_ORIGINS.openai;
  const isOpenaiId = id !== null && OPENAI_ID.test(id) && !UUID.test(id);
  return isOpenaiId ? REASONING_ORIGINS.openai : REASONING_ORIGINS.xai;
}

/** Returns the origin of the reasoning that a model accepts. */
export function originOfModel(name: string): string {
  return /\bgrok/i.test(name) ? REASONING_ORIGINS.xai : REASONING_ORIGINS.openai;
}

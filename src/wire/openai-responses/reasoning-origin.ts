import { REASONING_ORIGINS } from "../canonical/parts.ts";

const UUID = /^rs_[0-9a-f]{8}-[0-9a-f]{4}-/;

/** Which vendor of this format encrypted a reasoning item. xAI's ids are UUIDs, and nothing else tells the two apart. */
export function originOfItem(id: string | null): string {
  return id !== null && UUID.test(id) ? REASONING_ORIGINS.xai : REASONING_ORIGINS.openai;
}

/** Whose reasoning a model takes back. */
export function originOfModel(name: string): string {
  return /\bgrok/i.test(name) ? REASONING_ORIGINS.xai : REASONING_ORIGINS.openai;
}

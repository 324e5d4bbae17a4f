import { REASONING_ORIGINS } from "../canonical/parts.ts";

const UUID = /^rs_[0-9a-f]{8}-[0-9a-f]{4}-/;

/** Returns which vendor of this format encrypted a reasoning item. xAI's ids are UUIDs; nothing else distinguishes the two. */
export function originOfItem(id: string | null): string {
  return id !== null && UUID.test(id) ? REASONING_ORIGINS.xai : REASONING_ORIGINS.openai;
}

/** Returns the origin of the reasoning that a model accepts. */
export function originOfModel(name: string): string {
  return /\bgrok/i.test(name) ? REASONING_ORIGINS.xai : REASONING_ORIGINS.openai;
}

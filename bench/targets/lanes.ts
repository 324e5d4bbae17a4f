import type { ClientApi, VendorFormat } from "../load/messages.ts";

/** A client API and an upstream format that the gateway connects. */
interface Lane {
  readonly name: string;
  readonly label: string;
  readonly api: ClientApi;
  readonly vendor: VendorFormat;
  /** A model of the catalog that a provider of this format serves. */
  readonly model: string;
}

/** The measured pairs. The others are compared with the first. */
export const LANES = [
  { name: "chat", label: "chat → chat", api: "chat", vendor: "chat", model: "openai/gpt-4o-mini" },
  {
    name: "chat-messages",
    label: "chat → Anthropic",
    api: "chat",
    vendor: "messages",
    model: "anthropic/claude-haiku-4.5",
  },
  {
    name: "chat-gemini",
    label: "chat → Gemini",
    api: "chat",
    vendor: "gemini",
    model: "google/gemini-2.5-flash",
  },
  {
    name: "messages",
    label: "Messages → Anthropic",
    api: "messages",
    vendor: "messages",
    model: "anthropic/claude-haiku-4.5",
  },
  {
    name: "responses",
    label: "Responses → Responses",
    api: "responses",
    vendor: "responses",
    model: "openai/gpt-5-codex",
  },
] as const satisfies readonly Lane[];

export type LaneName = (typeof LANES)[number]["name"];

/** The loads that are sent over each lane. */
export const LOADS = [
  { name: "small", label: "small, µs", body: "small", isStream: false },
  { name: "large", label: "200 kB, µs", body: "large", isStream: false },
  { name: "stream", label: "stream, µs", body: "small", isStream: true },
] as const;

type LoadName = (typeof LOADS)[number]["name"];

/** Returns the name of a figure of this part. */
export function figureOf(load: LoadName, lane: LaneName): string {
  return `translation.${load}.${lane}`;
}

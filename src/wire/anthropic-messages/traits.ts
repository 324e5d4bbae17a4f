import { STORING_FIELDS } from "../conversation/stored-data.ts";
import type { FormatTraits } from "../conversation/traits/format-traits.ts";
import { CHARGES } from "./charges.ts";

/** Anthropic's Messages API. */
export const TRAITS = {
  name: "anthropic-messages",
  streamType: "text/event-stream",
  tools: {
    // Adjacent assistant messages are one turn, which must end with its calls. All hosts check ids as Anthropic does.
    calls: { results: "after-turn", hasUniqueIds: true, ids: "anthropic" },
    maxNameChars: null,
  },
  contents: {},
  turns: { hasMidSystem: true, signsThinking: true, continuesLast: true },
  parameters: {
    containers: [{ member: null, names: { stop_sequences: "stop" } }],
    sampling: ["stop"],
    efforts: ["none", "low", "medium", "high", "xhigh", "max"],
  },
  cacheMarks: "blocks",
  // `metadata` has nothing but a hash of the user.
  storingFields: STORING_FIELDS.filter((name) => name !== "metadata"),
  charges: CHARGES,
} as const satisfies FormatTraits;

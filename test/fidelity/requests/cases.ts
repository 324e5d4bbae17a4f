import { MEDIA } from "./media.ts";
import { MESSAGES } from "./messages.ts";
import { REASONING_PARAMETERS, SENT_BACK } from "./reasoning.ts";
import type { RequestCase } from "./request-case.ts";
import { BOOKKEEPING, CACHE, OUTPUT, SAMPLING } from "./settings.ts";
import { TOOLS } from "./tools.ts";

/** All features of requests in the order of the table, by group. */
export const REQUEST_CASES: readonly (readonly [string, readonly RequestCase[]])[] = [
  ["Messages and roles", MESSAGES],
  ["Media and files", MEDIA],
  ["Tools", TOOLS],
  ["Reasoning parameters", REASONING_PARAMETERS],
  ["Reasoning sent back", SENT_BACK],
  ["Caching", CACHE],
  ["Output format", OUTPUT],
  ["Sampling", SAMPLING],
  ["Other fields", BOOKKEEPING],
];

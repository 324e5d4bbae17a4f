import { MEDIA } from "./media.ts";
import { SENT_BACK, WISHES } from "./reasoning.ts";
import type { RequestCase } from "./request-case.ts";
import { BOOKKEEPING, CACHE, OUTPUT, SAMPLING } from "./settings.ts";
import { SPEECH } from "./speech.ts";
import { TOOLS } from "./tools.ts";

/** All that requests may say, in the order of the table. */
export const REQUEST_CASES: readonly (readonly [string, readonly RequestCase[]])[] = [
  ["Who says what", SPEECH],
  ["What is not text", MEDIA],
  ["Tools", TOOLS],
  ["Wishes for reasoning", WISHES],
  ["Reasoning sent back", SENT_BACK],
  ["Caching", CACHE],
  ["The form of the answer", OUTPUT],
  ["How tokens are chosen", SAMPLING],
  ["All else", BOOKKEEPING],
];

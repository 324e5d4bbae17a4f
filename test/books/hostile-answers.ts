import { chunkOf, documentOf, opening, textOf, type VendorCall } from "../support/vendors/vendor.ts";

/**
 * What a hostile vendor does: impossible or invalid counts; an answer that breaks off; an answer as
 * long as allowed, or longer.
 */
export const HOSTILE_PLANS = ["lying", "half", "long", "overlong"] as const;
export type HostilePlan = (typeof HOSTILE_PLANS)[number];

/** The longest answer of the hostile vendor's model, tokens. */
export const LONGEST_ANSWER = 20_000;
/** The context window of the vendors' models, tokens. */
export const WINDOW = 32_768;

/** Invalid counts, or more than any request here can have used. */
const IMPOSSIBLE: readonly unknown[] = [
  1e19,
  1e12,
  9e15,
  5_000_000,
  -1,
  -1e12,
  3.7,
  "12",
  "1e9",
  null,
  true,
  [],
  {},
];
/** More tokens than the largest bound of a request, but less than the model's longest answer. */
const ABOVE_BOUND = 5_000;

/** What every answer begins with. */
export const OPENING = "Go";
const PIECE = "word ".repeat(40);
const TOKENS_IN_PIECE = 40;

/** Plays the hostile answer that `serial` selects. `bill` receives the usage if it is true and within its bound. */
export function playHostile(plan: HostilePlan, call: VendorCall, serial: number, bill: Bill): Promise<void> {
  return PLAY[plan](call, serial, bill);
}

type Bill = (usage: { readonly promptTokens: number; readonly completionTokens: number }) => void;
type Play = (call: VendorCall, serial: number, bill: Bill) => Promise<void>;

const PLAY: Readonly<Record<HostilePlan, Play>> = {
  lying: (call, serial) => answer(call, ["Gone", " on"], impossibleUsageOf(serial)),
  half: (call, serial) => (call.isStream ? breakStream(call, serial) : breakDocument(call)),
  long: (call, _serial, bill) => {
    const pieces = Math.floor(Math.min(boundOf(call), LONGEST_ANSWER) / TOKENS_IN_PIECE);
    bill({ promptTokens: PROMPT_TOKENS, completionTokens: pieces * TOKENS_IN_PIECE });
    return answer(call, Array(pieces).fill(PIECE), count(pieces));
  },
  overlong: (call) => {
    const pieces = (LONGEST_ANSWER * 3) / (2 * TOKENS_IN_PIECE);
    return answer(call, Array(pieces).fill(PIECE), count(pieces));
  },
};

const PROMPT_TOKENS = 10;

/** The bound that the request sets, if any. */
function boundOf({ body }: VendorCall): number {
  const bound = body["max_completion_tokens"] ?? body["max_tokens"];
  return typeof bound === "number" ? bound : Number.POSITIVE_INFINITY;
}

function count(pieces: number): unknown {
  const completion = pieces * TOKENS_IN_PIECE;
  return {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: completion,
    total_tokens: PROMPT_TOKENS + completion,
  };
}

/** Usage with an impossible count in one or two places, different for each serial number. */
function impossibleUsageOf(serial: number): unknown {
  const wrong = IMPOSSIBLE[serial % IMPOSSIBLE.length];
  const places = [
    { prompt_tokens: wrong, completion_tokens: 2, total_tokens: wrong },
    { prompt_tokens: 10, completion_tokens: wrong, total_tokens: wrong },
    { prompt_tokens: wrong, completion_tokens: wrong, total_tokens: wrong },
    { prompt_tokens: 10, completion_tokens: ABOVE_BOUND, total_tokens: 10 + ABOVE_BOUND },
    {
      prompt_tokens: 10,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: wrong, audio_tokens: wrong },
      completion_tokens_details: { reasoning_tokens: wrong },
      num_search_queries: wrong,
    },
  ];
  return places[Math.floor(serial / IMPOSSIBLE.length) % places.length];
}

/** A whole answer of these pieces, with that usage. */
async function answer(call: VendorCall, pieces: readonly string[], usage: unknown): Promise<void> {
  if (!call.isStream) return call.respond(200, documentOf(pieces.join(""), { usage }));
  await call.begin();
  await call.events(...opening(OPENING));
  for (const piece of pieces) await call.events(textOf(piece));
  await call.events(chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage }, "[DONE]");
  await call.end();
}

/** Ends in the middle of an event, of a finish without usage, or of a character. */
async function breakStream(call: VendorCall, serial: number): Promise<void> {
  await call.begin();
  await call.events(...opening(OPENING), textOf(PIECE));
  const ends = ['data: {"choices":[{"index":0,"delta":{"content":"ha', "data: \xe2", ""];
  await call.piece(ends[serial % ends.length] as string);
  call.connection.end();
}

/** Announces more bytes than it sends. */
async function breakDocument(call: VendorCall): Promise<void> {
  const body = JSON.stringify(documentOf(PIECE));
  await call.respond(200, body.slice(0, body.length / 2), { "content-length": String(body.length) });
  call.connection.end();
}

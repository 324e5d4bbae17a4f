import type { Clock } from "../time/clock.ts";
import type { Random } from "./random.ts";

const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 10;

/** All pairs of digits, so that ten bits become two characters in one step. */
const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, at) => `${BASE32[at >> 5]}${BASE32[at & 31]}`,
);
/** The random digits of an id. Each is made of one random byte. */
const RANDOM_DIGITS = 14;
/** The random digits of 32 ids. They are drawn together, because composing a text digit by digit costs as much as everything else. */
const BLOCK_DIGITS = 32 * RANDOM_DIGITS;

/**
 * Generates ids that sort by time and cannot be guessed: a prefix, 10 digits of milliseconds, 2 digits that count the ids
 * of one millisecond, 14 random digits. The first 1,024 ids of a millisecond sort in the order in which they were generated.
 */
export interface IdSource {
  /** Returns a new id, such as `gen_01jd…` for the prefix `gen`. */
  next(prefix: string): string;
}

/** Creates an id source. */
export function createIdSource(clock: Clock, random: Random): IdSource {
  let lastMs = -1;
  let lastTime = "";
  let countInMs = 0;
  let digits = "";
  let used = 0;
  return {
    next(prefix) {
      const ms = clock.now();
      if (ms !== lastMs) {
        lastMs = ms;
        lastTime = encodeTime(ms);
        countInMs = 0;
      }
      if (used === digits.length) {
        digits = drawDigits(random);
        used = 0;
      }
      const count = PAIRS[Math.min(countInMs, PAIRS.length - 1)];
      countInMs++;
      used += RANDOM_DIGITS;
      return `${prefix}_${lastTime}${count}${digits.slice(used - RANDOM_DIGITS, used)}`;
    },
  };
}

function drawDigits(random: Random): string {
  const codes = Buffer.from(random.bytes(BLOCK_DIGITS));
  for (let at = 0; at < codes.length; at++) codes[at] = BASE32.charCodeAt((codes[at] as number) & 31);
  return codes.toString("latin1");
}

/** The last millisecond of the year 9999: later times are no times of ids. */
const LAST_MS = 253_402_300_799_999;
/** The value of each digit by its character code; -1 for all other characters. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => BASE32.indexOf(String.fromCharCode(code)));

/** Returns the time in an id, in milliseconds since the epoch; null for an id that no `IdSource` generates. */
export function readIdTime(id: string): number | null {
  const begin = id.indexOf("_") + 1;
  if (begin < 2 || id.length < begin + TIME_DIGITS) return null;
  let ms = 0;
  for (let at = begin; at < begin + TIME_DIGITS; at++) {
    const digit = DIGITS[id.charCodeAt(at)] ?? -1;
    if (digit < 0) return null;
    ms = ms * BASE32.length + digit;
  }
  return ms <= LAST_MS ? ms : null;
}

/** Returns the smallest text that an id of this time, or of a later one, can have. */
export function lowestIdAt(prefix: string, ms: number): string {
  return `${prefix}_${encodeTime(ms)}`;
}

function encodeTime(ms: number): string {
  let rest = Math.floor(ms);
  let digits = "";
  for (let i = 0; i < TIME_DIGITS; i++) {
    digits = BASE32[rest % 32] + digits;
    rest = Math.floor(rest / 32);
  }
  return digits;
}

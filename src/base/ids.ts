import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 10;
const RANDOM_BYTES = 16;

/** Makes ids that sort by time and cannot be guessed: a prefix, 10 digits of milliseconds, 16 random ones. */
export interface IdSource {
  /** For example `next("gen")` gives `gen_01jd…`. */
  next(prefix: string): string;
}

/** An id source over a clock and a source of randomness. */
export function createIdSource(clock: Clock, random: Random): IdSource {
  let lastMs = -1;
  let lastTime = "";
  return {
    next(prefix) {
      const ms = clock.now();
      if (ms !== lastMs) {
        lastMs = ms;
        lastTime = encodeTime(ms);
      }
      let tail = "";
      for (const byte of random.bytes(RANDOM_BYTES)) tail += BASE32[byte & 31];
      return `${prefix}_${lastTime}${tail}`;
    },
  };
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

import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS = 10;

/** All pairs of digits, by which ten random bits become two characters at once. */
const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, at) => `${BASE32[at >> 5]}${BASE32[at & 31]}`,
);
const RANDOM_PAIRS = 8;

/** Generates ids that sort by time and cannot be guessed: a prefix, 10 digits of milliseconds, 16 random digits. */
export interface IdSource {
  /** Returns a new id, such as `gen_01jd…` for the prefix `gen`. */
  next(prefix: string): string;
}

/** Creates an id source. */
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
      const bytes = random.bytes(2 * RANDOM_PAIRS);
      let id = `${prefix}_${lastTime}`;
      for (let i = 0; i < 2 * RANDOM_PAIRS; i += 2) {
        id += PAIRS[((bytes[i] as number) | ((bytes[i + 1] as number) << 8)) & 1023];
      }
      return id;
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

/**
 * Finds the closing quotes of the strings in JSON, 64 bytes at a time. `npm run generate -- assembly` compiles it from AssemblyScript into
 * src/wire/json/closing-quotes-wasm.ts; src/wire/json/closing-quotes.ts calls it.
 *
 * A text is read in chunks: `begin` once, then for each chunk its bytes are written to `input` and `find` is called.
 */

/** The most bytes of a chunk. */
const CHUNK_BYTES: i32 = 16384;
const BLOCK_BYTES: i32 = 64;
/** At most every second byte closes a string. One more position is written before it is known whether it counts. */
const MOST_POSITIONS: i32 = CHUNK_BYTES / 2 + 1;

const QUOTE: i8 = 34;
const BACKSLASH: i8 = 92;
/** The even bits of a block. */
const EVEN: u64 = u64.MAX_VALUE / 3;

/** Where the bytes of a chunk are written. The last block is read whole, so zeros follow bytes that end within it. */
export const input: usize = memory.data(CHUNK_BYTES, 64);
/** Where the positions of a chunk's closing quotes are found, 32 bits each. */
export const output: usize = memory.data(MOST_POSITIONS * 4, 64);

/** 1 if the byte before the next block escapes its first byte; otherwise 0. */
let escapesFirst: u64 = 0;
/** 1 if the next byte is within a string; otherwise 0. */
let isWithin: u32 = 0;

/** Begins a text. */
export function begin(): void {
  escapesFirst = 0;
  isWithin = 0;
}

/** Finds the closing quotes of a chunk of `length` bytes, which begins at `position` of its text, and returns their number. */
export function find(length: i32, position: u32): i32 {
  const quote = i8x16.splat(QUOTE);
  const backslash = i8x16.splat(BACKSLASH);
  let within = isWithin;
  let at = output;
  for (let block: i32 = 0; block < length; block += BLOCK_BYTES) {
    let quotes = bitsOf(input + block, quote) & ~takeEscaped(bitsOf(input + block, backslash));
    while (quotes !== 0) {
      // The position of an opening quote is overwritten by the next one.
      store<u32>(at, position + block + u32(ctz(quotes)));
      at += within << 2;
      within ^= 1;
      quotes &= quotes - 1;
    }
  }
  isWithin = within;
  return i32(at - output) >> 2;
}

/** Returns which bytes of a block equal this one: bit 0 stands for the first. */
function bitsOf(block: usize, byte: v128): u64 {
  return (
    u64(i8x16.bitmask(i8x16.eq(v128.load(block), byte))) |
    (u64(i8x16.bitmask(i8x16.eq(v128.load(block, 16), byte))) << 16) |
    (u64(i8x16.bitmask(i8x16.eq(v128.load(block, 32), byte))) << 32) |
    (u64(i8x16.bitmask(i8x16.eq(v128.load(block, 48), byte))) << 48)
  );
}

/**
 * Returns which bytes of a block are escaped, given its backslashes. In a run of backslashes that begins at an even bit, they escape
 * the bytes at odd bits up to the one after the run; in other runs, those at even bits. The addition removes the runs that begin
 * at odd bits, because its carry goes through them.
 */
function takeEscaped(backslashes: u64): u64 {
  const first = escapesFirst;
  if (backslashes === 0) {
    escapesFirst = 0;
    return first;
  }
  // A backslash that is escaped itself escapes nothing.
  const runs = backslashes & ~first;
  const follows = (runs << 1) | first;
  const oddStarts = runs & ~EVEN & ~follows;
  const evenRuns = runs + oddStarts;
  escapesFirst = u64(evenRuns < runs);
  return (EVEN ^ (evenRuns << 1)) & follows;
}

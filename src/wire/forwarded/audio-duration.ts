/**
 * Finds how long a recording is, from its container. Formats are those that vendors accept: WAV, MP3, FLAC, Ogg and MP4. Every read is
 * checked, because files come from callers.
 */

const BITS_PER_BYTE = 8;

/** Returns the duration of a file in seconds; null if its format is not known, or its header does not say. */
export function findDuration(file: Buffer): number | null {
  const found = findInContainer(file);
  return found !== null && Number.isFinite(found) && found > 0 && found < MAX_SECONDS ? found : null;
}

/** A week: a longer duration is not credible. */
const MAX_SECONDS = 7 * 24 * 3_600;

function findInContainer(file: Buffer): number | null {
  if (isAt(file, 0, "RIFF") && isAt(file, 8, "WAVE")) return findWavDuration(file);
  if (isAt(file, 0, "fLaC")) return findFlacDuration(file);
  if (isAt(file, 0, "OggS")) return findOggDuration(file);
  if (isAt(file, 4, "ftyp")) return findMp4Duration(file);
  return findMp3Duration(file);
}

/** Returns the bytes of one second of a WAV or MP3 stream with a constant rate, by its first bytes; null for others. */
export function findByteRate(head: Buffer): number | null {
  if (isAt(head, 0, "RIFF") && isAt(head, 8, "WAVE")) return readWavRate(head)?.bytesPerSecond ?? null;
  return findMp3Frame(head)?.bytesPerSecond ?? null;
}

function isAt(file: Buffer, at: number, word: string): boolean {
  return file.length >= at + word.length && file.toString("latin1", at, at + word.length) === word;
}

interface WavRate {
  readonly bytesPerSecond: number;
  /** Where the chunk after the format begins. */
  readonly next: number;
}

const CHUNK_HEAD_BYTES = 8;
/** More chunks before the samples are not searched. */
const MAX_CHUNKS = 1_000;

function readWavRate(file: Buffer): WavRate | null {
  for (const { name, at, size } of listChunks(file)) {
    if (name !== "fmt " || at + 12 > file.length) continue;
    const bytesPerSecond = file.readUInt32LE(at + 8);
    return bytesPerSecond > 0 ? { bytesPerSecond, next: at + size } : null;
  }
  return null;
}

function findWavDuration(file: Buffer): number | null {
  const rate = readWavRate(file);
  if (rate === null) return null;
  for (const { name, at, size } of listChunks(file)) {
    // A stream states the largest size, or none.
    if (name === "data")
      return Math.min(size === 0 ? file.length : size, file.length - at) / rate.bytesPerSecond;
  }
  return null;
}

function* listChunks(file: Buffer): Generator<{ name: string; at: number; size: number }> {
  let at = 12;
  for (let count = 0; count < MAX_CHUNKS && at + CHUNK_HEAD_BYTES <= file.length; count++) {
    const size = file.readUInt32LE(at + 4);
    yield { name: file.toString("latin1", at, at + 4), at: at + CHUNK_HEAD_BYTES, size };
    // Chunks begin at even positions.
    at += CHUNK_HEAD_BYTES + size + (size % 2);
  }
}

/** STREAMINFO is the first block: 20 bits of the sample rate, 8 of others, 36 of the number of samples. */
function findFlacDuration(file: Buffer): number | null {
  if (file.length < 26) return null;
  const rate = (file.readUInt32BE(18) >>> 12) & 0xfffff;
  const samples = (file.readUInt8(21) & 0x0f) * 2 ** 32 + file.readUInt32BE(22);
  return rate === 0 ? null : samples / rate;
}

/** Opus always counts 48,000 samples in a second; Vorbis names its rate. */
const OPUS_RATE = 48_000;

function findOggDuration(file: Buffer): number | null {
  const last = file.lastIndexOf("OggS", file.length, "latin1");
  if (last < 0 || last + 14 > file.length) return null;
  const samples = Number(file.readBigInt64LE(last + 6));
  const head = file.subarray(0, 128);
  if (head.includes("OpusHead", 0, "latin1")) return samples / OPUS_RATE;
  const vorbis = head.indexOf("\x01vorbis", 0, "latin1");
  if (vorbis < 0 || vorbis + 16 > head.length) return null;
  const rate = head.readUInt32LE(vorbis + 12);
  return rate === 0 ? null : samples / rate;
}

/** Finds `mvhd` in `moov`, which has the number of units in a second and the duration in units. */
function findMp4Duration(file: Buffer): number | null {
  const moov = findBox(file, "moov", { from: 0, to: file.length });
  const mvhd = moov === null ? null : findBox(file, "mvhd", moov);
  if (mvhd === null || mvhd.from + 32 > file.length) return null;
  const isLong = file.readUInt8(mvhd.from) === 1;
  const perSecond = file.readUInt32BE(mvhd.from + (isLong ? 20 : 12));
  const units = isLong ? Number(file.readBigUInt64BE(mvhd.from + 24)) : file.readUInt32BE(mvhd.from + 16);
  return perSecond === 0 ? null : units / perSecond;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function findBox(file: Buffer, name: string, { from, to }: Range): Range | null {
  let at = from;
  for (let count = 0; count < MAX_CHUNKS && at + 16 <= to; count++) {
    const short = file.readUInt32BE(at);
    const size = short === 1 ? Number(file.readBigUInt64BE(at + 8)) : short;
    const head = short === 1 ? 16 : 8;
    const end = size === 0 ? to : at + size;
    if (size !== 0 && size < head) return null;
    if (isAt(file, at + 4, name)) return { from: at + head, to: Math.min(end, to) };
    at = end;
  }
  return null;
}

interface Mp3Frame {
  readonly at: number;
  readonly bytesPerSecond: number;
  readonly samplesPerSecond: number;
  readonly samplesPerFrame: number;
}

/** Kilobits in a second by index, of layer III: MPEG 1, and MPEG 2 and 2.5. */
const KILOBITS = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;
/** A frame begins in the first bytes after the tags. */
const FRAME_SEARCH_BYTES = 4_096;

function findMp3Duration(file: Buffer): number | null {
  const frame = findMp3Frame(file);
  if (frame === null) return null;
  const frames = readFrameCount(file, frame.at);
  if (frames !== null) return (frames * frame.samplesPerFrame) / frame.samplesPerSecond;
  return (file.length - frame.at) / frame.bytesPerSecond;
}

function findMp3Frame(file: Buffer): Mp3Frame | null {
  const start = skipTag(file);
  const end = Math.min(start + FRAME_SEARCH_BYTES, file.length - 4);
  for (let at = start; at <= end; at++) {
    const frame = readMp3Frame(file, at);
    if (frame !== null) return frame;
  }
  return null;
}

/** Returns the end of an ID3v2 tag, whose size has seven bits in each byte; 0 if there is none. */
function skipTag(file: Buffer): number {
  if (!isAt(file, 0, "ID3") || file.length < 10) return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file.readUInt8(at) & 0x7f), 0);
  return 10 + size;
}

function readMp3Frame(file: Buffer, at: number): Mp3Frame | null {
  const head = file.readUInt32BE(at);
  const version = (head >>> 19) & 3;
  const isLayer3 = ((head >>> 17) & 3) === 1;
  const rate = SAMPLE_RATES[(head >>> 10) & 3];
  if (head >>> 21 !== 0x7ff || version === 1 || !isLayer3 || rate === undefined) return null;
  const kilobits = KILOBITS[version === 3 ? 0 : 1][(head >>> 12) & 15];
  if (kilobits === undefined || kilobits === 0) return null;
  return {
    at,
    bytesPerSecond: (kilobits * 1_000) / BITS_PER_BYTE,
    samplesPerSecond: rate / (version === 3 ? 1 : version === 2 ? 2 : 4),
    samplesPerFrame: version === 3 ? 1_152 : 576,
  };
}

/** Returns the number of frames that the first one states, for files with a variable rate. */
function readFrameCount(file: Buffer, at: number): number | null {
  const head = file.subarray(at, at + 64);
  for (const word of ["Xing", "Info"]) {
    const mark = head.indexOf(word, 0, "latin1");
    if (mark < 0 || at + mark + 12 > file.length) continue;
    const hasFrames = (file.readUInt32BE(at + mark + 4) & 1) === 1;
    return hasFrames ? file.readUInt32BE(at + mark + 8) : null;
  }
  return null;
}

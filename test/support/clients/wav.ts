/** Samples of a second, one byte each. */
const RATE = 8_000;

/** Returns a WAV file of silence with one channel. */
export function makeWav(seconds: number): Buffer<ArrayBuffer> {
  const samples = Math.round(seconds * RATE);
  const file = Buffer.alloc(44 + samples, 0x80);
  file.write("RIFF", 0, "latin1");
  file.writeUInt32LE(36 + samples, 4);
  file.write("WAVEfmt ", 8, "latin1");
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE, 24);
  file.writeUInt32LE(RATE, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36, "latin1");
  file.writeUInt32LE(samples, 40);
  return file;
}

import type { VectorEncoding } from "./decode-request.ts";

const BYTES_PER_NUMBER = 4;

/**
 * A vector as JSON in the wanted encoding. Vendors that know one encoding only give that one, whatever was asked.
 * @throws SyntaxError for what is no vector.
 */
export function convertVector(json: string, encoding: VectorEncoding): string {
  const has: VectorEncoding = json.startsWith('"') ? "base64" : "float";
  if (has === encoding) return json;
  if (has === "base64") return JSON.stringify(Array.from(decodeFloats(JSON.parse(json))));
  const numbers = Float32Array.from(JSON.parse(json) as number[]);
  return `"${Buffer.from(numbers.buffer).toString("base64")}"`;
}

function decodeFloats(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length % BYTES_PER_NUMBER !== 0)
    throw new SyntaxError("base64 of something other than 32-bit floats");
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

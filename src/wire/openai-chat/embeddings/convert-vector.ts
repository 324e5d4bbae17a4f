import type { VectorEncoding } from "./decode-request.ts";

const BYTES_PER_NUMBER = 4;

/**
 * Returns a vector as JSON in the requested encoding. Vendors that support only one encoding return that one, whatever was
 * requested.
 * @throws SyntaxError for a malformed vector.
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

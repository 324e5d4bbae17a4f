/** The worker that encodes large requests: translating megabytes would block the event loop for too long. */

import { failureOf } from "../base/failures/errors.ts";
import { joinIntoOne } from "../base/text/composed-bytes.ts";
import { createIdentityHash, type IdentityHash } from "../core/generation/memory/identity-hash.ts";
import { encodeJob } from "../wire/client-apis/encode-job.ts";
import type { EncodeJob } from "../wire/client-apis/request/inference-request.ts";
import type { EncodingAnswer, EncodingMessage } from "./encoding-thread.ts";

declare const self: Worker;

let hashIdentity: IdentityHash | null = null;

self.onmessage = ({ data }: MessageEvent<EncodingMessage>) => {
  if ("identitySecret" in data) {
    hashIdentity = createIdentityHash(data.identitySecret);
    return;
  }
  const { byteLength } = data.job.body;
  const answer = encode(data.job, data.scope);
  self.postMessage(
    answer,
    answer.kind === "encoded" ? [joinIntoOne(answer.made.encoded.body).buffer as ArrayBuffer] : [],
  );
  if (byteLength > COLLECTED_BYTES) Bun.gc(true);
};

/** Size of a body whose garbage is collected immediately, because the next job may come much later. Bytes. */
const COLLECTED_BYTES = 1024 * 1024;

function encode(job: EncodeJob, scope: string): EncodingAnswer {
  try {
    const made = encodeJob(job, (user) => hashUser(scope, user));
    const encoded = { ...made.encoded, body: copyToOwnMemory(joinIntoOne(made.encoded.body)) };
    return { kind: "encoded", made: { ...made, encoded } };
  } catch (error) {
    return { kind: "failed", failure: failureOf(error) };
  }
}

function hashUser(scope: string, user: string): string {
  if (hashIdentity === null) throw new Error("a job came before the secret");
  return hashIdentity("user", scope, user);
}

/** Returns the body in separate memory, which can be transferred. */
function copyToOwnMemory(body: Uint8Array): Buffer {
  const { buffer } = body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
  return Buffer.from(buffer as ArrayBuffer);
}

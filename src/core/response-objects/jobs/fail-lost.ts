import type { Failure } from "../../../base/failures/errors.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import type { KeepDeps } from "../keep/keep-deps.ts";
import { type ObjectContent, type StoredObject, sizeOf } from "../records/response-object.ts";
import { MAX_RUNNING } from "../records/response-store.ts";
import { ObjectSeal } from "../records/seal-object.ts";
import { describeEnd } from "./describe-end.ts";
import { sequenceOf } from "./event-log.ts";

const LOST: Failure = {
  code: "unavailable",
  message:
    "The gateway that made this response stopped before its end. What it had produced until then is charged. Send the request again.",
};

/** Groups of events that are read together. */
const PAGE_GROUPS = 50;

/**
 * Ends the responses that a gateway was running when it died. They are not sent again. A place in a conversation becomes free. Returns how
 * many were ended. Rejects with a `StoreError`.
 */
export async function failLost(deps: KeepDeps, gatewayId: string): Promise<number> {
  let count = 0;
  for (;;) {
    const lost = await deps.store.listRunning(gatewayId);
    for (const response of lost) {
      if (response.isBackground) await failJob(deps, response);
      else await deps.store.deleteObject(response.id);
    }
    count += lost.length;
    if (lost.length < MAX_RUNNING) return count;
  }
}

async function failJob({ store, vault, random, clock }: KeepDeps, response: StoredObject): Promise<void> {
  const seal = ObjectSeal.open(vault, random, response);
  if (seal === null) {
    await store.deleteObject(response.id);
    return;
  }
  const { input, response: begun } = seal.openContent(response.ciphertext);
  const { sequence, bytes: eventBytes } = await measureEvents(store, response.id, seal);
  const known = (begun === null ? null : tryParseFields(begun)) ?? {};
  const end = describeEnd({ begun: known, output: [], sequence }, LOST);
  const event = { responseId: response.id, first: sequence, last: sequence };
  const ciphertext = seal.sealLatin1(end.event);
  await store.addEvents([{ ...event, ciphertext }]);
  const content: ObjectContent = { input, output: [], response: end.response };
  const bytes = sizeOf(content) + eventBytes + ciphertext.length;
  const change = { status: "failed", gatewayId: null, endedAt: clock.now(), bytes } as const;
  await store.changeObject(
    response.id,
    { ...response, ...change, ciphertext: seal.sealContent(content) },
    [],
  );
}

/** Returns the number of the next event of a response, and the size of the events that it has. */
async function measureEvents(
  store: KeepDeps["store"],
  id: string,
  seal: ObjectSeal,
): Promise<{ readonly sequence: number; readonly bytes: number }> {
  let sequence = 0;
  let bytes = 0;
  for (;;) {
    const groups = await store.readEvents(id, sequence, PAGE_GROUPS);
    bytes += groups.reduce((sum, { ciphertext }) => sum + ciphertext.length, 0);
    const last = groups.at(-1);
    if (last === undefined) return { sequence, bytes };
    const events = seal.openLatin1(last.ciphertext).split("\n\n").slice(0, -1);
    sequence = Math.max(last.last, sequenceOf(events.at(-1) ?? "") ?? 0) + 1;
    if (groups.length < PAGE_GROUPS) return { sequence, bytes };
  }
}

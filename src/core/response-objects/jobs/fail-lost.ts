import { detailOf, type Failure } from "../../../base/failures/errors.ts";
import { StoreError } from "../../../base/failures/store-error.ts";
import { tryParseFields } from "../../../base/json/fields.ts";
import { readLastEvent } from "../../../wire/openai-responses/state/answer-state.ts";
import type { KeepDeps } from "../keep/keep-deps.ts";
import {
  type ObjectContent,
  type ResponseStatus,
  type StoredObject,
  sizeOf,
} from "../records/response-object.ts";
import { ObjectSeal } from "../records/seal-object.ts";
import { describeEnd } from "./describe-end.ts";
import { sequenceOf, splitEvents } from "./event-log.ts";

const LOST: Failure = {
  code: "unavailable",
  message:
    "The gateway that made this response stopped before its end. What it had produced until then is charged. Send the request again.",
};

/** Groups of events that are read together. */
const PAGE_GROUPS = 50;
/** Responses that are read together: few, because each may be megabytes. */
const PAGE = 5;

/**
 * Ends the responses that a gateway was making when it died. They are not sent again. A place in a conversation becomes free. If the gateway
 * still exists, it can write nothing of them any more. Returns how many were ended. Rejects with a `StoreError`.
 */
export async function failLost(deps: KeepDeps, gatewayId: string): Promise<number> {
  await deps.store.releaseRunning(gatewayId);
  return endReleased(deps);
}

/** Ends all responses that were released. One that cannot be ended does not keep others from it. Rejects with a `StoreError`. */
export async function endReleased(deps: KeepDeps): Promise<number> {
  const { store, log } = deps;
  let count = 0;
  let afterId: string | null = null;
  for (;;) {
    const lost: readonly StoredObject[] = await store.listReleased(afterId, PAGE);
    for (const response of lost) {
      try {
        await endOne(deps, response);
        count += 1;
      } catch (error) {
        if (error instanceof StoreError) throw error;
        log.warn("a response whose gateway is gone could not be ended", {
          generation_id: response.id,
          detail: detailOf(error),
        });
      }
    }
    if (lost.length < PAGE) return count;
    afterId = lost.at(-1)?.id ?? null;
  }
}

async function endOne(deps: KeepDeps, response: StoredObject): Promise<void> {
  const { store, vault, random } = deps;
  const seal = response.isBackground ? ObjectSeal.open(vault, random, response) : null;
  if (seal === null) await store.deleteObject(response.id);
  else await endJob(deps, response, seal);
}

/** How a job is to end, and the size of its events. */
interface LostEnd {
  readonly status: ResponseStatus;
  readonly output: readonly string[];
  /** JSON. */
  readonly response: string;
  readonly eventBytes: number;
}

async function endJob({ store, clock }: KeepDeps, response: StoredObject, seal: ObjectSeal): Promise<void> {
  const begun = readContent(response, seal);
  const { status, eventBytes, ...answer } = await findEnd(store, response, { seal, begun });
  const content: ObjectContent = { ...begun, ...answer };
  const bytes = sizeOf(content) + eventBytes;
  const ciphertext = seal.sealContent(content);
  const ended = { status, gatewayId: null, endedAt: clock.now(), bytes, ciphertext };
  await store.changeObject(response, { ...response, ...ended }, []);
}

const UNREADABLE: ObjectContent = { input: [], output: [], response: null, handovers: {} };

/** Contents that were damaged do not keep a response from its end. */
function readContent(response: StoredObject, seal: ObjectSeal): ObjectContent {
  try {
    return seal.openContent(response.ciphertext);
  } catch {
    return UNREADABLE;
  }
}

/** Returns the end that was written already, when its gateway died before it was stored. Otherwise writes that it failed. */
async function findEnd(
  store: KeepDeps["store"],
  response: StoredObject,
  { seal, begun }: { readonly seal: ObjectSeal; readonly begun: ObjectContent },
): Promise<LostEnd> {
  const { next, last, bytes } = await readLog(store, response.id, seal);
  const ended = last === null ? null : readLastEvent(last);
  if (ended !== null) return { ...ended, status: ended.status as ResponseStatus, eventBytes: bytes };
  const known = (begun.response === null ? null : tryParseFields(begun.response)) ?? {};
  const end = describeEnd({ begun: known, output: [], sequence: next }, LOST);
  const ciphertext = seal.sealLatin1(end.events);
  await store.addEvents(response, [{ first: next, last: next, ciphertext }]);
  const { status, output } = end;
  return { status, output, response: end.response, eventBytes: bytes + ciphertext.length };
}

/** What was written of the events of a response. */
interface WrittenLog {
  /** The number of the next event. */
  readonly next: number;
  /** The last event; null if there is none. */
  readonly last: string | null;
  /** The size of all events. */
  readonly bytes: number;
}

async function readLog(store: KeepDeps["store"], id: string, seal: ObjectSeal): Promise<WrittenLog> {
  let log: WrittenLog = { next: 0, last: null, bytes: 0 };
  for (;;) {
    const groups = await store.readEvents(id, log.next, PAGE_GROUPS);
    const bytes = groups.reduce((sum, { ciphertext }) => sum + ciphertext.length, log.bytes);
    const group = groups.at(-1);
    if (group === undefined) return { ...log, bytes };
    const last = splitEvents(seal.openLatin1(group.ciphertext)).at(-1) ?? "";
    log = { next: Math.max(group.last, sequenceOf(last) ?? 0) + 1, last, bytes };
    if (groups.length < PAGE_GROUPS) return log;
  }
}

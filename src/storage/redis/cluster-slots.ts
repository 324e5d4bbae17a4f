import type { RedisHost } from "./address.ts";
import { ProtocolError, type RedisReply } from "./resp.ts";

/** The slots of a Redis Cluster. */
const SLOTS = 16_384;

/**
 * Returns the slot of a key. If the key has braces, only the text between the first ones counts, so that keys with the same text are on one
 * server.
 */
export function slotOf(key: string): number {
  const start = key.indexOf("{");
  const end = start === -1 ? -1 : key.indexOf("}", start + 1);
  return crc16(Buffer.from(end > start + 1 ? key.slice(start + 1, end) : key)) % SLOTS;
}

const POLYNOMIAL = 0x1021;

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ POLYNOMIAL) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** The servers of a cluster by slot. */
export interface SlotMap {
  /** The masters that have slots. */
  readonly masters: readonly RedisHost[];
  /** The index of the master of each slot; -1 if it has none. */
  readonly indexOf: Int16Array;
  /** For each master, the beginning of a key that it has, so that a key can be sent to each of them. */
  readonly ownTags: readonly string[];
}

const MAX_MASTERS = 1_000;

/**
 * Reads the answer to `CLUSTER SLOTS`. A server without a host is the one that answered, or is on that host with the given port.
 * @throws ProtocolError
 */
export function readSlotMap(answer: RedisReply, asked: RedisHost): SlotMap {
  const masters: RedisHost[] = [];
  const indexOf = new Int16Array(SLOTS).fill(-1);
  for (const range of asList(answer)) {
    const [first, last, master] = asList(range);
    const [named, port, , metadata] = asList(master);
    const host: RedisHost = { host: nameHost(named, metadata, asked), port: Number(port), path: null };
    if (
      typeof first !== "number" ||
      typeof last !== "number" ||
      last >= SLOTS ||
      !Number.isSafeInteger(host.port)
    )
      throw new ProtocolError("it answered CLUSTER SLOTS with something else");
    let index = masters.findIndex((known) => known.host === host.host && known.port === host.port);
    if (index === -1) index = masters.push(host) - 1;
    if (index >= MAX_MASTERS) throw new ProtocolError("the cluster has too many servers");
    indexOf.fill(index, first, last + 1);
  }
  return { masters, indexOf, ownTags: findOwnTags(masters.length, indexOf) };
}

function asList(reply: RedisReply | undefined): readonly RedisReply[] {
  if (!Array.isArray(reply)) throw new ProtocolError("it answered CLUSTER SLOTS with something else");
  return reply;
}

/** A cluster may prefer host names; they are then the first, or in the metadata. */
function nameHost(named: RedisReply | undefined, metadata: RedisReply | undefined, asked: RedisHost): string {
  if (typeof named === "string" && named !== "" && named !== "?") return named;
  if (Array.isArray(metadata)) {
    const at = metadata.indexOf("hostname");
    const name = metadata[at + 1];
    if (at !== -1 && typeof name === "string" && name !== "") return name;
  }
  return asked.host ?? "127.0.0.1";
}

/** A master of a single slot is found within this number of tries, nearly always. */
const MAX_TRIES = 200_000;

function findOwnTags(masters: number, indexOf: Int16Array): readonly string[] {
  const tags = new Array<string>(masters).fill("");
  let missing = masters;
  for (let number = 0; missing > 0 && number < MAX_TRIES; number++) {
    const tag = `{${number}}`;
    const index = indexOf[slotOf(tag)] ?? -1;
    if (index === -1 || tags[index] !== "") continue;
    tags[index] = tag;
    missing -= 1;
  }
  return tags;
}

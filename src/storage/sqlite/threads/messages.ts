import type { RecordEntry, UsageRecord } from "../../../core/usage/records/records.ts";

/** What a thread of a data directory opens: the database of response objects, or the other one for reading alone, or also for changes. */
export type ThreadTask = "write" | "read" | "responses";

/** Opens a database of a data directory: the first message to a thread. */
export interface OpenMessage {
  readonly kind: "open";
  readonly dataDir: string;
  readonly task: ThreadTask;
  /** The pages that it keeps in memory. Bytes. */
  readonly cacheBytes: number;
}

/** A call of a method of a store. */
export interface CallMessage {
  readonly kind: "call";
  readonly id: number;
  readonly store: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Closes the database after the calls before. */
interface CloseMessage {
  readonly kind: "close";
}

export type ThreadMessage = OpenMessage | CallMessage | CloseMessage;

/** The reason why a call has failed: an error of the database, a record that it rejects, or a record that has changed since it was read. */
export interface CallFailure {
  readonly kind: "failed" | "rejected" | "changed";
  readonly message: string;
  /** The code of an error of SQLite or of the system. */
  readonly code: string | undefined;
}

/** The outcome of a call, or that the database is closed. */
export type ThreadAnswer =
  | { readonly kind: "result"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: CallFailure }
  | { readonly kind: "closed" };

/**
 * Returns the arguments in the form in which they are sent. Records are sent as JSON, which exists already: copying 250 objects to another
 * thread takes twenty times as long as copying their texts.
 */
export function packArguments(store: string, method: string, args: readonly unknown[]): readonly unknown[] {
  if (store !== "usage") return args;
  const [first, ...rest] = args;
  if (method === "saveUsage") return [(first as readonly RecordEntry[]).map(({ json }) => json), ...rest];
  if (method === "quarantineUsage") return [(first as RecordEntry).json, ...rest];
  return args;
}

/** Returns the arguments that `packArguments` has packed. */
export function unpackArguments(store: string, method: string, args: readonly unknown[]): readonly unknown[] {
  if (store !== "usage") return args;
  const [first, ...rest] = args;
  if (method === "saveUsage") return [(first as readonly string[]).map(readEntry), ...rest];
  if (method === "quarantineUsage") return [readEntry(first as string), ...rest];
  return args;
}

function readEntry(json: string): RecordEntry {
  return { record: JSON.parse(json) as UsageRecord, json };
}

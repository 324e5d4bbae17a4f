import type { Database } from "bun:sqlite";
import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import { openDatabase, openReader, RESPONSES_FILE } from "../connection/database.ts";
import { prepareLazily } from "../connection/prepare-lazily.ts";
import { SqliteResponseStore } from "../response-store.ts";
import { createSqliteStores, type SqliteStores } from "../stores.ts";
import { CALLS, type LaneCall } from "./lanes.ts";
import {
  type CallFailure,
  type CallMessage,
  type OpenMessage,
  type ThreadAnswer,
  type ThreadMessage,
  type ThreadTask,
  unpackArguments,
} from "./messages.ts";

type Method = (...args: readonly unknown[]) => Promise<unknown>;

interface OpenStores {
  readonly database: Database;
  /** Those that are in the database. */
  readonly stores: Partial<SqliteStores>;
}

/** Returns a function that executes messages one after another and posts the answers. It is the main part of a database thread. */
export function serveStores(post: (answer: ThreadAnswer) => void): (message: ThreadMessage) => Promise<void> {
  let opening: (() => OpenStores) | null = null;
  let open: OpenStores | null = null;
  return async (message) => {
    switch (message.kind) {
      case "open":
        // Opens with the first call, which then reports why opening fails.
        opening = () => openStores(message);
        break;
      case "call":
        try {
          open ??= opening?.() ?? null;
          if (open === null) throw new Error("the thread has no database");
          post({ kind: "result", id: message.id, result: await call(open.stores, message) });
        } catch (error) {
          post({ kind: "failure", id: message.id, failure: describeFailure(error) });
        }
        break;
      case "close":
        open?.database.close();
        post({ kind: "closed" });
    }
  };
}

function openStores({ dataDir, task, cacheBytes }: OpenMessage): OpenStores {
  const database = prepareLazily(OPEN[task](dataDir));
  database.exec(`PRAGMA cache_size = -${Math.ceil(cacheBytes / 1024)}`);
  const stores =
    task === "responses" ? { responses: new SqliteResponseStore(database) } : createSqliteStores(database);
  return { database, stores };
}

const OPEN: Readonly<Record<ThreadTask, (dataDir: string) => Database>> = {
  write: openDatabase,
  read: openReader,
  responses: (dataDir) => openDatabase(dataDir, RESPONSES_FILE),
};

function call(stores: Partial<SqliteStores>, { store, method, args }: CallMessage): Promise<unknown> {
  const target = stores[store as keyof SqliteStores] as unknown as Record<string, Method> | undefined;
  const kind = (CALLS[store as keyof SqliteStores] as Record<string, LaneCall>)[method];
  const run = target?.[method]?.bind(target);
  if (kind === undefined || run === undefined) throw new Error(`there is no ${store}.${method}`);
  if (typeof kind === "string") return run(...unpackArguments(store, method, args));
  const [id, before, after] = args;
  return run(id, (stored: unknown) => {
    if (!Bun.deepEquals(stored, before)) throw new ChangedRecordError();
    return after;
  });
}

/** The stored record has changed since it was read. */
class ChangedRecordError extends Error {}

function describeFailure(error: unknown): CallFailure {
  if (error instanceof ChangedRecordError) return { kind: "changed", message: "", code: undefined };
  const isRejected = error instanceof RejectedRecordError;
  const { message, code } = (isRejected ? error.cause : error) as NodeJS.ErrnoException;
  return { kind: isRejected ? "rejected" : "failed", message, code };
}

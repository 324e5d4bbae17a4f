import { describe } from "bun:test";
import { MemoryHoldBook } from "../../src/core/ledger/memory-hold-book.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger-store.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { testHoldBook } from "./contracts/hold-book.ts";

describe("the hold book in memory, over SQLite", () => {
  const connect = useSqlite();
  testHoldBook(() => {
    const database = connect();
    const ledger = new SqliteLedgerStore(database);
    return { holdBook: new MemoryHoldBook(ledger), ledger, usage: new SqliteUsageStore(database) };
  });
});

import { describe } from "bun:test";
import { MemoryHoldBook } from "../../src/core/ledger/memory-hold-book.ts";
import { createSqliteLedgerStore } from "../../src/storage/sqlite/ledger-store.ts";
import { createSqliteUsageStore } from "../../src/storage/sqlite/usage-store.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { testHoldBook } from "./contracts/hold-book.ts";

describe("the hold book in memory, over SQLite", () => {
  const connect = useSqlite();
  testHoldBook(() => {
    const database = connect();
    const ledger = createSqliteLedgerStore(database);
    return { holdBook: new MemoryHoldBook(ledger), ledger, usage: createSqliteUsageStore(database) };
  });
});

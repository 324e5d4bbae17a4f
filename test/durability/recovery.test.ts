import { expect, test } from "bun:test";
import { recoverUsage } from "../../src/core/usage/journal/recover-usage.ts";
import { SqliteUsageStore } from "../../src/storage/sqlite/usage/usage-store.ts";
import { openUsageOf } from "../storage/contracts/samples.ts";
import { useSqlite } from "../storage/sqlite-connections.ts";
import { createMemoryJournal } from "../support/databases/memory-journal.ts";

const connect = useSqlite();
const NO_JOURNAL = createMemoryJournal();

test("a recovery interrupts the gateway's own generations and expired ones, and leaves those of running gateways open", async () => {
  const store = new SqliteUsageStore(connect());
  const own = { gatewayId: "gateway_a", endsAt: 9_000 };
  const running = { gatewayId: "gateway_b", endsAt: 9_000 };
  const expired = { gatewayId: "gateway_c", endsAt: 5_000 };
  await store.saveUsage([
    openUsageOf("gen_own", { lease: own }),
    openUsageOf("gen_running", { lease: running }),
    openUsageOf("gen_expired", { lease: expired }),
  ]);
  const recovery = await recoverUsage({ journal: NO_JOURNAL, store, gatewayId: "gateway_a", now: 5_000 });
  expect(recovery.interrupted).toBe(2);
  expect((await store.findOpenUsage()).map(({ id }) => id)).toEqual(["gen_running"]);
  expect(await store.findUsage("gen_own")).toMatchObject({ outcome: "interrupted", finishedAt: 5_000 });
});

test("two gateways on one store never recover each other's running generations, whichever of them restarts", async () => {
  const connections = [connect(), connect()].map((database) => new SqliteUsageStore(database));
  const [a, b] = connections as [SqliteUsageStore, SqliteUsageStore];
  const endsAt = 9_000;
  await a.saveUsage([openUsageOf("gen_a", { lease: { gatewayId: "gateway_a", endsAt } })]);
  await b.saveUsage([openUsageOf("gen_b", { lease: { gatewayId: "gateway_b", endsAt } })]);
  const recover = (store: SqliteUsageStore, gatewayId: string, now: number) =>
    recoverUsage({ journal: NO_JOURNAL, store, gatewayId, now });
  const listOpen = async () => (await a.findOpenUsage()).map(({ id }) => id).sort();

  // A third gateway starts, then the first one dies and starts again.
  expect((await recover(b, "gateway_c", endsAt - 1)).interrupted).toBe(0);
  expect(await listOpen()).toEqual(["gen_a", "gen_b"]);
  expect((await recover(a, "gateway_a", endsAt - 1)).interrupted).toBe(1);
  expect(await listOpen()).toEqual(["gen_b"]);
  // The second one dies as well. Any gateway recovers its generation, when the lease has ended.
  expect((await recover(a, "gateway_a", endsAt)).interrupted).toBe(1);
  expect(await listOpen()).toEqual([]);
});

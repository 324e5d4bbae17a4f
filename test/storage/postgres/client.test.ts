import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreError } from "../../../src/base/failures/store-error.ts";
import {
  connectPostgres,
  encodeList,
  type Postgres,
  sqlStateOf,
} from "../../../src/storage/postgres/connection/client.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

describe.skipIf(POSTGRES_BIN === null)("the PostgreSQL client", () => {
  let server: TestPostgres;
  let url: string;
  let clock: TestClock;
  let sql: Postgres;

  beforeAll(async () => {
    server = await startTestPostgres();
    url = await server.createDatabase();
  });
  afterAll(() => server.remove());
  beforeEach(() => {
    clock = createTestClock();
    sql = connectPostgres({ url, maxConnections: 3, isPooled: false, clock });
  });
  afterEach(() => sql.close());

  test("passes values of every type, and returns bigint as text without losing a digit", async () => {
    const text =
      "SELECT $1::bigint AS a, $2::text AS b, $3::boolean AS c, $4::text AS d, $5::bytea AS e, $6::text::text[] AS f";
    const values = [
      "9223372036854775807",
      "it's",
      true,
      null,
      Buffer.from([0, 255]),
      encodeList(['a"\\b', "c,{}", null]),
    ];
    const [row] = await sql.run<Record<string, unknown>>(text, values);
    expect(row).toMatchObject({
      a: "9223372036854775807",
      b: "it's",
      c: true,
      d: null,
      f: ['a"\\b', "c,{}", null],
    });
    expect([...((row?.["e"] ?? []) as Uint8Array)]).toEqual([0, 255]);
  });

  test("a failed statement rejects with a StoreError that has the server's code", async () => {
    const error = await sql.run("SELECT * FROM missing").catch((reason) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(sqlStateOf(error)).toBe("42P01");
  });

  test("a transaction commits what its work did, and nothing if the work rejects", async () => {
    await sql.run("CREATE TABLE IF NOT EXISTS notes (note text)");
    const reason = new Error("the work changed its mind");
    const failed = sql.transaction(async (inside) => {
      await inside.run("INSERT INTO notes VALUES ('lost')");
      throw reason;
    });
    expect(await failed.catch((error) => error)).toBe(reason);
    const kept = await sql.transaction(async (inside) => {
      await inside.run("INSERT INTO notes VALUES ('kept')");
      return "done";
    });
    expect(kept).toBe("done");
    expect([...(await sql.run<{ note: string }>("SELECT note FROM notes"))]).toEqual([{ note: "kept" }]);
  });

  test("the server ends statements after five seconds, and transactions that wait ten for their next statement", async () => {
    const names = ["statement_timeout", "idle_in_transaction_session_timeout"];
    const found = await Promise.all(
      names.map((name) => sql.run<{ setting: string }>("SELECT current_setting($1) AS setting", [name])),
    );
    expect(found.map(([row]) => row?.setting)).toEqual(["5s", "10s"]);
  });

  test("every caller gets its own rows when novel, repeated and failing statements share connections", async () => {
    const chance = createSeededRandom(33_665);
    const calls = Array.from({ length: 900 }, async (_, value) => {
      const kind = chance.pick(["repeated", "novel", "failing", "transaction"] as const);
      if (kind === "failing") return (await sql.run("SELECT 1 / $1::int", [0]).catch(sqlStateOf)) === "22012";
      const text =
        kind === "novel" ? `SELECT $1::int AS value, 'n${value}' AS novel` : "SELECT $1::int AS value";
      const read = (runner: Pick<Postgres, "run">) => runner.run<{ value: number }>(text, [value]);
      const [row] = kind === "transaction" ? await sql.transaction(read) : await read(sql);
      return row?.value === value;
    });
    expect((await Promise.all(calls)).filter((isRight) => !isRight)).toEqual([]);
  });

  test("after a killed server is back, the next call succeeds", async () => {
    await sql.run("SELECT 1");
    await server.kill();
    expect(await sql.run("SELECT 1").catch((error) => error)).toBeInstanceOf(StoreError);
    await server.start();
    // A connection that was lost may be noticed by one call only.
    await sql.run("SELECT 1").catch(() => {});
    expect([...(await sql.run<{ one: number }>("SELECT 1 AS one"))]).toEqual([{ one: 1 }]);
  });

  test("a paused server lets calls fail at their deadline, and is used again once it goes on", async () => {
    await sql.run("SELECT 1");
    await server.pause();
    try {
      for (let call = 0; call < 4; call++) {
        const answer = sql.run("SELECT 1").catch((error) => error);
        clock.advance(6_000);
        expect(await answer).toBeInstanceOf(StoreError);
      }
    } finally {
      server.resume();
    }
    expect([...(await sql.run<{ one: number }>("SELECT 1 AS one"))]).toEqual([{ one: 1 }]);
  });

  test("more than a thousand calls at once are rejected instead of waiting", async () => {
    const calls = Array.from({ length: 1_001 }, () =>
      sql.run("SELECT 1").then(
        () => "answered",
        () => "rejected",
      ),
    );
    expect((await Promise.all(calls)).filter((outcome) => outcome === "rejected")).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../src/base/time/clock.ts";
import { connectPostgres } from "../../../src/storage/postgres/connection/client.ts";
import {
  nameDatabase,
  parseDatabaseUrl,
  withPassword,
} from "../../../src/storage/postgres/connection/database-url.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { type Certificates, makeCertificates } from "../../support/servers/certificates.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

describe("the URL of a database", () => {
  test.each([
    ["a host", "postgres://u@db/gateway", { host: "db", port: 5432, user: "u", password: null }],
    ["a port", "postgresql://u:p@db:6432/gateway", { host: "db", port: 6432, password: "p" }],
    ["an IPv6 address", "postgres://u@[::1]:6432/gateway", { host: "::1", port: 6432 }],
    ["the folder of a unix socket", "postgres://u@/gateway?host=/run/pg", { host: "/run/pg", port: 5432 }],
    ["an encoded folder", "postgres://u:p@%2Frun%2Fpg:5433/gateway", { host: "/run/pg", port: 5433 }],
    [
      "parameters of libpq",
      "postgres:///?host=db&port=1&user=u&password=p&dbname=gateway",
      { port: 1, user: "u" },
    ],
    ["an encoded password", "postgres://u:p%40%3A%2F%23%25@db/gateway", { password: "p@:/#%" }],
    ["a password with @ and :", "postgres://u:a@b:c@db/gateway", { host: "db", password: "a@b:c" }],
  ])("may have %s", (_name, url, expected) => {
    expect(parseDatabaseUrl(url)).toMatchObject({ database: "gateway", ...expected });
  });

  test.each([
    [
      "another protocol",
      "mysql://u@db/gateway",
      "must be the URL of a PostgreSQL server: postgres://…, as in postgres://user",
    ],
    ["no database", "postgres://u@db", "names no database"],
    ["no host", "postgres://u@/gateway", "names no host"],
    [
      "several hosts",
      "postgres://u@a:5432,b:5432/gateway",
      "names several hosts. The gateway connects to one host",
    ],
    ["several hosts by a parameter", "postgres://u@/gateway?host=a,b", "names several hosts"],
    ["a choice among hosts", "postgres://u@a/gateway?target_session_attrs=read-write", "needs several hosts"],
    ["a / in its password", "postgres://u:a/b@db/gateway", "write @ as %40"],
    ["a # in its password", "postgres://u:a#b@db/gateway", "# as %23"],
    ["a ? in its password", "postgres://u:a?b@db/gateway", "? as %3F"],
    ["a % that encodes nothing", "postgres://u:100%@db/gateway", "write % as %25"],
    ["a port that is none", "postgres://u@db:70000/gateway", "a port that is no number from 1 to 65535"],
    ["an unknown mode of TLS", "postgres://u@db/gateway?sslmode=strict", "not one of disable, allow, prefer"],
    [
      "TLS on a unix socket",
      "postgres://u@/gateway?host=/run&sslmode=require",
      "a unix socket is not encrypted",
    ],
    ["a missing file", "postgres://u@db/gateway?sslrootcert=/nowhere/ca.pem", "which is not a file"],
    ["an unknown parameter", "postgres://u@db/gateway?schema=a", "not one of host, port"],
    ["a parameter twice", "postgres://u@db/gateway?sslmode=disable&sslmode=require", "sslmode twice"],
  ])("is rejected with %s, with a text that names the remedy", (_name, url, problem) => {
    expect(() => parseDatabaseUrl(url)).toThrow(problem);
  });

  test("is named without user and password, and with the folder of a unix socket", () => {
    expect(nameDatabase("postgres://u:secret@db:6432/gateway?sslmode=disable")).toBe(
      "postgres://db:6432/gateway",
    );
    expect(nameDatabase("postgres://u:secret@/gateway?host=/run/pg")).toBe(
      "postgres:///gateway?host=/run/pg",
    );
  });

  test("without a user means the user of the process", () => {
    expect(parseDatabaseUrl("postgres://db/gateway").user).toBe(userInfo().username);
  });

  test("takes a password with any characters", () => {
    const password = "a@b:c/d?e#f%g$& é";
    for (const url of ["postgres://u@db/gateway", "postgres://u:old@/gateway?host=/run"])
      expect(parseDatabaseUrl(withPassword(url, password))).toMatchObject({ user: "u", password });
  });
});

describe.skipIf(POSTGRES_BIN === null)("connections to PostgreSQL", () => {
  let server: TestPostgres;
  let plain: TestPostgres;
  let folder: string;
  let certificates: Certificates;

  beforeAll(async () => {
    folder = makeTempFolder("gateway-tls-");
    chmodSync(folder, 0o755);
    certificates = makeCertificates();
    write("ca.pem", certificates.ca);
    write("server.pem", certificates.elsewhere.cert);
    write("other.pem", makeCertificates().ca);
    [server, plain] = await Promise.all([
      startTestPostgres({ ssl: "on", ssl_cert_file: file("server.pem"), ssl_key_file: writeKey() }),
      startTestPostgres(),
    ]);
  });
  afterAll(async () => {
    await server?.remove();
    await plain?.remove();
  });

  const file = (name: string) => join(folder, name);
  const write = (name: string, text: string) => writeFileSync(file(name), text);

  /** The key must belong to the user of the server, which only root can arrange, or be readable by its group alone. */
  function writeKey(): string {
    write("server.key", certificates.elsewhere.key);
    chmodSync(file("server.key"), 0o600);
    if (process.getuid?.() === 0) Bun.spawnSync(["chown", "postgres", file("server.key")]);
    return file("server.key");
  }

  /** Connects and returns whether the connection is encrypted; else the reason. */
  async function connect(to: TestPostgres, parameters: string): Promise<boolean | string> {
    const url = `postgres://gateway@127.0.0.1:${to.port}/postgres?${parameters}`;
    const database = connectPostgres({ url, maxConnections: 1, isPooled: false, clock: systemClock });
    try {
      const [row] = await database.run<{ ssl: boolean }>(
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
      );
      return row?.ssl ?? "no row";
    } catch (error) {
      return (error as Error).message;
    } finally {
      await database.close();
    }
  }

  test("are encrypted as sslmode says, and a failed handshake names the server and the remedy", async () => {
    const ca = `sslrootcert=${file("ca.pem")}`;
    const other = `sslrootcert=${file("other.pem")}`;
    const results = await Promise.all(
      ["", "sslmode=disable", "sslmode=prefer", "sslmode=require"].map((mode) => connect(server, mode)),
    );
    expect(results).toEqual([false, false, true, true]);
    // As in libpq, a certificate of an authority makes require check who signed, and not the name.
    for (const mode of ["verify-ca", "require"])
      expect(await connect(server, `sslmode=${mode}&${ca}`)).toBe(true);
    const failed = `the TLS handshake with 127.0.0.1:${server.port} failed`;
    const reasons = await Promise.all(
      [`sslmode=verify-full&${ca}`, ca, `sslmode=verify-ca&${other}`, "sslmode=verify-full"].map(
        (parameters) => connect(server, parameters),
      ),
    );
    for (const reason of reasons) expect(reason).toContain(failed);
    expect(reasons[0]).toContain("Connect by a name that the certificate has");
    expect(reasons[1]).toContain("Connect by a name that the certificate has");
    expect(reasons[2]).toContain("other.pem is another one");
    expect(reasons[3]).toContain("Set sslrootcert to the certificate of the authority");
  });

  test("to a server without TLS are plain with sslmode=prefer, and fail with require, which the reason names", async () => {
    expect(await connect(plain, "sslmode=prefer")).toBe(false);
    const reason = await connect(plain, "sslmode=require");
    expect(reason).toContain(
      `127.0.0.1:${plain.port}/postgres does not offer TLS, which sslmode=require asks for`,
    );
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { listPrograms } from "../../scripts/build/build-executable.ts";
import { startSource, type TestSource } from "../catalog/seed-catalog.ts";
import { sourceModel } from "../catalog/source-fixture.ts";
import { POSTGRES_BIN, startTestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway } from "../support/gateway/gateway.ts";
import { postChatTo } from "../support/gateway/gateway-process.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";
import { checkInstallation } from "./check-installation.ts";
import {
  configure,
  createFolder,
  type Folder,
  IS_DEPLOY_RUN,
  ROOT,
  requireRun,
  runProgram,
} from "./run-program.ts";
import { killStarted, type StartedGateway, startInstalled } from "./started-gateway.ts";

/** The messages of a request that is translated in a thread. */
const LARGE = 300;
/** The gateway has no variables at all, and nothing in its folder but its configuration. */
const NO_ENVIRONMENT = {};

test("the single executable contains the program of each thread, under a name that no other one has", async () => {
  const programs = await listPrograms();
  expect(new Set(programs.map((file) => basename(file))).size).toBe(programs.length);
  for await (const file of new Bun.Glob("src/**/*.ts").scan(ROOT)) {
    const text = await Bun.file(join(ROOT, file)).text();
    for (const [, name = ""] of text.matchAll(/new Worker\(\s*new URL\("([^"]+)"/g))
      expect(programs).toContain(join(dirname(file), name));
  }
});

describe.skipIf(!IS_DEPLOY_RUN)("the single executable", () => {
  let place: Folder;
  let executable: string;
  beforeAll(async () => {
    place = createFolder();
    executable = join(place.path, "gateway");
    const build = [
      process.execPath,
      join(ROOT, "scripts/build/build-executable.ts"),
      `--outfile=${executable}`,
    ];
    await requireRun(build, { cwd: place.path, environment: { PATH: process.env["PATH"] ?? "" } });
  });
  afterAll(() => {
    killStarted();
    place.remove();
  });

  const run = (args: readonly string[]) => runProgram([executable, ...args], { cwd: place.path });

  test("it serves requests, the console and the documentation from a bare folder with an empty environment", async () => {
    const folder = createFolder();
    configure(folder.path);
    await checkInstallation([executable, "start"], { cwd: folder.path, environment: NO_ENVIRONMENT });
    folder.remove();
  });

  test("its commands work, and it cannot change the catalog inside it", async () => {
    expect(await run(["--version"])).toEqual({ exitCode: 0, stdout: `${packageJson.version}\n`, stderr: "" });
    expect((await run(["config", "print"])).stdout).toContain("port:");
    expect((await run(["migrate"])).exitCode).toBe(0);
    // It also reads what is stored.
    expect((await run(["config", "sources", "--all"])).stdout).toContain("server.port");
    expect((await run(["keys", "create", "ci"])).stdout).toContain("gw_");
    expect((await run(["catalog", "status"])).exitCode).toBe(0);
    expect((await run(["tiers", "list"])).stdout).toContain("gateway-auto/frontier");
    const importing = await run(["catalog", "import", "--into", "catalog"]);
    expect([importing.exitCode, importing.stderr]).toEqual([
      1,
      "--into catalog needs the project's files; a single executable cannot change its own.\n",
    ]);
  });

  test("bunfig.toml and .env of the folder in which it is started do not change it", async () => {
    const folder = createFolder();
    writeFileSync(join(folder.path, "bunfig.toml"), 'preload = ["./other.ts"]\n');
    writeFileSync(join(folder.path, "other.ts"), 'console.log("preloaded");\n');
    writeFileSync(join(folder.path, ".env"), "GATEWAY_DATA_DIR=./elsewhere\n");
    const printed = await runProgram([executable, "config", "print"], { cwd: folder.path });
    expect(printed.stdout).toContain("data_dir: ./data");
    expect(printed.stdout).not.toContain("preloaded");
    folder.remove();
  });

  describe("its threads", () => {
    let folder: Folder;
    let source: TestSource;
    let vendor: Vendor;
    let gateway: StartedGateway;
    beforeAll(async () => {
      folder = createFolder();
      source = startSource({ openai: [sourceModel("gpt-a")] });
      vendor = startVendor(healthy("Alpha"));
      const models = [
        { id: "acme/model", context_length: 1_000_000, prices: { prompt: "0", completion: "0" } },
      ];
      const providers = { vendor: { base_url: vendor.baseUrl, api_keys: ["sk-vendor-0123456789"], models } };
      configure(folder.path, { providers, sandbox: "on", catalog: { source: source.url } });
      gateway = await startInstalled([executable, "start"], { cwd: folder.path });
    });
    afterAll(async () => {
      await gateway.end("SIGTERM");
      vendor.stop();
      source.stop();
      folder.remove();
    });

    const post = (
      path: string,
      body: unknown,
      { url, key }: { readonly url: string; readonly key: string },
    ) =>
      fetch(`${url}/api/gateway${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });

    test("a thread counts tokens as in a gateway that runs from its sources", async () => {
      const content = "supercalifragilistic ".repeat(500);
      const body = { model: "sandbox/echo", messages: [{ role: "user", content }] };
      // While a thread is still starting, the answer is an estimate: a token for every four characters.
      const countWith = (target: { readonly url: string; readonly key: string }) =>
        eventually("the thread to count", async () => {
          const answer = await (await post("/messages/count_tokens", body, target)).json();
          return (answer as { readonly input_tokens: number }).input_tokens > content.length / 3.5 && answer;
        });
      const other = await startTestGateway();
      const expected = await countWith(other);
      await other.stop();
      expect(await countWith({ url: gateway.url, key: gateway.inferenceKey })).toEqual(expected);
    });

    test("a thread translates a large request", async () => {
      const messages = Array.from({ length: LARGE }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: [{ type: "text", text: "A long text. ".repeat(100) }],
      }));
      const body = {
        model: "acme/model",
        max_tokens: 10,
        messages: [...messages, { role: "user", content: "Go." }],
      };
      const answer = await post("/messages", body, { url: gateway.url, key: gateway.inferenceKey });
      expect(await answer.text()).toContain("Alpha");
      expect(vendor.calls.at(-1)?.body["messages"]).toHaveLength(LARGE + 1);
    });

    test("a thread compares a source of models with the catalog in the executable", async () => {
      const answer = await callAdmin(gateway, gateway.managementKey, "POST", "/catalog/refresh", {});
      expect(answer.status).toBe(502);
      expect(JSON.stringify(answer.body)).toMatch(/would leave 1 of \d{3,} models/);
    });
  });

  test.skipIf(POSTGRES_BIN === null || process.platform !== "linux")(
    "it runs several processes on one port, with PostgreSQL",
    async () => {
      const folder = createFolder();
      const server = await startTestPostgres();
      const url = await server.createMigratedDatabase();
      configure(folder.path, { server: { port: 0, processes: 2 }, database: { url } });
      const gateway = await startInstalled([executable, "start"], { cwd: folder.path });
      await eventually("the start of both processes", () => gateway.printed().includes('"processes":2'));
      const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };
      const answer = await postChatTo({ url: gateway.url, key: gateway.inferenceKey }, chat);
      expect(await answer.text()).toContain("You said: Hello!");
      expect(await gateway.end("SIGTERM")).toBe(0);
      await server.remove();
      folder.remove();
    },
  );
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { postChatTo } from "../support/gateway/gateway-process.ts";
import { checkInstallation } from "./check-installation.ts";
import {
  configure,
  createFolder,
  type Folder,
  IS_DEPLOY_RUN,
  ROOT,
  requireRun,
  runProgram,
  toolEnvironment,
} from "./run-program.ts";
import { killStarted, startInstalled } from "./started-gateway.ts";

const TARBALL = `gateway-${packageJson.version}.tgz`;
/** The most that an installation may take on disk. Bytes. */
const MAX_INSTALLED = 160_000_000;

describe.skipIf(!IS_DEPLOY_RUN)("the npm package", () => {
  let place: Folder;
  let tarball: string;
  let environment: Readonly<Record<string, string>>;

  beforeAll(async () => {
    place = createFolder();
    tarball = join(place.path, TARBALL);
    // A cache of its own, because npx would otherwise run an earlier package of this version, and keep this one.
    environment = { ...toolEnvironment(), npm_config_cache: join(place.path, "cache") };
    const pack = ["npm", "pack", "--silent", "--pack-destination", place.path];
    // npm names the file after the package, whose name its publisher may change.
    const packed = await requireRun(pack, { cwd: ROOT, environment: toolEnvironment() });
    renameSync(join(place.path, packed.trim()), tarball);
  });
  afterAll(() => {
    killStarted();
    place.remove();
  });

  function createInstallation(name: string): string {
    const folder = join(place.path, name);
    mkdirSync(folder);
    configure(folder);
    return folder;
  }

  test("it has the program, the catalog, the documents and the built console, and no tests, benchmarks or sources of the console", async () => {
    const files = (await requireRun(["tar", "-tzf", tarball], { cwd: place.path, environment })).split("\n");
    for (const file of [
      "bin/gateway",
      "src/main.ts",
      "catalog/providers.json",
      "dist/console/main.js.br",
      "docs/operations/install.md",
      "docs/console/requests.webp",
      "LICENSE",
      "README.md",
    ])
      expect(files).toContain(`package/${file}`);
    const folders = new Set(
      files.map((file) => file.split("/").slice(1, 3).join("/")).filter((file) => file.includes("/")),
    );
    const top = new Set([...folders].map((folder) => folder.split("/")[0]));
    expect([...top].sort()).toEqual(["bin", "catalog", "dist", "docs", "src"]);
    expect(folders).not.toContain("src/console");
    expect(folders).toContain("dist/console");
  });

  test("npx starts it from a bare folder, and Ctrl-C stops it gracefully", async () => {
    const folder = createInstallation("npx");
    cpSync(tarball, join(folder, TARBALL));
    const gateway = await startInstalled(["npx", "--yes", `./${TARBALL}`, "start"], {
      cwd: folder,
      environment,
    });
    const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };
    expect((await postChatTo({ url: gateway.url, key: gateway.inferenceKey }, chat)).status).toBe(200);
    await gateway.interrupt();
    expect(gateway.printed()).toContain('"message":"stopped"');
  });

  test("it works where npm runs no install scripts, and takes at most 160 MB", async () => {
    const folder = createInstallation("scriptless");
    const install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", tarball];
    await requireRun(install, { cwd: folder, environment });
    const program = join(folder, "node_modules/.bin/gateway");
    const onlyPath = { PATH: process.env["PATH"] ?? "" };
    await checkInstallation([program, "start"], { cwd: folder, environment: onlyPath });
    const disk = await requireRun(["du", "-sb", join(folder, "node_modules")], { cwd: folder, environment });
    expect(Number.parseInt(disk, 10)).toBeLessThan(MAX_INSTALLED);
  });

  test("without Bun beside it, the command says what is missing", async () => {
    const folder = createInstallation("without-bun");
    await requireRun(["tar", "-xzf", tarball], { cwd: folder, environment });
    const run = await runProgram([join(folder, "package/bin/gateway"), "start"], {
      cwd: folder,
      environment,
    });
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain("Install the gateway with npm");
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkInstallation } from "./check-installation.ts";
import { parseDockerfile } from "./parse-dockerfile.ts";
import { type BuiltImage, performDockerfile } from "./perform-dockerfile.ts";
import {
  createFolder,
  type Folder,
  IS_DEPLOY_RUN,
  ROOT,
  requireRun,
  toolEnvironment,
} from "./run-program.ts";
import { killStarted } from "./started-gateway.ts";

const DOCKERFILE = join(ROOT, "deploy/Dockerfile");
const IS_ROOT = process.getuid?.() === 0;
/** The most that the image adds to its base image. Bytes. */
const MAX_BYTES = 145_000_000;

describe("the Dockerfile", () => {
  const instructions = parseDockerfile(readFileSync(DOCKERFILE, "utf8"));
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));
  const textOf = (name: string) => last.find((one) => one.name === name)?.text;

  test("the image runs as a user without rights, with one executable as its first process", () => {
    expect(textOf("USER")).toBe("65532:65532");
    expect(textOf("ENTRYPOINT")).toBe('["/usr/local/bin/gateway"]');
    expect(textOf("CMD")).toBe('["start"]');
    expect(textOf("VOLUME")).toBe("/data");
    expect(textOf("STOPSIGNAL")).toBe("SIGTERM");
    expect(last.filter(({ name }) => name === "RUN")).toEqual([]);
  });

  test("every file that .dockerignore lets into the context exists, and it keeps data and configuration out", () => {
    const lines = readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n");
    expect(lines).toContain("*");
    const entries = allowedEntries(lines);
    for (const entry of entries) expect(`${entry} ${existsSync(join(ROOT, entry))}`).toBe(`${entry} true`);
    for (const entry of ["data", "gateway.yaml", "node_modules", ".git", "test"])
      expect(entries).not.toContain(entry);
  });
});

describe.skipIf(!IS_DEPLOY_RUN)("the image, built by the steps of the Dockerfile", () => {
  let folder: Folder;
  let image: BuiltImage;
  beforeAll(async () => {
    folder = createFolder();
    // The user of the image reads its files.
    chmodSync(folder.path, 0o755);
    const context = join(folder.path, "context");
    mkdirSync(context);
    for (const entry of allowedEntries(readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n")))
      cpSync(join(ROOT, entry), join(context, entry), { recursive: true });
    const options = { folder: join(folder.path, "stages"), context, environment: toolEnvironment() };
    image = await performDockerfile(DOCKERFILE, options);
  });
  afterAll(() => {
    killStarted();
    folder.remove();
  });

  test("it has the executable, the licence and an empty data folder, and nothing that its user can change", async () => {
    const files = (
      await requireRun(["find", ".", "-type", "f"], { cwd: image.root, environment: toolEnvironment() })
    )
      .split("\n")
      .sort();
    expect(files).toEqual(["", "./usr/local/bin/gateway", "./usr/share/doc/gateway/LICENSE"]);
    expect(readdirSync(join(image.root, "data"))).toEqual([]);
    expect(Bun.file(join(image.root, "usr/local/bin/gateway")).size).toBeLessThan(MAX_BYTES);
  });

  test.skipIf(!IS_ROOT)(
    "its command serves, survives a kill and stops by SIGTERM, as the user of the image",
    async () => {
      const inImage = (path: string) => join(image.root, path);
      writeFileSync(join(inImage(image.workdir), "gateway.yaml"), "server: {port: 0}\n");
      const environment = {
        ...image.environment,
        GATEWAY_HOST: "127.0.0.1",
        GATEWAY_DATA_DIR: inImage(image.environment["GATEWAY_DATA_DIR"] ?? ""),
        SQLITE_TMPDIR: inImage(image.environment["SQLITE_TMPDIR"] ?? ""),
      };
      const [program = "", ...args] = image.command;
      const [uid = "", gid = ""] = image.user.split(":");
      const asUser = [
        "/usr/bin/setpriv",
        "--reuid",
        uid,
        "--regid",
        gid,
        "--clear-groups",
        "--no-new-privs",
        "--",
      ];
      expect(image.stopSignal).toBe("SIGTERM");
      await checkInstallation([...asUser, inImage(program), ...args], {
        cwd: inImage(image.workdir),
        environment,
      });
      expect(readdirSync(inImage("data"))).toContain("gateway.db");
    },
  );
});

/** Returns what `.dockerignore` lets through, all of which it names. */
function allowedEntries(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
}

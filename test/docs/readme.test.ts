import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { countPriced } from "../../src/app/catalog/check-import.ts";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { SANDBOX_MODELS } from "../../src/app/catalog/sandbox-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createWorkspace } from "../support/gateway/run-gateway.ts";

const ROOT = join(import.meta.dir, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const data = loadShippedCatalog();

/** All of a pattern's first groups in a text. */
function findAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found]) => found as string);
}

describe("the README", () => {
  test("its first screen has the two commands that a fresh machine needs, one line each", () => {
    const firstScreen = README.split("\n").slice(0, 25).join("\n");
    expect(firstScreen).toMatch(/^ {4}npm ci && npm start\b/m);
    expect(firstScreen).toMatch(/^ {4}npm ci && npm test\b/m);
  });

  test("it states how many models the catalog has, and how many of them have a price", () => {
    const stated = /has (\d+) models, (\d+) of them with a known price/.exec(README)?.slice(1);
    expect(stated?.map(Number)).toEqual([data.models.length, countPriced(data.models)]);
  });

  test("it states how many providers the catalog has", () => {
    const stated = /\[(\d+)\]\(catalog\/README\.md\)/.exec(README)?.[1];
    expect(Number(stated)).toBe(data.providers.length);
  });

  test("it names only models that exist", () => {
    const known = new Set([...data.models, ...SANDBOX_MODELS].map(({ id }) => id));
    const named = findAll(README, /"?model"?:? "([a-z][\w-]*\/[\w.:-]+)"/g).concat(
      findAll(README, /--model ([a-z][\w-]*\/[\w.:-]+)/g),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((id) => !known.has(id) && !id.startsWith("gateway-auto/"))).toEqual([]);
  });
});

describe("the guarantees", () => {
  test("they state the numbers of generated bodies and kills that the tests use", () => {
    const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
    const stated = [/([\d,]+) generated bodies/, /\((\d+) kills under load/].map((pattern) =>
      Number(pattern.exec(read("docs/guarantees.md"))?.[1]?.replaceAll(",", "")),
    );
    const bodies = Number(
      /ALL_BODIES = ([\d_]+)/.exec(read("test/http/requests/bad-input.test.ts"))?.[1]?.replaceAll("_", ""),
    );
    const kills = Number(/^const KILLS = (\d+);/m.exec(read("test/chaos/run.ts"))?.[1]);
    expect(stated).toEqual([bodies, kills]);
  });
});

describe("the documents", () => {
  const files = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "bench/README.md",
    "catalog/README.md",
  ];
  const inDocs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  const documents = [...files, ...inDocs.map((name) => `docs/${name}`)]
    .filter((file) => file.endsWith(".md") && existsSync(join(ROOT, file)))
    .map((file) => [file, readFileSync(join(ROOT, file), "utf8")] as const);

  /** What a check finds wrong in each document, with the document's name. */
  const findWrong = (check: (text: string, file: string) => readonly string[]) =>
    documents.flatMap(([file, text]) => check(text, file).map((found) => `${file}: ${found}`));

  test("documents link only to files that exist", () => {
    const wrong = findWrong((text, file) =>
      findAll(text, /\]\(([^)#\s]+)[^)]*\)/g).filter(
        (link) => !/^[a-z]+:/.test(link) && !existsSync(join(ROOT, dirname(file), link)),
      ),
    );
    expect(wrong).toEqual([]);
  });

  /** The id that a heading gets in a rendered page. */
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .trim()
      .replaceAll(/\s/g, "-");

  test("documents link only to headings that exist", () => {
    const wrong = findWrong((text, file) =>
      [...text.matchAll(/\]\(([^)#\s:]*\.md)?#([^)\s]+)\)/g)]
        .filter(([, target, anchor]) => {
          const linked =
            target === undefined ? text : readFileSync(join(ROOT, dirname(file), target), "utf8");
          return !findAll(linked, /^#+ (.*)$/gm).some((heading) => anchorOf(heading) === anchor);
        })
        .map(([link]) => link),
    );
    expect(wrong).toEqual([]);
  });

  test("documents name only npm scripts that exist", () => {
    const wrong = findWrong((text) =>
      findAll(text, /npm run ([a-z][\w:-]*)/g).filter((script) => !(script in packageJson.scripts)),
    );
    expect(wrong).toEqual([]);
  });

  test("documents name only files and folders that exist", () => {
    // What commands write is not part of the project.
    const ignored = new Set(readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n"));
    const isThere = (path: string) =>
      existsSync(join(ROOT, path)) || existsSync(join(ROOT, `${path}.ts`)) || ignored.has(`/${path}/`);
    const wrong = findWrong((text) =>
      findAll(text, /`((?:test|src|bench|scripts|catalog)\/[\w./-]+)`/g).filter((path) => !isThere(path)),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the documents about the code", () => {
  /** The layers of `src`, whose files the documents name without `src/`. */
  const layers = readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  test.each(["ARCHITECTURE.md", "docs/adr", "docs/glossary.md", "docs/dependencies.md"])(
    "every file and folder of src that %s names exists",
    (document) => {
      const path = join(ROOT, document);
      const files = document.endsWith(".md") ? [path] : readdirSync(path).map((name) => join(path, name));
      const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
      const named = findAll(text, new RegExp(`\`((?:${layers.join("|")})/[\\w./-]+)\``, "g"));
      const isThere = (name: string) =>
        existsSync(join(ROOT, "src", name)) || existsSync(join(ROOT, "src", `${name}.ts`));
      expect(named.filter((name) => !isThere(name))).toEqual([]);
    },
  );

  test("every type that the glossary names is declared in src", () => {
    const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(ROOT, "src", file), "utf8"));
    const declared = new Set(
      sources.flatMap((source) => findAll(source, /^export (?:abstract )?(?:class|interface|type) (\w+)/gm)),
    );
    const named = findAll(readFileSync(join(ROOT, "docs/glossary.md"), "utf8"), /`([A-Z]\w+)`/g);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !declared.has(name))).toEqual([]);
  });
});

describe("the commands of the README", () => {
  const workspace = createWorkspace();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(async () => {
    await gateway.stop();
    workspace.clear();
  });

  /** Requests as they are printed, each on one line, without the comments behind them. */
  const requests = findAll(README.replaceAll("\\\n", ""), /^ *(curl .*?)(?: +# .*)?$/gm);

  test.skipIf(Bun.which("curl") === null)("every printed request is answered with 200", async () => {
    expect(requests.length).toBeGreaterThanOrEqual(5);
    for (const request of requests) {
      const line = request
        .replaceAll("http://127.0.0.1:8080", gateway.url)
        .replaceAll(/gw_\w*…/g, gateway.key);
      const child = Bun.spawn(["sh", "-c", `${line} -s -o /dev/null -w "%{http_code}"`], {
        stdout: "pipe",
        stderr: "inherit",
        env: { PATH: process.env["PATH"] },
      });
      expect(`${request}: ${await child.stdout.text()}`).toBe(`${request}: 200`);
    }
  });

  test("every gateway command is one that the program has", async () => {
    const lines = findAll(README, /^ {4}npm run gateway -- (.*?)(?: {2,}#.*)?$/gm);
    expect(lines.length).toBeGreaterThanOrEqual(4);
    const runs = lines.map(async (line) => {
      const words = line.split(" ").slice(0, 2);
      const { exitCode, stdout } = await workspace.run([...words, "--help"]);
      expect(`${line}: ${exitCode}`).toBe(`${line}: 0`);
      expect(stdout).toContain(`gateway ${words.join(" ")}`);
    });
    await Promise.all(runs);
  });

  /** Commands that need what a test does not have: the network, and a file of another gateway (docs/migrate-from has that). */
  const NOT_RUN = /^(catalog import|import litellm)\b/;

  test("every other gateway command succeeds in a new folder", async () => {
    const lines = findAll(README, /^ {4}npm run gateway -- (.*?)(?: {2,}#.*)?$/gm);
    const run = lines.map((line) => line.replace(/ #.*/, "")).filter((line) => !NOT_RUN.test(line));
    expect(run.length).toBeGreaterThanOrEqual(4);
    // The README starts the gateway before.
    await workspace.run(["migrate"]);
    for (const line of run) {
      const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, word]) => quoted ?? (word as string),
      );
      const { exitCode, stdout } = await workspace.run(args);
      expect([line, exitCode, stdout.length > 0]).toEqual([line, 0, true]);
    }
  });

  test("every command that is only listed is one that the program has", async () => {
    const also = /also (orgs, [a-z, -]+)$/m.exec(README)?.[1]?.split(", ") ?? [];
    expect(also.length).toBeGreaterThan(5);
    const { stdout } = await workspace.run(["--help"]);
    for (const part of also) expect(stdout).toMatch(new RegExp(`^ +${part}\\b`, "m"));
  });
});

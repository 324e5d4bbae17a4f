import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFetchSource } from "../../src/app/catalog/fetch-source.ts";
import { type ImportOutcome, importCatalog } from "../../src/app/catalog/import-catalog.ts";
import { createDirectoryTarget, createStoreTarget } from "../../src/app/catalog/import-target.ts";
import { loadCatalog, loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../src/app/catalog/shipped-files.ts";
import { CATALOG_FILE, createFileCatalogStore } from "../../src/storage/files/catalog-store.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { shippedRules, sourceModel, sourceText } from "./source-fixture.ts";

/** The models of the source, and those of the rules that every import adds. */
const MODELS = 600 + shippedRules.further.length;

const clock = {
  now: () => Date.parse("2026-07-03T12:00:00Z"),
  precise: () => 0,
  after: () => never(),
  every: () => never(),
};

/** About as many models as the shipped catalog has, because an import rejects a source with far fewer models. */
const plenty = Array.from({ length: 600 }, (_, index) => sourceModel(`gpt-${index}-test`));
const sound = sourceText({ openai: plenty }, "object");
const few = sourceText({ openai: plenty.slice(0, 3) });

let home: string;
let directory: string;
let override: string;
let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/api.json": new Response(sound),
      "/gone": new Response("not found", { status: 404 }),
      "/broken": new Response("oops", { status: 500 }),
      "/moved": Response.redirect("/api.json", 302),
      "/page": new Response("<!doctype html><title>models</title>", {
        headers: { "content-type": "text/html" },
      }),
      "/cut": new Response(sound.slice(0, sound.length / 2)),
      "/shape": new Response('{"data":[]}'),
      "/empty": new Response("{}"),
      "/nothing": new Response(""),
      "/few": new Response(few),
      "/huge": new Response("x".repeat(4096)),
      "/slow": () => new Promise<Response>(() => {}),
    },
  });
});

afterAll(() => server.stop(true));

beforeEach(() => {
  home = makeTempFolder("catalog-");
  directory = join(home, "catalog");
  override = join(home, "data", CATALOG_FILE);
  cpSync(SHIPPED_CATALOG_DIRECTORY, directory, { recursive: true });
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function never(): never {
  throw new Error("an import needs no timer");
}

function at(path: string): string {
  return `http://127.0.0.1:${server.port}${path}`;
}

function write(name: string, text: string): string {
  const file = join(home, name);
  writeFileSync(file, text);
  return file;
}

function snapshot(): Record<string, string> {
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => [
      join(entry.parentPath, entry.name),
      readFileSync(join(entry.parentPath, entry.name), "utf8"),
    ]),
  );
}

function importInto(
  into: string,
  rest: Partial<Parameters<typeof importCatalog>[0]> = {},
): Promise<ImportOutcome> {
  const target =
    into === directory
      ? createDirectoryTarget(directory)
      : createStoreTarget(createFileCatalogStore(dirname(into)));
  return importCatalog({ source: at("/api.json"), target, clock, catalogDirectory: directory, ...rest });
}

describe("an import that fails changes nothing and reports the reason", () => {
  for (const [path, reason] of [
    ["/gone", "answers 404"],
    ["/broken", "answers 500"],
    ["/moved", "redirect"],
    ["/page", "web page"],
    ["/cut", "cut off"],
    ["/shape", "not a list of providers"],
    ["/empty", "lists no models"],
    ["/nothing", "is empty"],
    ["/few", "probably broken"],
  ] as const) {
    for (const into of ["catalog", "data"] as const) {
      test(`for the source ${path} and the ${into} directory: ${reason}`, async () => {
        const before = snapshot();
        const outcome = await importInto(into === "catalog" ? directory : override, { source: at(path) });
        expect(outcome).toMatchObject({ ok: false, written: false });
        expect(outcome.lines.join("\n")).toContain(reason);
        expect(outcome.lines.at(-1)).toBe("nothing was changed");
        expect(snapshot()).toEqual(before);
      });
    }
  }

  for (const [source, reason] of [
    ["/no/such/file.json", "cannot be read"],
    ["http://127.0.0.1:1/api.json", "cannot be fetched"],
    ["http://example.com/api.json", "not an https URL"],
    ["ftp://127.0.0.1/api.json", "not an https URL"],
    ["https://", "not a URL"],
  ] as const) {
    test(`for the source ${source}: ${reason}`, async () => {
      const outcome = await importInto(override, { source });
      expect(outcome.ok).toBe(false);
      expect(outcome.lines.join("\n")).toContain(reason);
      expect(existsSync(override)).toBe(false);
    });
  }

  test("for a source that is larger than the bound", async () => {
    const outcome = await importInto(override, {
      source: at("/huge"),
      fetchSource: createFetchSource({ bytes: 1024 }),
    });
    expect(outcome.lines[0]).toContain("larger than 1024 bytes");
  });

  test("for a source that does not answer in time", async () => {
    const outcome = await importInto(override, {
      source: at("/slow"),
      fetchSource: createFetchSource({ timeoutMs: 20 }),
    });
    expect(outcome.lines[0]).toContain("does not answer within 20 ms");
  });

  test("for a directory that cannot be written", async () => {
    const blocker = write("blocker", "a file where a directory should be");
    const outcome = await importInto(join(blocker, "catalog.json"));
    expect(outcome).toMatchObject({ ok: false, written: false });
  });
});

describe("an import into the data directory", () => {
  test("is loaded from there, together with the shipped providers", async () => {
    const outcome = await importInto(override);
    expect(outcome).toMatchObject({ ok: true, written: true });
    expect(outcome.lines[0]).toBe(`${MODELS} models, ${MODELS} with a price`);
    const loaded = await loadCatalog(createFileCatalogStore(join(home, "data")), directory);
    expect(loaded).toMatchObject({ origin: "imported", problems: [] });
    expect(loaded.data.models).toHaveLength(MODELS);
    expect(loaded.data.source).toBe(`${at("/api.json")}, 2026-07-03`);
    expect(loaded.data.providers).toEqual(loadShippedCatalog(directory).providers);
  });

  test("changes nothing if it is repeated with the same source", async () => {
    await importInto(override);
    const outcome = await importInto(override, { clock: { ...clock, now: () => 0 } });
    expect(outcome).toMatchObject({ ok: true, written: false });
    expect(outcome.lines.slice(-2)).toEqual(["no difference", "nothing to change"]);
  });

  test("reports a price that changed by a large factor", async () => {
    await importInto(override);
    const moreExpensive = [sourceModel("gpt-0-test", { cost: { input: 10, output: 2 } }), ...plenty.slice(1)];
    const outcome = await importInto(override, {
      source: write("more-expensive.json", sourceText({ openai: moreExpensive })),
    });
    expect(outcome.lines).toContain(
      "~ openai/gpt-0-test: openai (gpt-0-test): prompt 0.000001 -> 0.00001 (x10) !",
    );
  });

  test("writes nothing as a dry run", async () => {
    const before = snapshot();
    const outcome = await importInto(override, { dryRun: true });
    expect(outcome).toMatchObject({ ok: true, written: false });
    expect(outcome.lines).toContain("+ openai/gpt-0-test");
    expect(snapshot()).toEqual(before);
  });

  test("leaves no temporary file", async () => {
    await importInto(override);
    expect(readdirSync(join(home, "data"))).toEqual([CATALOG_FILE]);
  });
});

describe("an import with a price map", () => {
  const map = JSON.stringify({
    "gpt-1-test": {
      litellm_provider: "openai",
      mode: "chat",
      source: "https://example.com/prices",
      max_input_tokens: 1000,
      input_cost_per_token: 3e-6,
      output_cost_per_token: 4e-6,
      prompt_cache_min_tokens: 2048,
    },
  });

  test("has the prices and facts of both, and names both as its source", async () => {
    const outcome = await importInto(override, { priceMap: write("prices.json", map) });
    expect(outcome).toMatchObject({ ok: true, written: true });
    const { data, problems } = await loadCatalog(createFileCatalogStore(join(home, "data")), directory);
    expect(problems).toEqual([]);
    expect(data.source).toBe(`${at("/api.json")} and prices.json, 2026-07-03`);
    const model = data.models.find(({ id }) => id === "openai/gpt-1-test");
    expect(model).toMatchObject({
      takes: { cacheMinTokens: 2048 },
      endpoints: [{ prices: { prompt: "0.000003", completion: "0.000004" } }],
    });
    const again = await importInto(override, { priceMap: write("prices.json", map) });
    expect(again.lines.slice(-2)).toEqual(["no difference", "nothing to change"]);
    const takes = await importInto(override, {
      priceMap: write("prices.json", map.replace("2048", "1024")),
      dryRun: true,
    });
    expect(takes.lines).toContain(
      '~ openai/gpt-1-test: takes {"cacheMinTokens":2048} -> {"cacheMinTokens":1024}',
    );
  });

  for (const [priceMap, reason] of [
    ["/no/such/prices.json", "/no/such/prices.json cannot be read"],
    ["page", "with a price map that is a web page"],
  ] as const) {
    test(`changes nothing if the map is damaged: ${reason}`, async () => {
      const path = priceMap === "page" ? at("/page") : priceMap;
      const outcome = await importInto(override, { priceMap: path });
      expect(outcome).toMatchObject({ ok: false, written: false });
      expect(outcome.lines[0]).toContain(reason);
      expect(existsSync(override)).toBe(false);
    });
  }
});

describe("an invalid catalog in the data directory", () => {
  for (const [what, damage, reason] of [
    ["is truncated", (text: string) => text.slice(0, -100), "not JSON"],
    ["has no source", () => '{"models":[]}', "source"],
    [
      "has a price as a number",
      (text: string) => text.replace('"prompt": "0.000001"', '"prompt": 1'),
      "prices.prompt",
    ],
    [
      "has an unknown provider",
      (text: string) => text.replace('"provider": "openai"', '"provider": "unknown"'),
      "no such provider",
    ],
    [
      "has a model twice",
      (text: string) => text.replace("openai/gpt-1-test", "openai/gpt-0-test"),
      "is listed twice",
    ],
    [
      "has a price of zero for a model without :free",
      (text: string) =>
        text.replace('"prompt": "0.000001", "completion": "0.000002"', '"prompt": "0", "completion": "0"'),
      "belong together",
    ],
  ] as const) {
    test(`that ${what} is not used, and the reason is reported`, async () => {
      await importInto(override);
      writeFileSync(override, damage(readFileSync(override, "utf8")));
      const loaded = await loadCatalog(createFileCatalogStore(join(home, "data")), directory);
      expect(loaded.origin).toBe("shipped");
      expect(loaded.problems.join("\n")).toContain(reason);
      expect(loaded.problems.at(-1)).toContain("using the shipped catalog");
    });
  }

  test("is replaced by the next import", async () => {
    await importInto(override);
    writeFileSync(override, "{");
    expect(await importInto(override)).toMatchObject({ ok: true, written: true });
    expect((await loadCatalog(createFileCatalogStore(join(home, "data")))).origin).toBe("imported");
  });
});

describe("an import into the catalog directory", () => {
  test("replaces the models and keeps the files that are written by hand", async () => {
    const reviewed = ["providers.json", "import-rules.json", "README.md"].map((name) =>
      join(directory, name),
    );
    const before = reviewed.map((file) => readFileSync(file, "utf8"));
    const outcome = await importInto(directory, { label: "a test" });
    expect(outcome).toMatchObject({ ok: true, written: true });
    expect(readdirSync(join(directory, "models")).sort()).toEqual([
      "cohere.json",
      "mistralai.json",
      "openai.json",
    ]);
    expect(reviewed.map((file) => readFileSync(file, "utf8"))).toEqual(before);
    expect(readdirSync(directory).sort()).toEqual(readdirSync(SHIPPED_CATALOG_DIRECTORY).sort());
    expect(loadShippedCatalog(directory).source).toBe("a test");
  });
});

test("a damaged shipped catalog is reported with file and position", () => {
  const file = join(directory, "models", "openai.json");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace('"contextLength": 200000', '"contextLength": "many"'),
  );
  expect(() => loadShippedCatalog(directory)).toThrow(
    /openai\.json: \[0\] \(openai\/[^)]+\)\.endpoints\[0\] \(azure\)\.contextLength/,
  );
});

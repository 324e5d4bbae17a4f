/**
 * Writes the files that are generated from code, data and tests, where they differ: `npm run generate`. With names after `--` it writes
 * only those, such as `npm run generate -- surface`. With `--check` it writes nothing, and fails if a file is out of date.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "../..");

/** The texts that files must have, by their paths. */
type Files = ReadonlyMap<string, string>;

interface Generator {
  readonly what: string;
  /** Loads its code only when it runs: each of them needs another part of the project. */
  readonly render: () => Promise<Files>;
  /** A folder that has no other files: those that are not rendered any more are removed. */
  readonly folder?: string;
}

/** Returns how a file is written whose text does not depend on itself. */
const one = (path: string, text: string): Files => new Map([[path, text]]);

/** Returns a document with what `place` changes in it. */
function document(path: string, place: (text: string) => string): Files {
  const file = join(ROOT, path);
  return one(file, place(readFileSync(file, "utf8")));
}

const GENERATORS: Readonly<Record<string, Generator>> = {
  "console-types": {
    what: "src/console/api/schema.ts: types of the HTTP API, not in the repository",
    render: async () => {
      const { renderConsoleTypes, TYPES_FILE } = await import("./console-types.ts");
      const { describeApi } = await import("../../src/http/openapi/describe-api.ts");
      return one(TYPES_FILE, renderConsoleTypes(describeApi()));
    },
  },
  "catalog-digests": {
    what: "catalog/digests.json, after validating the catalog",
    render: async () => (await import("./catalog-digests.ts")).renderCatalogDigests(),
  },
  chart: {
    what: "deploy/helm/rendered; needs helm if the chart has changed",
    render: async () => (await import("./render-chart.ts")).renderChart(),
  },
  "example-config": {
    what: "gateway.example.yaml, from the schema of the configuration",
    render: async () => {
      const { EXAMPLE_FILE, renderExampleConfig } = await import("./example-config.ts");
      return one(EXAMPLE_FILE, renderExampleConfig());
    },
  },
  fidelity: {
    what: "docs/fidelity.md and the stored results of test/fidelity",
    render: async () => (await import("./fidelity.ts")).renderFidelity(),
    folder: "test/fidelity/golden",
  },
  metrics: {
    what: "the table in docs/metrics.md",
    render: async () => {
      const { renderMetricsDocument } = await import("./metrics-table.ts");
      return document("docs/metrics.md", renderMetricsDocument);
    },
  },
  profiles: {
    what: "test/profiles/profiles.txt: what hosts and families of models take",
    render: async () => {
      const { listProfiles, PROFILES_FILE } = await import("../../test/profiles/list-profiles.ts");
      return one(PROFILES_FILE, listProfiles());
    },
  },
  "reasoning-parameters": {
    what: "test/catalog/reasoning-parameters.txt: what each provider is sent for a reasoning parameter",
    render: async () => {
      const { listRows, renderTable, TABLE_FILE } = await import(
        "../../test/catalog/reasoning-parameters.ts"
      );
      return one(TABLE_FILE, renderTable(listRows()));
    },
  },
  suites: {
    what: "the table in test/README.md",
    render: async () => {
      const { renderSuites } = await import("../../test/suites.ts");
      return document("test/README.md", renderSuites);
    },
  },
  surface: {
    what: "docs/surface: all that docs/versions.md promises, except the output of commands",
    render: async () => {
      const { listSurface, surfaceFile } = await import("../surface/list-surface.ts");
      return new Map([...(await listSurface())].map(([name, text]) => [surfaceFile(name), text]));
    },
  },
  units: {
    what: "the tables in docs/pricing.md of what vendors charge for",
    render: async () => {
      const { placeUnits } = await import("./billable-units.ts");
      return document("docs/pricing.md", placeUnits);
    },
  },
};

/** Returns the paths of files that are missing, have another text, or stand in the folder without belonging to it. */
function listStale(files: Files, folder: string | undefined): readonly string[] {
  const changed = [...files]
    .filter(([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text)
    .map(([path]) => path);
  if (folder === undefined) return changed;
  const present = new Glob(`${folder}/**/*`).scanSync({ cwd: ROOT, absolute: true });
  return [...changed, ...[...present].filter((path) => !files.has(path))];
}

/** Writes a file, or removes it without a text. Returns what was done. */
function put(path: string, text: string | undefined): string {
  if (text === undefined) {
    rmSync(path);
    return "removed";
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return "written";
}

async function run(names: readonly string[], isCheck: boolean): Promise<number> {
  let stale = 0;
  for (const name of names) {
    const { render, folder } = GENERATORS[name] as Generator;
    const files = await render();
    for (const path of listStale(files, folder)) {
      stale++;
      const outcome = isCheck
        ? `out of date, run \`npm run generate -- ${name}\``
        : put(path, files.get(path));
      console.log(`${outcome}: ${relative(ROOT, path)}`);
    }
  }
  return isCheck && stale > 0 ? 1 : 0;
}

const args = process.argv.slice(2);
const named = args.filter((arg) => arg !== "--check");
if (named.some((name) => !Object.hasOwn(GENERATORS, name))) {
  const width = Math.max(...Object.keys(GENERATORS).map((name) => name.length));
  for (const [name, { what }] of Object.entries(GENERATORS)) console.log(`  ${name.padEnd(width)}  ${what}`);
  process.exitCode = 2;
} else {
  process.exitCode = await run(named.length > 0 ? named : Object.keys(GENERATORS), args.includes("--check"));
}

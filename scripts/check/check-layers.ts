/**
 * Checks the imports of src/ against the layers of ARCHITECTURE.md: the layers themselves, the order of the folders inside `wire`,
 * `core` and `http`, folders that must not import each other, and cycles between files and between folders. Also checks that
 * `wire` and `core` do not use the runtime. In bench, scripts and test/support it looks for cycles between files too, and everywhere for
 * names of formats: code that compares names or has a table of names should ask for a trait of the format.
 */
import { dirname, join, normalize, relative } from "node:path";
import { Glob } from "bun";
import { PROVIDER_FORMATS } from "../../src/wire/conversation/traits/format-name.ts";

const root = join(import.meta.dir, "../..");

/** The layers that each layer may import besides itself. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  wire: ["base"],
  core: ["base", "wire"],
  providers: ["base", "wire", "core"],
  storage: ["base", "wire", "core"],
  telemetry: ["base", "wire", "core"],
  tokenizer: ["base", "core"],
  encoder: ["base", "wire", "core"],
  http: ["base", "wire", "core"],
  app: ["base", "wire", "core", "providers", "storage", "telemetry", "tokenizer", "encoder", "http"],
  cli: ["base", "wire", "core", "telemetry", "http", "app"],
  // Runs in the browser, and knows the gateway only by its HTTP API.
  console: [],
};

/**
 * The order of the folders inside a layer: a folder may import those before it. Folders of one inner list do not import each
 * other; `*` stands for all folders that are not named.
 */
const ORDER: Readonly<Record<string, readonly (readonly string[])[]>> = {
  wire: [
    ["fast"],
    ["conversation"],
    ["json-schema"],
    ["canonical"],
    ["*"],
    ["openai-completions"],
    ["formats"],
    ["client-apis"],
  ],
  core: [
    ["audit", "settings", "idempotency", "gateways", "storage-copy", "events"],
    ["catalog"],
    ["accounts"],
    ["console"],
    ["limits"],
    ["deployments"],
    ["provider-keys"],
    ["usage"],
    ["telemetry"],
    ["ledger"],
    ["routing"],
    ["named-routes"],
    ["generation"],
    ["response-objects"],
    ["stored-config"],
    ["questions"],
    ["extensions"],
  ],
  http: [
    ["context"],
    ["errors"],
    ["middleware"],
    ["inference", "api"],
    ["routes"],
    ["openapi"],
    ["docs-page", "console"],
    ["documents"],
    ["sockets"],
    ["server"],
  ],
  providers: [["address", "content-encoding"], ["*"]],
  storage: [["files", "sql"], ["*"]],
};

/** Where names of formats may stand besides the folder of the format, and why. A path that ends with a slash stands for all files below. */
const NAMES_OF_FORMATS: readonly (readonly [path: string, reason: string])[] = [
  ["src/wire/conversation/traits/format-name.ts", "the list of names"],
  ["src/wire/formats/", "the lists of traits and codecs"],
  [
    "src/providers/address/schemes.ts",
    "the URLs of hosts, which serve several formats at paths of their own",
  ],
  ["src/core/catalog/records/provider-schema.ts", "an address scheme has the name of a format"],
  ["src/console/text/text.ts", "the texts of the web console"],
  ["scripts/generate/billable-units.ts", "requests that show what vendors charge for"],
  ["scripts/generate/example-config.ts", "values of the example configuration"],
  ["bench/load/messages.ts", "requests and answers of one format each"],
  ["bench/load/upstream.ts", "a simulated vendor with an address for each format"],
  ["bench/targets/lanes.ts", "a lane goes from one format to another"],
  ["bench/targets/floor/floor-record.ts", "values of a stored record"],
  ["bench/rows/example-record.ts", "values of a stored record"],
  ["scripts/check/check-layers.ts", "the order of folders"],
  ["test/support/vendors/scripts/", "simulated vendors, of one format each"],
  ["test/support/vendors/answer-site.ts", "a simulated vendor with an address for each format"],
  ["test/support/vendors/speaking-vendor.ts", "a simulated vendor of some formats"],
  ["test/support/vendors/recordings.ts", "the name of a folder with recorded answers"],
  ["test/support/databases/seed-generations.ts", "values of stored records"],
];

/** A string with the name of a format and nothing else, as it is compared or as it is the key of a table. */
const FORMAT_NAME = new RegExp(`(["'])(${PROVIDER_FORMATS.join("|")})\\1`, "g");

const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*"(\.[^"]+)"|import\(\s*"(\.[^"]+)"\s*\)/g;

/** The layers without technology: what they need of the runtime is passed in, or is a primitive of `base`. */
const PURE_LAYERS: readonly string[] = ["wire", "core"];

/** Time, turns of the event loop, the process, and what only Bun has. */
const RUNTIME =
  /(?<![\w.$"'`-])(?:(?:Bun|process)\.\w+|(?:setImmediate|setTimeout|setInterval|queueMicrotask)\b)/g;

/** The functions of Node's modules that compute and do nothing else. */
const PURE_FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  "node:buffer": ["isUtf8"],
  "node:crypto": ["createHash", "createHmac"],
  "node:net": ["BlockList", "isIP", "isIPv6"],
  "node:path": ["basename"],
  "node:util": ["isDeepStrictEqual"],
};

/** An import of a package or a module of the runtime. */
const MODULE = /(?:^|\n)import\s+(?:type\s+)?(?:\{([^}]*)\}|[^"{]*)\s*from\s*"((?:node|bun)(?::[^"]*)?)"/g;

type Imports = ReadonlyMap<string, readonly string[]>;

function layerOf(file: string): string | null {
  const [top, layer] = file.split("/");
  return top === "src" && layer !== undefined && !layer.includes(".") ? layer : null;
}

/** The folder inside the layer; null for a file that stands in the layer itself. */
function folderOf(file: string): string | null {
  const parts = file.split("/");
  return parts.length > 3 ? (parts[2] as string) : null;
}

/** The folders that are read. Tests themselves may name and import anything. */
const READ: readonly string[] = ["src", "bench", "scripts", "test/support"];

async function readSources(): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>();
  for (const folder of READ)
    for await (const file of new Glob(`${folder}/**/*.{ts,tsx}`).scan(root)) {
      // The bench installs other products for comparison.
      if (!file.includes("/node_modules/")) sources.set(file, await Bun.file(join(root, file)).text());
    }
  return sources;
}

function listImports(file: string, source: string): string[] {
  return [...source.matchAll(IMPORT)].map((match) =>
    relative(root, normalize(join(root, dirname(file), (match[1] ?? match[2]) as string))),
  );
}

/** Lists the names of formats in a file that is neither in the folder of the format nor among the exceptions. */
function listFormatNames(file: string, source: string): string[] {
  if (NAMES_OF_FORMATS.some(([path]) => (path.endsWith("/") ? file.startsWith(path) : file === path)))
    return [];
  const names = new Set([...source.matchAll(FORMAT_NAME)].map(([, , name]) => name as string));
  return [...names]
    .filter((name) => !file.startsWith(`src/wire/${name}/`))
    .map(
      (name) =>
        `${file} names the format ${name}: ask for a trait of it (src/wire/conversation/traits/format-traits.ts)`,
    );
}

function rankOf(order: readonly (readonly string[])[], folder: string): number {
  const rank = order.findIndex((folders) => folders.includes(folder));
  return rank >= 0 ? rank : order.findIndex((folders) => folders.includes("*"));
}

/** Why a file must not import another; null where it may. */
function findFault(file: string, target: string): string | null {
  // The version stands in package.json and nowhere else.
  if (target === "package.json") return null;
  const [layer, targetLayer] = [layerOf(file), layerOf(target)];
  if (layer === null) return null;
  const allowed = LAYERS[layer];
  if (allowed === undefined) return `src/${layer} is not a layer of ARCHITECTURE.md`;
  if (targetLayer !== layer)
    return targetLayer !== null && allowed.includes(targetLayer)
      ? null
      : `${layer} may import only ${[layer, ...allowed].join(", ")}`;
  const order = ORDER[layer];
  const [folder, targetFolder] = [folderOf(file), folderOf(target)];
  if (order === undefined || folder === targetFolder) return null;
  if (folder === null || targetFolder === null)
    return `files of src/${layer} belong into its folders, whose order is checked`;
  const [rank, targetRank] = [rankOf(order, folder), rankOf(order, targetFolder)];
  if (rank < 0 || targetRank < 0) return `the order of src/${layer} does not name its folder`;
  return targetRank < rank ? null : `src/${layer}/${folder} may import only folders before it`;
}

function listFaults(imports: Imports): string[] {
  return [...imports].flatMap(([file, targets]) =>
    targets.flatMap((target) => {
      const fault = findFault(file, target);
      return fault === null ? [] : `${file} imports ${target}: ${fault}`;
    }),
  );
}

/** Each cycle among nodes, as a chain that ends where it began. */
function findCycles(graph: Imports): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (node: string, trail: readonly string[]): void => {
    const at = trail.indexOf(node);
    if (at >= 0) {
      cycles.push(`cycle: ${[...trail.slice(at), node].join(" -> ")}`);
      return;
    }
    if (done.has(node)) return;
    for (const target of graph.get(node) ?? []) visit(target, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}

/** The imports between folders, of whatever depth. */
function joinFolders(imports: Imports): Imports {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const folder = dirname(file);
    const known = folders.get(folder) ?? new Set();
    folders.set(folder, known);
    for (const target of targets) if (dirname(target) !== folder) known.add(dirname(target));
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]));
}

/** Lists what files of the pure layers use of the runtime. */
function listRuntimeUses(sources: ReadonlyMap<string, string>): string[] {
  const uses: string[] = [];
  for (const [file, source] of sources) {
    if (!PURE_LAYERS.includes(layerOf(file) ?? "")) continue;
    for (const [, names, module = ""] of source.matchAll(MODULE)) {
      const used = (names ?? "*").split(",").map((name) => name.trim());
      const impure = used.filter((name) => name !== "" && !PURE_FUNCTIONS[module]?.includes(name));
      if (impure.length > 0)
        uses.push(`${file} imports ${impure.join(", ")} of ${module}: no runtime in this layer`);
    }
    const code = source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, "");
    for (const [name] of code.matchAll(RUNTIME))
      uses.push(`${file} uses ${name}: pass it in, or use a primitive of src/base`);
  }
  return uses;
}

const sources = await readSources();
const imports = new Map([...sources].map(([file, source]) => [file, listImports(file, source)]));
const ofProgram = new Map([...imports].filter(([file]) => file.startsWith("src/")));
/** The maximum number of files of a folder: more are not taken in at a glance. A list of migrations only grows, and is read from its end. */
const MAX_FILES = 25;
const GROWING = /\/migrations$/;

/** Lists folders with more files than that. */
function listFlatFolders(files: Iterable<string>): string[] {
  const folders = Map.groupBy(files, (file) => dirname(file));
  return [...folders].flatMap(([folder, { length }]) =>
    length > MAX_FILES && !GROWING.test(folder)
      ? [
          `${folder} has ${length} files: give it folders by concern (at most ${MAX_FILES} files beside each other)`,
        ]
      : [],
  );
}

const problems = [
  ...listFaults(ofProgram),
  ...listFlatFolders([...ofProgram.keys(), ...new Glob("test/**/*.ts").scanSync(root)]),
  ...listRuntimeUses(sources),
  ...[...sources].flatMap(([file, source]) => listFormatNames(file, source)),
  ...findCycles(imports),
  ...findCycles(joinFolders(ofProgram)),
];
for (const problem of problems) console.error(problem);
console.log(`layers: ${imports.size} files, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/**
 * Holds the import table of ARCHITECTURE.md against the code: each floor of src/ may import only the floors
 * below it, siblings named apart never meet, and no chain of imports comes back to where it began.
 */
import { dirname, join, normalize, relative } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "..");

/** For each floor, the floors it may import besides itself. */
const ALLOWED: Record<string, readonly string[]> = {
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
  cli: ["base", "wire", "core", "telemetry", "app"],
};

/** Folders on one floor that must not know each other. */
const STRANGERS = ["src/wire", "src/providers", "src/storage"];

/** Neighbours on those floors that everyone there shares. */
const SHARED = new Set([
  "src/wire/json",
  "src/wire/sse",
  "src/wire/conversation",
  "src/wire/canonical",
  "src/wire/json-schema",
  "src/providers/content-encoding",
  "src/storage/files",
]);

/** Rooms that join neighbours on such a floor, and may know all of them. */
const JOINERS = new Set(["src/wire/dialects"]);

const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*"(\.[^"]+)"|import\(\s*"(\.[^"]+)"\s*\)/g;

function floorOf(file: string): string | null {
  const [top, floor] = file.split("/");
  return top === "src" && floor !== undefined && !floor.includes(".") ? floor : null;
}

function roomOf(file: string): string {
  return file.split("/").slice(0, 3).join("/");
}

async function readImports(): Promise<Map<string, string[]>> {
  const imports = new Map<string, string[]>();
  for await (const file of new Glob("src/**/*.ts").scan(root)) {
    const source = await Bun.file(join(root, file)).text();
    const found = [...source.matchAll(IMPORT)].map((match) =>
      relative(root, normalize(join(root, dirname(file), (match[1] ?? match[2]) as string))),
    );
    imports.set(file, found);
  }
  return imports;
}

function findForbidden(imports: Map<string, string[]>): string[] {
  const problems: string[] = [];
  for (const [file, targets] of imports) {
    const floor = floorOf(file);
    if (floor === null) continue;
    const allowed = ALLOWED[floor];
    if (allowed === undefined) {
      problems.push(`${file}: src/${floor} is not a floor of ARCHITECTURE.md`);
      continue;
    }
    for (const target of targets) {
      // The version stands there, and nowhere else.
      if (target === "package.json") continue;
      const targetFloor = floorOf(target);
      if (targetFloor === null || (targetFloor !== floor && !allowed.includes(targetFloor))) {
        problems.push(
          `${file} imports ${target}: ${floor} may import only ${[floor, ...allowed].join(", ")}`,
        );
      } else if (
        targetFloor === floor &&
        STRANGERS.includes(`src/${floor}`) &&
        roomOf(file) !== roomOf(target) &&
        !JOINERS.has(roomOf(file)) &&
        !SHARED.has(roomOf(target))
      ) {
        problems.push(`${file} imports ${target}: neighbours in src/${floor} must not know each other`);
      }
    }
  }
  return problems;
}

function findCycles(imports: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) {
      cycles.push(`cycle: ${[...trail.slice(at), file].join(" -> ")}`);
      return;
    }
    if (done.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return cycles;
}

const imports = await readImports();
const problems = [...findForbidden(imports), ...findCycles(imports)];
for (const problem of problems) console.error(problem);
console.log(`layers: ${imports.size} files, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

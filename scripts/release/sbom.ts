/**
 * Makes the list of all run-time packages (SBOM) in CycloneDX 1.6, from what `npm sbom` says of package-lock.json.
 * https://cyclonedx.org/docs/1.6/json/
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BUN_PACKAGES } from "../build/build-executable.ts";
import { readCommand } from "./run-command.ts";

/** What is read of a component. */
interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What is read of the list that npm makes, in CycloneDX 1.5. Version 1.6 has added fields and removed none. */
interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
}

/** Lists the run-time packages of package-lock.json, of every platform, by name. */
export function listRuntimePackages(folder: string): ReadonlyMap<string, string> {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const entries = Object.entries(lock.packages as Record<string, LockedPackage>);
  const found = entries.flatMap(([path, { version, dev }]) =>
    path === "" || dev === true ? [] : [[path.replace(/^.*node_modules\//, ""), version] as const],
  );
  return new Map(found);
}

/** Returns the list as JSON. Its time is that of the release, in seconds since 1970, and its number follows from its content. */
export async function makeSbom(folder: string, time: number): Promise<string> {
  const command = ["npm", "sbom", "--package-lock-only", "--sbom-format=cyclonedx"];
  const bom = JSON.parse(await readCommand(command, { cwd: folder })) as Bom;
  const versionOf = async (name: string) =>
    (await readCommand([name, "--version"], { cwd: folder })).replace(/^v/, "");
  const tools = ["node", "npm"].map(async (name) => ({
    type: "application",
    name,
    version: await versionOf(name),
  }));
  const content = {
    metadata: {
      timestamp: new Date(time * 1_000).toISOString(),
      lifecycles: [{ phase: "build" }],
      tools: { components: await Promise.all(tools) },
      component: describeGateway(bom.metadata.component, folder),
    },
    ...selectRuntime(bom, listRuntimePackages(folder)),
  };
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex");
  const head = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${toUuid(hash)}`,
    version: 1,
  };
  return `${JSON.stringify({ ...head, ...content }, null, 2)}\n`;
}

/** Names the gateway as its package does: npm names it after the folder. */
function describeGateway(component: Component, folder: string): Component {
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { ...component, type: "application", name, properties: [] };
}

/**
 * Selects the run-time packages. `npm sbom --omit=dev` cannot be used, because it also omits those that a package for development
 * needs, too.
 */
function selectRuntime(
  bom: Bom,
  runtime: ReadonlyMap<string, string>,
): Pick<Bom, "components" | "dependencies"> {
  const packages = bom.components.filter(({ name, version }) => runtime.get(name) === version);
  const bun = packages.find(({ name }) => name === "bun");
  if (bun === undefined) throw new Error("package-lock.json has no Bun");
  const platforms = listOtherPlatforms(bun, runtime);
  const components = [
    ...packages.map((one) => (one === bun ? { ...bun, type: "platform" } : one)),
    ...platforms,
  ].sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const refs = new Set([bom.metadata.component, ...components].map((one) => one["bom-ref"]));
  const dependencies = [
    ...bom.dependencies,
    ...platforms.map((one) => ({ ref: one["bom-ref"], dependsOn: [] })),
  ]
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: [
        ...dependsOn.filter((one) => refs.has(one)),
        ...(ref === bun["bom-ref"] ? platforms.map((one) => one["bom-ref"]) : []),
      ],
    }));
  return { components, dependencies };
}

/** Returns the packages with the Bun of executables that package-lock.json does not name, because no installation needs them. */
function listOtherPlatforms(bun: Component, runtime: ReadonlyMap<string, string>): readonly Component[] {
  const names = Object.values(BUN_PACKAGES).filter((name) => !runtime.has(name));
  return names.map((name) => ({
    "bom-ref": `${name}@${bun.version}`,
    type: "library",
    name,
    version: bun.version,
    scope: "optional",
    purl: `pkg:npm/${name.replace("@", "%40")}@${bun.version}`,
    licenses: bun["licenses"],
  }));
}

/** Makes a UUID of version 8, which has a content of one's own (RFC 9562, section 5.8). */
function toUuid(hash: string): string {
  const hex = `${hash.slice(0, 12)}8${hash.slice(13, 16)}8${hash.slice(17, 32)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

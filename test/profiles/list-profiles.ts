import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TakenParameters } from "../../src/core/catalog/records/profile-schema.ts";
import type {
  FamilyProfile,
  ProviderQuirks,
  ProviderRecord,
} from "../../src/core/catalog/records/records.ts";

/** The golden file with all that the shipped catalog says about what hosts and families of models take. */
export const PROFILES_FILE = join(import.meta.dir, "profiles.txt");

/** The parts of a row's quirks that belong to the profile of a host, besides `takes`. */
export const HOST_PARTS = [
  "developerRole",
  "reasoningField",
  "refusedMessageFields",
  "namedRoles",
  "efforts",
  "noCacheMarks",
  "refusedFields",
  "knownFields",
  "knownMessageFields",
  "thinkingParts",
  "customTools",
  "toolNamespaces",
  "resultsAnywhere",
  "noStreamOptions",
  "maxCompletionTokens",
  "noMaxCompletionTokens",
  "randomSeed",
  "noSchemas",
  "marksPrefill",
  "noEncryptedReasoning",
] as const satisfies readonly (keyof ProviderQuirks)[];

/** Lists one line for each entry of a profile: an entry that is added, changed or deleted shows in the golden file. */
export function listProfiles(): string {
  const providers = readCatalog<ProviderRecord>("providers.json");
  const families = readCatalog<FamilyProfile>("profiles.json");
  const hosts = providers.flatMap(({ slug, format, quirks, formats = {} }) => [
    ...listHost(`${slug} in ${format}`, quirks),
    ...Object.entries(formats).flatMap(([name, one]) => listHost(`${slug} in ${name}`, one.quirks ?? {})),
  ]);
  const lines = ["# Hosts", ...hosts, "", "# Families of models", ...families.flatMap(listFamily)];
  return `${lines.join("\n")}\n`;
}

function readCatalog<T>(file: string): readonly T[] {
  return JSON.parse(readFileSync(join(import.meta.dir, "../../catalog", file), "utf8")) as T[];
}

function listHost(host: string, quirks: ProviderQuirks): readonly string[] {
  const parts = HOST_PARTS.filter((part) => quirks[part] !== undefined);
  return [
    ...listTaken(quirks.takes).map((line) => `${host}: takes ${line}`),
    ...parts.map((part) => `${host}: ${part} ${JSON.stringify(quirks[part])}`),
  ];
}

function listFamily({ models, except = [], providers = [], parameters, source: _, ...facts }: FamilyProfile) {
  const name = [
    models.join(" "),
    ...(except.length === 0 ? [] : [`except ${except.join(" ")}`]),
    ...(providers.length === 0 ? [] : [`at ${providers.join(" ")}`]),
  ].join(", ");
  const others = Object.entries(facts).map(([fact, value]) => `  ${fact} ${value}`);
  return [name, ...listTaken(parameters).map((line) => `  takes ${line}`), ...others];
}

function listTaken(taken: TakenParameters = {}): readonly string[] {
  return Object.entries(taken).map(([name, rule]) => `${name}: ${JSON.stringify(rule)}`);
}

import type { TakenParameters } from "../../../src/core/catalog/records/profile-schema.ts";
import type {
  CatalogWithFamilies,
  FamilyProfile,
  ProviderQuirks,
  ProviderRecord,
} from "../../../src/core/catalog/records/records.ts";
import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import { HOST_PARTS } from "../list-profiles.ts";
import { type DistinctProfile, profileKey } from "./distinct-profiles.ts";
import { findsAnything } from "./run-profiles.ts";
import { publishedOf } from "./strict-host.ts";
import { encodeWith } from "./strict-site.ts";

/** A catalog that lacks one entry of a profile. */
interface Deletion {
  /** What was deleted. */
  readonly entry: string;
  readonly catalog: CatalogWithFamilies;
}

/** Which deletions of entries the strict hosts notice. Entries that change nothing at a documented host are left out. */
export interface Noticed {
  readonly noticed: readonly string[];
  readonly missed: readonly string[];
}

/** Deletes each entry of the profiles of hosts with a document, and of families of models there, and tries what depends on it. */
export async function deleteEachEntry(
  catalog: CatalogWithFamilies,
  profiles: readonly DistinctProfile[],
  seed: number,
): Promise<Noticed> {
  const [noticed, missed]: [string[], string[]] = [[], []];
  const before = new Map(profiles.map((profile) => [profile, profileKey(profile, catalog)]));
  for (const { entry, catalog: changed } of listDeletions(catalog)) {
    const touched = profiles.filter((profile) => profileKey(profile, changed) !== before.get(profile));
    if (touched.length === 0) continue;
    const isNoticed = await findsAnything(pickSome(touched), encodeWith(changed), seed);
    (isNoticed ? noticed : missed).push(entry);
  }
  return { noticed, missed };
}

/** The first, the middle and the last: those of a host differ by their models. */
function pickSome(profiles: readonly DistinctProfile[]): readonly DistinctProfile[] {
  const last = profiles.length - 1;
  const chosen = new Set([0, Math.floor(last / 2), last]);
  return profiles.filter((_, at) => chosen.has(at));
}

function* listDeletions(catalog: CatalogWithFamilies): Generator<Deletion> {
  for (const [at, provider] of catalog.providers.entries())
    for (const { name, changed } of withoutEachQuirk(provider))
      yield {
        entry: `${provider.slug}: ${name}`,
        catalog: { ...catalog, providers: catalog.providers.with(at, changed) },
      };
  for (const [at, family] of catalog.families.entries())
    for (const { name, changed } of withoutEachFact(family))
      yield {
        entry: `${family.models.join(" ")}: ${name}`,
        catalog: { ...catalog, families: catalog.families.with(at, changed) },
      };
}

interface Without<Row> {
  readonly name: string;
  readonly changed: Row;
}

function* withoutEachQuirk(provider: ProviderRecord): Generator<Without<ProviderRecord>> {
  const { slug: host, format, quirks, formats = {} } = provider;
  if (publishedOf({ host, format }) !== null)
    for (const { name, changed } of withoutEachPart(quirks))
      yield { name, changed: { ...provider, quirks: changed } };
  for (const [other, one] of Object.entries(formats))
    if (publishedOf({ host, format: other as ProviderFormat }) !== null)
      for (const { name, changed } of withoutEachPart(one.quirks ?? {}))
        yield {
          name: `${other} ${name}`,
          changed: { ...provider, formats: { ...formats, [other]: { ...one, quirks: changed } } },
        };
}

function* withoutEachPart(quirks: ProviderQuirks): Generator<Without<ProviderQuirks>> {
  for (const { name, changed } of withoutEachParameter(quirks.takes))
    yield { name: `takes ${name}`, changed: { ...quirks, takes: changed } };
  for (const part of HOST_PARTS) {
    const { [part]: value, ...rest } = quirks;
    if (value !== undefined) yield { name: part, changed: rest };
  }
}

function* withoutEachParameter(taken: TakenParameters = {}): Generator<Without<TakenParameters>> {
  for (const name of Object.keys(taken)) {
    const { [name]: _, ...rest } = taken;
    yield { name, changed: rest };
  }
}

function* withoutEachFact(family: FamilyProfile): Generator<Without<FamilyProfile>> {
  for (const { name, changed } of withoutEachParameter(family.parameters))
    yield { name, changed: { ...family, parameters: changed } };
  for (const fact of ["reasonsByDefault", "forcedTools", "unsignedThinking", "needsReasoning"] as const) {
    const { [fact]: value, ...rest } = family;
    if (value !== undefined) yield { name: fact, changed: rest };
  }
}

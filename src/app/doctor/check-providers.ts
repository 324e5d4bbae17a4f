import { DAY_MS } from "../../base/time/time.ts";
import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import { loadCatalog } from "../catalog/load-catalog.ts";
import { withCatalogStore } from "../catalog/open-catalog-store.ts";
import { readProviderKeys } from "../config/read-provider-keys.ts";
import { type DoctorScene, type Finding, ok, warning } from "./finding.ts";

/** The age at which the catalog's prices have usually changed. Days. */
const OLD_DAYS = 30;

/** Checks that the catalog can be read, and when its prices were last refreshed. */
export function checkCatalog({ config, clock }: DoctorScene): Promise<readonly Finding[]> {
  return withCatalogStore(config, clock, async (store) => {
    const { data, origin, problems } = await loadCatalog(store);
    const { refreshedAt } = await store.readRefreshState();
    const text = `${data.models.length} models of ${data.providers.length} providers, ${origin}`;
    const wrong = problems.map((problem) =>
      warning(problem, "Import the catalog again: gateway catalog import"),
    );
    if (refreshedAt === null)
      return [
        ...wrong,
        warning(
          `${text}; prices were never refreshed`,
          "Run `gateway catalog refresh`, or set catalog.refresh_hours.",
        ),
      ];
    const days = Math.floor((clock.now() - refreshedAt) / DAY_MS);
    const aged = `${text}; refreshed ${days} days ago`;
    return [...wrong, days > OLD_DAYS ? warning(aged, "Run `gateway catalog refresh`.") : ok(aged)];
  });
}

/** Texts that examples and templates contain instead of a key. */
const PLACEHOLDER = /^(<.*>|x{3,}|\.\.\.|your[-_ ].*|change[-_ ]?me|sk-(\.\.\.|x{3,}|first|second).*|todo)$/i;

/** Checks that there are provider keys, and that each has a valid form. No provider is called. */
export async function checkProviderKeys(scene: DoctorScene): Promise<readonly Finding[]> {
  const { config, clock } = scene;
  const { data } = await withCatalogStore(
    { ...config, database: { ...config.database, url: undefined } },
    clock,
    loadCatalog,
  );
  const found = data.providers.map((record) => ({ record, secrets: listSecrets(record, scene) }));
  const named = found.filter(({ secrets }) => secrets.length > 0).map(({ record }) => record.slug);
  const hosts = Object.keys(config.providers).filter((slug) =>
    data.providers.every((one) => one.slug !== slug),
  );
  const wrong = found.flatMap(({ record, secrets }) =>
    secrets.flatMap((secret) => checkForm(record, secret)),
  );
  const all = [...named, ...hosts];
  const remedy = "Set a provider's variable, such as OPENAI_API_KEY, or api_keys under providers.";
  if (all.length === 0)
    return [warning("no provider has a key: only the sandbox and BYOK keys work", remedy)];
  return [ok(`${all.length} providers can be called: ${all.join(", ")}`), ...wrong];
}

function listSecrets(record: ProviderRecord, { config, environment }: DoctorScene): readonly string[] {
  const keys = readProviderKeys({
    record,
    config: config.providers[record.slug],
    environment,
    // The configuration's check has them.
    notices: [],
  });
  return keys.flatMap(({ secret }) => secret ?? []);
}

function checkForm({ slug, name, address }: ProviderRecord, secret: string): readonly Finding[] {
  // The key of a service account is a file.
  if (address === "vertex" && secret.trimStart().startsWith("{")) return [];
  const problem = PLACEHOLDER.test(secret)
    ? "is a placeholder"
    : /^[\x21-\x7e]+$/.test(secret)
      ? null
      : "has spaces, line breaks or other characters that no key has";
  if (problem === null) return [];
  return [
    warning(`a key of ${name} ${problem}`, `Copy it again to its variable or to providers.${slug}.api_keys.`),
  ];
}

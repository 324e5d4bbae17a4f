import { z } from "zod";
import type { ProviderRecord } from "../../../core/catalog/records/records.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import { PROVIDER_FORMATS } from "../../../wire/conversation/traits/format-name.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";

const PartView = z.object({
  name: z.string().describe("Name under `parts` of the provider, such as `region`."),
  default: z.string().nullable().describe("Value that applies if none is set."),
  variables: z.array(z.string()).describe("Environment variables from which it is read if it is not set."),
});

const ConfigProviderView = z
  .object({
    slug: z.string(),
    name: z.string(),
    is_own_host: z.boolean().describe("Whether it is a host of the configuration, not of the catalog."),
    base_url: z
      .string()
      .nullable()
      .describe("Base URL, with parts in braces. `null` means the configuration sets it."),
    formats: z.array(z.string()).describe("API formats, the main one first."),
    parts: z.array(PartView).describe("Parts of the base URL that depend on the provider account."),
    key_kind: z
      .enum(["text", "aws", "google"])
      .describe(
        "`aws`: an API key, or id and secret of an access key with a colon between them. `google`: an API key, or the JSON file of a service account.",
      ),
    key_variables: z.array(z.string()).describe("Environment variables from which a key is read."),
    keys_url: z.string().nullable().describe("Page on which people create keys. `null` means unknown."),
    catalog_models: z.int().describe("Models of the catalog that it offers."),
    models: z.int().describe("Models that are served through it now."),
  })
  .meta({ id: "ConfigProvider", description: "A provider, with what is needed to configure it." });

/** `GET /api/admin/config/providers`: the providers that can be configured. */
export const listConfigProviders = defineEndpoint({
  method: "GET",
  path: "/api/admin/config/providers",
  tag: "Configuration",
  summary: "List the providers of the catalog and of the configuration, with what each needs",
  access: OPERATOR,
  response: z.object({
    data: z.array(ConfigProviderView).describe("By name."),
    host_formats: z
      .array(z.string())
      .describe("API formats that a host of your own can have, the default first."),
  }),
  handle({ deps }) {
    const serving = deps.generation.serving();
    const offered = countOffered(serving);
    const served = countServed(serving);
    return {
      data: serving.catalog.providers
        .map((record) => ({
          ...presentSetup(record),
          catalog_models: offered.get(record.slug) ?? 0,
          models: served.get(record.slug) ?? 0,
        }))
        .toSorted((a, b) => a.name.localeCompare(b.name, "en")),
      host_formats: [...PROVIDER_FORMATS],
    };
  },
});

function presentSetup(record: ProviderRecord) {
  const { slug, name, format, formats = {}, parts = {}, env } = record;
  return {
    slug,
    name,
    is_own_host: record.isOwnHost === true,
    base_url: record.baseUrlTemplate ?? record.baseUrl,
    formats: [format, ...Object.keys(formats)],
    parts: Object.entries(parts).map(([part, { env: variables, default: byDefault = null }]) => ({
      name: part,
      default: byDefault,
      variables: [...variables],
    })),
    key_kind: keyKindOf(env),
    key_variables: [...env.apiKey],
    keys_url: record.keysUrl ?? null,
  };
}

function keyKindOf({ keyPair, keyFile }: ProviderRecord["env"]): "text" | "aws" | "google" {
  if (keyPair !== undefined) return "aws";
  return keyFile === undefined ? "text" : "google";
}

/** Counts the models of the catalog by provider. */
function countOffered({ catalog }: Serving): ReadonlyMap<string, number> {
  return countBySlug(catalog.models.map(({ endpoints }) => endpoints.map(({ provider }) => provider)));
}

/** Counts the served models by provider. */
function countServed({ servedModels }: Serving): ReadonlyMap<string, number> {
  return countBySlug(
    servedModels.models.map(({ id }) =>
      servedModels.deploymentsOf(id).map(({ provider }) => provider.record.slug),
    ),
  );
}

/** Counts the lists that contain each slug. */
function countBySlug(lists: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const slugs of lists) for (const slug of new Set(slugs)) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  return counts;
}

import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { ModelEndpoint, ProviderQuirks, ProviderRecord } from "../records/records.ts";

/** Lists the formats of a provider's API: its main format first. */
export function listProviderFormats({ format, formats = {} }: ProviderRecord): readonly ProviderFormat[] {
  return [format, ...(Object.keys(formats) as ProviderFormat[])];
}

/** Returns the deviations of a provider's API in a format from the API of the format's vendor. */
export function quirksOf(record: ProviderRecord, format: ProviderFormat): ProviderQuirks {
  return (format === record.format ? record.quirks : record.formats?.[format]?.quirks) ?? NO_QUIRKS;
}

const NO_QUIRKS: ProviderQuirks = {};

/** Lists the formats of the provider in which an endpoint is served, the preferred one first. */
export function listEndpointFormats(
  { format, formats }: Pick<ModelEndpoint, "format" | "formats">,
  ofProvider: readonly ProviderFormat[],
): readonly ProviderFormat[] {
  if (formats === undefined && format === undefined) return ofProvider;
  const own = formats ?? [format as ProviderFormat];
  return own.filter((name) => ofProvider.includes(name));
}

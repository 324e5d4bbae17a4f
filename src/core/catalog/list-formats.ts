import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { ModelEndpoint, ProviderRecord } from "./records.ts";

/** Lists the formats of a provider's API: its main format first. */
export function listProviderFormats({ format, formats = {} }: ProviderRecord): readonly FormatName[] {
  return [format, ...(Object.keys(formats) as FormatName[])];
}

/** Lists those of the provider's formats in which an endpoint is served, the preferred one first. */
export function listEndpointFormats(
  { format, formats }: Pick<ModelEndpoint, "format" | "formats">,
  ofProvider: readonly FormatName[],
): readonly FormatName[] {
  if (formats === undefined && format === undefined) return ofProvider;
  const own = formats ?? [format as FormatName];
  return own.filter((name) => ofProvider.includes(name));
}

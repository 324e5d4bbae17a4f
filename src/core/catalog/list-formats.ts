import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { ModelEndpoint, ProviderRecord } from "./records.ts";

/** The formats of a provider's API: that of its row first, then the further ones in the order of the row. */
export function listProviderFormats({ format, formats = {} }: ProviderRecord): readonly FormatName[] {
  return [format, ...(Object.keys(formats) as FormatName[])];
}

/** The formats that an endpoint is served in, of those that its provider is spoken to in. The preferred one comes first. */
export function listEndpointFormats(
  { format, formats }: Pick<ModelEndpoint, "format" | "formats">,
  ofProvider: readonly FormatName[],
): readonly FormatName[] {
  if (formats === undefined && format === undefined) return ofProvider;
  const own = formats ?? [format as FormatName];
  return own.filter((name) => ofProvider.includes(name));
}

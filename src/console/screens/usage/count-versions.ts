/** The versions of clients in a list of requests. Pure functions. */
import type { GenerationLine } from "../../api/schema.ts";

/** A version of a client, and its requests. */
export interface ClientVersion {
  readonly client: string;
  /** Null if its requests state none. */
  readonly version: string | null;
  readonly requests: number;
  /** The newest of its requests. */
  readonly last: { readonly id: string; readonly created_at: string };
}

/** Counts the requests of each version, those with the most requests first. `lines` are the newest first. Unknown clients are left out. */
export function countVersions(
  lines: readonly Pick<GenerationLine, "id" | "created_at" | "client" | "client_version">[],
): readonly ClientVersion[] {
  const known = lines.filter(({ client }) => client !== null);
  const groups = Map.groupBy(known, ({ client, client_version }) => `${client} ${client_version ?? ""}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [last] = group;
      if (last === undefined || last.client === null) return [];
      return [{ client: last.client, version: last.client_version, requests: group.length, last }];
    })
    .toSorted((a, b) => b.requests - a.requests);
}

import { fail } from "../../base/failures/errors.ts";

/** The kinds of rows in the store. */
export type RowKind = "account" | "budget" | "catalog" | "named route" | "team";

/** Something that can be stored since a version. Gateways before it ignore it, or cannot read the row. */
interface NewerPart {
  readonly row: RowKind;
  /** Its place within the row; empty: the row itself. Within an array, it is that member of any item. */
  readonly path: readonly string[];
  /** The kinds of rows that have it, by their `kind`; absent: all. */
  readonly kinds?: readonly string[];
  /** The value with the same meaning as an absent one. */
  readonly none?: unknown;
  /** How the API names it. */
  readonly name: string;
  /** The first version that knows it. */
  readonly since: string;
}

/** The parts of rows that some released versions do not know. A new part gets a line with the version in which it appears. */
const NEWER_PARTS: readonly NewerPart[] = [
  // Its models have fields that earlier versions reject, so those would serve the catalog that they shipped with.
  { row: "catalog", path: [], name: "the imported catalog", since: "0.2.0" },
  { row: "budget", path: [], name: "budgets", since: "0.2.0" },
  {
    row: "account",
    path: ["policy", "promptCaching"],
    none: "auto",
    name: "policy.prompt_caching",
    since: "0.2.0",
  },
  {
    row: "named route",
    path: ["provider", "prompt_caching"],
    name: "provider.prompt_caching",
    since: "0.2.0",
  },
  { row: "named route", path: ["provider"], kinds: ["alias"], name: "provider of an alias", since: "0.3.0" },
  {
    row: "named route",
    path: ["targets", "provider"],
    kinds: ["group"],
    name: "targets.provider",
    since: "0.3.0",
  },
  { row: "team", path: [], name: "teams", since: "0.3.0" },
  // Such a name is stored beside the definition.
  { row: "named route", path: ["pattern"], name: "a named route with * in its name", since: "0.3.0" },
];

/** A gateway with the version of its program. */
export interface VersionedGateway {
  readonly id: string;
  readonly host: string;
  readonly version: string;
}

/**
 * Lists the parts that a change adds to a row and that some released versions do not know. Parts that the row had before are not listed.
 * `before` is null for a new row.
 */
export function listNewerParts(row: RowKind, before: object | null, after: object): readonly NewerPart[] {
  return NEWER_PARTS.filter((part) => {
    if (part.row !== row) return false;
    if (part.path.length === 0) return before === null;
    const value = valueAt(after, part);
    return value !== undefined && value !== valueAt(before, part);
  });
}

/** Returns the value of a part; undefined if the row has none. */
function valueAt(row: object | null, { path, kinds, none }: NewerPart): unknown {
  const { kind } = (row ?? {}) as { readonly kind?: string };
  if (kinds !== undefined && !kinds.includes(kind ?? "")) return undefined;
  let value: unknown = row;
  for (const name of path)
    value = Array.isArray(value) ? firstOf(value, name) : (value as Fields | null | undefined)?.[name];
  return value === none || value === null ? undefined : value;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the member of the first item that has it. */
function firstOf(items: readonly unknown[], name: string): unknown {
  return items.map((item) => (item as Fields)[name]).find((member) => member !== undefined);
}

/** Returns the API's name of each part that a version does not know. `isOlder` says whether a version came before another one. */
export function listUnknownNames(
  version: string,
  isOlder: (version: string, since: string) => boolean,
): readonly string[] {
  return NEWER_PARTS.filter(({ since }) => isOlder(version, since)).map(({ name }) => name);
}

/**
 * Rejects a change that some gateway on the same store does not know: it would ignore the change, or could not read the row. `isOlder` says
 * whether a version came before another one.
 * @throws GatewayError `conflict`, which names the gateway and what to do.
 */
export function rejectUnknownParts(
  parts: readonly NewerPart[],
  gateways: readonly VersionedGateway[],
  isOlder: (version: string, since: string) => boolean,
): void {
  for (const { name, since } of parts) {
    const older = gateways.filter(({ version }) => isOlder(version, since));
    const [first] = older;
    if (first === undefined) continue;
    fail(
      "conflict",
      `${name} cannot be changed while a gateway runs a version that does not know it: ${first.id} on ${first.host} runs ${first.version}, and ${name} needs ${since}. Upgrade that gateway, or release what it has leased if it does not come back (docs/operations/upgrades.md).`,
      {
        metadata: {
          field: name,
          needs_version: since,
          gateways: older.map(({ id, host, version }) => ({ id, host, version })),
        },
      },
    );
  }
}

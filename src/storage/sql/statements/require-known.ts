import packageJson from "../../../../package.json" with { type: "json" };
import {
  listNewerParts,
  type RowKind,
  rejectUnknownParts,
  type VersionedGateway,
} from "../../../core/gateways/newer-rows.ts";
import type { SqlTraits } from "./database.ts";
import { sql, type Work } from "./statement.ts";

/**
 * Rejects a change of a row that a registered gateway does not know, because its version is older (`listNewerParts`). `before` is null for
 * a new row. Call it in the transaction of the change.
 * @throws GatewayError `conflict`; StoreError.
 */
export function* requireKnown(
  { isShared }: SqlTraits,
  row: RowKind,
  before: object | null,
  after: object,
): Work<void> {
  const parts = isShared ? listNewerParts(row, before, after) : [];
  if (parts.length === 0) return;
  const gateways = yield* sql<VersionedGateway>`SELECT id, host, version FROM gateways ORDER BY id`;
  rejectUnknownParts(parts, gateways, isOlder);
}

/** Whether a version came before the one with some part. This program knows all parts, including those of an unreleased version. */
export function isOlder(version: string, since: string): boolean {
  return version !== packageJson.version && Bun.semver.order(version, since) < 0;
}

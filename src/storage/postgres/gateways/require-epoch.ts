import { type GatewayIdentity, GatewayReplacedError } from "../../../core/gateways/gateway-identity.ts";
import type { SqlRunner } from "../connection/client.ts";

/**
 * Rejects with a `GatewayReplacedError` unless the epoch of a gateway is current. In a transaction the epoch stays current until its
 * end: a takeover waits for that.
 */
export async function requireEpoch(sql: SqlRunner, identity: GatewayIdentity): Promise<void> {
  const rows = await sql.run("SELECT 1 AS one FROM gateways WHERE id = $1 AND epoch = $2 FOR SHARE", [
    identity.id,
    identity.epoch,
  ]);
  if (rows.length === 0) throw new GatewayReplacedError(identity);
}

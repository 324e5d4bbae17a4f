import type { Log } from "../../base/failures/log.ts";
import { HOUR_MS } from "../../base/time/time.ts";
import { findUnreadable } from "../../core/provider-keys/find-unreadable.ts";
import type { ProviderKeyRecord } from "../../core/provider-keys/records.ts";
import { recoverUsage } from "../../core/usage/journal/recover-usage.ts";
import { logDamagedLines, logRecovery } from "../several/log-recovery.ts";
import type { Parts, Platform } from "../start/wire-up.ts";

/** Completes what an earlier process left unfinished, and logs what the operator must repair. Runs before the first request. */
export async function recoverState(parts: Parts, { clock, log }: Platform): Promise<void> {
  const { stores, journal, http } = parts;
  const { gatewayId } = http.generation;
  const now = clock.now();
  logRecovery(await recoverUsage({ journal, store: stores.usage, gatewayId, now }), log);
  await http.generation.ledger.start();
  const lost = await http.features.responses.jobs.failOwn();
  if (lost > 0) log.warn("responses were in progress when the gateway stopped", { responses: lost });
  logDamagedLines(stores.listDamagedLines(), log);
  logUnreadableKeys(await findUnreadable(stores.providerKeys, http.resources.providerKeyStores.vault), log);
  const changes = await stores.audit.settleChanges(gatewayId);
  if (changes > 0) log.warn("changes were in progress when the gateway stopped", { changes });
  await restoreHourlyLimits(parts, now);
}

/** The maximum number of keys in one log line. */
const MAX_KEYS = 100;

/** Requests that need these keys fail until their master key is configured again or the keys are stored again. */
function logUnreadableKeys(keys: readonly ProviderKeyRecord[], log: Log): void {
  if (keys.length === 0) return;
  log.error("BYOK keys cannot be decrypted: the master key that encrypted them is missing or has changed", {
    keys: keys.length,
    named: keys.slice(0, MAX_KEYS).map(({ id, accountId, provider, sealed }) => ({
      provider_key_id: id,
      account_id: accountId,
      provider,
      master_key_id: sealed.masterKeyId,
    })),
    remedy: "restore the master key in GATEWAY_SECRETS_KEY or secrets.keys, or store the keys again",
  });
}

/** Counts the requests of the last hour again, so that a restart does not reset the hourly limits. */
async function restoreHourlyLimits({ stores, http }: Parts, now: number): Promise<void> {
  const {
    rateLimiter,
    settings: { freeLimit, listLimits },
  } = http.generation;
  const since = now - HOUR_MS;
  for (const { addressHash, createdAt } of await stores.usage.findAnonymousSince(since))
    for (const scope of listLimits({ kind: "anonymous", addressHash }, null))
      rateLimiter.restore(scope, createdAt);
  for (const { accountId, createdAt } of await stores.usage.findFreeSince(since))
    freeLimit.restore(accountId, createdAt);
}

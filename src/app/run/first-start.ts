import type { Log } from "../../base/failures/log.ts";
import { createKey } from "../../core/accounts/manage/manage-keys.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../../core/accounts/records/records.ts";
import type { Config } from "../config/config-schema.ts";
import type { Stores } from "../stores/stores.ts";

/** Keys that a start has created. They are shown once and not stored in plain text. */
export interface FirstStart {
  /** Null if a management key exists already, or is configured. */
  readonly managementKey: string | null;
  /** Null except at the first start. */
  readonly inferenceKey: string | null;
  /** Must be called when the keys were shown. If the process dies before, the next start revokes them and creates new ones. */
  confirmShown(): Promise<void>;
}

/** The setting that is written when the keys of the first start were shown. */
const SETTING = "first_start";

/** How long other gateways wait for the first start of this one. Milliseconds. */
const LEASE_MS = 60_000;

/** The dependencies of a first start. */
interface FirstStartParts {
  readonly stores: Stores;
  readonly config: Config;
  readonly log: Log;
  readonly gatewayId: string;
}

/**
 * Creates the keys that a gateway needs: a management key if there is none, and an inference key at the first start. Returns
 * null if none is needed, or if another gateway creates them now. Keys of an earlier first start that were never shown are revoked.
 */
export async function prepareFirstStart(parts: FirstStartParts): Promise<FirstStart | null> {
  const { stores, gatewayId } = parts;
  if (!stores.isShared) return createMissing(parts);
  if (!(await needsKeys(parts))) return null;
  const lease = await stores.leases.acquire({ name: SETTING, owner: gatewayId, durationMs: LEASE_MS });
  if (lease === null) return null;
  const start = await createMissing(parts).catch(async (error) => {
    await lease.release();
    throw error;
  });
  if (start === null) {
    await lease.release();
    return null;
  }
  // The lease is kept until then: a gateway that finds the keys before would revoke them as not shown.
  const confirmShown = async (): Promise<void> => {
    await start.confirmShown();
    await lease.release();
  };
  return { ...start, confirmShown };
}

async function createMissing(parts: FirstStartParts): Promise<FirstStart | null> {
  const { stores, log } = parts;
  const isFirst = await isFirstStart(stores);
  if (isFirst) await revokeUnshown(stores, log);
  const needsManagement = await needsManagementKey(parts);
  if (!isFirst && !needsManagement) return null;
  const now = stores.clock.now();
  const create = async (kind: KeyRecord["kind"]) =>
    (await createKey(stores, { kind, name: firstName(kind), expiresAt: null })).secret;
  return {
    managementKey: needsManagement ? await create("management") : null,
    inferenceKey: isFirst ? await create("inference") : null,
    async confirmShown() {
      await stores.settings.addSetting(SETTING, String(now));
    },
  };
}

async function needsKeys(parts: FirstStartParts): Promise<boolean> {
  return (await isFirstStart(parts.stores)) || (await needsManagementKey(parts));
}

async function isFirstStart({ settings }: Stores): Promise<boolean> {
  return (await settings.findSetting(SETTING)) === null;
}

async function needsManagementKey({ stores, config }: FirstStartParts): Promise<boolean> {
  if (config.admin_key !== undefined) return false;
  const keys = await stores.keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID });
  const now = stores.clock.now();
  return !keys.some((key) => key.kind === "management" && isLive(key, now));
}

function firstName(kind: KeyRecord["kind"]): string {
  return `first ${kind} key`;
}

function isLive(key: KeyRecord, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

async function revokeUnshown({ keys, clock }: Stores, log: Log): Promise<void> {
  const now = clock.now();
  const unshown = (await keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID })).filter(
    (key) => key.name === firstName(key.kind) && isLive(key, now),
  );
  for (const { id } of unshown) await keys.revokeKey(id, now);
  if (unshown.length > 0)
    log.warn("revoked the keys of an earlier first start that ended before it showed them", {
      ids: unshown.map(({ id }) => id),
    });
}

import type { Log } from "../base/log.ts";
import { createKey } from "../core/accounts/manage-keys.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../core/accounts/records.ts";
import type { Config } from "./config-schema.ts";
import type { Stores } from "./open-stores.ts";

/** Keys that a start has created. They are shown once and not stored in plain text. */
export interface FirstStart {
  /** Null if there is one already, or one is configured. */
  readonly managementKey: string | null;
  /** Null except at the first start. */
  readonly inferenceKey: string | null;
  /** Must be called when the keys were shown. If the process dies before, the next start revokes them and creates new ones. */
  confirmShown(): Promise<void>;
}

/** The setting that is written when the keys of the first start were shown. */
const SETTING = "first_start";

/**
 * Creates the keys that a gateway needs: a management key if there is none, and an inference key at the first start. Returns
 * null if none is needed. Keys of an earlier first start that were never shown are revoked.
 */
export async function prepareFirstStart(
  stores: Stores,
  config: Config,
  log: Log,
): Promise<FirstStart | null> {
  const isFirst = (await stores.settings.findSetting(SETTING)) === null;
  if (isFirst) await revokeUnshown(stores, log);
  const keys = await stores.keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID });
  const now = stores.clock.now();
  const needsManagement =
    config.admin_key === undefined && !keys.some((key) => key.kind === "management" && isLive(key, now));
  if (!isFirst && !needsManagement) return null;
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

import type { Log } from "../base/log.ts";
import { createKey } from "../core/accounts/manage-keys.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../core/accounts/records.ts";
import type { Config } from "./config-schema.ts";
import type { Stores } from "./open-stores.ts";

/** Secrets that a start has made. Shown once and kept nowhere. */
export interface FirstStart {
  /** Null where there is one already, or the operator brought one. */
  readonly managementKey: string | null;
  /** Null at all starts but the first. */
  readonly inferenceKey: string | null;
  /** To be told when the secrets were shown. A first start that dies before that is made again, with other keys. */
  confirmShown(): Promise<void>;
}

/** Noted when the keys of the first start were shown. */
const MARK = "first_start";

/**
 * Makes the keys that a gateway cannot do without: a management key always, an inference key at the first start. Null
 * where there is nothing to make. What a first start made that nobody has seen is revoked.
 */
export async function prepareFirstStart(
  stores: Stores,
  config: Config,
  log: Log,
): Promise<FirstStart | null> {
  const isFirst = (await stores.settings.findSetting(MARK)) === null;
  if (isFirst) await revokeUnseen(stores, log);
  const keys = await stores.keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID });
  const now = stores.clock.now();
  const needsManagement =
    config.admin_key === undefined && !keys.some((key) => key.kind === "management" && isLive(key, now));
  if (!isFirst && !needsManagement) return null;
  const make = async (kind: KeyRecord["kind"]) =>
    (await createKey(stores, { kind, name: firstName(kind), expiresAt: null })).secret;
  return {
    managementKey: needsManagement ? await make("management") : null,
    inferenceKey: isFirst ? await make("inference") : null,
    async confirmShown() {
      await stores.settings.addSetting(MARK, String(now));
    },
  };
}

function firstName(kind: KeyRecord["kind"]): string {
  return `first ${kind} key`;
}

function isLive(key: KeyRecord, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

async function revokeUnseen({ keys, clock }: Stores, log: Log): Promise<void> {
  const now = clock.now();
  const unseen = (await keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID })).filter(
    (key) => key.name === firstName(key.kind) && isLive(key, now),
  );
  for (const { id } of unseen) await keys.revokeKey(id, now);
  if (unseen.length > 0)
    log.warn("revoked keys of a first start that died before it showed them", {
      ids: unseen.map(({ id }) => id),
    });
}

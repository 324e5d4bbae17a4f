import type { Log } from "../../base/failures/log.ts";
import { sha256 } from "../../base/secrets/hash.ts";
import type { IdSource } from "../../base/secrets/ids.ts";
import type { Random } from "../../base/secrets/random.ts";
import { createSecretText } from "../../base/secrets/secret-text.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { KeyCache } from "../accounts/memory/key-cache.ts";
import { ADMIN_KEY_ID, type ApiKeyPrincipal, type OperatorPrincipal } from "../accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../accounts/records/records.ts";
import {
  type ConsoleSession,
  isLiveSession,
  SESSION_MAX_MS,
  SESSION_TOUCH_MS,
  shortenUserAgent,
} from "./console-session.ts";
import type { ConsoleSessionStore } from "./console-session-store.ts";

/** The dependencies of console sessions. */
export interface ConsoleSessionParts {
  readonly store: ConsoleSessionStore;
  readonly keyCache: Pick<KeyCache, "identifyHash" | "adminHash">;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly log: Log;
}

/** The key that a session acts as. */
export type SessionKey = Pick<KeyRecord, "id" | "hash" | "accountId" | "userId" | "expiresAt">;

/** A new session and its secret, which is not stored. */
interface OpenedSession {
  readonly secret: string;
  readonly session: ConsoleSession;
}

/** A live session and the principal of its key. */
export interface IdentifiedSession {
  readonly session: ConsoleSession;
  readonly principal: ApiKeyPrincipal | OperatorPrincipal;
}

const SECRET = /^[\w-]{43}$/;

/** Opens sessions of the console, and identifies requests by them. */
export class ConsoleSessions {
  readonly store: ConsoleSessionStore;

  constructor(private readonly parts: ConsoleSessionParts) {
    this.store = parts.store;
  }

  /**
   * Opens a session that acts as a key and ends with it. `userAgent` is the browser's own description. `authenticatedAt` is stored with the
   * session.
   */
  async open(
    key: SessionKey,
    userAgent: string | null,
    authenticatedAt: number | null = null,
  ): Promise<OpenedSession> {
    const { clock, ids, random } = this.parts;
    const secret = createSecretText(random);
    const now = clock.now();
    const session: ConsoleSession = {
      id: ids.next("sess"),
      hash: sha256(secret, "hex"),
      keyId: key.id,
      keyHash: key.id === ADMIN_KEY_ID ? hashAdminKey(key.hash, secret) : key.hash,
      accountId: key.accountId,
      userId: key.userId,
      userAgent: shortenUserAgent(userAgent),
      authenticatedAt,
      createdAt: now,
      lastUsedAt: now,
      expiresAt: Math.min(now + SESSION_MAX_MS, key.expiresAt ?? Number.POSITIVE_INFINITY),
    };
    await this.store.insertSession(session);
    return { secret, session };
  }

  /**
   * Returns the session with a secret, and the principal of its key; null if the session is unknown or has ended, or if its key is
   * revoked or expired.
   */
  async identify(secret: string): Promise<IdentifiedSession | null> {
    if (!SECRET.test(secret)) return null;
    const session = await this.store.findSessionByHash(sha256(secret, "hex"));
    if (session === null || !isLiveSession(session, this.parts.clock.now())) return null;
    const principal = await this.findPrincipal(session, secret);
    if (principal === null) return null;
    await this.touch(session);
    return { session, principal };
  }

  /** Ends the session of a secret, given as SHA-256 in hex, because its browser has a new one. Does nothing if there is none. */
  async replace(formerHash: string): Promise<void> {
    const former = await this.store.findSessionByHash(formerHash);
    if (former !== null) await this.store.deleteSession(former.id);
  }

  private async findPrincipal({ keyId, keyHash }: ConsoleSession, secret: string) {
    const { identifyHash, adminHash } = this.parts.keyCache;
    if (keyId !== ADMIN_KEY_ID) return identifyHash(keyHash);
    const isCurrent = adminHash !== null && hashAdminKey(adminHash, secret) === keyHash;
    return isCurrent ? ({ kind: "operator", keyId } as const) : null;
  }

  /** A request does not fail because its time cannot be recorded. */
  private async touch({ id, lastUsedAt }: ConsoleSession): Promise<void> {
    const now = this.parts.clock.now();
    if (now - lastUsedAt < SESSION_TOUCH_MS) return;
    await this.store.touchSession(id, now).catch((error) => {
      this.parts.log.warn("the use of a console session could not be recorded", {
        session_id: id,
        detail: String(error),
      });
    });
  }
}

/** Returns the configured admin key as the key of a session. `hash` is the hash of the admin key. */
export function createAdminSessionKey(hash: string): SessionKey {
  return { id: ADMIN_KEY_ID, hash, accountId: DEFAULT_ACCOUNT_ID, userId: null, expiresAt: null };
}

/** The admin key is chosen by the operator. Without the secret of the session its hash cannot be guessed from the database. */
function hashAdminKey(adminHash: string, secret: string): string {
  return sha256(`${secret}.${adminHash}`, "hex");
}
